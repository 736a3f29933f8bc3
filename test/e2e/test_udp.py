#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""UDP between two kernels, in 30 sizes and both families: every payload arrives with the SHA-256 it was sent with."""
from harness import BumpTest, capture, packet, tap

# Around one fragment, around two, multiples of 8 and not, many fragments, the largest there is.
SIZES = [100, 700, 1400, 1451, 1452, 1453, 1471, 1472, 1473, 1474, 1480, 1481, 2000, 2896, 2897, 2945, 2952, 2953, 4001,
         5000, 8192, 9000, 12345, 16384, 20000, 30001, 40000, 50003, 65000, 65507]
MTU = 1500
LARGEST_V6 = 65527              # payload length field of 16 bits, less the UDP header
WHOLE = 65535 - 14              # IP packet in the largest frame that one mbuf holds: net_pcap wants it in one
WHOLE_V4, WHOLE_V6 = WHOLE - 28, WHOLE - 48


def fragmented(size, family):
    return size + (28 if family == 4 else 48) > MTU


class Refragmented(BumpTest):
    """Both ports have an MTU of 1500."""

    def both_ways(self, sizes, family):
        self.start()
        self.assertGood(self.exchange(sizes, family))
        self.assertCounters(sent_refragmented=sum(fragmented(size, family) for size in sizes))
        self.assertCounters(completed=self.app.counters()['fragments_in'])

    def test_v4(self):
        self.both_ways(SIZES, 4)

    def test_v6(self):
        self.both_ways(SIZES + [LARGEST_V6], 6)


class Whole(BumpTest):
    """The egress takes frames of 65,535 bytes; the receiving kernel gets no fragment at all."""

    egress_mtu = 65535

    def all_whole(self, sizes, family):
        wire = capture.Wire(self.bump.receiver, 'r0')
        self.addCleanup(wire.close)
        self.start()
        self.assertGood(self.exchange(sizes, family))
        self.assertCounters(sent_whole=sum(fragmented(size, family) for size in sizes))
        arrived = [packet.dissect(frame) for frame in wire.drain(0.2)]
        udp = [seen for seen in arrived if seen.protocol == packet.UDP]
        self.assertEqual([seen for seen in udp if packet.is_fragment(seen)], [])
        self.assertEqual(sorted(len(seen.body) - 8 for seen in udp), sorted(sizes))

    def test_v4(self):
        self.all_whole([size for size in SIZES if size <= WHOLE_V4] + [WHOLE_V4], 4)

    def test_v6(self):
        self.all_whole([size for size in SIZES if size <= WHOLE_V6] + [WHOLE_V6], 6)

    def test_larger_ones_are_fragmented_again(self):
        self.start()
        self.assertGood(self.exchange([SIZES[-1], WHOLE_V4 + 1], 4))
        self.assertGood(self.exchange([LARGEST_V6, WHOLE_V6 + 1], 6))
        self.assertCounters(sent_refragmented=4, sent_whole=0)


if __name__ == '__main__':
    raise SystemExit(tap.main())
