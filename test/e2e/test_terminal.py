#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The console by its keys, and without a terminal: pipes, files, command files."""
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

from harness import BINARY, ROOT, appliance, tap

VDEVS = ('net_null0,no-rx=1', 'net_null1,no-rx=1')
PROMPT = 'fragmend> '
CTRL_C, CTRL_D, CTRL_U, UP = b'\x03', b'\x04', b'\x15', b'\x1b[A'
PATIENCE_S = 20


def console(commands, *options):
    """A run with commands on a pipe: (exit code, stdout, stderr)."""
    done = subprocess.run(appliance.command_line(BINARY, VDEVS, ['-i', *options]), input=commands, timeout=60,
                          capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Pipe(unittest.TestCase):
    def test_neither_prompt_nor_echo(self):
        code, out, _ = console(b'version\nshow config\n')
        self.assertEqual(code, 0)
        self.assertRegex(out, r'(?m)^fragmend \d+\.\d+\.\d+, DPDK ')
        self.assertNotIn(PROMPT, out)
        self.assertNotIn('show config', out)

    def test_last_line_needs_no_end(self):
        _, out, _ = console(b'set timeout4 77\nshow config')
        self.assertRegex(out, r'(?m)^  timeout4 +77 ')

    def test_a_failure_is_told_and_the_next_command_runs(self):
        code, out, _ = console(b'show nothing\nset timeout4 0\nversion\n')
        self.assertEqual(code, 0)
        lines = [line for line in out.split('\n') if line.startswith('error: ')]
        self.assertEqual(len(lines), 2, out)
        self.assertIn('"nothing"', lines[0])
        self.assertIn('1..120000 ms', lines[1])
        self.assertIn('DPDK', out)

    def test_quit_ends_it(self):
        code, out, _ = console(b'quit\nversion\n')
        self.assertEqual(code, 0)
        self.assertNotIn('DPDK', out)

    def test_endless_line(self):
        code, out, _ = console(b'x' * 100000 + b'\nversion\n')
        self.assertEqual(code, 0)
        self.assertIn('error: line is longer than 511 characters\n', out)
        self.assertIn('DPDK', out)

    def test_bytes_of_all_kinds(self):
        code, out, _ = console(bytes(byte for byte in range(256) if byte != 10) + b'\nversion\n')
        self.assertEqual(code, 0)
        self.assertIn('error: ', out)
        self.assertIn('DPDK', out)

    def test_bytes_that_move_the_cursor(self):
        _, out, _ = console(b'set \x1b[2J\x9b\n')
        self.assertIn('"?[2J?"', out)
        self.assertNotIn('\x1b', out)

    def test_closed_files(self):
        """None of the files that fragmend opens becomes its console or takes its messages."""
        for closed in ((0,), (0, 1, 2), (1, 2)):
            with self.subTest(closed=closed):
                process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['-i']), stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           preexec_fn=lambda: [os.close(fd) for fd in closed])
                self.addCleanup(process.kill)
                self.assertEqual(process.wait(PATIENCE_S), 0)

    def test_nothing(self):
        code, out, _ = console(b'')
        self.assertEqual(code, 0)
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK\n', out)

    def test_reader_who_leaves(self):
        """Nobody reads stdout: the ports are closed and the exit code is that of a good end all the same."""
        process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['-i']), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.communicate(b'help\nhelp\nquit\n', timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_status_table(self):
        process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['-i']), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.kill)
        process.stdin.write('set stats-period 1\n')
        process.stdin.flush()
        lines = []
        while not (lines and lines[-1].startswith('per s: fragments')):
            self.assertTrue(select.select([process.stdout], [], [], PATIENCE_S)[0], lines)
            lines.append(process.stdout.readline())
        self.assertRegex(lines[0], '^port link ')
        self.assertEqual(len(lines), 1 + len(VDEVS) + 1)
        process.stdin.close()
        process.stdout.read()
        self.assertEqual(process.wait(PATIENCE_S), 0)


