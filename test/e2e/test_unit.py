#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The systemd unit: what systemd-analyze says of it, and that its capabilities are enough for ports of each kind."""
import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import BINARY, ROOT, BumpTest, appliance, tap

UNIT = pathlib.Path(BINARY).resolve().parents[1] / 'config/fragmend.service'
PR_CAPBSET_DROP, CAPABILITIES = 24, 64
HEADER = '/usr/include/linux/capability.h'


class Analyzed(unittest.TestCase):
    """Read only: no service is started."""

    def analyze(self, *argv):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / 'fragmend.service'
        # As it is installed, but for where the program is.
        text, found = re.subn(r'(?m)^ExecStart=\S+', 'ExecStart=' + str(pathlib.Path(BINARY).resolve()),
                              UNIT.read_text())
        self.assertEqual(found, 1)
        path.write_text(text)
        return subprocess.run(['systemd-analyze', *argv, str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})

    def test_verify(self):
        """Not a word; whether the manual page is installed is not the unit's matter."""
        done = self.analyze('verify', '--man=no')
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_security(self):
        """As the operator's manual says."""
        done = self.analyze('security', '--offline=true', '--no-pager')
        level = re.search(r'Overall exposure level for fragmend.service: (\S+)', done.stdout)
        self.assertIsNotNone(level, done.stdout)
        self.assertIn('exposure level of %s' % level.group(1), (ROOT / 'doc/service.md').read_text())


def bounding_set():
    """The numbers of the capabilities that the unit lets a service have."""
    numbers = dict(re.findall(r'(?m)^#define (CAP_\w+)\s+(\d+)$', pathlib.Path(HEADER).read_text()))
    names = re.search(r'(?m)^CapabilityBoundingSet=(.*)$', UNIT.read_text()).group(1).split()
    return {int(numbers[name]) for name in names}


class Bounded(BumpTest):
    def start_within(self, keep, *vdevs):
        """A whole run of a process that has those capabilities and no others."""
        def drop():
            appliance.die_with_parent()
            for number in set(range(CAPABILITIES)) - keep:
                ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
        with self.bump.middle:
            return subprocess.run(appliance.command_line(BINARY, vdevs, ['--exit-on-idle', '300']), text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  preexec_fn=drop, timeout=60)

    def assertRuns(self, *vdevs):
        done = self.start_within(bounding_set(), *vdevs)
        self.assertEqual(done.returncode, 0, done.stdout)
        for device in ('m0', 'm1'):
            self.assertNotRegex(self.bump.middle.ip('link', 'show', device), 'xdp|PROMISC')

    def test_af_xdp(self):
        self.assertRuns(appliance.xdp(0, 'm0'), appliance.xdp(1, 'm1'))

    def test_pcap(self):
        self.assertRuns(appliance.pcap_interface(0, 'm0'), appliance.pcap_interface(1, 'm1'))

    def test_tap(self):
        self.assertRuns('net_tap0,iface=t0', 'net_tap1,iface=t1')

    def test_less_is_too_little(self):
        """So the other tests can fail."""
        self.assertEqual(self.start_within(set(), appliance.xdp(0, 'm0'), appliance.xdp(1, 'm1')).returncode, 1)


if __name__ == '__main__':
    raise SystemExit(tap.main())
