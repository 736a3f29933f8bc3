#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The live view on a terminal: what it shows of running traffic, its keys, its sizes, and the terminal afterwards."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from harness import BINARY, appliance, capture, packet, tap, wait_for

PROMPT = 'fragmend> '
ENTER, LEAVE = '\x1b[?1049h', '\x1b[?1049l'
PATIENCE_S = 30
BUDGET = 2000
FRAGMEND_CLI = os.environ.get('FRAGMEND_CLI', os.path.join(os.path.dirname(BINARY), 'fragmend-cli'))


class Terminal:
    """As much of a terminal as fragmend uses: two screens, places, erasing; anything else is an error."""

    SEQUENCE = re.compile(r'\x1b\[(\??)([0-9;]*)([A-Za-z])')

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.alternate, self.cursor_shown, self.rest = False, True, ''
        self.normal = ''            # what came while the normal screen was shown, as a stream
        self.sgr = set()

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.cells = [[' '] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ''
        while at < len(text):
            if text[at] != '\x1b':
                self.character(text[at])
                at += 1
                continue
            match = self.SEQUENCE.match(text, at)
            if not match:
                self.rest = text[at:]
                return
            self.sequence(*match.groups())
            at = match.end()

    def character(self, character):
        if not self.alternate:
            self.normal += character
            return
        # The size may have changed since this frame was drawn; the next one is right.
        if self.row < self.rows and self.column < self.columns:
            self.cells[self.row][self.column] = character
        self.column += 1

    def sequence(self, private, numbers, letter):
        if private:
            if numbers == '1049':
                self.alternate = letter == 'h'
                self.clear()
            elif numbers == '25':
                self.cursor_shown = letter == 'h'
        elif not self.alternate:
            pass                    # the line editor's
        elif letter == 'H':
            self.row, self.column = (int(number) - 1 for number in numbers.split(';'))
        elif letter == 'K' and self.row < self.rows:
            self.cells[self.row][self.column:] = [' '] * (self.columns - self.column)
        elif letter == 'J' and numbers == '2':
            self.cells = [[' '] * self.columns for _ in range(self.rows)]
        elif letter == 'm':
            self.sgr.add(numbers)
        else:
            assert letter == 'K', (numbers, letter)

    def lines(self):
        return [''.join(row).rstrip() for row in self.cells]

    def text(self):
        return '\n'.join(self.lines())


def traffic(path):
    """Datagrams that complete, and first fragments that never do, of two sources; and frames that are no fragments."""
    frames = []
    for ident in range(300):
        frames += packet.Datagram('10.7.0.1', '10.8.0.1', bytes(4000), ident=ident).fragments(1480)
        frames.append(packet.Datagram('10.66.0.1', '10.8.0.1', bytes(4000), ident=ident).fragment(0, 1480, True))
        frames.append(packet.Datagram('10.7.0.2', '10.8.0.1', bytes(100)).whole())
    capture.write_pcap(path, frames)


class Live(unittest.TestCase):
    environment = {'TERM': 'xterm'}
    options = ('--live',)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(self.folder.cleanup)
        path = os.path.join(self.folder.name, 'traffic.pcap')
        traffic(path)
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.slave)
        self.addCleanup(os.close, self.master)
        self.terminal, self.raw = Terminal(80, 24), ''
        self.resize(80, 24)
        self.before = termios.tcgetattr(self.slave)
        self.vdevs = ('net_pcap0,rx_pcap=%s,infinite_rx=1' % path, 'net_null1,no-rx=1')
        self.launch()

    def launch(self):
        self.on_terminal(appliance.command_line(BINARY, self.vdevs, [*self.options, '--budget', str(BUDGET)]))

    def on_terminal(self, argv):
        environment = {name: value for name, value in os.environ.items() if name not in ('NO_COLOR', 'TERM')}
        self.process = subprocess.Popen(argv, stdin=self.slave, stdout=self.slave, stderr=subprocess.DEVNULL,
                                        preexec_fn=appliance.die_with_parent,
                                        env={**environment, **self.environment})
        self.addCleanup(self.end, self.process)

    @staticmethod
    def end(process):
        process.kill()
        process.wait()

    def resize(self, columns, rows):
        """As a terminal does it: first it has the new size, then it tells so."""
        self.terminal.resize(columns, rows)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds=0.1):
        if select.select([self.master], [], [], seconds)[0]:
            text = os.read(self.master, 65536).decode()
            self.raw += text
            self.terminal.feed(text)

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertIsNone(self.process.poll(), self.raw[-3000:])
            self.assertLess(time.monotonic(), end, 'never: %s; on the screen:\n%s' % (what, self.terminal.text()))
            self.read()

    def shows(self, pattern):
        self.until(lambda: self.terminal.alternate and re.search(pattern, self.terminal.text(), re.M), pattern)
        return re.search(pattern, self.terminal.text(), re.M)

    def prompt(self):
        self.until(lambda: not self.terminal.alternate and self.terminal.normal.endswith(PROMPT), 'the prompt')

    def press(self, keys):
        os.write(self.master, keys)

    def ends(self, code=0):
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        while select.select([self.master], [], [], 0.2)[0]:
            self.read()
        self.assertEqual(self.process.poll(), code)
        self.restored()
        self.assertEqual(termios.tcgetattr(self.slave), self.before, 'the terminal is not as it was')

    def restored(self):
        self.assertFalse(self.terminal.alternate)
        self.assertTrue(self.terminal.cursor_shown)
        # To leave twice does no harm: a client whose program has ended does it, too.
        self.assertGreaterEqual(self.raw.count(LEAVE), self.raw.count(ENTER))

    def quits(self):
        self.press(b'q')
        self.prompt()
        self.restored()
        self.press(b'quit\n')
        self.ends()


