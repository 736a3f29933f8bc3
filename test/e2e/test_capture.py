#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures, read by tshark: what is dropped with its outcome, all, limits, and a file that cannot be written."""
import collections
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import unittest

from harness import BINARY, BumpTest, FullPools, appliance, capture, packet, tap, wait_for
from lab import hugepages, report

FIELDS = ('frame.interface_name', 'frame.packet_flags_direction', 'frame.len', 'frame.cap_len', 'frame.comment',
          'eth.src')
Packet = collections.namedtuple('Packet', 'interface direction length captured comment source')
IN, OUT = 1, 2
GOOD = ('completed', 'passed', 'passed_malformed', 'bypassed', 'sent_whole', 'sent_refragmented')
ROW = re.compile(r'^ +([a-z][a-z ]*?) +(\d+)\b', re.M)


def datagram(number, size=2600, family=4):
    ends = ('10.8.%d.%d' % (number >> 8 & 255, number & 255), '10.9.0.2') if family == 4 else (
        'fd08::%x' % (number + 1), 'fd09::2')
    return packet.Datagram(*ends, random.Random(number).randbytes(size), ident=number)


def tshark(path):
    """Every packet of a capture; a file with a fault is an error."""
    words = ['tshark', '-r', str(path), '-T', 'fields', '-E', 'separator=|', *(w for f in FIELDS for w in ('-e', f))]
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode != 0 or 'cut short' in run.stderr or 'damaged' in run.stderr:
        raise AssertionError('%s: %s' % (path, run.stderr))
    return [Packet(name, int(direction, 0), int(length), int(captured), comment, source)
            for name, direction, length, captured, comment, source in
            (line.split('|') for line in run.stdout.splitlines())]


def frames_of(path, folder):
    """The bytes of every packet, by way of a pcap file."""
    other = pathlib.Path(folder) / 'converted.pcap'
    subprocess.run(['tshark', '-r', str(path), '-F', 'pcap', '-w', str(other)], check=True, capture_output=True)
    return capture.read_pcap(other)


def is_mine(one):
    """From the raw socket of the test, not from a kernel that says something by itself."""
    return bytes.fromhex(one.source.replace(':', '')) == packet.MAC_A


def comments(packets):
    """How many packets have which outcome."""
    found = collections.Counter(one.comment for one in packets if one.comment)
    assert all(comment.startswith('fragmend: ') for comment in found), found
    return {comment.removeprefix('fragmend: '): count for comment, count in found.items()}


def dropped(counters):
    """The outcomes that are drops, with their counts."""
    return {name: count for name, count in counters.items() if count and name not in GOOD and name not in report.STATS
            and name not in report.HELD}


def hostile():
    """Frames that are dropped for half a dozen reasons, with good ones in between."""
    frames = []
    for number in range(40):
        good = datagram(number, family=4 + number % 2 * 2).fragments(1000)
        evil = datagram(1000 + number, 3000)
        bad, kind = evil.fragments(1000), number % 5
        if kind == 0:
            broken = bytearray(bad[0])
            broken[24] ^= 0xff
            frames += [bytes(broken)]                                   # bad_ip_checksum
        elif kind == 1:
            frames += [bad[0], bad[0], bad[1], bad[2]]                  # duplicate
        elif kind == 2:
            frames += [bad[0], evil.fragment(8, 1000, True), bad[2]]    # overlap, condemned
        elif kind == 3:
            frames += [evil.fragment(0, 1001, True)]                    # bad_length
        else:
            frames += [evil.fragment(65528, 100, False, payload=bytes(100))]    # too_big
        frames += good
    return frames


class CaptureTest(BumpTest):
    def setUp(self):
        super().setUp()
        self.folder = self.temporary()
        self.file = self.folder / 'capture.pcapng'

    def capture(self, *words, file=None):
        out = self.app.command(' '.join(['capture start', str(file or self.file), *words]))
        self.assertEqual(out, '')

    def shown(self, command='show capture'):
        text = self.app.command(command)
        return text, {name: int(value) for name, value in ROW.findall(text)}

    def assertState(self, state):
        self.assertTrue(wait_for(lambda: self.shown()[0].split('\n')[0].endswith(': ' + state)), self.shown()[0])
        return self.shown()[1]


