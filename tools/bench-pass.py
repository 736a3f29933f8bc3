#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure what passing frames costs: fragmend beside dpdk-testpmd --forward-mode=io, in turn, on the same ports.

A figure is the median of some rounds; in each round both programs run once for each row. doc/performance.md tells more.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

from lab import appliance, capture, hugepages, pass_rig, pass_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEGABYTES = 512
RELEASE_S, TRIES = 2, 3         # until the kernel has hugepages back that a dead process had
COLUMNS = ('row', 'traffic', 'vdevs', 'fragmend_pps', 'testpmd_pps', 'ratio')


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('rows', nargs='*', metavar='ROW', help='regular expressions of rows, such as ipv4-64/pcap-null;'
                        ' default: all')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', help='where fragmend was built')
    parser.add_argument('--fragmend', type=pathlib.Path, help='another fragmend')
    parser.add_argument('--testpmd', default='dpdk-testpmd')
    parser.add_argument('--mode', default='io', help='of forwarding, of testpmd; mac and macswap look at each frame')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=2.0, help='that counters are apart')
    parser.add_argument('--tsv', action='store_true', help='tab-separated, and nothing else on standard output')
    parser.add_argument('--list', action='store_true', help='the rows and their targets')
    return parser.parse_args()


def chosen(patterns):
    return [row for row in pass_rows.rows() if not patterns or any(re.search(p, row.name) for p in patterns)]


def one(row, path, plugin, program, args):
    for left in range(TRIES - 1, -1, -1):
        with hugepages.reserved(MEGABYTES) as memory:
            if '--no-huge' in memory:
                raise SystemExit('bench-pass.py: %d MB of hugepages are not to be had' % MEGABYTES)
            eal = (*memory, '--no-pci', *appliance.lcores())
            try:
                return pass_rig.run(row, path, program, args.mode, eal, args.seconds, plugin,
                                    pass_rows.LOOP_FRAMES)
            except (RuntimeError, OSError) as error:
                if left == 0:
                    raise
                print('bench-pass.py: once more: %s' % error, file=sys.stderr)
        time.sleep(RELEASE_S)
    raise AssertionError


def measure(row, args):
    """{program: its runs}"""
    programs = {'fragmend': str(args.fragmend or args.build / 'app/fragmend'), 'testpmd': args.testpmd}
    runs = {name: [] for name in programs}
    # EAL takes no plug-in out of a directory below one that all may write to.
    with tempfile.TemporaryDirectory(dir='/run', prefix='fragmend-pass-') as directory:
        path, plugin = directory + '/in.pcap', directory + '/bench_fill.so'
        shutil.copy(args.build / 'test/bench/bench_fill.so', plugin)
        capture.write_pcap(path, row.frames())
        for turn in range(args.rounds):
            # Who is first takes turns, too.
            for name in sorted(programs, reverse=turn % 2 == 1):
                runs[name].append(one(row, path, plugin, programs[name], args))
    return runs


def say(row, figures, runs, args):
    line = (row.name, row.traffic, row.vdevs, '%.0f' % figures['fragmend'], '%.0f' % figures['testpmd'],
            '%.3f' % (figures['fragmend'] / figures['testpmd']))
    if args.tsv:
        print('\t'.join(line), flush=True)
        return
    shares = [run.share for of in runs.values() for run in of]
    spread = max((max(run.pps for run in of) - min(run.pps for run in of)) / figures[name] for name, of in runs.items())
    print('%-34s %12.2f %12.2f %7s %7.2f %-8s %7.2f %8.0f %%' % (
        row.name, figures['fragmend'] / 1e6, figures['testpmd'] / 1e6, line[-1], row.target,
        'reached' if float(line[-1]) >= row.target else 'MISSED', statistics.median(shares), 100 * spread), flush=True)


def main():
    args = parse()
    rows = chosen(args.rows)
    if not rows:
        raise SystemExit('bench-pass.py: no such row; --list shows them')
    if args.list:
        for row in rows:
            print('%-34s %.2f' % (row.name, row.target))
        return
    if os.geteuid() != 0:
        raise SystemExit('bench-pass.py: root only (hugepages)')
    if shutil.which(args.testpmd) is None:
        raise SystemExit('bench-pass.py: no %s; tools/setup.sh installs it' % args.testpmd)
    if args.tsv:
        print('\t'.join(COLUMNS), flush=True)
    else:
        print('median of %d rounds of %g s; millions of frames received per second that the forwarding thread ran\n' % (
            args.rounds, args.seconds))
        print('%-34s %12s %12s %7s %7s %-8s %7s %10s' % ('row', 'fragmend', 'testpmd', 'ratio', 'target', '',
                                                         'of CPU', 'spread'))
    for row in rows:
        runs = measure(row, args)
        say(row, {name: statistics.median(run.pps for run in of) for name, of in runs.items()}, runs, args)


if __name__ == '__main__':
    main()
