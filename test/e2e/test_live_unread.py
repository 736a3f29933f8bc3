#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The live view on a terminal that nobody reads: fragmend waits for no terminal."""
import fcntl
import os
import select
import signal
import subprocess
import termios
import time

import test_live
from harness import tap
from test_live import FRAGMEND_CLI, PATIENCE_S


class NobodyReads(test_live.Live):
    """A terminal that is open, but not read: its buffers fill up."""

    def launch(self):
        self.path = os.path.join(self.folder.name, 'console')
        self.options = ('--live', '--console-socket', self.path)
        self.resize(300, 100)
        super().launch()

    def waiting(self):
        """Is there no room left?"""
        return not select.select([], [self.slave], [], 0)[1]

    def fill(self):
        self.shows('q leave')
        # Other settings of the view make frames come at once; none of it is read.
        end = time.monotonic() + PATIENCE_S
        while not self.waiting() and time.monotonic() < end:
            self.press(b's')
            time.sleep(0.05)
        self.assertTrue(self.waiting(), 'the terminal takes more and more')
        time.sleep(0.5)

    def serves(self):
        done = subprocess.run([FRAGMEND_CLI, '-s', self.path, 'version'], capture_output=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b'DPDK', done.stdout)

    def ends_unread(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(PATIENCE_S), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)
        self.assertFalse(fcntl.fcntl(self.slave, fcntl.F_GETFL) & os.O_NONBLOCK)

    def test_serves_and_ends(self):
        self.fill()
        self.serves()
        self.ends_unread()

    def test_left(self):
        self.fill()
        self.press(b'q')
        self.serves()
        self.ends_unread()

    def test_stopped(self):
        """Ctrl-S, and no Ctrl-Q."""
        self.shows('q leave')
        termios.tcflow(self.slave, termios.TCOOFF)
        self.serves()
        self.ends_unread()

    def test_goes_on(self):
        self.fill()
        self.serves()
        first = self.terminal.lines()[0][-8:]
        self.until(lambda: self.terminal.lines()[0][-8:] not in (first, ''), 'another time')
        self.shows('q leave')
        self.quits()


if __name__ == '__main__':
    raise SystemExit(tap.main())
