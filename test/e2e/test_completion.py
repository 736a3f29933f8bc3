#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Completion in bash: the file is sourced, and its functions are called as bash calls them."""
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import BINARY, appliance, tap

BUILD = pathlib.Path(BINARY).parents[1]
FILE = BUILD / 'doc/gen/fragmend'
FUNCTIONS = {'fragmend': '_fragmend', 'fragmend-pcap': '_fragmend_pcap', 'fragmend-cli': '_fragmend_cli'}
SCRIPT = '''
load() { source "$1" || exit; }         # in a function, as bash-completion does
load "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
found=$(complete -p "$1") || exit
[[ $found == *" -F $FUNCTION "* ]] || exit
"$FUNCTION"
printf '%s\\n' "${COMPREPLY[@]}"
'''


def complete(*line, folder='/'):
    """What bash would offer for these words; the cursor is at the end of the last one."""
    done = subprocess.run(['bash', '-u', '-c', SCRIPT, 'bash', str(FILE), *line], capture_output=True, text=True,
                          cwd=folder, env={'FUNCTION': FUNCTIONS[line[0]], 'PATH': '/usr/bin:/bin'})
    if done.returncode != 0 or done.stderr:
        raise RuntimeError('%s: %s' % (line, done.stderr))
    return sorted(word for word in done.stdout.split('\n') if word)


class Completion(unittest.TestCase):
    def options(self):
        _, out, _ = appliance.run([BINARY, '--help'])
        found = re.findall(r'(?m)^  (?:-., )?(--[a-z0-9-]+)', out)
        self.assertGreater(len(found), 30)
        return sorted(found)

    def test_syntax(self):
        done = subprocess.run(['bash', '-n', str(FILE)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_shellcheck_has_nothing_to_say(self):
        done = subprocess.run(['shellcheck', '-s', 'bash', str(FILE)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_all_options(self):
        self.assertEqual(complete('fragmend', '--', '--'), self.options())
        self.assertEqual(complete('fragmend', '-l', '0,1', '--', ''), self.options())

    def test_beginnings(self):
        self.assertEqual(complete('fragmend', '--', '--time'), ['--timeout4', '--timeout6'])
        self.assertEqual(complete('fragmend', '--', '--nonsense'), [])

    def test_given_once(self):
        self.assertEqual(complete('fragmend', '--', '--timeout4', '5', '--time'), ['--timeout6'])
        self.assertEqual(complete('fragmend', '--', '--mtu', '0=1500', '--mt'), ['--mtu'])

    def test_values(self):
        modes = ['refragment', 'whole-only', 'whole-or-refragment']
        self.assertEqual(complete('fragmend', '--', '--output', ''), modes)
        self.assertEqual(complete('fragmend', '--', '--output', '='), modes)
        self.assertEqual(complete('fragmend', '--', '--output', '=', 'w'), modes[1:])
        self.assertEqual(complete('fragmend', '--', '--clock', 'r'), ['rx-timestamp'])
        self.assertEqual(complete('fragmend', '--', '--timeout4', ''), [])
        self.assertEqual(complete('fragmend', '--', '--mtu', ''), [])

    def test_values_are_taken(self):
        """Every value that is offered is one that the program takes."""
        tried = 0
        for option in self.options():
            for value in complete('fragmend', '--', option, ''):
                if value.startswith('-') or option in ('--cmdline-file', '--console-socket'):
                    continue
                status, out, err = appliance.run([BINARY, '--', option, value, '--help'])
                self.assertEqual((status, err), (0, ''), (option, value))
                tried += 1
        self.assertGreater(tried, 8)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            everything = ['in.pcap', 'it has blanks', 'out.cmd']
            for name in everything:
                (pathlib.Path(folder) / name).touch()
            self.assertEqual(complete('fragmend', '--', '--cmdline-file', '', folder=folder), everything)
            self.assertEqual(complete('fragmend', '--', '--write', '0', '=', 'o', folder=folder), ['out.cmd'])
            self.assertEqual(complete('fragmend-pcap', 'i', folder=folder), everything[:2])
            self.assertEqual(complete('fragmend-pcap', 'in.pcap', 'o', folder=folder), ['out.cmd'])
            self.assertEqual(complete('fragmend-cli', 'load', 'o', folder=folder), ['out.cmd'])
            self.assertEqual(complete('fragmend-cli', 'save', 'config', 'o', folder=folder), ['out.cmd'])

    def test_eal_options(self):
        """What is offered before `--` is what EAL of this release has."""
        offered = sorted(set(complete('fragmend', '-') + complete('fragmend', '--')) - {'--', '--help', '--version'})
        self.assertIn('--vdev', offered)
        _, out, err = appliance.run([BINARY, '-h', '--no-huge'])
        for option in offered:
            self.assertRegex(out + err, r'(?m)(^| |, )' + re.escape(option) + r'\b')

    def test_wrapper(self):
        want = sorted(set(self.options()) - {'--write', '--port-topology'})
        self.assertEqual(complete('fragmend-pcap', 'in', 'out', '--'), want)
        self.assertEqual(complete('fragmend-pcap', '-'), ['--help'])

    def commands(self):
        syntax = re.findall(r'(?m)^### `(.*)`$', (BUILD / 'doc/commands.md').read_text())
        self.assertGreater(len(syntax), 30)
        return syntax

    def test_first_words(self):
        self.assertEqual(complete('fragmend-cli', ''), sorted({line.split()[0] for line in self.commands()}))
        self.assertEqual(complete('fragmend-cli', '-s', '/run/x', 'sa'), ['save'])

    def test_every_command_word_by_word(self):
        """Each keyword of each command is offered where it can stand, those in brackets too."""
        for line in self.commands():
            before = []
            for slot in line.replace('[', '').replace(']', '').split():
                words = [word for word in slot.split('|') if not re.match('[A-Z]', word)]
                offered = complete('fragmend-cli', *before, '')
                with self.subTest(command=line, before=before):
                    self.assertLessEqual(set(words), set(offered))
                before.append(words[0] if words else '1')
            self.assertEqual(complete('fragmend-cli', *before, 'x'), [])

    def test_options_of_the_client(self):
        offered = complete('fragmend-cli', '-')
        self.assertIn('--socket', offered)
        client = BUILD / 'app/fragmend-cli'
        if client.exists():
            _, out, _ = appliance.run([client, '--help'])
            self.assertEqual(offered, sorted(set(re.findall(r'(?m)(?:^  |, )(--?[a-zA-Z]+)', out))))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'console.sock').touch()
            for words in (['-s'], ['--socket'], ['--socket', '=']):
                self.assertEqual(complete('fragmend-cli', *words, 'con', folder=folder), ['console.sock'])
                self.assertEqual(complete('fragmend-cli', *words, 'console.sock', 'ver', folder=folder), ['version'])

    def test_topics(self):
        self.assertEqual(complete('fragmend-cli', 'help', 'evicted'),
                         ['evicted_cold', 'evicted_progress', 'evicted_unlikely'])

    def test_nothing_behind_what_is_no_command(self):
        self.assertEqual(complete('fragmend-cli', 'show', 'nonsense', ''), [])


if __name__ == '__main__':
    raise SystemExit(tap.main())
