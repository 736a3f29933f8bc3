#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What leaves: whole, as clean fragments, or not at all, byte for byte."""
import random

from harness import BumpTest, packet, tap


def mine(frame):
    return frame[6:12] == packet.MAC_A


def datagram(family, ident, size, **fields):
    ends = ('10.9.0.1', '10.9.0.2') if family == 4 else ('fd09::1', 'fd09::2')
    return packet.Datagram(*ends, random.Random(ident).randbytes(size), ident=ident, **fields)


def shuffled(frames, seed=1):
    return random.Random(seed).sample(frames, len(frames))


class Output(BumpTest):
    def send(self, data, size, frames=None):
        self.right.forget()
        self.left.send(*(frames or shuffled(data.fragments(size))))

    def expect(self, frames):
        got = self.right.drain(0.5, mine, max(1, len(frames)))
        self.assertEqual([frame.hex() for frame in got], [frame.hex() for frame in frames])

    def setUp(self):
        super().setUp()
        self.left, self.right = self.wires()

    def test_whole_or_refragment(self):
        self.start()
        for family in (4, 6):
            with self.subTest(family=family):
                small, large = datagram(family, 1, 1200), datagram(family, 2, 3003)
                self.send(small, 496)
                self.expect([small.whole()])
                # No piece is larger than the largest that came in; the last one is not a multiple of 8.
                self.send(large, 1000)
                self.expect(large.fragments(1000))
        self.assertCounters(sent_whole=2, sent_refragmented=2)

    def test_refragment(self):
        self.start('--output', 'refragment')
        for family in (4, 6):
            with self.subTest(family=family):
                small = datagram(family, 3, 1203)
                self.send(small, 496)
                self.expect(small.fragments(496))
        self.assertCounters(sent_refragmented=2)

    def test_whole_only(self):
        self.start('--output', 'whole-only')
        for family in (4, 6):
            with self.subTest(family=family):
                small, large = datagram(family, 4, 1200), datagram(family, 5, 3003)
                self.send(large, 1000)
                self.expect([])
                self.send(small, 496)
                self.expect([small.whole()])
        self.assertCounters(sent_whole=2, too_big_for_egress=2)

    def test_mode_changes_while_running(self):
        self.start()
        small = datagram(4, 6, 1203)
        for mode, frames in (('refragment', small.fragments(496)), ('whole-or-refragment', [small.whole()]),
                             ('whole-only', [small.whole()]), ('refragment', small.fragments(496))):
            with self.subTest(mode=mode):
                self.app.command('set output ' + mode)
                self.send(small, 496)
                self.expect(frames)

    def test_smaller_egress(self):
        """An egress MTU below the fragments' size cuts them smaller, with headers of every kind in each piece."""
        self.start('--mtu', '1=600')
        copied, first_only = b'\x94\x04\0\0', b'\x07\x07\x04\0\0\0\0\0'     # router alert (copy bit), record route
        four = datagram(4, 7, 3001, options=copied + first_only, tos=0xb8, ttl=17)
        fragments = [four.fragment(0, 1400, True)]
        four.options = copied
        fragments += [four.fragment(1400, 1400, True), four.fragment(2800, 1400, False)]
        self.send(four, 0, fragments)
        # RFC 791: the first piece has all options, the others only those with the copy bit.
        four.options = copied + first_only
        want = [four.fragment(0, 568, True)]
        four.options = copied
        want += [four.fragment(at, 576, at + 576 < 3001) for at in range(568, 3001, 576)]
        self.expect(want)
        six = datagram(6, 8, 3001, extensions=((0, b'\0\x01\x04\0\0\0\0'),), tos=0xb8, ttl=17)
        self.send(six, 1400)
        self.expect(six.fragments((600 - 40 - 8 - 8) & ~7))

    def test_duplicates_and_order(self):
        self.start()
        for family in (4, 6):
            data = datagram(family, 9, 20000)
            frames = data.fragments(1400)
            with self.subTest(family=family):
                self.send(data, 0, shuffled(frames[:-1] * 2, 3) + frames[-1:])
                self.expect(frames)
        self.assertCounters(duplicate=2 * (len(frames) - 1))

    def test_padding_is_cut_off(self):
        self.start()
        data = datagram(4, 10, 1005)
        self.send(data, 0, [data.fragment(0, 1000, True), data.fragment(1000, 5, False, padding=21)])
        self.expect([data.whole()])


if __name__ == '__main__':
    raise SystemExit(tap.main())