class CommandFile(unittest.TestCase):
    def run_file(self, text, *options, stdin=b''):
        with tempfile.NamedTemporaryFile('w', prefix='fragmend-test-') as file:
            file.write(text)
            file.flush()
            return (file.name, *console(stdin, '--cmdline-file', file.name, *options))

    def test_runs_before_the_console(self):
        _, code, out, _ = self.run_file('set timeout4 5\n', stdin=b'show config\n')
        self.assertEqual(code, 0)
        self.assertRegex(out, r'(?m)^  timeout4 +5 ')

    def test_error_stops_the_program(self):
        name, code, out, err = self.run_file('# one\nversion\n\nset bypass maybe\nhelp\n', stdin=b'show config\n')
        self.assertEqual(code, 1)
        self.assertIn('%s:4: bypass must be on or off, got "maybe"\n' % name, err)
        self.assertIn('DPDK', out)
        self.assertNotIn('Settings', out)

    def test_quit(self):
        _, code, out, _ = self.run_file('version\nquit\nhelp\n', '--auto-start', stdin=b'show config\n')
        self.assertEqual(code, 0)
        self.assertIn('DPDK', out)
        self.assertNotIn('Settings', out)

    def test_pipe_that_never_ends(self):
        """It is looked at between two lines whether to go on, and a device is not read at all."""
        with tempfile.TemporaryDirectory(prefix='fragmend-test-') as folder:
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['--cmdline-file', fifo]),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            with open(fifo, 'w') as writer:
                writer.write('version\nhalf a comm')
                writer.flush()
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(PATIENCE_S), 0)
        code, _, err = console(b'', '--cmdline-file', '/dev/zero')
        self.assertEqual(code, 1)
        self.assertIn('/dev/zero: neither a regular file nor a pipe', err)

    def test_shipped_files(self):
        for name in ('lab.cmd', 'inline.cmd'):
            with self.subTest(name=name):
                path = ROOT / 'config' / name
                code, out, err = console(b'show config\n', '--cmdline-file', str(path))
                self.assertEqual(code, 0, err)
                settings = re.findall(r'(?m)^set (\S+) (\S+)$', path.read_text())
                self.assertGreater(len(settings), 5)
                for setting, value in settings:
                    self.assertRegex(out, r'(?m)^  %s +%s ' % (setting, value))

    def test_saved_settings_come_back(self):
        with tempfile.TemporaryDirectory(prefix='fragmend-test-') as folder:
            saved = os.path.join(folder, 'saved')
            commands = 'set timeout6 99\nset output whole-only\nset budget 50%%\nshow config\nsave config %s\n' % saved
            _, before, _ = console(commands.encode())
            code, after, err = console(b'show config\n', '--cmdline-file', saved)
            self.assertEqual(code, 0, err)
            self.assertEqual(os.listdir(folder), ['saved'])
        part = slice(before.index('Settings'), before.index('As started'))
        self.assertIn(before[part], after)
        self.assertIn('whole-only', before[part])


class Keys(unittest.TestCase):
    def setUp(self):
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.slave)
        self.before = termios.tcgetattr(self.slave)
        self.text = ''
        self.process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['-i']), stdin=self.slave,
                                        stdout=self.slave, stderr=subprocess.DEVNULL,
                                        preexec_fn=appliance.die_with_parent)
        self.addCleanup(self.end)
        self.expect(PROMPT)

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.text += appliance.ESCAPES.sub('', os.read(self.master, 65536).decode()).replace('\r', '')

    def expect(self, *words):
        """Until all words have come, in this order; returns what came before the last one. All of it is used up."""
        until = time.monotonic() + PATIENCE_S
        for word in words:
            while word not in self.text:
                self.assertLess(time.monotonic(), until, 'no %r in %r' % (word, self.text))
                self.read(0.2)
            before, _, self.text = self.text.partition(word)
        return before

    def press(self, keys):
        os.write(self.master, keys)

    def leaves(self):
        until = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.1)
        self.assertEqual(self.process.poll(), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before, 'the terminal is not as it was')

    def test_tab_completes(self):
        self.press(b'sh\tre\tdr\t\n')
        self.expect('show reassembly drops ', 'passed_malformed', PROMPT)

    def test_tab_lists(self):
        self.press(b'set t\t')
        self.expect('set timeout')      # what all have in common
        self.press(b'\t')
        self.expect('timeout4', 'IPv4 datagram', 'timeout6', 'IPv6 datagram', PROMPT + 'set timeout')

    def test_question_mark_lists(self):
        self.press(b'show port info ?')
        self.expect(' all', 'Every port.', ' 0', 'net_null0', ' 1', 'net_null1', PROMPT + 'show port info ')
        self.press(b'0 ?')
        self.expect('<Enter>', PROMPT + 'show port info 0 ')

    def test_a_word_is_listed_once(self):
        self.press(b'?')
        self.expect('\n start ', '\n show ')
        self.assertNotIn('\n show ', self.expect('\n quit '))

    def test_history(self):
        self.press(b'set timeout4 4321\n')
        self.expect(PROMPT)
        self.press(b'version\n')
        self.expect('DPDK', PROMPT)
        self.press(UP + UP + b'0\n')
        self.expect('set timeout4 43210', PROMPT)
        self.press(b'show config\n')
        self.expect('timeout4         43210 ', PROMPT)

    def test_keys_that_empty_the_line(self):
        for key in (CTRL_C, CTRL_U):
            self.press(b'quit' + key + b'version\n')
            self.expect('DPDK', PROMPT)
        self.assertIsNone(self.process.poll())

    def test_control_d_leaves(self):
        self.press(b'x' + CTRL_D + b'\n')       # not on an empty line
        self.expect('error: unknown command "x"', PROMPT)
        self.press(CTRL_D)
        self.leaves()

    def test_quit_leaves(self):
        self.press(b'quit\n')
        self.leaves()

    def test_a_signal_leaves(self):
        self.press(b'show half a comm')
        self.expect('half a comm')
        self.process.send_signal(signal.SIGTERM)
        self.leaves()

    def test_status_table_leaves_the_line_alone(self):
        self.press(b'set stats-period 1\n')
        self.expect(PROMPT)
        self.press(b'versi')
        self.expect('per s: fragments', PROMPT + 'versi')
        self.press(b'on\n')
        self.expect('DPDK', PROMPT)


if __name__ == '__main__':
    raise SystemExit(tap.main())
