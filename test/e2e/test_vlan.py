#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fragments under one and two VLAN tags, of kernels and by hand."""
import random

from harness import BumpTest, packet, tap, traffic
from lab.tagged import TaggedHost

DOT1Q, DOT1AD = packet.ETH_VLAN, packet.ETH_QINQ
TAGS = {
    '802.1Q': ((DOT1Q, 100),),
    '802.1Q with priority and DEI': ((DOT1Q, 7 << 13 | 1 << 12 | 4094),),
    '802.1ad': ((DOT1AD, 200),),
    '802.1ad over 802.1Q': ((DOT1AD, 3 << 13 | 200), (DOT1Q, 5 << 13 | 100)),
    '802.1Q twice': ((DOT1Q, 200), (DOT1Q, 100)),
}


class Vlan(BumpTest):
    mtu = 1508      # room for two tags in front of 1500 bytes of IP

    def kernels(self, vlans):
        hosts = [TaggedHost(self.bump.sender, 's0', self.bump.SENDER4, self.bump.SENDER6, vlans),
                 TaggedHost(self.bump.receiver, 'r0', self.bump.RECEIVER4, self.bump.RECEIVER6, vlans)]
        for host in hosts:
            self.addCleanup(host.close)
        self.start()
        for family, target in ((4, self.bump.RECEIVER4), (6, self.bump.RECEIVER6)):
            with self.subTest(family=family):
                self.assertGood(self.exchange([100, 1472, 1473, 4000, 20000, 65507], family, window=1))
                self.assertGood(traffic.ping(self.bump.sender, target, 60000, count=2))
        self.assertSoon(lambda counters: counters['sent_refragmented'] > 2 * 3 + 2 * 4)

    def test_kernels_8021q(self):
        self.kernels(TAGS['802.1Q'])

    def test_kernels_8021ad(self):
        self.kernels(TAGS['802.1ad over 802.1Q'])

    def test_tags_stay(self):
        """Whatever the tags, the datagram leaves whole and with them, priority and DEI included."""
        self.start()
        left, right = self.wires()
        for ident, (title, vlans) in enumerate(TAGS.items()):
            for source, destination in (('10.9.0.1', '10.9.0.2'), ('fd09::1', 'fd09::2')):
                with self.subTest(tags=title, source=source):
                    datagram = packet.Datagram(source, destination, random.Random(ident).randbytes(1300), ident=ident,
                                               vlans=vlans)
                    left.send(*datagram.fragments(504))
                    got = right.drain(1.0, lambda frame: frame[6:12] == packet.MAC_A, 1)
                    self.assertEqual([frame.hex() for frame in got], [datagram.whole().hex()])

    def test_vlans_do_not_mix(self):
        self.start()
        left, right = self.wires()
        parts = [packet.Datagram('10.9.0.1', '10.9.0.2', bytes(1000), ident=9, vlans=vlans).fragments(504)[number % 2]
                 for number, vlans in enumerate([(), ((DOT1Q, 1),), ((DOT1Q, 2),), ((DOT1AD, 2), (DOT1Q, 1))])]
        left.send(*parts)
        self.assertEqual(right.drain(0.4, lambda frame: frame[6:12] == packet.MAC_A), [])
        self.assertCounters(held_fragments=4)


if __name__ == '__main__':
    raise SystemExit(tap.main())
