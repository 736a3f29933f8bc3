# SPDX-License-Identifier: BSD-3-Clause
"""fragmend as a child process: started in a namespace, spoken to through its console, stopped and held to its word."""
import contextlib
import ctypes
import os
import pty
import re
import select
import signal
import subprocess
import time
import tty

from . import report

PROMPT = 'fragmend> '
PR_SET_PDEATHSIG = 1
PROMPT_LINE = re.compile('^' + re.escape(PROMPT), re.M)
ESCAPES = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')


def lcores(workers=1):
    """EAL arguments for the main lcore and so many workers, whatever the CPUs: workers share them if they must."""
    cpus = sorted(os.sched_getaffinity(0))
    return ('--lcores', ','.join(['0@%d' % cpus[0]] + ['%d@%d' % (worker, cpus[-(1 + (worker - 1) % len(cpus))])
                                                       for worker in range(1, workers + 1)]))


def eal(megabytes=512, workers=1):
    """For a laboratory: no hugepages, no PCI devices, nothing shared with other DPDK processes."""
    return ('--no-huge', '--no-shconf', '--no-pci', '--no-telemetry', '-m', str(megabytes), *lcores(workers))


EAL = eal()


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def xdp(number, device, **arguments):
    return ','.join(['net_af_xdp%d' % number, 'iface=' + device] + ['%s=%s' % item for item in arguments.items()])


def pcap_interface(number, device):
    return 'net_pcap%d,iface=%s' % (number, device)


def command_line(binary, vdevs, options=(), eal=EAL):
    return [binary, *eal, *(word for vdev in vdevs for word in ('--vdev', vdev)), '--', *options]


def run(argv, ns=None, timeout=30, **kwargs):
    """A run to its end; returns (exit code, stdout, stderr)."""
    with ns or contextlib.nullcontext():
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors='replace', preexec_fn=die_with_parent, **kwargs)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise RuntimeError('%s: still running after %d s; it said: %s%s' % (argv[0], timeout, out[-2000:], err[-2000:]))
    return process.returncode, out, err


class Appliance:
    """A running fragmend with a console on a pseudo terminal."""

    def __init__(self, binary, vdevs, options=(), ns=None, eal=EAL):
        self.argv = command_line(binary, vdevs, ['-i', '--auto-start', *options], eal)
        master, slave = pty.openpty()
        tty.setraw(slave)
        with ns or contextlib.nullcontext():
            self.process = subprocess.Popen(self.argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                            preexec_fn=die_with_parent)
        os.close(slave)
        self.master = master
        self.log = ''
        try:
            self._until_prompt(20)
        except RuntimeError:
            self.kill()
            raise

    def _read(self, timeout):
        if not select.select([self.master], [], [], timeout)[0]:
            return None
        try:
            return os.read(self.master, 65536).decode(errors='replace')
        except OSError:         # EIO: the other end is closed
            return ''

    def _until_prompt(self, timeout, after=''):
        text, end = '', time.monotonic() + timeout
        while True:
            piece = self._read(max(0.0, end - time.monotonic()))
            if not piece:
                raise RuntimeError('%s: %s; it said:\n%s' % (' '.join(self.argv), 'no prompt in %d s' % timeout
                                                           if piece is None else 'ended', self.log))
            self.log += piece
            text = ESCAPES.sub('', text + piece).replace('\r', '')
            # Behind the prompt may stand what the program says meanwhile, so it is not always the end.
            start = text.find(after)
            prompt = PROMPT_LINE.search(text, start + len(after)) if start >= 0 else None
            if prompt:
                return text[start + len(after):prompt.start()]

    def command(self, line, timeout=10):
        """What the console prints for a command."""
        os.write(self.master, line.encode() + b'\n')
        # The echo of the line comes first.
        return self._until_prompt(timeout, line + '\n')

    def counters(self):
        """Everything that is counted, by name."""
        return {**report.outcomes(self.command('show reassembly drops')),
                **report.statistics(self.command('show reassembly stats'))}

    def check(self):
        return report.check(self.command('show check'))

    def port(self, number):
        return report.port(self.command('show port stats %d' % number))

    def pools(self):
        return report.pools(self.command('show budget'))

    def budget_mbufs(self):
        return report.budget(self.command('show budget'))

    def stop(self, how=signal.SIGINT, timeout=20):
        """End it by a signal, or by a console command; returns its exit code."""
        if isinstance(how, str):
            os.write(self.master, how.encode() + b'\n')
        else:
            self.process.send_signal(how)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            piece = self._read(0.1)
            if piece:
                self.log += piece.replace('\r', '')
            if self.process.poll() is not None and not piece:
                break
        if self.process.poll() is None:
            self.kill()
            raise RuntimeError('%s did not end in %d s' % (self.argv[0], timeout))
        return self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
