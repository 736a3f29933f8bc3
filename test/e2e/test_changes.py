#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that change and shows that look while two workers receive as fast as they can: the accounts stay closed."""
import itertools
import pathlib
import random
import tempfile
import unittest

from harness import BINARY, appliance, capture, packet, tap, wait_for

SOURCES = 60
ROUNDS = 3
CHANGES = [
    'set budget 40', 'set max-fragments 3', 'set timeout4 1', 'set output refragment', 'set source-prefix4 8',
    'set verify-l4 on', 'set budget 20%', 'set header-chain off', 'set timeout6 1', 'set bypass on',
    'set source-prefix6 16', 'set bypass off', 'set output whole-only', 'set max-fragments 128', 'set budget 300',
    'flush reassembly', 'set timeout4 120000', 'set source-prefix4 32', 'set header-chain on', 'set timeout6 10000',
    'set output whole-or-refragment', 'set verify-l4 off', 'stop', 'start', 'set source-prefix6 64', 'set budget 2',
    'load %s', 'set budget 3000',
]
SHOWS = ['show reassembly datagrams top 1000', 'show reassembly sources top 1000', 'show reassembly stats',
         'show reassembly drops', 'show lcores', 'show budget']


def frames():
    """Datagrams of many sources: whole ones out of order, some that lack a fragment, and frames that are none."""
    chosen, out = random.Random(5), []
    for number in range(6 * SOURCES):
        ends = ('10.1.%d.1' % (number % SOURCES), '10.2.0.1') if number % 3 else ('fd01:%x::1' % (number % SOURCES),
                                                                                 'fd02::1')
        pieces = packet.Datagram(*ends, chosen.randbytes(2800), ident=number).fragments(504)
        chosen.shuffle(pieces)
        out += pieces[number % 5 == 0:]
        out.append(packet.Datagram('10.3.0.1', '10.4.0.1', b'%08d' % number, protocol=253).whole())
    return out


class Changes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / 'commands'
        self.file.write_text('set timeout4 2000\nset budget 10%\nset bypass off\nset max-fragments 128\n')
        capture.write_pcap(self.folder / 'in', frames())
        vdevs = ['net_pcap%d,rx_pcap=%s,infinite_rx=1' % (number, self.folder / 'in') for number in (0, 1)]
        self.app = appliance.Appliance(BINARY, vdevs, ['--total-num-mbufs', '16383', '--steer', 'on'],
                                       eal=appliance.eal(512, 2))
        self.addCleanup(self.app.close)

    def received(self):
        return self.app.port(0)['received']

    def assertClosed(self, when):
        """Forwarding is stopped."""
        check = self.app.check()
        self.assertTrue(check['fragments_ok'] and check['frames_ok'] and check['mbufs_ok'], (when, check))
        self.assertEqual((check['held'], check['lost']), (0, 0), when)

    def assertTraffic(self):
        before = self.received()
        self.assertTrue(wait_for(lambda: self.received() > before))

    def test_everything_changes(self):
        self.assertTraffic()
        shows = itertools.cycle(SHOWS)
        for number in range(ROUNDS):
            order = list(CHANGES)
            if number:
                random.Random(number).shuffle(order)
            for line in order:
                text = self.app.command(line % self.file if '%s' in line else line)
                # Stop and start may come in any order.
                if 'already' not in text and not line.startswith('flush'):
                    self.assertEqual(text, '', line)
                self.assertGreater(len(self.app.command(next(shows))), 10)
                if line == 'stop':
                    self.assertClosed(line)
            # Exact when it is quiet: every fragment and every frame of the round, and every mbuf.
            self.app.command('stop')
            self.assertClosed(number)
            self.assertEqual(self.app.command('start'), '')
            self.assertTraffic()
        self.settle()

    def test_budget_holds(self):
        """It is come down to within a moment, and everything that is held fits."""
        for budget in (3000, 500, 40, 2, 3000):
            self.assertEqual(self.app.command('set budget %d' % budget), '')
            self.assertTraffic()
            self.assertTrue(wait_for(lambda limit=budget: self.app.counters()['held_mbufs'] <= limit), budget)
        self.settle()

    def settle(self):
        self.assertEqual(self.app.command('stop'), '')
        self.assertClosed('the end')
        self.assertGreater(self.app.counters()['completed'], 0)
        self.assertEqual(self.app.stop('quit'), 0, self.app.log[-3000:])


if __name__ == '__main__':
    raise SystemExit(tap.main())
