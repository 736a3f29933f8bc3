#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure the wire table: what a Linux kernel reassembles alone, and what it does behind fragmend.

Each row of traffic is sent over veth in network namespaces to a Linux kernel that reassembles, in three settings:
straight; through fragmend with a budget as small as the receiver's limit; through fragmend with its own budget.
A run in which any hop has lost a frame is void and is repeated; it never becomes a figure. doc/wire.md tells more.
"""
import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from lab import appliance, hugepages, wire_rig, wire_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEGABYTES = 512
TRIES = 4               # a run, and three more when that one is void
RELEASE_S = 2           # until the kernel has hugepages back that a dead process had
SETTINGS = ('straight', 'small', 'default')
COLUMNS = ('row', 'params', 'setting', 'offered', 'delivered', 'ratio', 'ideal', 'target', 'void_runs',
           'fragments_per_s', 'notes')


def fragmend_options(row, setting):
    return (*row.options, *(('--budget', str(row.small_budget)) if setting == 'small' else ()))


def worst_sender(row, run):
    """The smallest part of its datagrams that a steady sender got through."""
    return min((got[1] / offered[1] for offered, got in
                zip(run.sent_by_sender[:row.senders], run.received_by_sender, strict=False) if offered[1]), default=0)


def bounds(row, budget):
    """What memory allows at best, if that is less than all."""
    if row.peak_mbufs <= budget:
        return None
    return min(1.0, budget / row.mean_mbufs), min(1.0, budget / row.peak_mbufs)


def notes(row, run, setting, seconds):
    said = ['%g s' % seconds, 'limit %d' % row.limit_bytes]
    if setting != 'straight':
        said.append('budget %d' % run.budget_mbufs)
        if row.peak_mbufs:
            limits = bounds(row, run.budget_mbufs)
            said.append('area bound %.4f, peak bound %.4f' % limits if limits else 'all fits the budget')
    said.append('complete on the wire %d' % run.sent['complete_' + row.measure])
    said.append('worst sender %.4f' % worst_sender(row, run))
    said.append('kernel: %(IpReasmOKs)d joined, %(IpReasmFails)d failures' % run.reassembly)
    said += ['fragmend: %s %d' % (name, count) for name, count in sorted(run.counters.items())
             if count and name.startswith(('evicted_', 'refused_', 'condemned', 'timeout', 'overlap', 'duplicate'))]
    return '; '.join(said)


def wanted(row, run, setting):
    """The target, for fragmend with its own budget only."""
    if setting != 'default':
        return '-'
    limits = bounds(row, run.budget_mbufs) if row.peak_mbufs else None
    return '%.4f' % (min(limits) if limits else row.target)


def figures(row, run, setting, seconds, void):
    offered, got = run.sent['offered_' + row.measure], run.received['distinct_' + row.measure]
    return {'row': row.name, 'params': row.params, 'setting': setting, 'offered': offered, 'delivered': got,
            'ratio': '%.4f' % (got / offered), 'ideal': '%.4f' % row.ideal, 'target': wanted(row, run, setting),
            'void_runs': void, 'fragments_per_s': '%.0f' % run.fragments_per_s,
            'notes': notes(row, run, setting, seconds)}


def void_line(row, setting, void, reasons):
    """No figure: each try was void."""
    return {**dict.fromkeys(COLUMNS, '-'), 'row': row.name, 'params': row.params, 'setting': setting, 'ratio': 'VOID',
            'ideal': '%.4f' % row.ideal, 'void_runs': void, 'notes': '; '.join(reasons)}


def one_run(row, setting, args):
    """Hugepages are reserved for this run alone: other programs may take and give back some, too."""
    fragmend = None if setting == 'straight' else str(args.build / 'app/fragmend')
    with hugepages.reserved(MEGABYTES) if fragmend else contextlib.nullcontext(()) as memory:
        if '--no-huge' in memory:
            raise RuntimeError('%d MB of hugepages are not to be had' % MEGABYTES)
        return wire_rig.run(row.send(args.seconds), row.senders + row.extra, args.seed, args.seconds, row.limit_bytes,
                            args.build / 'test/wire', fragmend, fragmend_options(row, setting),
                            (*memory, '--no-pci', '--no-telemetry', *appliance.lcores()))


def measure(row, setting, args):
    void = 0
    for _ in range(TRIES):
        try:
            run = one_run(row, setting, args)
            reasons = run.void
            void += bool(reasons)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            # fragmend did not start or did not last: no figure, but no reason to give up the other rows.
            reasons = [' '.join(str(error).split())]
            time.sleep(RELEASE_S)
        if not reasons:
            return figures(row, run, setting, args.seconds, void)
        print('    %s %s: no figure: %s' % (row.name, setting, '; '.join(reasons)), flush=True)
    return void_line(row, setting, void, reasons)


def read(path):
    """Lines of the TSV by (row, setting); none if there is no file."""
    if not path.exists():
        return {}
    with path.open() as file:
        titles = file.readline().rstrip('\n').split('\t')
        if titles != list(COLUMNS):
            raise SystemExit('wire-table.py: %s has other columns' % path)
        lines = [dict(zip(COLUMNS, line.rstrip('\n').split('\t'), strict=True)) for line in file]
    return {(line['row'], line['setting']): line for line in lines}


def append(path, line):
    new = not path.exists()
    with path.open('a') as file:
        if new:
            file.write('\t'.join(COLUMNS) + '\n')
        file.write('\t'.join(str(line[name]) for name in COLUMNS) + '\n')


def say(line):
    verdict = ''
    if line['target'] != '-':
        verdict = '  reached' if float(line['ratio']) >= float(line['target']) - 5e-5 else '  MISSED'
    print('%-22s %-9s %9s %9s %8s %8s %8s %5s %9s%s' % (
        line['row'], line['setting'], line['offered'], line['delivered'], line['ratio'], line['ideal'], line['target'],
        line['void_runs'], line['fragments_per_s'], verdict), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build', metavar='DIR',
                        help='build directory (build)')
    parser.add_argument('--tsv', type=pathlib.Path, metavar='FILE', help='append the figures to FILE')
    parser.add_argument('--resume', action='store_true', help='leave out what FILE has already, void lines excepted')
    parser.add_argument('--rows', default='', metavar='REGEX', help='rows whose name has REGEX in it')
    parser.add_argument('--settings', default=','.join(SETTINGS), metavar='LIST',
                        help='of straight, small and default (all)')
    parser.add_argument('--seconds', type=float, default=20, metavar='S', help='of each run (20)')
    parser.add_argument('--seed', type=int, default=1, metavar='N', help='of all that is random (1)')
    parser.add_argument('--list', action='store_true', help='print the rows and leave')
    args = parser.parse_args()
    args.settings = args.settings.split(',')
    if not set(args.settings) <= set(SETTINGS):
        parser.error('--settings: %s' % ', '.join(SETTINGS))
    if args.resume and not args.tsv:
        parser.error('--resume needs --tsv')
    args.build = args.build.absolute()
    return args


def run_all(rows, args):
    done = read(args.tsv) if args.tsv else {}
    print('%-22s %-9s %9s %9s %8s %8s %8s %5s %9s' % (
        'row', 'setting', 'offered', 'delivered', 'ratio', 'ideal', 'target', 'void', 'frag/s'))
    bad = 0
    for row in rows:
        for setting in args.settings:
            if args.resume and done.get((row.name, setting), {'ratio': 'VOID'})['ratio'] != 'VOID':
                continue
            line = measure(row, setting, args)
            bad += line['ratio'] == 'VOID'
            say(line)
            if args.tsv:
                append(args.tsv, line)
    return bad


def main():
    args = arguments()
    rows = [row for row in wire_rows.every() if re.search(args.rows, row.name)]
    if args.list:
        print('\n'.join('%-22s %s' % (row.name, row.params) for row in rows))
        return 0
    if not rows:
        sys.exit('wire-table.py: no row has "%s" in its name; --list names them' % args.rows)
    if os.geteuid() != 0:
        sys.exit('wire-table.py: needs root, for network namespaces')
    for name in ('app/fragmend', 'test/wire/wire_send', 'test/wire/wire_receive'):
        if not os.access(args.build / name, os.X_OK):
            sys.exit('wire-table.py: %s is not there: build it, or name another directory with --build'
                     % (args.build / name))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('wire-table.py: ended by a signal'))
    return 1 if run_all(rows, args) else 0


if __name__ == '__main__':
    sys.exit(main())
