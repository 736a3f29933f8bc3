#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What fragmend may do once its ports are up, thread by thread; and that it is enough to the end."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest.mock

from harness import BINARY, BumpTest, appliance, tap, wait_for
from lab import service

NET_ADMIN = 1 << 12
SETS = ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')


def sets(pid):
    """By thread: name, its sets of capabilities, and whether it can never get more."""
    return {tid: (fields['Name'], {name: int(fields[name], 16) for name in SETS}, fields['NoNewPrivs'])
            for tid, fields in service.status(pid).items()}


def own():
    return int(service.status(os.getpid())[os.getpid()]['CapPrm'], 16)


class PrivilegeTest(BumpTest):
    def eal(self):
        """With every thread that DPDK can make: also those of telemetry and for its other processes."""
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.enterContext(unittest.mock.patch.dict(os.environ, RUNTIME_DIRECTORY=folder.name))
        return tuple(word for word in appliance.eal(512, 2) if word not in ('--no-shconf', '--no-telemetry'))

    def assertKept(self, keep):
        """Exactly that, in each thread."""
        wanted = {name: keep if name in ('CapPrm', 'CapEff', 'CapBnd') else 0 for name in SETS}
        threads = sets(self.app.process.pid)
        for name, got, no_new in threads.values():
            self.assertEqual((name, got, no_new), (name, wanted, '1'), threads)
        names = [name for name, _, _ in threads.values()]
        for name in (r'fragmend', r'eal-intr', r'telemetry', r'(rte|lcore)-worker-1', r'(rte|lcore)-worker-2',
                     r'rte_mp'):
            self.assertTrue([one for one in names if re.match(name, one)], (name, names))

    def flags(self, device):
        return self.bump.middle.ip('link', 'show', device).split('>')[0].split('<')[1].split(',')

    def lose_link(self):
        self.bump.middle.ip('link', 'set', 'm0', 'down')
        self.assertTrue(wait_for(lambda: 'UP' not in self.flags('m1'), 20), self.app.log)

    def follow(self):
        """Loss of link goes over to the other side, and back."""
        self.lose_link()
        self.bump.middle.ip('link', 'set', 'm0', 'up')
        self.assertTrue(wait_for(lambda: 'UP' in self.flags('m1'), 20), self.app.log)

    def end(self):
        self.assertEqual(self.app.stop('quit'), 0, self.app.log)
        # The one complaint is libxdp's, which may not ask what program there is; the driver takes it off all the same.
        refusals = [line for line in self.app.log.split('\n') if re.search('not permitted|denied', line)]
        self.assertEqual([line for line in refusals if not line.startswith('libxdp: couldn\'t get program fd')], [])


class KernelInterfaces(PrivilegeTest):
    def test_af_xdp(self):
        self.start('--link-follow', eal=self.eal())
        self.assertKept(NET_ADMIN)
        self.assertIn('PROMISC', self.flags('m0'))
        self.assertIn('xdp', self.bump.middle.ip('link', 'show', 'm0'))
        self.assertGood(self.exchange([3000, 5000], 4))
        self.follow()
        self.assertKept(NET_ADMIN)
        # What is down when it ends is up again behind it.
        self.lose_link()
        self.end()
        self.assertIn('UP', self.flags('m1'))
        for device in ('m0', 'm1'):
            self.assertNotIn('PROMISC', self.flags(device))
            self.assertNotIn('xdp', self.bump.middle.ip('link', 'show', device))

    def test_pcap(self):
        self.start('--link-follow', eal=self.eal(),
                   vdevs=[appliance.pcap_interface(0, 'm0'), appliance.pcap_interface(1, 'm1')])
        self.assertKept(NET_ADMIN)
        self.assertGood(self.exchange([3000], 4))
        self.follow()
        self.end()

    def test_tap(self):
        self.start(eal=self.eal(), vdevs=['net_tap0,iface=t0', 'net_tap1,iface=t1'], resolve=False)
        self.assertKept(NET_ADMIN)
        self.assertIn('PROMISC', self.flags('t0'))
        self.end()
        self.assertNotIn('t0', self.bump.middle.ip('link', 'show'))

    def test_kept_if_asked_for(self):
        self.start('--keep-privileges', eal=self.eal())
        for name, got, no_new in sets(self.app.process.pid).values():
            self.assertEqual((name, got['CapPrm'], no_new), (name, own(), '1'))
        self.end()


class NoInterfaces(PrivilegeTest):
    NULLS = ('net_null0', 'net_null1')

    def test_nothing_is_kept(self):
        self.start(eal=self.eal(), vdevs=self.NULLS, resolve=False)
        self.assertKept(0)
        # What the console does to files still works, on files of its own.
        file = self.temporary() / 'saved'
        self.app.command('save config %s' % file)
        self.assertIn('set output', file.read_text())
        self.end()

    def test_telemetry(self):
        """A thread made later, for a client, has no more than who made it."""
        self.start(eal=self.eal(), vdevs=self.NULLS, resolve=False)
        paths = list(pathlib.Path(os.environ['RUNTIME_DIRECTORY']).rglob('dpdk_telemetry.v2'))
        self.assertEqual(len(paths), 1)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            before = len(sets(self.app.process.pid))
            client.connect(str(paths[0]))
            client.recv(4096)
            self.assertGreater(len(sets(self.app.process.pid)), before)
            self.assertKept(0)
        self.end()

    def test_nobody(self):
        """Who has nothing has nothing to drop."""
        # A copy where anybody may look, wherever the build is.
        folder = self.temporary()
        folder.chmod(0o755)
        binary = shutil.copy(BINARY, folder)
        process = subprocess.run(appliance.command_line(binary, ['net_ring0', 'net_ring1'], ['--exit-on-idle', '300']),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 timeout=30, user=65534, group=65534, extra_groups=[], env={'PATH': '/usr/bin'})
        self.assertEqual(process.returncode, 0, process.stdout)


if __name__ == '__main__':
    raise SystemExit(tap.main())
