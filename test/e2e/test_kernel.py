#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What else two kernels say to each other: ARP, neighbour discovery, echo requests of 60,000 bytes, TCP."""
from harness import BumpTest, tap, traffic

MEGABYTE = 1 << 20


class Kernel(BumpTest):
    def neighbour(self, family):
        """One small ping between ends that do not know each other yet."""
        self.start(resolve=False)
        sender, receiver = self.ends(family)
        for ns in (self.bump.sender, self.bump.receiver):
            ns.ip('neigh', 'flush', 'all')
        self.assertGood(traffic.ping(self.bump.sender, receiver, 56, count=1))
        self.assertIn('lladdr', self.bump.sender.ip('neigh', 'show', receiver))
        self.assertIn('lladdr', self.bump.receiver.ip('neigh', 'show', sender))
        self.assertCounters(fragments_in=0)

    def test_arp(self):
        self.neighbour(4)

    def test_neighbour_discovery(self):
        self.neighbour(6)

    def test_ping(self):
        self.start()
        for family in (4, 6):
            with self.subTest(family=family):
                self.assertGood(traffic.ping(self.bump.sender, self.ends(family)[1], 60000))
        # 41 or 42 fragments each way, joined and fragmented again each way
        self.assertCounters(sent_refragmented=2 * 2 * 5)

    def test_tcp(self):
        self.start()
        for family in (4, 6):
            sender, receiver = self.ends(family)
            with self.subTest(family=family, way='there'):
                self.assertTrue(traffic.tcp_transfer(self.bump.sender, self.bump.receiver, receiver, 4 * MEGABYTE))
            with self.subTest(family=family, way='back'):
                self.assertTrue(traffic.tcp_transfer(self.bump.receiver, self.bump.sender, sender, 4 * MEGABYTE))
        self.assertSoon(lambda counters: counters['passed'] > 4 * 4 * MEGABYTE // 1500)
        self.assertCounters(fragments_in=0)

    def test_tcp_beside_fragments(self):
        self.start()
        for _ in range(4):
            self.assertTrue(traffic.tcp_transfer(self.bump.sender, self.bump.receiver, self.bump.RECEIVER4, MEGABYTE))
            self.assertGood(self.exchange([3000, 20000, 65507], 4))


class LargeEgress(BumpTest):
    egress_mtu = 65535

    def test_ping(self):
        self.start()
        for target in (self.bump.RECEIVER4, self.bump.RECEIVER6):
            with self.subTest(target=target):
                self.assertGood(traffic.ping(self.bump.sender, target, 60000))
        # requests leave whole; the replies come in fragments and leave by the port of MTU 1500
        self.assertCounters(sent_whole=10, sent_refragmented=10)


if __name__ == '__main__':
    raise SystemExit(tap.main())
