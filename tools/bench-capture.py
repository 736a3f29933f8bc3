#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure what a capture costs: frames a second of CPU time with and without, in turn, on one running fragmend.

Frames come from memory without end, some fragments, some hostile, and go nowhere. A figure is the median of some
rounds; in each round every row has its turn. `ratio` is to `off` of the same run.
"""
import argparse
import pathlib
import random
import statistics
import tempfile
import time

from lab import appliance, capture, packet

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = (
    ('off', None),
    ('drops', 'drops'),
    ('all', 'all'),
    ('all-fast', 'all rate 1000000'),
)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='where fragmend was built')
    parser.add_argument('--workers', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=2.0, help='that counters are apart')
    parser.add_argument('--folder', help='where the captures go and are deleted again; default: the system\'s for such')
    return parser.parse_args()


def frames():
    """One frame in ten is dropped at once; of the others two of three are fragments of datagrams that complete."""
    out = []
    for number in range(300):
        data = packet.Datagram('10.1.0.%d' % (number % 200), '10.2.0.1', random.Random(number).randbytes(1800),
                               ident=number)
        out += data.fragments(904) + [packet.Datagram('10.3.0.1', '10.2.0.1', bytes(600), protocol=253).whole()]
        if number % 3 == 0:
            out.append(data.fragment(0, 1001, True))
    return out


def worker_seconds(pid):
    """What all workers have had of the CPUs, so that a busy machine does not count."""
    seconds = 0.0
    for task in pathlib.Path('/proc/%d/task' % pid).iterdir():
        if 'worker' in (task / 'comm').read_text():
            seconds += int((task / 'schedstat').read_text().split()[0]) / 1e9
    return seconds


def rate(app, seconds):
    """Frames for each second of CPU time."""
    began, frames_in = worker_seconds(app.process.pid), app.counters()['frames_in']
    time.sleep(seconds)
    frames = app.counters()['frames_in'] - frames_in
    return frames / (worker_seconds(app.process.pid) - began)


def turn(app, words, path, seconds):
    if words is None:
        return rate(app, seconds)
    refused = app.command('capture start %s %s' % (path, words))
    if refused:
        raise SystemExit('bench-capture.py: ' + refused)
    figure = rate(app, seconds)
    app.command('capture stop')
    path.unlink()
    return figure


def main():
    args = parse()
    figures = {name: [] for name, _ in ROWS}
    with tempfile.TemporaryDirectory(dir=args.folder, prefix='fragmend-bench-') as folder:
        folder = pathlib.Path(folder)
        capture.write_pcap(folder / 'in.pcap', frames())
        app = appliance.Appliance(str(args.build / 'app/fragmend'),
                                  ['net_pcap0,rx_pcap=%s,infinite_rx=1' % (folder / 'in.pcap'), 'net_null1,no-rx=1'],
                                  ['--txq', '1'], eal=appliance.eal(workers=args.workers))
        try:
            for _ in range(args.rounds):
                for name, words in ROWS:
                    figures[name].append(turn(app, words, folder / 'out.pcapng', args.seconds))
            app.stop('quit')
        finally:
            app.close()
    off = statistics.median(figures['off'])
    print('%-10s %14s %8s' % ('row', 'frames/cpu-s', 'ratio'))
    for name, _ in ROWS:
        print('%-10s %14.0f %8.3f' % (name, statistics.median(figures[name]), statistics.median(figures[name]) / off))


if __name__ == '__main__':
    main()