class Drops(CaptureTest):
    def test_outcomes(self):
        self.start('--timeout4', '300')
        left, _ = self.wires()
        before = dropped(self.app.counters())
        self.capture('drops')
        frames = hostile()
        self.feed(left, frames, 16)
        left.send(*datagram(5000).fragments(1000)[:2])
        self.assertSoon(lambda counters: counters['timeout'] == 2)
        self.assertSoon(lambda counters: counters['held_fragments'] == 0)
        _, rows = self.shown('capture stop')
        packets = tshark(self.file)
        want = collections.Counter(dropped(self.app.counters()))
        want.subtract(before)
        self.assertEqual(comments(packets), dict(+want))
        self.assertEqual({'bad_ip_checksum', 'duplicate', 'overlap', 'condemned', 'bad_length', 'too_big', 'timeout'},
                         set(comments(packets)))
        self.assertEqual((rows['packets'], rows['not captured']), (len(packets), 0))
        self.assertEqual({(one.interface, one.direction) for one in packets}, {('m0', IN)})
        self.assertLessEqual(set(frames_of(self.file, self.folder)), set(frames) | set(datagram(5000).fragments(1000)))
        info = subprocess.run(['capinfos', '-c', '-M', str(self.file)], capture_output=True, text=True, check=True)
        self.assertRegex(info.stdout, r'Number of packets: +%d\b' % len(packets))

    def test_budget(self):
        """What is evicted or refused: each fragment by itself, as it is counted."""
        self.start('--budget', '32', '--timeout4', '120000')
        left, _ = self.wires()
        self.capture()
        self.feed(left, (frame for number in range(100) for frame in datagram(number, 4000).fragments(1000)[:3]), 32)
        self.app.command('flush reassembly')
        self.assertSoon(lambda counters: counters['held_fragments'] == 0)
        counters = dropped(self.app.counters())
        self.app.command('capture stop')
        self.assertEqual(comments(tshark(self.file)), counters)
        self.assertGreater(counters['flushed'], 0)
        self.assertGreater(sum(count for name, count in counters.items() if name.startswith(('evicted', 'refused'))), 0)

    def test_egress(self):
        """A datagram that cannot leave is one packet, joined, outwards."""
        self.start('--output', 'whole-only', '--mtu', '1=1500')
        left, _ = self.wires()
        self.capture('snaplen', '65000')
        left.send(*datagram(1, 5000).fragments(1000))
        self.assertCounters(too_big_for_egress=1)
        self.app.command('capture stop')
        self.assertEqual([one[:5] for one in tshark(self.file)],
                         [('m1', OUT, 5034, 5034, 'fragmend: too_big_for_egress')])
        self.assertEqual(frames_of(self.file, self.folder), [datagram(1, 5000).whole()])

    def test_held_before(self):
        """Fragments that came before the capture began."""
        self.start('--timeout4', '120000')
        left, _ = self.wires()
        left.send(*datagram(1).fragments(1000)[:2])
        self.assertCounters(held_fragments=2)
        self.capture()
        self.app.command('flush reassembly')
        self.assertCounters(held_fragments=0)
        self.app.command('capture stop')
        self.assertEqual([(one.interface, one.direction, one.comment) for one in tshark(self.file)],
                         [('m0', IN, 'fragmend: flushed')] * 2)

    def test_exit_flushes(self):
        """What the end of the program drops is in the file, and the file is whole."""
        self.start('--timeout4', '120000')
        left, _ = self.wires()
        self.capture()
        left.send(*datagram(1).fragments(1000)[:2])
        self.assertCounters(held_fragments=2)
        self.assertEqual(self.app.stop('quit'), 0, self.app.log[-3000:])
        self.assertEqual(comments(tshark(self.file)), {'flushed': 2})
        self.assertNotIn('did not come back', self.app.log)


class All(CaptureTest):
    def test_in_and_out(self):
        self.start()
        left, right = self.wires()
        self.capture('all')
        frames = hostile() + [datagram(7000, 300).whole()]
        self.feed(left, frames[:-1], 16)
        left.send(frames[-1])
        self.assertTrue(wait_for(lambda: frames[-1] in right.drain(0.2)))
        self.app.command('capture stop')
        packets = tshark(self.file)
        mine = [one for one in packets if is_mine(one)]
        came = [one for one in mine if one.direction == IN and not one.comment]
        went = [one for one in mine if one.direction == OUT]
        counters = self.app.counters()
        self.assertEqual(len(came), len(frames))
        self.assertEqual({one.interface for one in came}, {'m0'})
        self.assertEqual({one.interface for one in went}, {'m1'})
        self.assertEqual({one.comment for one in went}, {''})
        self.assertEqual(comments(packets), dropped(counters))
        # Each datagram left in pieces no larger than 1,000 bytes of payload, as it came.
        self.assertEqual(len(went), 1 + counters['completed'])
        self.assertEqual(sum(one.captured for one in mine), sum(one.length for one in mine))

    def test_bypass(self):
        self.start()
        left, _ = self.wires()
        self.app.command('set bypass on')
        self.capture('all')
        frames = datagram(1).fragments(1000)
        left.send(*frames)
        self.assertTrue(wait_for(lambda: self.app.counters()['bypassed'] >= len(frames)))
        self.app.command('capture stop')
        self.assertEqual(sorted(one.direction for one in tshark(self.file) if is_mine(one)), [IN] * 3 + [OUT] * 3)


