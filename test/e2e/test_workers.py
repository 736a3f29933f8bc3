#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several workers on ports that do not spread by address: whoever receives what, the outcome is that of one worker."""
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from harness import BINARY, FullPools, appliance, capture, packet, tap, wait_for
from lab import report

FLOWS, FRAMES_OF_A_FLOW = 6, 60


def datagram(number, size=2400):
    ends = ('10.1.0.%d' % (number % 9), '10.2.0.1') if number % 2 else ('fd01::%x' % (number % 9), 'fd02::1')
    return packet.Datagram(*ends, random.Random(number).randbytes(size), ident=number)


def flow_frame(flow, number):
    """Frame `number` of a flow of frames that are no fragments."""
    return packet.Datagram('10.3.0.%d' % flow, '10.4.0.1', b'%08d' % number, protocol=253).whole()


def two_queues():
    """What comes in by each of two queues; what must come out of datagrams; frames of each flow in order.

    Of each datagram both queues get some. A flow comes in by one queue.
    """
    data = [datagram(number) for number in range(120)]
    queues = [[], []]
    for number, one in enumerate(data):
        for place, frame in enumerate(one.fragments(400)):
            queues[(number + place) % 2].append(frame)
    flows = [[flow_frame(flow, number) for number in range(FRAMES_OF_A_FLOW)] for flow in range(FLOWS)]
    for place, queue in enumerate(queues):
        random.Random(place).shuffle(queue)
        waiting = [list(flow) for flow in flows[place::2]]
        for number in range(FRAMES_OF_A_FLOW):
            for flow in waiting:
                queue.insert(min(len(queue), number * 8), flow[number])
        # Inserting in front of what is there turned the order round; put each flow back into its own.
        for flow in waiting:
            places = [at for at, frame in enumerate(queue) if frame in set(flow)]
            for at, frame in zip(places, flow, strict=True):
                queue[at] = frame
    return queues, [one.whole() for one in data], flows