class Shows(Live):
    def test_what_it_shows(self):
        """Figures of real traffic in their places: ports, workers, budget, sources, drops."""
        self.shows(r'^fragmend forwarding .* every 1 s  \d\d:\d\d:\d\d$')
        self.shows(r'^held \[#+\.*\] \d+ of %d mbufs  \d+\.\d%%$' % BUDGET)
        self.shows(r'^delivered +[1-9][\d.]*[kM]?/s  in flight +[1-9]\d*  dropped +[1-9]')
        self.shows(r'^    0   up +[1-9][\d.]*[kM]? +[1-9]\d* +0 +0 +0 +0 net_pcap0$')
        self.shows(r'^    1   up +0 +0 +[1-9][\d.]*[kM]? .* net_null1$')
        self.shows(r'^ +\d+ +[1-9][\d.]*% \[#+\.*\] +[1-9]')
        good = self.shows(r'^10\.7\.0\.1/32 +\d+ +[\d.]+% +([\d.]+)% +[1-9][\d.]*[kM]? ')
        bad = self.shows(r'^10\.66\.0\.1/32 +\d+ +[\d.]+% +([\d.]+)% +0 ')
        self.assertGreater(float(good[1]), float(bad[1]))
        self.shows(r'^(evicted_\w+|refused_\w+|condemned|duplicate) +[1-9]')
        self.assertLessEqual({'0', '1', '32'}, self.terminal.sgr)
        self.assertTrue(self.terminal.cursor_shown is False)
        self.quits()
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK', self.terminal.normal)

    def test_redraws_without_clearing(self):
        first = self.shows(r'\d\d:\d\d:\d\d$')[0]
        self.until(lambda: self.terminal.lines()[0][-8:] != first, 'another time')
        self.until(lambda: self.terminal.lines()[0][-8:] != first, 'another time')
        self.assertEqual(self.raw.count('\x1b[2J'), 2)      # at the beginning, and with the first frame

    def test_sizes(self):
        self.shows('q leave')
        for columns, rows in ((120, 40), (40, 10), (1, 1), (300, 100), (80, 24)):
            with self.subTest(columns=columns, rows=rows):
                self.resize(columns, rows)
                # The figures end where the line does.
                self.until(lambda: any(len(line) == columns and line.endswith('%' if columns > 1 else 'h')
                                       for line in self.terminal.lines()), 'a full line')
                if rows > 3:
                    self.until(lambda: self.terminal.lines()[-1].startswith('q leave'), 'the last line')
        self.quits()

    def test_keys(self):
        self.shows('sources by held')
        self.press(b's')
        self.shows('sources by wasted')
        self.press(b'++')
        self.shows('every 5 s')
        self.press(b'-')
        self.shows('every 2 s')
        self.press(b'\x1b[A\x1bOP')     # an arrow and a function key do nothing
        self.press(b' ')
        self.shows('forwarding  PAUSED')
        self.press(b' ')
        self.until(lambda: 'PAUSED' not in self.terminal.text(), 'no pause')
        self.quits()

    def test_every_way_to_leave(self):
        for key in (b'q', b'\x03', b'\x1b'):
            with self.subTest(key=key):
                self.shows('q leave')
                self.press(key)
                self.prompt()
                self.restored()
                self.press(b'show live\n')
        self.shows('q leave')
        self.press(b'qversion\n')       # typed ahead: one key for the screen, a line for the prompt
        self.until(lambda: 'DPDK' in self.terminal.normal, 'the answer')
        self.press(b'quit\n')
        self.ends()

    def test_signals(self):
        self.shows('q leave')
        self.process.send_signal(signal.SIGTERM)
        self.ends()
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK', self.terminal.normal)

    def test_interrupt(self):
        self.shows('q leave')
        self.process.send_signal(signal.SIGINT)
        self.ends()

    def test_hang_up(self):
        self.shows('q leave')
        self.process.send_signal(signal.SIGHUP)
        self.ends()

    def test_terminal_that_is_stopped(self):
        """Ctrl-S: frames are left out, nothing waits for them, and when the terminal goes on, so does the view."""
        self.shows('q leave')
        termios.tcflow(self.slave, termios.TCOOFF)
        while select.select([self.master], [], [], 0.2)[0]:
            self.read()
        came, first = len(self.raw), self.terminal.lines()[0][-8:]
        self.press(b's')
        self.read(2.5)
        self.assertEqual(len(self.raw), came)
        termios.tcflow(self.slave, termios.TCOON)
        self.shows('sources by wasted')
        self.until(lambda: self.terminal.lines()[0][-8:] != first, 'another time')
        self.quits()


