#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages for operators: what they show is what the program prints, what they name is there, nothing is left out."""
import os
import pathlib
import re
import subprocess
import unittest

from harness import BINARY, ROOT, appliance, tap

APP = pathlib.Path(BINARY).parent
OPERATIONS = (ROOT / 'doc/operations.md').read_text()
ALERTS = {'FragmendAccountingBroken', 'FragmendBudgetNearlyFull', 'FragmendRxNoMbuf', 'FragmendGoodputFalling',
          'FragmendOneSourceAboveHalf', 'FragmendDown'}
# EAL's, in what the pages say of the command line.
EAL_OPTIONS = {'--in-memory', '--no-huge', '--no-pci', '--no-shconf', '--no-telemetry', '--lcores', '--vdev'}


def section(page, title):
    """What stands below a heading, up to the next one of its level."""
    heading = re.search(r'(?m)^(#+) %s$' % re.escape(title), page)
    rest = page[heading.end():]
    end = re.search(r'(?m)^#{1,%d} ' % len(heading.group(1)), rest)
    return rest[:end.start()] if end else rest


def anchor(title):
    """Of a heading, as the web makes it."""
    return re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')


def misses(want, got):
    """The first line that does not stand where it should: in this order, and together but where it says `...`."""
    at, gap = 0, False
    for line in want:
        if line == '...':
            gap = True
            continue
        places = [n for n in range(at, len(got)) if got[n] == line]
        if not places or not (gap or places[0] == at):
            return line
        at, gap = places[0] + 1, False
    return None


def is_command(words, line):
    """Each word stands in its place, or the place is for a value."""
    return len(words) <= len(line) and all(
        word in choice or any(re.match('[A-Z]', name) for name in choice) for word, choice in zip(words, line))


class Docs(unittest.TestCase):
    def test_what_is_shown_is_what_is_printed(self):
        blocks = re.findall(r'(?s)```console\n\$ (.*?)\n(.*?)```', OPERATIONS)
        self.assertGreater(len(blocks), 3)
        for command, output in blocks:
            with self.subTest(command=command):
                done = subprocess.run(['bash', '-c', command], capture_output=True, text=True, timeout=200,
                                      stdin=subprocess.DEVNULL,
                                      env={**os.environ, 'PATH': '%s:%s' % (APP, os.environ['PATH'])})
                wrong = misses(output.rstrip('\n').split('\n'), (done.stdout + done.stderr).split('\n'))
                self.assertIsNone(wrong, done.stdout + done.stderr)

    def test_a_wrong_line_is_noticed(self):
        self.assertIsNone(misses(['a', '...', 'c'], ['a', 'b', 'c']))
        self.assertEqual(misses(['a', 'c'], ['a', 'b', 'c']), 'c')
        self.assertEqual(misses(['a', '...', 'd'], ['a', 'b', 'c']), 'd')

    def test_sums(self):
        """Those written out in the text: A - B x C ... = D."""
        text = ' '.join(section(OPERATIONS, 'The sum').replace(',', '').split())
        sums = re.findall(r'((?:[\d.]+ [-x] )+[\d.]+) = (\d+)', text)
        self.assertEqual(len(sums), 2)
        for left, right in sums:
            total = 0.0
            for number, term in enumerate(left.split(' - ')):
                product = 1.0
                for factor in term.split(' x '):
                    product *= float(factor)
                total += -product if number else product
            self.assertEqual(total, float(right), left)

    def test_rates(self):
        """The table of links: frames of 1,538 bytes, and what they hold."""
        rows = re.findall(r'(?m)^\| (\d+) Gbit/s \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|',
                          section(OPERATIONS, 'How much is wanted'))
        self.assertEqual(len(rows), 3)
        for gbit, *cells in rows:
            rate = int(gbit) * 1e9 / (1538 * 8)
            got = [int(cell.replace(',', '')) for cell in cells]
            for value, want in zip(got, [rate, rate * 0.005, rate * 0.01 * 2, rate * 0.01 * 0.5]):
                self.assertAlmostEqual(value, want, delta=1)
            self.assertEqual(got[4], got[1] + got[3])

    def test_every_outcome(self):
        outcomes = re.findall(r'(?m)^\tX\(\w+, (\w+),', (ROOT / 'lib/common/fm_outcome.h').read_text())
        self.assertGreater(len(outcomes), 30)
        rows = re.findall(r'(?m)^\| `(\w+)` \| .+ \| .+ \|$', section(OPERATIONS, 'Reading the drops'))
        self.assertEqual(sorted(rows), sorted(outcomes))

    def test_every_alert(self):
        named = set(re.findall(r'(?m)^### (Fragmend\w+)$', section(OPERATIONS, 'Alerts')))
        self.assertEqual(named, ALERTS)
        for path in (ROOT / 'config').rglob('*.y*ml'):
            rules = set(re.findall(r'(?m)\balert: *(\w+)', path.read_text()))
            self.assertLessEqual(rules, ALERTS, path)

    def test_commands_and_options(self):
        """What stands in backticks and looks like a command or an option of fragmend is one."""
        syntax = re.findall(r'(?m)^### `(.*)`$', (ROOT / 'doc/commands.md').read_text())
        lines = [[slot.strip('[]').split('|') for slot in line.split()] for line in syntax]
        first = {line.split()[0] for line in syntax}
        _, known, _ = appliance.run([BINARY, '--help'])
        checked = 0
        for page in ('operations.md', 'rfc.md'):
            for quoted in re.findall(r'`([^`\n]+)`', (ROOT / 'doc' / page).read_text()):
                words = quoted.split()
                if words[0] in first:
                    checked += 1
                    self.assertTrue(any(is_command(words, line) for line in lines), (page, quoted))
                elif words[0].startswith('--') and words[0] not in EAL_OPTIONS | {'--', '--help'}:
                    checked += 1
                    self.assertRegex(known, r'(?m)^  (-., )?%s( |$)' % words[0], (page, quoted))
        self.assertGreater(checked, 60)

    def test_links(self):
        """Within the pages of this directory, anchors included."""
        pages = {path.name: path.read_text() for path in (ROOT / 'doc').glob('*.md')}
        checked = 0
        for name, text in pages.items():
            for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'(?s)```.*?```', '', text)):
                if re.match('https?:', target):
                    continue
                file, _, place = target.partition('#')
                path = ROOT / 'doc' / (file or name)
                self.assertTrue(path.exists(), (name, target))
                if place:
                    titles = re.findall(r'(?m)^#+ (.*)$', path.read_text())
                    self.assertIn(place, [anchor(title) for title in titles], (name, target))
                checked += 1
        self.assertGreater(checked, 30)

    def test_what_rfc_md_points_at_is_there(self):
        pointers = re.findall(r'`((?:lib|test|app|doc)/[\w/.-]+\.(?:c|h|py|md))(?::(\w+))?`',
                              (ROOT / 'doc/rfc.md').read_text())
        self.assertGreater(len(pointers), 30)
        for path, name in pointers:
            with self.subTest(path=path, name=name):
                self.assertTrue((ROOT / path).exists())
                if name:
                    self.assertRegex((ROOT / path).read_text(), r'\b%s\(' % name)


if __name__ == '__main__':
    raise SystemExit(tap.main())
