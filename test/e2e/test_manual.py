#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: they render without a warning and leave nothing out that the tables have."""
import os
import pathlib
import re
import subprocess
import unittest

from harness import BINARY, ROOT, appliance, tap

BUILD = pathlib.Path(BINARY).parents[1]
PAGES = {page.name: page for page in (BUILD / 'doc/man').glob('*.[1-8]')}


def render(page, width=100):
    """What a reader sees, and what man has to say about it."""
    done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', str(page)], capture_output=True, text=True,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANWIDTH': str(width), 'MANPAGER': 'cat',
                               'MAN_KEEP_FORMATTING': ''})
    return re.sub('.\b', '', done.stdout), done.stderr, done.returncode


def words(text):
    """Without line breaks, and hyphenation undone, for searching."""
    return ' '.join(re.sub('\u2010\n *', '', text).split())


def code(text):
    """A C declaration, however it is set."""
    return re.sub(r'\s+', '', text)


class Manual(unittest.TestCase):
    def page(self, name):
        text, complaints, status = render(PAGES[name])
        self.assertEqual((complaints, status), ('', 0))
        return text

    def test_pages(self):
        self.assertLessEqual({'fragmend.8', 'fragmend-pcap.1', 'libfragmend.3'}, set(PAGES))
        self.assertEqual((BUILD / 'app/fragmend-cli').exists(), 'fragmend-cli.1' in PAGES)

    def test_no_warnings(self):
        for name, page in PAGES.items():
            for width in (72, 80, 100, 132):
                with self.subTest(page=name, width=width):
                    text, complaints, status = render(page, width)
                    self.assertEqual((complaints, status), ('', 0))
                    self.assertRegex(text, r'(?m)^NAME$')
                    self.assertRegex(text, r'(?m)^SEE ALSO$')

    def test_a_bad_page_is_noticed(self):
        bad = pathlib.Path(BUILD / 'doc/man/bad-page')
        bad.write_text('.TH "bad" "1"\n.SH NAME\n.nosuchrequest\nbad \\- \\[nosuchglyph]\n')
        self.addCleanup(bad.unlink)
        self.assertNotEqual(render(bad)[1], '')

    def test_options(self):
        """Each option of `--help`, with its argument and its sentence."""
        status, out, err = appliance.run([BINARY, '--help'])
        self.assertEqual((status, err), (0, ''))
        options = re.findall(r'(?m)^  (-.*)\n        (.*)$', out)
        self.assertGreater(len(options), 30)
        text = words(self.page('fragmend.8'))
        for option, sentence in options:
            with self.subTest(option=option):
                self.assertIn('%s %s' % (option, words(sentence)), text)

    def test_commands(self):
        """Each command, with its sentence."""
        commands = re.findall(r'(?m)^### `(.*)`\n\n(.*)$', (BUILD / 'doc/commands.md').read_text())
        self.assertGreater(len(commands), 30)
        text = words(self.page('fragmend.8'))
        for command, sentence in commands:
            with self.subTest(command=command):
                self.assertIn('%s %s' % (command, words(sentence)), text)

    def test_outcomes(self):
        outcomes = re.findall(r'(?m)^\| `(\w+)` \| \w+ \| (.*) \|$', (BUILD / 'doc/outcomes.md').read_text())
        self.assertGreater(len(outcomes), 30)
        text = words(self.page('fragmend.8'))
        for outcome, sentence in outcomes:
            with self.subTest(outcome=outcome):
                self.assertIn('%s %s' % (outcome, words(sentence)), text)

    def test_wrapper(self):
        """What fragmend-pcap says of the options that it takes away, and of those that it shows."""
        text = self.page('fragmend-pcap.1')
        _, out, _ = appliance.run([BINARY, '--help'])
        found = set(re.findall(r'--[a-z0-9-]+', words(text))) - {'--help'}
        self.assertGreater(len(found), 6)
        for option in found:
            self.assertRegex(out, r'(?m)^  (-., )?%s( |$)' % option)

    def test_client(self):
        """fragmend-cli(1) has what its help has, once there is one."""
        client = BUILD / 'app/fragmend-cli'
        if not client.exists():
            self.assertNotIn('fragmend-cli.1', PAGES)
            return
        text = words(self.page('fragmend-cli.1'))
        _, out, _ = appliance.run([client, '--help'])
        found = [word for pattern in (r'(?m)^  (-\w, --\w+.*)$', r'\$(\w+)', r' (/\S+)\.\n')
                 for word in re.findall(pattern, out)]
        self.assertGreater(len(found), 4)
        for word in found:
            self.assertIn(word, text)

    def test_calls(self):
        """libfragmend(3) declares what the headers declare, and has a word on each function."""
        text = self.page('libfragmend.3')
        synopsis, rest = text.split('DESCRIPTION', 1)
        found = 0
        for header in ('fm_reass.h', 'fm_split.h'):
            source = re.sub(r'/\*.*?\*/', '', (ROOT / 'lib/reass' / header).read_text(), flags=re.S)
            for declaration, name in re.findall(r'(?m)^((?:\w+ )+\*?\n?(fm_\w+)\([^;]*\);)', source):
                with self.subTest(function=name):
                    self.assertIn(code(declaration), code(synopsis))
                    self.assertIn(name + '()', rest)
                    found += 1
        self.assertEqual(found, len(re.findall(r'\bfm_\w+\(', synopsis)))
        self.assertGreater(found, 10)

    def test_examples_can_be_typed(self):
        """A backslash at the end of a line is still there."""
        self.assertRegex(self.page('fragmend.8'), r'--no-pci \\\n +--vdev')


if __name__ == '__main__':
    raise SystemExit(tap.main())
