#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random captures through fragmend-pcap and through the reference model: the same frames, the same counts."""
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from harness import FRAGMEND_PCAP, appliance, capture, packet, tap
from lab import report

MODEL = os.environ.get('MODEL_PCAP', str(pathlib.Path(FRAGMEND_PCAP).parents[1] / 'test/e2e/model_pcap'))
TAGS = ((), ((packet.ETH_VLAN, 5),), ((packet.ETH_QINQ, 5), (packet.ETH_VLAN, 6)))
# Outcomes on the way out and of flushing are fragmend's own; the model ends where a datagram is joined.
ONLY_HERE = {'sent_whole', 'sent_refragmented', 'too_big_for_egress', 'too_big_frame', 'tx_full', 'tx_no_mbuf'}


class Capture:
    """A stream of frames of many datagrams, cut, doubled, overlapped, lost and mixed at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.frames = []
        streams = [self.stream(number) for number in range(60)]
        while any(streams):
            self.frames.append(self.random.choice([stream for stream in streams if stream]).pop(0))

    def stream(self, number):
        r = self.random
        four = r.random() < 0.5
        ends = ('10.1.0.%d' % r.randrange(4), '10.2.0.1') if four else ('fd01::%x' % r.randrange(4), 'fd02::1')
        data = packet.Datagram(*ends, r.randbytes(r.choice((8, 24, 64, 200, 1000, 3000, 9000))), ident=number,
                               protocol=r.choice((17, 6, 59) if not four else (17, 6, 1)), tos=r.choice((0, 0, 2, 184)),
                               ttl=r.randrange(1, 256), flags=r.choice((0, 0, 0, 2)), vlans=r.choice(TAGS))
        size = max(8, (len(data.payload) // r.randrange(1, 9) + 7) & ~7)
        pieces = [(at, min(size, len(data.payload) - at)) for at in range(0, len(data.payload), size)]
        r.choice((lambda x: None, r.shuffle, list.reverse))(pieces)
        frames = [self.frame(data, at, length) for at, length in pieces]
        self.disturb(data, pieces, frames)
        return frames

    def frame(self, data, at, length):
        padding = self.random.choice((0, 0, 0, 6))
        return data.fragment(at, length, at + length < len(data.payload), padding)

    def disturb(self, data, pieces, frames):
        r, kind = self.random, self.random.randrange(10)
        place = r.randrange(len(frames) + 1)
        at, length = r.choice(pieces)
        if kind == 0:
            frames.insert(place, r.choice(frames))                                          # an exact duplicate
        elif kind == 1:
            start = max(0, at - 8 * r.randrange(1, 4))
            frames.insert(place, self.frame(data, start, 8 * r.randrange(1, 8)))            # some overlap
        elif kind == 2:
            del frames[min(place, len(frames) - 1)]                                         # loss
        elif kind == 3:
            other = bytes(length)
            more = at + length < len(data.payload)
            frames.insert(place, data.fragment(at, length, more, payload=other))            # other bytes there
        elif kind == 4:
            frames.insert(place, data.fragment(at, length, True, payload=r.randbytes(13)))  # not a multiple of 8
        elif kind == 5:
            frames[min(place, len(frames) - 1)] = frames[0][:-r.randrange(1, 8)]            # cut off on the wire
        elif kind == 6:
            end = len(data.payload) + 7 & ~7
            frames.insert(place, data.fragment(end, 0, r.random() < 0.5, payload=r.randbytes(16)))  # behind the end


class Model(unittest.TestCase):
    def compare(self, seed, *options):
        frames = Capture(seed).frames
        with tempfile.TemporaryDirectory(prefix='fragmend-test-') as name:
            folder = pathlib.Path(name)
            capture.write_pcap(folder / 'in', frames)
            model = subprocess.run([MODEL, str(folder / 'in'), str(folder / 'model')], stdout=subprocess.PIPE,
                                   text=True, check=True)
            code, out, err = appliance.run([FRAGMEND_PCAP, str(folder / 'in'), str(folder / 'out'), *options])
            self.assertEqual(code, 0, out + err)
            want, got = (sorted(frame.hex() for frame in capture.read_pcap(folder / name)) for name in ('model', 'out'))
        self.assertEqual(got, want, 'seed %d' % seed)
        counts = {name: int(count) for name, count in (line.split() for line in model.stdout.splitlines())}
        mine = {name: count for name, count in report.outcomes(out).items() if count and name not in ONLY_HERE}
        self.assertEqual(mine, counts, 'seed %d' % seed)
        self.assertTrue(report.closing(out), out)

    def test_random_captures(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                self.compare(seed, '--clock', 'rx-timestamp')

    def test_by_wall_clock(self):
        for seed in range(40, 50):
            with self.subTest(seed=seed):
                self.compare(seed, '--clock', 'tsc')


if __name__ == '__main__':
    raise SystemExit(tap.main())