class Workers(FullPools, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        capture.write_pcap(self.folder / 'none', [])

    def vdevs(self, txq):
        return ['net_pcap0,rx_pcap=in0,rx_pcap=in1,tx_pcap=back',
                'net_pcap1,rx_pcap=none,' + ','.join('tx_pcap=out%d' % n for n in range(txq))]

    def run_it(self, workers, txq, *options, lcores=None):
        eal = appliance.eal(512, workers) if lcores is None else appliance.EAL[:-2] + ('--lcores', lcores)
        code, out, err = appliance.run(
            appliance.command_line(BINARY, self.vdevs(txq), ['--exit-on-idle', '300', *options], eal), cwd=self.folder)
        self.assertEqual(code, 0, out + err)
        self.assertTrue(report.closing(out), out + err)
        return report.outcomes(out), out + err

    def outputs(self, txq):
        return [capture.read_pcap(self.folder / ('out%d' % n)) for n in range(txq)]

    def test_fragments_on_two_queues(self):
        queues, wholes, flows = two_queues()
        for number, queue in enumerate(queues):
            capture.write_pcap(self.folder / ('in%d' % number), queue)
        want = sorted(frame.hex() for frame in wholes + [frame for flow in flows for frame in flow])
        for workers, txq, *steer in ((1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (4, 1, '--steer', 'on')):
            with self.subTest(workers=workers, txq=txq, steer=steer):
                counts, text = self.run_it(workers, txq, *steer)
                self.assertEqual(counts['completed'], sum(len(queue) for queue in queues) - FLOWS * FRAMES_OF_A_FLOW)
                self.assertEqual(counts['passed'], FLOWS * FRAMES_OF_A_FLOW)
                self.assertEqual(counts.get('steer_full', 0), 0)
                outputs = self.outputs(txq)
                self.assertEqual(sorted(frame.hex() for output in outputs for frame in output), want)
                for flow in flows:
                    ways = [[frame for frame in output if frame in set(flow)] for output in outputs]
                    # Who receives the flow sends all of it, in order.
                    self.assertEqual([way for way in ways if way], [flow])
                steered = [port for port in (0, 1) if re.search(
                    r'port %d \(net_pcap%d\): offers no RSS, so its fragments are steered' % (port, port), text)]
                self.assertEqual(steered, [0, 1] if steer else [0] if workers > 1 else [], text)
                # Port 1 has one queue: who polls it keeps its fragments, unless it is asked for otherwise.
                self.assertEqual('port 1 (net_pcap1): offers no RSS, so worker' in text, workers > 1 and not steer,
                                 text)
                self.assertEqual('%d TX queue%s for %d workers, so %d' % (txq, 's' * (txq > 1), workers, workers - txq)
                                 in text, workers > txq, text)

    def test_workers_in_turns(self):
        """Two workers on one CPU and a small pool: what one cannot hand over, if so, is dropped by name."""
        first = [datagram(number, 1600).fragments(800)[0] for number in range(20000)]
        capture.write_pcap(self.folder / 'in0', first)
        capture.write_pcap(self.folder / 'in1', [flow_frame(1, number) for number in range(100)])
        counts, _ = self.run_it(2, 2, '--total-num-mbufs', '4095', '--burst', '8', '--mbcache', '0', '--rxd', '64',
                                '--txd', '64', lcores='0@0,1@0,2@0')
        fates = ('steer_full', 'flushed', 'refused_budget', 'refused_share', 'refused_table', 'condemned',
                 'evicted_cold', 'evicted_unlikely', 'evicted_progress', 'timeout', 'duplicate', 'overlap')
        self.assertEqual(sum(counts.get(name, 0) for name in fates), 20000, counts)
        self.assertEqual(counts['passed'], 100)

    def test_console(self):
        """Who does what, and the pools: full again after each round, with a pipe's part in the sum."""
        queues, wholes, flows = two_queues()
        for number, queue in enumerate(queues):
            capture.write_pcap(self.folder / ('in%d' % number), queue)
        vdevs = [vdev.replace('_pcap=', '_pcap=%s/' % self.folder) for vdev in self.vdevs(1)]
        app = appliance.Appliance(BINARY, vdevs, ['--mbcache', '0', '--steer', 'on'], eal=appliance.eal(512, 3))
        self.addCleanup(app.close)
        self.assertTrue(wait_for(lambda: app.counters()['completed'] == 6 * len(wholes)), app.counters())
        self.assertFull(app)
        lcores = app.command('show lcores')
        self.assertEqual(len(re.findall(r'^ +port 0 queue \d to port 1 queue 0', lcores, re.M)), 2, lcores)
        self.assertEqual(lcores.count('its part of the fragments of ports 0, 1'), 3, lcores)
        handed = [int(number) for number in re.findall(r'fragments to lcore \d: (\d+), dropped 0, waiting 0 of \d+',
                                                       lcores)]
        # Each of the two that receive has to do with two others; who polls port 1 gets nothing there.
        self.assertGreaterEqual(len(handed), 4, lcores)
        self.assertEqual(sum(1 for number in handed if number), 4, lcores)
        by_others = [int(number) for number in re.findall(r'port 1 by lcore 1: (\d+), dropped 0, waiting 0', lcores)]
        self.assertEqual(len(by_others), 2, lcores)
        budget = app.command('show budget')
        for pool in budget.split('Pool ')[1:]:
            size, *parts = [int(number) for number in re.findall(r' (\d+)$', pool, re.M)][:9]
            self.assertEqual((len(parts), size), (8, sum(parts)), pool)
            self.assertGreater(int(re.search(r'between workers, at most +(\d+)', pool).group(1)), 0)
        self.assertIn('+ between two workers', app.command('show check'))
        app.command('stop')
        check = app.check()
        self.assertTrue(check['fragments_ok'] and check['frames_ok'] and check['mbufs_ok'])
        app.command('start')
        self.assertEqual(app.stop('quit'), 0, app.log[-3000:])

    def test_clock_of_the_capture_takes_one_worker(self):
        capture.write_pcap(self.folder / 'in0', [])
        capture.write_pcap(self.folder / 'in1', [])
        done = subprocess.run(
            appliance.command_line(BINARY, self.vdevs(1), ['--clock', 'rx-timestamp'], appliance.eal(512, 2)),
            cwd=self.folder, stdin=subprocess.DEVNULL, text=True, timeout=60, capture_output=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('one worker only', done.stderr)


if __name__ == '__main__':
    raise SystemExit(tap.main())
