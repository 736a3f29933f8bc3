#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bypass switched on and off under traffic: plain frames lose nothing and keep their order; fragments that were held at
the switch, or whose datagram lies on both sides of it, have a name and are counted."""
from harness import BumpTest, appliance, tap, wait_for
from lab import hops

SWITCHES = 10


class Bypass(BumpTest):
    def setUp(self):
        super().setUp()
        for ns in (self.bump.sender, self.bump.receiver):
            ns.sysctl('net/ipv6/conf/all/disable_ipv6', 1)

    def switch_under_traffic(self, *options, **how):
        self.start(*options, resolve=False, **how)
        left, right = self.wires()
        # One datagram that is held for certain when bypass comes.
        left.send(hops.datagram(1 << 24).fragment(0, 800, True))
        self.assertCounters(held_fragments=1)
        devices = {'s0': self.bump.sender, 'm0': self.bump.middle, 'm1': self.bump.middle, 'r0': self.bump.receiver}
        before, stream = hops.Hops(self.app, devices), hops.Stream(left, right)
        with stream:
            for number in range(SWITCHES):
                self.assertTrue(wait_for(stream.progress()), 'no traffic')
                self.app.command('set bypass ' + ('off' if number % 2 else 'on'))
                if number == 0:
                    self.assertSoon(lambda counters: counters['flushed'] >= 1)
            self.assertTrue(wait_for(stream.progress()), 'no traffic')
        self.app.command('flush reassembly')
        self.assertCounters(held_fragments=0)
        self.assertAccounted(before.since(), stream)

    def assertAccounted(self, c, stream):
        message = '%s\naccepted %s, got %d' % (dict(c), stream.accepted, len(stream.got))
        accepted = sum(stream.accepted.values())
        self.assertEqual(stream.refused, {}, message)
        # The kernel: what it lost it says, and it lost nothing here.
        lost = c['s0', 'tx_bad'] + c['xdp', 'rx_dropped'] + c['xdp', 'rx_ring_full'] + c['m1', 'tx_bad']
        self.assertEqual(accepted, c['s0', 'tx'] + c['s0', 'tx_bad'], message)
        self.assertEqual(lost, 0, message)
        self.assertEqual(accepted, c[0, 'received'], message)
        # fragmend: the one held fragment of the beginning came before the stream.
        gone = c['count', 'flushed'] - 1 + c['count', 'timeout'] + c['count', 'condemned']
        self.assertEqual(c[0, 'received'], len(stream.got) + gone, message)
        self.assertEqual(c[1, 'sent'], len(stream.got), message)
        self.assertGreater(c['count', 'bypassed'], 0, message)
        self.assertGreater(c['count', 'completed'], 0, message)
        # Plain frames: all of them, each flow in order.
        self.assertEqual(stream.plain_received(), stream.accepted['plain'], message)
        for flow, numbers in stream.flows_received().items():
            self.assertEqual(numbers, sorted(set(numbers)), 'order of flow %d' % flow)

    def test_one_worker(self):
        self.switch_under_traffic()

    def test_steered(self):
        """Fragments are on their way between two workers when bypass comes."""
        self.switch_under_traffic('--steer', 'on', eal=appliance.eal(workers=2))


if __name__ == '__main__':
    raise SystemExit(tap.main())
