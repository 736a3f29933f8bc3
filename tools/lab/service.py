# SPDX-License-Identifier: BSD-3-Clause
"""The other end of sd_notify(3), and threads of another process: looked at, and stopped one at a time."""
import contextlib
import ctypes
import os
import pathlib
import re
import select
import socket
import time

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


class Manager:
    """A service manager as far as messages go: each one becomes a dict of its assignments."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.messages = []

    def environment(self, watchdog_us=None, **more):
        env = {key: value for key, value in os.environ.items()
               if key not in ('NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'JOURNAL_STREAM')}
        if watchdog_us is not None:
            env['WATCHDOG_USEC'] = str(watchdog_us)
        return {**env, 'NOTIFY_SOCKET': self.path, **more}

    def receive(self, seconds):
        """The next message; None: there was none for so long."""
        if not select.select([self.socket], [], [], max(0.0, seconds))[0]:
            return None
        text = self.socket.recv(65536).decode()
        self.messages.append(dict(line.split('=', 1) for line in text.split('\n') if line))
        return self.messages[-1]

    def until(self, wanted, seconds=20):
        """The first new message that `wanted` accepts, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.receive(end - time.monotonic())
            if message is not None and wanted(message):
                return message
        return None

    def drain(self, seconds=0.0):
        """All that come from now on for so long."""
        first, end = len(self.messages), time.monotonic() + seconds
        while self.receive(end - time.monotonic()) is not None or time.monotonic() < end:
            pass
        return self.messages[first:]

    def close(self):
        self.socket.close()


def status(pid):
    """By thread: what /proc says of it."""
    threads = {}
    for task in pathlib.Path('/proc/%d/task' % pid).iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):        # one that ended meanwhile
            threads[int(task.name)] = dict(re.findall(r'^(\w+):\s*(.*)$', (task / 'status').read_text(), re.M))
    return threads


def workers(pid):
    """Thread numbers of the workers, in the order of their lcores."""
    found = [(int(fields['Name'].rsplit('-', 1)[1]), tid) for tid, fields in status(pid).items()
             if re.fullmatch(r'(rte|lcore)-worker-\d+', fields['Name'])]
    return [tid for _, tid in sorted(found)]


def _ptrace(request, tid):
    if LIBC.ptrace(request, tid, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, 'ptrace: ' + os.strerror(error))


@contextlib.contextmanager
def stopped(tid):
    """One thread stands still, the others of its process do not."""
    _ptrace(PTRACE_SEIZE, tid)
    try:
        _ptrace(PTRACE_INTERRUPT, tid)
        os.waitpid(tid, WALL)
        yield
    finally:
        _ptrace(PTRACE_DETACH, tid)
