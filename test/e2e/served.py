# SPDX-License-Identifier: BSD-3-Clause
"""A fragmend behind a console socket, and the two ways to talk to it: bytes, and fragmend-cli."""
import contextlib
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import BINARY, FRAGMEND_CLI, appliance, wait_for

VDEVS = ('net_null0,no-rx=1', 'net_null1,no-rx=1')
PATIENCE_S = 20
PATH_MAX = 107


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(str(path))
    except OSError:
        client.close()
        raise
    client.settimeout(PATIENCE_S)
    return client


def read_all(client):
    """Up to the end."""
    return b''.join(iter(lambda: client.recv(65536), b'')).decode()


def ask(client, line):
    """A framed request: (text, status line)."""
    client.sendall(b'\x01' + line.encode() + b'\n')
    data = b''
    while not (b'\0' in data and data.endswith(b'\n')):
        piece = client.recv(65536)
        if not piece:
            raise EOFError(data)
        data += piece
    text, _, status = data.decode().partition('\0')
    return text, status.rstrip('\n')


def cli(path, *words, stdin=b''):
    """A run of fragmend-cli: (exit code, stdout, stderr)."""
    done = subprocess.run([FRAGMEND_CLI, '-s', str(path), *words], input=stdin, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Served(unittest.TestCase):
    """A fragmend without terminal behind a console socket."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'console.sock'
        self.process = self.launch()

    def launch(self):
        process = subprocess.Popen(appliance.command_line(BINARY, VDEVS, ['--console-socket', str(self.path)]),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=appliance.die_with_parent)
        self.addCleanup(self.reap, process)
        self.assertTrue(wait_for(lambda: self.answers() or process.poll() is not None, PATIENCE_S))
        return process

    @staticmethod
    def reap(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def answers(self):
        with contextlib.suppress(OSError):
            with connect(self.path) as client:
                return ask(client, 'r version')[1] == '0'
        return False

    def connect(self):
        client = connect(self.path)
        self.addCleanup(client.close)
        return client

    def assertServes(self):
        text, status = ask(self.connect(), 'r version')
        self.assertRegex(text, r'^fragmend \d+\.\d+\.\d+, DPDK ')
        self.assertEqual(status, '0')

    def finish(self):
        """Ended by a signal; what it printed at its end."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.process.returncode, 0, err)
        return out