class FromTheConsole(Live):
    options = ('-i', '--auto-start')
    environment = {'TERM': 'xterm', 'NO_COLOR': '1'}

    def test_no_colour(self):
        self.prompt()
        self.press(b'set stats-period 1\n')
        self.prompt()
        self.press(b'show live\n')
        self.shows(r'^10\.7\.0\.1/32 ')
        self.shows(r'^    0   up +[1-9]')
        self.assertLessEqual(self.terminal.sgr, {'0', '1'})
        self.assertNotIn('per s: fragments', self.terminal.text())
        self.quits()


class Dumb(Live):
    options = ('-i', '--auto-start')
    environment = {'TERM': 'dumb'}

    def test_refused(self):
        self.prompt()
        self.press(b'show live\n')
        self.until(lambda: 'error: show live needs a terminal' in self.terminal.normal, 'a refusal')
        self.press(b'quit\n')
        self.ends()
        self.assertNotIn(ENTER, self.raw)


class OverTheSocket(Live):
    """The same through fragmend-cli, to a program that has no terminal."""

    def launch(self):
        path = os.path.join(self.folder.name, 'console')
        self.server = subprocess.Popen(
            appliance.command_line(BINARY, self.vdevs, ['--console-socket', path, '--budget', str(BUDGET)]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=appliance.die_with_parent)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        self.assertTrue(wait_for(lambda: os.path.exists(path), PATIENCE_S))
        self.cli = [FRAGMEND_CLI, '-s', path]
        self.on_terminal(self.cli)
        self.prompt()
        self.press(b'show live\n')

    def serves(self):
        done = subprocess.run([*self.cli, 'version'], capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0)

    def test_shown_and_left(self):
        self.shows(r'^fragmend forwarding ')
        self.shows(r'^held \[#+\.*\] \d+ of %d mbufs  \d+\.\d%%$' % BUDGET)
        self.shows(r'^    0   up +[1-9][\d.]*[kM]? .* net_pcap0$')
        self.shows(r'^10\.66\.0\.1/32 ')
        self.press(b's')
        self.shows('sources by wasted')
        self.press(b'q')
        self.prompt()
        self.restored()
        self.press(b'exit\n')
        self.ends()
        self.serves()
        self.on_terminal([*self.cli, 'show', 'live'])
        self.shows('sources by held')
        self.press(b'q')
        self.ends()
        self.serves()

    def test_size_follows(self):
        self.shows('q leave')
        for columns, rows in ((120, 40), (40, 10)):
            self.resize(columns, rows)
            self.process.send_signal(signal.SIGWINCH)
            self.until(lambda: self.terminal.lines()[-1].startswith('q leave') and
                       any(len(line) == columns for line in self.terminal.lines()), 'the new size')
        self.press(b'\x1b')
        self.prompt()
        self.press(b'exit\n')
        self.ends()

    def test_client_is_ended(self):
        self.shows('q leave')
        self.process.send_signal(signal.SIGTERM)
        self.ends(3)
        self.serves()

    def test_program_is_ended(self):
        self.shows('q leave')
        self.server.send_signal(signal.SIGTERM)
        self.ends(3)


class Pipe(unittest.TestCase):
    """Where there is no terminal, there is a sentence."""

    def run_it(self, *options, text=b''):
        done = subprocess.run(appliance.command_line(BINARY, ('net_null0,no-rx=1', 'net_null1,no-rx=1'), options),
                              input=text, capture_output=True, timeout=60, env={**os.environ, 'TERM': 'xterm'})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_option(self):
        code, out, err = self.run_it('--live')
        self.assertEqual((code, out), (2, ''))
        self.assertEqual(err, 'fragmend: --live needs a terminal on stdin and stdout, and a TERM that can place its '
                              'cursor\n')

    def test_command(self):
        code, out, _ = self.run_it('-i', text=b'show live\nversion\n')
        self.assertEqual(code, 0)
        self.assertRegex(out, r'(?m)^error: show live needs a terminal')
        self.assertIn('DPDK', out)
        self.assertNotIn('\x1b', out)


if __name__ == '__main__':
    raise SystemExit(tap.main())
