#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is no fragment passes byte for byte, in order, in both directions, whatever it is."""
import random
import struct

from harness import BumpTest, packet, tap

A, B = packet.MAC_A, packet.MAC_B
# Slow protocols and spanning tree go to addresses that bridges must not forward; a wire forwards them.
PROTOCOLS = {
    'arp': (b'\xff' * 6, 0x0806), 'lldp': (bytes.fromhex('0180c200000e'), 0x88cc),
    'lacp': (bytes.fromhex('0180c2000002'), 0x8809), 'stp': (bytes.fromhex('0180c2000000'), 0x0026),
    'eapol': (bytes.fromhex('0180c2000003'), 0x888e), 'mpls': (B, 0x8847), 'pppoe': (B, 0x8864), 'ptp': (B, 0x88f7),
    'macsec': (B, 0x88e5), 'experimental': (B, 0x88b5), 'vlan of lldp': (B, 0x8100),
}


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def other_protocols():
    for number, (destination, ethertype) in enumerate(PROTOCOLS.values()):
        head = destination + A + struct.pack('!H', ethertype)
        if ethertype == 0x8100:
            head += struct.pack('!HH', 0x6064, 0x88cc)
        for size in (60, 61, 333, 1514):
            yield head + noise(number * 4 + size, size - len(head))


def plain_ip():
    """IP that is whole: with options, with a wrong checksum, with padding, with extension headers, with DF."""
    four = packet.Datagram('10.9.0.1', '10.9.0.2', packet.udp('10.9.0.1', '10.9.0.2', 1, 2, noise(1, 500)), flags=2)
    six = packet.Datagram('fd09::1', 'fd09::2', packet.udp('fd09::1', 'fd09::2', 1, 2, noise(2, 500)))
    wrong = bytearray(four.whole())
    wrong[24] ^= 0xff
    four_options = packet.Datagram('10.9.0.1', '10.9.0.2', noise(3, 64), options=b'\x07\x07\x04\0\0\0\0\0')
    six_ext = packet.Datagram('fd09::1', 'fd09::2', noise(4, 64), extensions=((0, b'\0\x01\x04\0\0\0\0'),))
    return [four.whole(), six.whole(), bytes(wrong), four_options.whole(), six_ext.whole(),
            four.whole()[:14] + four.ipv4(b'', 0, 0) + bytes(26)]


def malformed():
    """Headers that cannot be parsed and are not provably a fragment's."""
    good = bytearray(packet.Datagram('10.9.0.1', '10.9.0.2', noise(5, 100)).whole())
    short_header, long_total, version = good[:], good[:], good[:]
    short_header[14] = 0x44
    long_total[16:18] = struct.pack('!H', 1400)
    version[14] = 0x65
    return [bytes(short_header), bytes(long_total), bytes(version), bytes(good[:14]) + b'\x45' + bytes(45)]


class Transparent(BumpTest):
    def through(self, frames):
        """There, then back."""
        self.start()
        left, right = self.wires()
        for here, there, title in ((left, right, 'there'), (right, left, 'back')):
            with self.subTest(way=title):
                there.forget()
                here.send(*frames)
                got = there.drain(0.5, lambda frame: frame[6:12] == A, len(frames))
                self.assertEqual([frame.hex() for frame in got], [frame.hex() for frame in frames])

    def test_other_protocols(self):
        frames = list(other_protocols())
        self.through(frames)
        self.assertCounters(fragments_in=0)

    def test_plain_ip(self):
        self.through(plain_ip())
        self.assertCounters(fragments_in=0)

    def test_malformed(self):
        frames = malformed()
        self.through(frames)
        self.assertSoon(lambda counters: counters['passed_malformed'] >= 2 * 2)

    def test_fragments_both_ways(self):
        # Directions do not mix: one identification, one half from either side, makes no datagram.
        self.start()
        left, right = self.wires()
        datagram = packet.Datagram('10.9.0.1', '10.9.0.2', noise(6, 1600), ident=77)
        first, second = datagram.fragments(800)
        left.send(first)
        right.send(second)
        mine = lambda frame: frame[6:12] == A       # noqa: E731
        self.assertEqual(left.drain(0.3, mine) + right.drain(0.3, mine), [])
        left.send(second)
        right.send(first)
        self.assertEqual(len(right.drain(0.5, mine)), 2)
        self.assertEqual(len(left.drain(0.5, mine)), 2)


if __name__ == '__main__':
    raise SystemExit(tap.main())