class Limits(CaptureTest):
    def bad(self, count, size=1000):
        """Frames that are dropped at once."""
        return [datagram(number, 3000).fragment(0, size + 1, True) for number in range(count)]

    def test_limit(self):
        self.start()
        left, _ = self.wires()
        self.capture('limit', '10')
        self.feed(left, self.bad(50), 10)
        rows = self.assertState('ended at its limit')
        self.assertEqual((rows['packets'], rows['unwritten']), (10, 0))
        self.assertEqual(comments(tshark(self.file)), {'bad_length': 10})
        # It is over: there is nothing to stop, and another one can start.
        self.assertIn('no capture is running', self.app.command('capture stop'))
        self.capture(file=self.folder / 'next')
        left.send(*self.bad(3))
        self.assertCounters(bad_length=53)
        self.app.command('capture stop')
        self.assertEqual(len(tshark(self.folder / 'next')), 3)

    def test_snaplen(self):
        self.start()
        left, _ = self.wires()
        self.capture('drops', 'snaplen', '64')
        left.send(*self.bad(5))
        self.assertCounters(bad_length=5)
        self.app.command('capture stop')
        self.assertEqual([(one.length, one.captured) for one in tshark(self.file)], [(1035, 64)] * 5)
        self.assertEqual(frames_of(self.file, self.folder), [frame[:64] for frame in self.bad(5)])

    def test_rate(self):
        """One packet a second: what is not captured is counted, and loses nothing else."""
        self.start()
        left, _ = self.wires()
        self.capture('drops', 'rate', '1')
        self.feed(left, self.bad(200), 20)
        self.assertCounters(bad_length=200)
        _, rows = self.shown('capture stop')
        self.assertEqual(len(tshark(self.file)), rows['packets'])
        self.assertEqual(rows['packets'] + rows['over rate'], 200)
        self.assertIn(rows['packets'], range(1, 60))

    def test_refused(self):
        self.start()
        self.assertIn('no capture is running', self.app.command('capture stop'))
        self.assertIn('There was no capture yet.', self.app.command('show capture'))
        nowhere = self.folder / 'nowhere' / 'file'
        self.assertIn('%s cannot be made: No such file or directory' % nowhere,
                      self.app.command('capture start %s' % nowhere))
        self.file.write_text('precious')
        self.assertIn('%s is there already' % self.file, self.app.command('capture start %s' % self.file))
        self.assertEqual(self.file.read_text(), 'precious')
        self.file.unlink()
        self.capture()
        self.assertIn('a capture to %s is running' % self.file,
                      self.app.command('capture start %s' % (self.folder / 'other')))
        self.assertFalse((self.folder / 'other').exists())
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.assertState('running')
        self.app.command('capture stop')
        self.assertEqual(tshark(self.file), [])
        self.assertState('stopped')

    def test_full_disk(self):
        """The capture ends, says why, and its file can be read; traffic goes on."""
        disk = self.folder / 'disk'
        disk.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', str(disk)], check=True)
        self.addCleanup(subprocess.run, ['umount', '-l', str(disk)], check=True)
        self.start()
        left, _ = self.wires()
        self.capture(file=disk / 'file')
        self.feed(left, self.bad(200), 10)
        self.assertCounters(bad_length=200)
        rows = self.assertState('FAILED: No space left on device')
        self.assertIn('capture to %s ends: No space left on device' % (disk / 'file'), self.app.log)
        self.assertIn(rows['packets'], range(1, 64))
        self.assertEqual(len(tshark(disk / 'file')), rows['packets'])
        self.assertGreater(rows['unwritten'], 0)
        self.assertEqual((disk / 'file').stat().st_size, rows['bytes'])
        # No room for the first bytes.
        subprocess.run('cat /dev/zero >%s' % (disk / 'rest'), shell=True, capture_output=True)
        out = self.app.command('capture start %s' % (disk / 'two'))
        self.assertIn('cannot be written: No space left on device', out)
        self.assertFalse((disk / 'two').exists())
        self.capture()
        self.app.command('capture stop')
        self.assertGood(self.exchange([3000] * 10, 4))


