# SPDX-License-Identifier: BSD-3-Clause
"""fragmend's telemetry, asked over DPDK's socket: everything by a deadline, or none of it."""
import json
import pathlib
import socket
import sys
import threading
import time

from exporter.table import ENDPOINTS

PAGES = 64              # of one list; more than any box has
MOST_BYTES = 1 << 20    # of one answer, whatever the greeting promises
RESERVES = ('rx_descriptors', 'tx_descriptors', 'tx_backlog', 'between_workers', 'cache', 'burst_reserve', 'budget',
            'spare')


class Silent(Exception):
    """No answer, or none that fragmend would give; the text says why."""


class Telemetry:
    """One connection to a telemetry socket, which has to say everything by a deadline."""

    def __init__(self, path, timeout):
        self.end = time.monotonic() + timeout
        while True:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                self.hurry()
                self.socket.connect(str(path))
                greeting = self.receive(4096)
            except (BlockingIOError, ConnectionResetError):
                greeting = b''
            except BaseException:
                self.close()
                raise
            if greeting:
                break
            # DPDK serves ten clients, and shows the next one out without a word.
            self.close()
            if time.monotonic() + 0.1 > self.end:
                raise TimeoutError('no room for one more client')
            time.sleep(0.1)
        try:
            self.room = min(int(json.loads(greeting)['max_output_len']), MOST_BYTES)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.socket.close()

    def hurry(self):
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError('timed out')
        self.socket.settimeout(left)

    def receive(self, room):
        self.hurry()
        return self.socket.recv(room)

    def ask(self, request):
        self.hurry()
        self.socket.send(request.encode())
        answer = json.loads(self.receive(self.room))
        answer = next(iter(answer.values()), None) if isinstance(answer, dict) else None
        if not isinstance(answer, dict):
            raise Silent('does not know ' + request)
        return answer


def elements(answer, name):
    """Of a list; rte_telemetry writes one as an object whose names are 0, 1, 2, ..."""
    value = answer.get(name, {})
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in values if isinstance(one, dict)]


def dig(answer, path):
    for word in path.split('.'):
        answer = answer.get(word) if isinstance(answer, dict) else None
    return answer


class Instance:
    """One fragmend, by its file prefix."""

    def __init__(self, prefix, directory, timeout, top):
        self.prefix, self.timeout, self.top = prefix, timeout, top
        self.path = pathlib.Path(directory, 'dpdk', prefix, 'dpdk_telemetry.v2')
        self.lock = threading.Lock()
        self.began, self.answers, self.state = 0.0, {}, None

    def read(self):
        """{endpoint: answer}; who comes while others wait shares what was asked after it came."""
        came = time.monotonic()
        with self.lock:
            if self.began < came:
                self.began = time.monotonic()
                self.answers = self.read_now()
            return self.answers

    def read_now(self):
        answers, began, state = {}, time.monotonic(), 'answers'
        try:
            self.read_into(answers)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, Silent) as fault:
            state = '%s: %s' % (self.path, getattr(fault, 'strerror', None) or str(fault) or type(fault).__name__)
        complete = set(answers) >= set(ENDPOINTS)
        answers[''] = {'up': int('up' in answers), 'complete': int(complete), 'duration': time.monotonic() - began}
        if state != self.state:
            self.state = state
            print('fragmend-exporter: %s: %s' % (self.prefix, state), file=sys.stderr, flush=True)
        return answers

    def read_into(self, answers):
        telemetry = Telemetry(self.path, self.timeout)
        try:
            for endpoint in ENDPOINTS:
                answer = self.whole(telemetry, endpoint, answers)
                answers[endpoint] = NORMAL.get(endpoint, lambda same: same)(answer)
        finally:
            telemetry.close()

    def whole(self, telemetry, endpoint, answers):
        """An answer with all pages of its list."""
        count = {'sources': ',%d' % max(1, self.top), 'ports': ',all', 'lcores': ',all', 'budget': ',all'}
        listed = {'budget': 'pools'}.get(endpoint, endpoint)
        first, answer = 0, None
        for _ in range(PAGES):
            page = telemetry.ask('/fragmend/' + endpoint + count.get(endpoint, '') + (',%d' % first if first else ''))
            answers['up'] = {}          # that it speaks at all
            if 'error' in page:
                raise Silent(str(page['error']))
            if answer is None:
                answer = page
            else:
                answer[listed] = elements(answer, listed) + elements(page, listed)
            if 'next' not in page:
                break
            first = int(page['next'])
        if endpoint == 'sources':
            held = [source for source in elements(answer, 'sources') if source.get('held_mbufs')]
            answer['largest'] = max((source['held_mbufs'] for source in held), default=0)
            answer['sources'] = held[:self.top]
        return answer


def normal_drops(answer):
    split = {'frame': [], 'fragment': [], 'datagram': []}
    for name, one in answer.items():
        split.setdefault(one['unit'], []).append({'name': name, **one})
    return split


def normal_check(answer):
    return {**answer, 'accounts': [{'account': name, 'ok': answer[name]['ok']}
                                   for name in ('frames', 'fragments', 'mbufs')]}


def normal_budget(answer):
    reserves = [{'name': pool['name'], 'port': pool['port'], 'use': use, 'mbufs': pool.get(use + '_mbufs',
                 pool.get(use))} for pool in elements(answer, 'pools') for use in RESERVES]
    return {**answer, 'reserves': reserves}


def normal_config(answer):
    return {**answer, 'build': [{'version': answer['version'], 'dpdk': answer['dpdk']}]}


# What is made of an answer so that all metrics with labels are made from lists.
NORMAL = {'drops': normal_drops, 'check': normal_check, 'budget': normal_budget, 'config': normal_config}
