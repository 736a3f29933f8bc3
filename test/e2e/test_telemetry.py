#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry, asked with DPDK's own script and by many clients at once, against what the console says; json forms."""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import threading
import time

from harness import ROOT, BumpTest, appliance, packet, tap, wait_for
from lab import service

SCRIPT = shutil.which('dpdk-telemetry.py') or '/usr/bin/dpdk-telemetry.py'
ENDPOINTS = ['stats', 'drops', 'sources', 'datagrams', 'config', 'budget', 'check', 'ports', 'lcores']
CLIENTS = 8     # rte_telemetry serves up to ten at a time


def prefix():
    return 'fragmend-test-%d' % os.getpid()


def directory(name):
    """Where EAL puts its sockets."""
    return pathlib.Path(os.environ.get('RUNTIME_DIRECTORY', '/var/run'), 'dpdk', name)


def eal(workers):
    keep = [word for word in appliance.eal(512, workers) if word not in ('--no-telemetry', '--no-shconf')]
    return (*keep, '--file-prefix', prefix())


def outcome_table():
    """Names in the one table, in its order."""
    return re.findall(r'^\tX\(\w+, (\w+), [A-Z]+, [A-Z]+,', (ROOT / 'lib/common/fm_outcome.h').read_text(), re.M)


def ask(*requests):
    """What the script prints for each request, without the name around it."""
    run = subprocess.run(['/usr/bin/python3', SCRIPT, '-f', prefix()], input='\n'.join(requests) + '\n', text=True,
                         capture_output=True, timeout=60, check=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(requests):
        raise AssertionError('%s: %s' % (requests, run.stdout + run.stderr))
    return [answer[request.split(',')[0]] for request, answer in zip(requests, answers)]


class Client:
    """One connection, as a collector holds it open."""

    def __init__(self):
        greeting = None
        while not greeting:     # who comes when ten are there is shown out without a word
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.socket.connect(str(directory(prefix()) / 'dpdk_telemetry.v2'))
            self.socket.settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                greeting = self.socket.recv(1024)
        self.room = json.loads(greeting)['max_output_len']

    def ask(self, request):
        self.socket.send(request.encode())
        return json.loads(self.socket.recv(self.room))[request.split(',')[0]]

    def close(self):
        self.socket.close()


def elements(answer, name):
    return list(answer[name].values())


def members(answer, endpoint, path=''):
    """Paths of all that is no object; N stands for a number in a list, NAME for an outcome or a setting."""
    found = set()
    for key, value in answer.items():
        if key.isdigit():
            key = 'N'
        elif (endpoint == 'drops' and not path) or path == 'settings.':
            key = 'NAME'
        if isinstance(value, dict):
            found |= members(value, endpoint, path + key + '.')
        else:
            found.add(path + key)
    return found


def datagram(number, size=2600):
    return packet.Datagram('10.8.%d.%d' % (number >> 8 & 255, number & 255), '10.9.0.2',
                           random.Random(number).randbytes(size), ident=number & 0xffff)


class Telemetry(BumpTest):
    workers = 2

    def setUp(self):
        super().setUp()
        self.start('--timeout4', '120000', eal=eal(self.workers))

    def tearDown(self):
        super().tearDown()
        shutil.rmtree(directory(prefix()), ignore_errors=True)

    def json(self, line):
        text = self.app.command(line)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        return json.loads(text)

    def hold(self, count):
        """First fragments of so many datagrams, each of another source."""
        left, _ = self.wires()
        self.feed(left, (datagram(number).fragment(0, 1304, True) for number in range(count)))
        self.assertSoon(lambda counters: counters['held_fragments'] == count)

    def test_each_endpoint_says_what_the_console_says(self):
        self.assertGood(self.exchange([100, 3000, 9000] * 4, 4))
        self.assertGood(self.exchange([100, 5000] * 4, 6))
        self.hold(3)
        listed = ask('/')[0]
        self.assertEqual([name for name in listed if name.startswith('/fragmend/')],
                         sorted('/fragmend/' + name for name in ENDPOINTS))
        answer = dict(zip(ENDPOINTS, ask(*('/fragmend/' + name for name in ENDPOINTS))))
        counters = self.app.counters()
        drops = {name: row['count'] for name, row in answer['drops'].items()}
        # Other frames may come at any time; fragments come from here only.
        for name in ('completed', 'duplicate', 'sent_whole', 'sent_refragmented', 'timeout', 'overlap'):
            self.assertEqual(drops[name], counters[name], name)
        self.assertGreater(drops['completed'], 20)
        stats = answer['stats']
        self.assertEqual(stats['fragments_in'], drops['completed'] + 3)
        self.assertEqual(stats['fragments_completed'], drops['completed'])
        self.assertEqual(stats['datagrams_sent_whole'] + stats['datagrams_sent_refragmented'],
                         stats['datagrams_completed'])
        self.assertEqual(stats['held']['fragments'], 3)
        self.assertEqual(stats['held']['mbufs'], answer['budget']['held_mbufs'])
        self.assertEqual(stats['held']['budget_mbufs'], answer['budget']['budget_mbufs'])
        self.assertTrue(answer['check']['ok'])
        self.assertEqual(answer['check']['fragments']['held'], 3)
        self.assertEqual(answer['check']['mbufs']['size'],
                         sum(pool['size_mbufs'] for pool in elements(answer['budget'], 'pools')))
        self.assertEqual(answer['sources']['held_mbufs'], 3)
        self.assertEqual(sum(source['held_mbufs'] for source in elements(answer['sources'], 'sources')), 3)
        self.assertEqual({one['source'] for one in elements(answer['datagrams'], 'datagrams')},
                         {'10.8.0.%d' % number for number in range(3)})
        self.assertEqual([port['id'] for port in elements(answer['ports'], 'ports')], [0, 1])
        self.assertEqual([one['lcore'] for one in elements(answer['lcores'], 'lcores')], [1, 2])
        self.assertEqual(answer['config']['settings']['timeout4'], 120000)
        self.assertEqual(answer['config']['forwarding'], 1)

    def test_names_of_drops_are_the_outcome_table(self):
        table = outcome_table()
        self.assertGreater(len(table), 30)
        self.assertEqual(list(ask('/fragmend/drops')[0]), table)
        self.assertEqual(list(self.json('show reassembly drops json')), table)

    def test_every_member_is_documented(self):
        self.assertGood(self.exchange([100, 3000] * 4, 4))
        self.hold(2)
        page = (ROOT / 'doc/telemetry.md').read_text()
        # Rates come with the second sample.
        self.assertTrue(wait_for(lambda: 'per_s' in ask('/fragmend/ports')[0]['ports']['0']))
        for name in ENDPOINTS:
            section = page.split('\n## `/fragmend/%s' % name)[1].split('\n## ')[0]
            documented = set(re.findall(r'^\| `([^`]+)` \|', section, re.M))
            found = members(ask('/fragmend/' + name)[0], name)
            if name == 'lcores':
                found |= members(ask('/fragmend/lcores,1')[0], name)
            self.assertEqual(found - documented, set(), name)
            self.assertGreater(len(found), 3, name)

    def test_parts(self):
        per_lcore = ask('/fragmend/stats,1', '/fragmend/stats,2', '/fragmend/stats,all', '/fragmend/lcores,2',
                        '/fragmend/ports,1', '/fragmend/sources,5', '/fragmend/datagrams,5,0', '/fragmend/budget,all,1')
        self.assertEqual([per_lcore[0]['lcore'], per_lcore[1]['lcore']], [1, 2])
        self.assertNotIn('lcore', per_lcore[2])
        one = elements(per_lcore[3], 'lcores')
        self.assertEqual([lcore['lcore'] for lcore in one], [2])
        self.assertIn('queues', one[0])
        self.assertEqual([port['id'] for port in elements(per_lcore[4], 'ports')], [1])
        self.assertEqual([pool['port'] for pool in elements(per_lcore[7], 'pools')], [1])

    def test_bad_parameters(self):
        cases = {
            '/fragmend/stats,7': 'lcore 7', '/fragmend/stats,0': 'lcore 0', '/fragmend/stats,x': '"x"',
            '/fragmend/stats,1,2': 'too many', '/fragmend/drops,1': 'too many',
            '/fragmend/sources,0': '1..200', '/fragmend/sources,201': '1..200', '/fragmend/sources,-1': '1..200',
            '/fragmend/datagrams,5,x': 'FIRST', '/fragmend/datagrams,1,1,1': 'too many',
            '/fragmend/ports,2': 'no port 2', '/fragmend/lcores,99999999999999999999': 'LCORE',
            '/fragmend/config,all': 'too many', '/fragmend/check,"': 'too many', '/fragmend/budget,2': 'all',
        }
        for request, answer in zip(cases, ask(*cases)):
            with self.subTest(request=request):
                self.assertEqual(list(answer), ['error'])
                self.assertIn(cases[request], answer['error'])
        self.assertIsNone(ask('/fragmend/nothing')[0])

    def pages(self, name):
        """Who is on the pages of a list, and how many pages there are."""
        seen, first, answers = set(), 0, 0
        while first is not None:
            answer = ask('/fragmend/%s,200,%d' % (name, first))[0]
            seen |= {one['source'].split('/')[0] for one in elements(answer, name)}
            first = answer.get('next')
            answers += 1
        return seen, answers

    def test_long_lists_come_in_pages(self):
        count = 150
        self.hold(count)
        held = {'10.8.0.%d' % number for number in range(count)}
        for name in ('datagrams', 'sources'):
            self.assertGreater(self.pages(name)[1], 1, name)
            # Each page is looked at anew: two of one age, held by two workers, may change places between two pages, and
            # one is missed then. And the kernels' own traffic may have made records of sources besides.
            self.assertTrue(wait_for(lambda: held <= self.pages(name)[0], 20), name)

    def test_clear_is_for_the_console(self):
        self.assertGood(self.exchange([3000] * 4, 4))
        before = ask('/fragmend/stats')[0]['fragments_in']
        self.app.command('clear reassembly stats')
        self.assertEqual(self.json('show reassembly stats json')['fragments_in'], 0)
        self.assertEqual(ask('/fragmend/stats')[0]['fragments_in'], before)
        self.assertGreater(before, 0)

    def test_many_clients_at_once(self):
        """While traffic runs and the console changes things, every answer is whole, and the accounts hold."""
        faults, answers, stop = [], [], threading.Event()

        def hammer(number):
            try:
                client = Client()
                asked = 0
                while not stop.is_set() or asked < len(ENDPOINTS):
                    answer = client.ask('/fragmend/' + ENDPOINTS[(number + asked) % len(ENDPOINTS)])
                    if not answer or 'error' in answer:
                        faults.append(answer)
                    asked += 1
                client.close()
                answers.append(asked)
            except Exception as fault:          # noqa: BLE001 (whatever it is, the test must hear of it)
                faults.append(repr(fault))

        clients = [threading.Thread(target=hammer, args=(number,)) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            self.assertGood(self.exchange([100, 3000, 9000] * 10, 4))
            for number in range(10):
                self.app.command('set timeout4 %d' % (100000 + number))
                self.app.command('show reassembly sources')
                self.app.command('flush reassembly')
            self.assertGood(self.exchange([3000, 9000] * 5, 6))
        finally:
            stop.set()
            for client in clients:
                client.join(60)
        self.assertEqual(faults[:3], [])
        self.assertEqual(len(answers), CLIENTS)
        self.assertGreaterEqual(min(answers), len(ENDPOINTS))

    def test_who_leaves_early_harms_nobody(self):
        for _ in range(30):
            client = Client()
            client.socket.send(b'/fragmend/drops')
            client.close()
        self.assertIn('passed', ask('/fragmend/drops')[0])

    def test_busy(self):
        """While the main thread is at work, here for a worker that stands still, it lends nothing, and says so."""
        with service.stopped(service.workers(self.app.process.pid)[0]):
            os.write(self.app.master, b'show reassembly datagrams\n')
            end = time.monotonic() + 20
            answer = {}
            while 'error' not in answer and time.monotonic() < end:
                answer = ask('/fragmend/check')[0]
        self.assertIn('busy', answer.get('error', ''))
        self.app.command('set timeout4 777')
        self.assertEqual(ask('/fragmend/config')[0]['settings']['timeout4'], 777)

    def test_json_forms(self):
        for line in ('show port info all', 'show port stats all', 'show port xstats all', 'show port link all',
                     'show port xstats 1', 'show config', 'show budget', 'show lcores', 'show numa',
                     'show reassembly stats', 'show reassembly stats lcore 1', 'show reassembly drops',
                     'show reassembly datagrams', 'show reassembly datagrams top 3', 'show reassembly sources',
                     'show reassembly sources top 3', 'show check', 'version'):
            with self.subTest(line=line):
                self.assertIsInstance(self.json(line + ' json'), dict)
        self.app.command('clear port xstats all')


class Without(BumpTest):
    def test_no_telemetry(self):
        name = prefix() + '-without'
        self.start(eal=(*(word for word in appliance.EAL if word != '--no-shconf'), '--file-prefix', name))
        self.addCleanup(shutil.rmtree, directory(name), ignore_errors=True)
        self.assertTrue(directory(name).is_dir())
        self.assertEqual(list(directory(name).glob('dpdk_telemetry*')), [])
        self.assertTrue(json.loads(self.app.command('show check json'))['ok'])


if __name__ == '__main__':
    if not pathlib.Path(SCRIPT).exists():
        raise SystemExit('dpdk-telemetry.py is not there: package dpdk-dev')
    raise SystemExit(tap.main())
