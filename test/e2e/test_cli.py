#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""fragmend-cli: exit codes, pipes, and keys on a terminal."""
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import time

from harness import FRAGMEND_CLI, appliance, tap, wait_for
from served import PATH_MAX, PATIENCE_S, Served, ask, cli

PROMPT = 'fragmend> '
CTRL_C, CTRL_D, UP = b'\x03', b'\x04', b'\x1b[A'


class Client(Served):
    def test_exit_codes(self):
        code, out, err = cli(self.path, 'version')
        self.assertEqual((code, err), (0, ''))
        self.assertRegex(out, r'^fragmend \S+, DPDK \S+\n$')
        self.assertEqual(cli(self.path, 'set', 'timeout4', '0'),
                         (1, '', 'error: timeout4 must be 1..120000 ms, got "0"\n'))
        self.assertEqual(cli(self.path, 'quit')[0], 1)
        self.assertEqual(cli(self.path, 'exit'), (0, '', ''))
        self.assertEqual(cli(self.path, 'x' * 5000), (1, '', 'error: line is longer than 511 characters\n'))
        for words in (('--nonsense',), ('-s',), ('version\nquit program',), ('-s', 'x' * (PATH_MAX + 1), 'version')):
            self.assertEqual(cli(self.path, *words)[0], 2, words)
        nowhere = self.path.with_name('nowhere')
        code, _, err = cli(nowhere, 'version')
        self.assertEqual(code, 3)
        self.assertIn('cannot connect to %s: No such file or directory (does fragmend run' % nowhere, err)

    def test_help_and_version_need_no_socket(self):
        self.assertEqual(cli('/nowhere', '--help')[0], 0)
        self.assertRegex(cli('/nowhere', '--version')[1], r'^fragmend-cli \d+\.\d+\.\d+\n$')

    def test_socket_from_the_environment(self):
        done = subprocess.run([FRAGMEND_CLI, 'version'], env={**os.environ, 'FRAGMEND_SOCKET': str(self.path)},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_lines_of_a_pipe(self):
        code, out, err = cli(self.path, stdin=b'set timeout4 85\n\n# comment\nshow config\nshow no\0thing\nversion')
        self.assertEqual(code, 1)
        self.assertRegex(out, r'(?m)^  timeout4 +85 ')
        self.assertIn('DPDK', out)
        self.assertRegex(err, r'^error: "no\?thing" cannot follow "show", .*\n$')
        self.assertEqual(cli(self.path, stdin=b'version\nexit\nversion\n')[1].count('DPDK'), 1)
        self.assertEqual(cli(self.path, stdin=b''), (0, '', ''))

    def test_output_that_cannot_be_written(self):
        for words in (('show', 'config', 'json'), ('-h',), ('-V',)):
            with self.subTest(words=words), open('/dev/full', 'wb') as full:
                done = subprocess.run([FRAGMEND_CLI, '-s', str(self.path), *words], stdin=subprocess.DEVNULL,
                                      stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual((done.returncode, done.stderr.decode()),
                                 (1, 'fragmend-cli: cannot write the output: No space left on device\n'))

    def test_closed_standard_files(self):
        """None of them becomes the socket, which would send the answer back as commands."""
        with socket.socket(socket.AF_UNIX) as listener:
            path = self.path.with_name('closed')
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(PATIENCE_S)
            text, error = b'an answer\n', b'error: a sentence\n'
            for closed, *left in (('<&-', text, error), ('>&-', b'', error), ('2>&-', text, b''),
                                  ('<&- >&- 2>&-', b'', b'')):
                with self.subTest(closed=closed):
                    process = subprocess.Popen(['sh', '-c', 'exec "$@" ' + closed, 'sh', FRAGMEND_CLI, '-s', str(path),
                                                'version'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                               stderr=subprocess.PIPE)
                    self.addCleanup(self.reap, process)
                    with listener.accept()[0] as end:
                        end.settimeout(PATIENCE_S)
                        self.assertEqual(end.recv(100), b'\x01r version\n')
                        end.sendall(text + b'\0' b'22 a sentence\n')
                        self.assertEqual(end.recv(100), b'')
                    out, err = process.communicate(timeout=PATIENCE_S)
                    self.assertEqual((process.returncode, [out, err]), (1, left))

    def test_quit_program(self):
        self.assertEqual(cli(self.path, 'quit', 'program'), (0, '', ''))
        self.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(cli(self.path, 'version')[0], 3)

    def test_program_that_dies(self):
        """A half answer is none."""
        with socket.socket(socket.AF_UNIX) as listener:
            path = self.path.with_name('mute')
            listener.bind(str(path))
            listener.listen()
            process = subprocess.Popen([FRAGMEND_CLI, '-s', str(path), 'version'], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(self.reap, process)
            with listener.accept()[0] as end:
                self.assertEqual(end.recv(100), b'\x01r version\n')
                end.sendall(b'fragm')
            out, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, out), (3, ''))
            self.assertIn(str(path), err)


class Keys(Served):
    """fragmend-cli on a terminal."""

    def setUp(self):
        super().setUp()
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, self.slave)
        self.before = termios.tcgetattr(self.slave)
        self.text = ''
        self.client = self.open()

    def open(self, *words):
        client = subprocess.Popen([FRAGMEND_CLI, '-s', str(self.path), *words], stdin=self.slave, stdout=self.slave,
                                  stderr=self.slave, start_new_session=True, preexec_fn=appliance.die_with_parent)
        self.addCleanup(self.reap, client)
        if not words:
            self.expect(PROMPT)
        return client

    def expect(self, *words):
        """Until all words have come, in this order; all of it is used up."""
        until = time.monotonic() + PATIENCE_S
        for word in words:
            while word not in self.text:
                self.assertLess(time.monotonic(), until, 'no %r in %r' % (word, self.text))
                self.read(0.2)
            self.text = self.text.partition(word)[2]

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.text += appliance.ESCAPES.sub('', os.read(self.master, 65536).decode()).replace('\r', '')

    def press(self, keys):
        os.write(self.master, keys)

    def leaves(self, code=0):
        until = time.monotonic() + PATIENCE_S
        while self.client.poll() is None and time.monotonic() < until:
            self.read(0.1)
        self.assertEqual(self.client.poll(), code, self.text)
        self.assertEqual(termios.tcgetattr(self.slave), self.before, 'the terminal is not as it was')

    def test_tab_completes_and_lists(self):
        self.press(b'sh\tre\tdr\t\n')
        self.expect('show reassembly drops ', 'passed_malformed', PROMPT)
        self.press(b'set t\t')
        self.expect('set timeout')
        self.press(b'\t')
        self.expect('timeout4', 'IPv4 datagram', 'timeout6', 'IPv6 datagram', PROMPT + 'set timeout')

    def test_history(self):
        self.press(b'set timeout4 4321\n')
        self.expect(PROMPT)
        self.press(UP + b'0\n')
        self.expect('set timeout4 43210', PROMPT)
        self.press(b'show config\n')
        self.expect('timeout4         43210 ', PROMPT)

    def test_errors_and_ctrl_c(self):
        self.press(b'show x\n')
        self.expect('error: "x" cannot follow "show"', PROMPT)
        self.press(b'quit program' + CTRL_C + b'version\n')
        self.expect('DPDK', PROMPT)
        self.assertIsNone(self.process.poll())

    def test_ways_to_leave(self):
        for keys, code in ((CTRL_D, 0), (b'exit\n', 0), (b'frob\nexit\n', 1)):
            with self.subTest(keys=keys):
                self.press(keys)
                self.leaves(code)
                self.assertServes()
                self.text = ''
                self.client = self.open()

    def test_signal_leaves(self):
        self.client.send_signal(signal.SIGTERM)
        self.leaves(3)

    def test_program_ends(self):
        self.finish()
        self.expect('the connection has ended')
        self.leaves(3)

    def test_ctrl_c_while_no_answer_comes(self):
        self.process.send_signal(signal.SIGSTOP)
        try:
            self.press(b'version\n')
            self.expect('version')
            # It is a signal as long as an answer is waited for.
            self.assertTrue(wait_for(lambda: termios.tcgetattr(self.slave)[3] & termios.ISIG))
            self.client.send_signal(signal.SIGINT)
            self.expect('interrupted')
            self.leaves(3)
        finally:
            self.process.send_signal(signal.SIGCONT)
        self.assertServes()

    def test_resize_while_no_answer_comes(self):
        self.process.send_signal(signal.SIGSTOP)
        try:
            self.press(b'version\n')
            self.expect('version')
            self.assertTrue(wait_for(lambda: termios.tcgetattr(self.slave)[3] & termios.ISIG))
            for _ in range(3):
                self.client.send_signal(signal.SIGWINCH)
                self.read(0.1)
                self.assertIsNone(self.client.poll(), self.text)
        finally:
            self.process.send_signal(signal.SIGCONT)
        self.expect('DPDK', PROMPT)
        self.press(b'show config\n')
        self.expect('timeout4', PROMPT)

    def test_too_many_sessions(self):
        # With the client of the set-up there are 16, then.
        for _ in range(15):
            ask(self.connect(), 'r version')
        client = self.open()
        self.expect('%s: error: 16 sessions are open, and there can be no more\n' % self.path)
        self.assertEqual(client.wait(PATIENCE_S), 3)

    def test_one_command_leaves_the_terminal_alone(self):
        self.press(CTRL_D)
        self.leaves()
        self.client = self.open('version')
        self.expect('DPDK')
        self.leaves()


if __name__ == '__main__':
    raise SystemExit(tap.main())
