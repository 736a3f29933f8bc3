#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bypass, start and stop, link-follow, several pairs and workers, loop."""
import itertools
import random
import re
import signal

from harness import BumpTest, appliance, capture, packet, tap, traffic, wait_for
from lab.netns import veth


def mine(frame):
    return frame[6:12] == packet.MAC_A


def datagram(ident, size=3000, source='10.9.0.1'):
    return packet.Datagram(source, '10.9.0.2', random.Random(ident).randbytes(size), ident=ident)


class Modes(BumpTest):
    def test_bypass(self):
        self.start()
        left, right = self.wires()
        held, data = datagram(1), datagram(2)
        left.send(held.fragment(0, 1000, True))
        self.assertCounters(held_fragments=1)
        self.app.command('set bypass on')
        # What was held is given back at once; what comes now passes as it came, disorder and doubles included.
        self.assertCounters(flushed=1)
        frames = [data.fragments(1000)[number] for number in (2, 0, 0, 1)]
        left.send(*frames)
        self.assertEqual([frame.hex() for frame in right.drain(0.5, mine, 4)], [frame.hex() for frame in frames])
        self.assertSoon(lambda counters: counters['bypassed'] >= 4)
        self.app.command('set bypass off')
        left.send(*reversed(data.fragments(1000)))
        self.assertEqual(right.drain(0.5, mine, 3), data.fragments(1000))

    def test_stop_and_start(self):
        self.start()
        left, right = self.wires()
        left.send(datagram(3).fragment(0, 1000, True))
        self.assertCounters(held_fragments=1)
        self.app.command('stop')
        self.assertCounters(held_fragments=0, flushed=1)
        left.send(*datagram(4).fragments(1000))
        self.assertEqual(right.drain(0.3, mine), [])
        self.app.command('start')
        self.assertGood(traffic.ping(self.bump.sender, self.bump.RECEIVER4, 5000))

    def test_link_follow(self):
        self.start()
        carrier = lambda: 'state UP' in self.bump.receiver.ip('link', 'show', 'r0')     # noqa: E731
        # The kernel tells of a link up to a second after frames pass.
        self.assertTrue(wait_for(lambda: self.bump.middle.ip('link').count('state UP') == 2))
        self.app.command('set link-follow on')
        self.assertTrue(wait_for(carrier), 'r0 has no link to begin with')
        self.bump.sender.ip('link', 'set', 's0', 'down')
        self.assertTrue(wait_for(lambda: not carrier()), 'r0 still has a link')
        self.bump.sender.ip('link', 'set', 's0', 'up')
        self.assertTrue(wait_for(carrier), 'r0 has no link again')
        self.bump.sender.ip('addr', 'replace', self.bump.SENDER6 + '/64', 'dev', 's0', 'nodad')
        self.bump.resolve()
        self.assertGood(traffic.ping(self.bump.sender, self.bump.RECEIVER4, 5000))

    def test_link_follow_lets_go(self):
        """A kernel interface that was taken down is up again afterwards, however link-follow ends."""
        drivers = (appliance.pcap_interface, appliance.xdp)
        is_up = lambda: re.search(r'[<,]UP[,>]', self.bump.middle.ip('link', 'show', 'm1'))     # noqa: E731
        ends = {'off': lambda: self.app.command('set link-follow off'),
                'quit': lambda: self.assertEqual(self.app.stop('quit'), 0),
                'off, quit': lambda: (self.app.command('set link-follow off'), self.app.stop('quit')),
                'SIGTERM': lambda: self.assertEqual(self.app.stop(signal.SIGTERM), 0)}
        for driver, (how, end) in itertools.product(drivers, ends.items()):
            with self.subTest(driver=driver.__name__, how=how):
                self.bump.sender.ip('link', 'set', 's0', 'up')
                self.start('--link-follow', resolve=False, vdevs=[driver(0, 'm0'), driver(1, 'm1')])
                self.assertTrue(is_up())
                self.bump.sender.ip('link', 'set', 's0', 'down')
                self.assertTrue(wait_for(lambda: not is_up()), 'm1 was not taken down')
                end()
                self.assertTrue(wait_for(is_up), 'm1 stays down')
                self.app.close()

    def test_no_link_follow(self):
        self.start()
        self.bump.sender.ip('link', 'set', 's0', 'down')
        self.assertTrue(wait_for(lambda: 'state UP' not in self.bump.middle.ip('link', 'show', 'm0')))
        self.assertIn('state UP', self.bump.receiver.ip('link', 'show', 'r0'))


class Pairs(BumpTest):
    """Two pairs of ports, two workers."""

    def setUp(self):
        super().setUp()
        veth(self.bump.sender, 's1', self.bump.middle, 'm2')
        veth(self.bump.receiver, 'r1', self.bump.middle, 'm3')

    def vdevs(self):
        return [appliance.xdp(number, 'm%d' % number) for number in range(4)]

    def test_workers(self):
        self.start(eal=appliance.eal(1024, 2))
        self.assertEqual(len(re.findall(r'port \d queue \d to port \d queue \d', self.app.command('show lcores'))), 4)
        for family in (4, 6):
            with self.subTest(family=family):
                self.assertGood(self.exchange([100, 1473, 5000, 30000, 65507] * 4, family))
                self.assertGood(traffic.ping(self.bump.sender, self.ends(family)[1], 60000))
        self.assertTrue(traffic.tcp_transfer(self.bump.sender, self.bump.receiver, self.bump.RECEIVER4, 1 << 20))

    def test_pairs_do_not_mix(self):
        """Halves of one datagram on the ingress ports of two pairs make no datagram; each pair keeps to itself."""
        self.start(eal=appliance.eal(1024, 2))
        lefts, rights = ([capture.Wire(ns, device) for device in devices] for ns, devices in (
            (self.bump.sender, ('s0', 's1')), (self.bump.receiver, ('r0', 'r1'))))
        for wire in lefts + rights:
            self.addCleanup(wire.close)
        first, second = datagram(1, 1600).fragments(800)
        lefts[0].send(first)
        lefts[1].send(second)
        self.assertCounters(held_fragments=2)
        lefts[0].send(second)
        self.assertEqual(rights[0].drain(0.5, mine, 2), [first, second])
        self.assertEqual(rights[1].drain(0.3, mine), [])
        lefts[1].send(first)
        self.assertEqual(rights[1].drain(0.5, mine, 2), [first, second])


class Loop(BumpTest):
    """Each port sends back what it gets."""

    def test_loop(self):
        self.start('--port-topology', 'loop', resolve=False)
        left, right = self.wires()
        for number, wire in enumerate((left, right)):
            data = datagram(number, 1000)
            wire.send(*data.fragments(400))
            got = wire.drain(0.5, mine, 1)
            self.assertEqual([frame.hex() for frame in got], [data.whole().hex()])


if __name__ == '__main__':
    raise SystemExit(tap.main())
