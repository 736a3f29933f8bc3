# SPDX-License-Identifier: BSD-3-Clause
"""One run of the pass-through table: fragmend or dpdk-testpmd on two virtual ports, and what it counted meanwhile.

Both programs are asked the same way for the same counters: those of ethdev, by DPDK's telemetry socket.
"""
import dataclasses
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from . import appliance, report

BURST, MBUFS, CACHE = 32, 32767, 250
START_S, SETTLE_S, STOP_S = 20, 0.5, 20
RUNTIME = '/var/run/dpdk'
UNDER_WAY = 4096        # frames that may be in a table, a backlog, a ring or a burst
THREADS = ('rte-worker-', 'lcore-worker-')


def vdevs(kind, capture):
    pcap = 'net_pcap0,rx_pcap=%s,infinite_rx=1' % capture
    return {'pcap-null': (pcap, 'net_null0,no-rx=1'), 'pcap-ring': (pcap, 'net_ring0'),
            'ring-ring': ('net_ring0', 'net_ring1')}[kind]


def arguments(program, mode):
    """The same for both, in the words of each."""
    if 'testpmd' in program:
        return ('--forward-mode=' + mode, '--auto-start', '--no-flush-rx', '--nb-cores=1', '--burst=%d' % BURST,
                '--total-num-mbufs=%d' % MBUFS, '--mbcache=%d' % CACHE)
    return ('--nb-cores', '1', '--burst', str(BURST), '--total-num-mbufs', str(MBUFS), '--mbcache', str(CACHE))


class Telemetry:
    """DPDK's telemetry socket."""

    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        for path in glob.glob('%s/%s/dpdk_telemetry.v2*' % (RUNTIME, prefix)):
            self.socket.connect(path)
            self.socket.recv(4096)
            return
        raise FileNotFoundError('no telemetry socket of %s' % prefix)

    def ask(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(1 << 16))[command.split(',')[0]]

    def close(self):
        self.socket.close()


@dataclasses.dataclass
class Look:
    """Counters since the start, at one moment. Those of port 1 are read before and after those of port 0."""
    wall_s: float
    cpu_s: float        # that the forwarding thread had
    received: tuple     # frames, by port
    sent_least: int     # by port 1
    sent_most: int


class Program:
    """fragmend or dpdk-testpmd, started on two ports."""

    def __init__(self, program, mode, ports, eal, plugins=()):
        self.prefix = 'fragmend-pass-%d' % os.getpid()
        words = [word for port in ports for word in ('--vdev', port)]
        words += [word for plugin in plugins for word in ('-d', plugin)]
        self.argv = [program, *eal, '--file-prefix', self.prefix, *words, '--', *arguments(program, mode)]
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, preexec_fn=appliance.die_with_parent)
        self.telemetry = None
        try:
            self._wait_ready()
        except (RuntimeError, OSError):
            self.process.kill()
            self.process.wait()
            raise

    def _wait_ready(self):
        """Until both ports are there and the forwarding thread has begun to use up time."""
        end = time.monotonic() + START_S
        while time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.1)
            try:
                self.telemetry = self.telemetry or Telemetry(self.prefix)
                if len(self.telemetry.ask('/ethdev/list')) == 2 and self.cpu_s() > 0.2:
                    return
            except (OSError, KeyError):
                pass
        self.process.kill()
        raise RuntimeError('%s: not forwarding after %d s; it said:\n%s' % (
            ' '.join(self.argv), START_S, self.process.communicate()[0][-3000:]))

    def thread(self):
        """The one that forwards; None: not there yet."""
        tasks = '/proc/%d/task/' % self.process.pid
        for task in os.listdir(tasks):
            with open(tasks + task + '/comm') as comm:
                if comm.read().startswith(THREADS):
                    return int(task)
        return None

    def cpu_s(self):
        """Seconds that the forwarding thread has run."""
        thread = self.thread()
        if thread is None:
            return 0.0
        with open('/proc/%d/task/%d/schedstat' % (self.process.pid, thread)) as times:
            return int(times.read().split()[0]) / 1e9

    def undisturbed(self):
        """From now on no ordinary program takes the CPU, and its caches, from the forwarding thread."""
        os.sched_setscheduler(self.thread(), os.SCHED_FIFO, os.sched_param(1))

    def stats(self, port):
        return self.telemetry.ask('/ethdev/stats,%d' % port)

    def look(self):
        least = self.stats(1)['opackets']
        wall, cpu = time.monotonic(), self.cpu_s()
        received = self.stats(0)['ipackets']
        # Whatever else runs here may come in between.
        wall, cpu = (wall + time.monotonic()) / 2, (cpu + self.cpu_s()) / 2
        last = self.stats(1)
        return Look(wall, cpu, (received, last['ipackets']), least, last['opackets'])

    def fill(self, port, count, capture):
        if self.telemetry.ask('/bench/fill,%s,%d,%s' % (port, count, capture))['frames'] != count:
            raise RuntimeError('%s does not take %d frames of %s' % (port, count, capture))

    def stop(self):
        """Ends it; returns what it has said."""
        self.telemetry.close()
        self.process.send_signal(signal.SIGINT)
        try:
            said = self.process.communicate(timeout=STOP_S)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            said = self.process.communicate()[0]
            raise RuntimeError('%s did not end in %d s' % (self.argv[0], STOP_S))
        return said


@dataclasses.dataclass
class Run:
    frames: int         # received meanwhile
    wall_s: float
    cpu_s: float

    @property
    def pps(self):
        """Per second that the forwarding thread ran: of an idle machine that is every second."""
        return self.frames / self.cpu_s

    @property
    def share(self):
        return self.cpu_s / self.wall_s


def check(row, before, after, fragmend, said):
    """Whether nothing was lost on the way since the start; which frames count."""
    want = after.received[0]
    if row.fragmented and fragmend:
        want //= 3
    if want == 0 or want < after.sent_least - UNDER_WAY or want > after.sent_most + UNDER_WAY:
        raise RuntimeError('%s: %d frames should have left, %d to %d did' % (row.name, want, after.sent_least,
                                                                             after.sent_most))
    if fragmend and not report.closing(said):
        raise RuntimeError('%s: accounts are not closed:\n%s' % (row.name, said[-3000:]))
    ports = (0, 1) if row.vdevs == 'ring-ring' else (0,)
    return sum(after.received[port] - before.received[port] for port in ports)


def run(row, capture, program, mode, eal, seconds, plugin, loop_frames):
    ring = row.vdevs == 'ring-ring'
    it = Program(program, mode, vdevs(row.vdevs, capture), eal, (plugin,) if ring else ())
    try:
        if ring:
            it.fill('net_ring0', loop_frames, capture)
        it.undisturbed()
        time.sleep(SETTLE_S)
        before = it.look()
        time.sleep(seconds)
        after = it.look()
        said = it.stop()
    finally:
        if it.process.poll() is None:
            it.process.kill()
            it.process.wait()
        # testpmd leaves it.
        shutil.rmtree('%s/%s' % (RUNTIME, it.prefix), ignore_errors=True)
    frames = check(row, before, after, 'testpmd' not in program, said)
    return Run(frames, after.wall_s - before.wall_s, after.cpu_s - before.cpu_s)