class Flood(FullPools, unittest.TestCase):
    """Frames as fast as the workers take them, without end, from memory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        capture.write_pcap(self.folder / 'in', hostile())
        vdevs = ['net_pcap0,rx_pcap=%s,infinite_rx=1' % (self.folder / 'in'), 'net_null1,no-rx=1']
        self.app = appliance.Appliance(BINARY, vdevs, ['--txq', '1'], eal=appliance.eal(workers=2))
        self.addCleanup(self.app.close)

    def rows(self, command='show capture'):
        return {name: int(value) for name, value in ROW.findall(self.app.command(command))}

    def test_full_traffic(self):
        app = self.app
        for mode in ('drops', 'all'):
            with self.subTest(mode=mode):
                file = self.folder / mode
                self.assertEqual(app.command('capture start %s %s rate 20000' % (file, mode)), '')
                self.assertTrue(wait_for(lambda: self.rows()['packets'] > 2000))
                frames = app.counters()['frames_in']
                self.assertTrue(wait_for(lambda: app.counters()['frames_in'] > frames + 10000))
                rows = self.rows('capture stop')
                packets = tshark(file)
                self.assertEqual(len(packets), rows['packets'])
                self.assertGreater(rows['over rate'], 0)
                self.assertEqual(rows['unwritten'], 0)
                self.assertEqual(any(not one.comment for one in packets), mode == 'all')
        # The whole rate goes on, and nothing was lost on the way.
        self.assertEqual(app.command('stop'), '')
        check = app.check()
        self.assertTrue(check['frames_ok'] and check['fragments_ok'] and check['mbufs_ok'], app.command('show check'))
        self.assertEqual(app.stop('quit'), 0, app.log[-3000:])
        self.assertNotIn('did not come back', app.log)


class Dumpcap(unittest.TestCase):
    """DPDK's own capture program attaches to fragmend, where their memory can be shared: on hugepages with files."""
    MEGABYTES = 256

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        memory = self.enterContext(hugepages.reserved(self.MEGABYTES))
        if '--no-huge' in memory:
            self.skipTest('the system has no %d MB of hugepages' % self.MEGABYTES)
        huge = self.folder / 'huge'
        huge.mkdir()
        subprocess.run(['mount', '-t', 'hugetlbfs', 'none', str(huge)], check=True)
        self.addCleanup(subprocess.run, ['umount', '-l', str(huge)], check=True)
        self.prefix = self.folder.name
        eal = ('--no-pci', '--no-telemetry', '-m', str(self.MEGABYTES), '--huge-dir', str(huge), '--file-prefix',
               self.prefix, *appliance.lcores())
        self.frames = hostile()
        capture.write_pcap(self.folder / 'in', self.frames)
        vdevs = ['net_pcap0,rx_pcap=%s,infinite_rx=1' % (self.folder / 'in'), 'net_null1,no-rx=1']
        self.app = appliance.Appliance(BINARY, vdevs, ['--total-num-mbufs', '16383', '--pdump'], eal=eal)
        self.addCleanup(self.app.close)

    def dumpcap(self, *words):
        return subprocess.run(['dpdk-dumpcap', '--file-prefix=' + self.prefix, *words], capture_output=True, text=True,
                              timeout=60, cwd=self.folder)

    def capture(self, file):
        """As operations.md says: forwarding stands still when it detaches."""
        process = subprocess.Popen(['dpdk-dumpcap', '--file-prefix=' + self.prefix, '-i', 'net_pcap0', '-w', str(file)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder)
        try:
            self.assertTrue(wait_for(lambda: file.exists() and file.stat().st_size > 100000, 30))
            self.app.command('stop')
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 0, out)
        self.app.command('start')

    def test_attach(self):
        listed = self.dumpcap('-D')
        self.assertIn('net_pcap0', listed.stdout, listed.stderr)
        for run in range(2):
            file = self.folder / ('dumpcap%d' % run)
            self.capture(file)
            self.assertGreaterEqual(len(tshark(file)), 500)
            self.assertLessEqual(set(frames_of(file, self.folder)), set(self.frames))
            # Nobody is attached any more, and all goes on.
            before = self.app.counters()['frames_in']
            self.assertTrue(wait_for(lambda: self.app.counters()['frames_in'] > before))
        self.assertEqual(self.app.stop('quit'), 0, self.app.log[-3000:])
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK', self.app.log)


if __name__ == '__main__':
    raise SystemExit(tap.main())
