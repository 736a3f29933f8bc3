# SPDX-License-Identifier: BSD-3-Clause
"""What every end-to-end test stands on. Each ends with both accounting identities and the pools back at their start."""
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

from lab import appliance, capture, packet, tap, traffic       # noqa: E402 (the path comes first)
from lab.netns import Bump                                      # noqa: E402

__all__ = ['BINARY', 'FRAGMEND_CLI', 'FRAGMEND_PCAP', 'ROOT', 'BumpTest', 'FullPools', 'appliance', 'capture', 'packet',
           'tap', 'traffic', 'wait_for']

BINARY = os.environ.get('FRAGMEND', str(ROOT / 'build/app/fragmend'))
FRAGMEND_CLI = os.environ.get('FRAGMEND_CLI', str(ROOT / 'build/app/fragmend-cli'))
FRAGMEND_PCAP = os.environ.get('FRAGMEND_PCAP', str(ROOT / 'build/app/fragmend-pcap'))

for program in (BINARY, FRAGMEND_CLI, FRAGMEND_PCAP):
    if not os.access(program, os.X_OK):
        sys.exit('%s is not there: build it, or name another one with FRAGMEND, FRAGMEND_CLI, FRAGMEND_PCAP' % program)


def wait_for(condition, timeout=10.0):
    """Until the condition holds; its last value."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.02)


class FullPools:
    """For test cases on ports whose driver keeps no mbuf, and without caches."""

    def assertFull(self, app):
        """Every single mbuf is back."""
        full = lambda: all(size == free for size, free in app.pools())      # noqa: E731
        self.assertTrue(wait_for(full), app.command('show budget'))
        self.assertGreater(len(app.pools()), 0)


class BumpTest(FullPools, unittest.TestCase):
    """A sender, fragmend and a receiver. `start()` in each test; the tear-down holds fragmend to its accounts."""

    mtu, egress_mtu = 1500, None

    def setUp(self):
        self.bump = Bump(self.mtu, self.egress_mtu)
        self.addCleanup(self.bump.close)
        self.app = None

    def vdevs(self):
        egress = appliance.pcap_interface if self.egress_mtu else appliance.xdp
        return [appliance.xdp(0, 'm0'), egress(1, 'm1')]

    def start(self, *options, resolve=True, vdevs=None, eal=appliance.EAL):
        self.app = appliance.Appliance(BINARY, vdevs or self.vdevs(), options, self.bump.middle, eal)
        self.addCleanup(self.app.close)
        if resolve:
            self.bump.resolve()
        return self.app

    def tearDown(self):
        if self.app and self.app.process.poll() is None:
            self.settle()

    def settle(self):
        """Flush, then: every fragment and every frame is accounted for, and every mbuf is back."""
        self.app.command('flush reassembly')
        check = wait_for(lambda: self.accounts_closed(), 5.0)
        self.assertTrue(check, self.app.command('show check'))
        self.assertEqual(self.app.stop('quit'), 0, self.app.log[-3000:])

    def accounts_closed(self):
        check = self.app.check()
        return check['fragments_ok'] and check['frames_ok'] and check['mbufs_ok'] and check['held'] == 0

    def ends(self, family):
        bump = self.bump
        return (bump.SENDER4, bump.RECEIVER4) if family == 4 else (bump.SENDER6, bump.RECEIVER6)

    def exchange(self, sizes, family, window=8, source_port=0):
        """Kernel UDP from sender to receiver; every payload must arrive, unchanged."""
        local, remote = self.ends(family)
        sender = traffic.udp_socket(self.bump.sender, local, source_port)
        receiver = traffic.udp_socket(self.bump.receiver, remote)
        with sender, receiver:
            return traffic.udp_exchange(sender, receiver, sizes, window)

    def assertGood(self, exchange):
        self.assertGreater(exchange.sent, 0)
        self.assertEqual((exchange.equal, exchange.missing, exchange.different), (exchange.sent, [], []))

    def assertCounters(self, **want):
        """A frame can arrive before it is counted, so they get time to become what they must be."""
        def chosen():
            counters = self.app.counters()
            return {name: counters[name] for name in want}
        wait_for(lambda: chosen() == want, 5.0)
        self.assertEqual(chosen(), want, self.app.command('show reassembly drops'))

    def assertSoon(self, condition):
        """Of the counters."""
        self.assertTrue(wait_for(lambda: condition(self.app.counters())), self.app.counters())

    def feed(self, wire, fragments, group=128):
        """Send fragments as fast as fragmend takes them, so that no ring in front of it overflows."""
        fragments, before = list(fragments), self.app.counters()['fragments_in']
        for at in range(0, len(fragments), group):
            wire.send(*fragments[at:at + group])
            want = before + min(at + group, len(fragments))
            self.assertSoon(lambda counters: counters['fragments_in'] >= want)

    def wires(self):
        """Raw sockets at both ends."""
        pair = capture.Wire(self.bump.sender, 's0'), capture.Wire(self.bump.receiver, 'r0')
        for wire in pair:
            self.addCleanup(wire.close)
        return pair

    def temporary(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)
