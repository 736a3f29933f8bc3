#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""fragmend-pcap: captures in, captures out, several at once, and what it says when it cannot."""
import pathlib
import random
import subprocess
import tempfile
import time
import unittest

from harness import BINARY, FRAGMEND_PCAP, FullPools, appliance, capture, packet, tap, wait_for
from lab import report


def datagram(number, size=2500, family=4):
    ends = ('10.1.0.%d' % (number % 250), '10.2.0.1') if family == 4 else ('fd01::%x' % number, 'fd02::1')
    return packet.Datagram(*ends, random.Random(number).randbytes(size), ident=number)


def ten_frames():
    """Seven fragments of two datagrams, shuffled, and three frames that are none: (in, out)."""
    four, six = datagram(1, 2500), datagram(2, 4000, 6)
    plain = [datagram(number, 200).whole() for number in (3, 4, 5)]
    frames = four.fragments(1000) + six.fragments(1000)
    random.Random(10).shuffle(frames)
    return plain + frames, plain + [four.whole(), six.whole()]


class FragmendPcap(FullPools, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, source, target, *options, code=0):
        got, out, err = appliance.run([FRAGMEND_PCAP, str(source), str(target), *options])
        self.assertEqual(got, code, out + err)
        if code == 0:
            self.assertTrue(report.closing(out), out + err)
        return out, err

    def assertFrames(self, path, want):
        got = capture.read_pcap(path)
        self.assertEqual(sorted(frame.hex() for frame in got), sorted(frame.hex() for frame in want))

    def test_pcap(self):
        frames, want = ten_frames()
        capture.write_pcap(self.folder / 'in.pcap', frames)
        began = time.monotonic()
        self.run_it(self.folder / 'in.pcap', self.folder / 'out.pcap')
        print('# ten frames took %.2f s' % (time.monotonic() - began))
        self.assertFrames(self.folder / 'out.pcap', want)

    def test_pcapng(self):
        frames, want = ten_frames()
        capture.write_pcapng(self.folder / 'in.pcapng', frames)
        self.run_it(self.folder / 'in.pcapng', self.folder / 'out.pcap')
        self.assertFrames(self.folder / 'out.pcap', want)

    def test_names(self):
        """Commas and equal signs mean something to DPDK, blanks to a shell."""
        frames, want = ten_frames()
        for name in ('with blanks', 'with,comma', 'a=b', "quote's", '[brackets]', 'semi;colon', '-dash', 'ünïcode'):
            with self.subTest(name=name):
                folder = self.folder / name
                folder.mkdir()
                capture.write_pcap(folder / (name + '.pcap'), frames)
                self.run_it(folder / (name + '.pcap'), folder / ('out ' + name))
                self.assertFrames(folder / ('out ' + name), want)

    def test_relative_names(self):
        frames, want = ten_frames()
        capture.write_pcap(self.folder / 'in.pcap', frames)
        code, out, err = appliance.run([FRAGMEND_PCAP, 'in.pcap', 'out.pcap'], cwd=self.folder)
        self.assertEqual(code, 0, out + err)
        self.assertFrames(self.folder / 'out.pcap', want)

    def test_several_at_once(self):
        jobs = []
        for number in range(4):
            data = datagram(100 + number, 3000 + number)
            capture.write_pcap(self.folder / ('in%d' % number), data.fragments(1000))
            jobs.append((number, data, subprocess.Popen(
                [FRAGMEND_PCAP, str(self.folder / ('in%d' % number)), str(self.folder / ('out%d' % number))],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
        for number, data, job in jobs:
            out, _ = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 0, out)
            self.assertFrames(self.folder / ('out%d' % number), [data.whole()])

    def test_options(self):
        data = datagram(7, 2500)
        capture.write_pcap(self.folder / 'in', data.fragments(800))
        self.run_it(self.folder / 'in', self.folder / 'out', '--output', 'refragment')
        self.assertFrames(self.folder / 'out', data.fragments(800))
        self.run_it(self.folder / 'in', self.folder / 'out', '--max-fragments', '3')
        self.assertFrames(self.folder / 'out', [])

    def test_clock_of_the_capture(self):
        """Three seconds between two fragments are more than the IPv4 timeout, when time is the capture's."""
        slow, quick = datagram(8, 1600), datagram(9, 1600)
        first, second = slow.fragments(800)
        frames = [first, *quick.fragments(800), second]
        capture.write_pcap(self.folder / 'in', frames, times=[10, 10.5, 10.6, 13])
        out, _ = self.run_it(self.folder / 'in', self.folder / 'out', '--clock', 'rx-timestamp')
        self.assertFrames(self.folder / 'out', [quick.whole()])
        self.assertRegex(out, r'timeout +1 ')

    def test_largest(self):
        """65,535 bytes in one output frame, linearised on its way into the file."""
        data = datagram(11, 65515)
        frames = data.fragments(1480)
        random.Random(11).shuffle(frames)
        capture.write_pcap(self.folder / 'in', frames)
        self.run_it(self.folder / 'in', self.folder / 'out')
        self.assertFrames(self.folder / 'out', [data.whole()])

    def test_many(self):
        """More than the rings, the pool and one burst hold."""
        data = [datagram(number, 2400 + number % 7) for number in range(3000)]
        frames = [frame for one in data for frame in one.fragments(800)]
        capture.write_pcap(self.folder / 'in', frames)
        self.run_it(self.folder / 'in', self.folder / 'out')
        self.assertFrames(self.folder / 'out', [one.whole() for one in data])

    def test_empty_capture(self):
        capture.write_pcap(self.folder / 'in', [])
        self.run_it(self.folder / 'in', self.folder / 'out')
        self.assertFrames(self.folder / 'out', [])

    def refuse(self, source, target, named, *options, code=1):
        out, err = self.run_it(source, target, *options, code=code)
        text = out + err
        self.assertTrue(any(all(word in line for word in named) for line in text.split('\n')), text)

    def test_missing_input(self):
        self.refuse(self.folder / 'nowhere', self.folder / 'out', [str(self.folder / 'nowhere')])
        self.assertFalse((self.folder / 'out').exists())

    def test_input_that_is_no_capture(self):
        (self.folder / 'in').write_text('This is prose, and some of it is long enough for a header.\n' * 10)
        self.refuse(self.folder / 'in', self.folder / 'out', [str(self.folder / 'in')])

    def test_not_ethernet(self):
        capture.write_pcap(self.folder / 'in', [datagram(1).whole()[14:]], linktype=capture.RAW_IP)
        self.refuse(self.folder / 'in', self.folder / 'out', [str(self.folder / 'in'), 'Ethernet'])

    def test_unwritable_output(self):
        capture.write_pcap(self.folder / 'in', [])
        self.refuse(self.folder / 'in', self.folder / 'nowhere/out', [str(self.folder / 'nowhere/out')])

    def test_usage(self):
        for argv in ([], [str(self.folder / 'in')]):
            with self.subTest(argv=argv):
                code, out, err = appliance.run([FRAGMEND_PCAP, *argv])
                self.assertEqual(code, 2, out + err)
                self.assertIn('IN OUT', out + err)
        code, out, err = appliance.run([FRAGMEND_PCAP, '--help'])
        self.assertEqual((code, err), (0, ''))
        self.assertIn('IN OUT', out)
        capture.write_pcap(self.folder / 'in', [])
        self.refuse(self.folder / 'in', self.folder / 'out', ['timeout4', '120000'], '--timeout4', '0', code=2)

    def test_names_that_are_none(self):
        capture.write_pcap(self.folder / 'in', [])
        self.refuse('', self.folder / 'out', ['IN', 'empty'], code=2)
        self.refuse(self.folder / 'in', '', ['OUT', 'empty'], code=2)
        self.refuse(self.folder / 'in', '-', ['OUT', 'standard output'], code=2)

    def test_options_of_its_own(self):
        capture.write_pcap(self.folder / 'in', [])
        for options in (['--write', '0=x'], ['--port-topology=paired']):
            self.refuse(self.folder / 'in', self.folder / 'out', [options[0].split('=')[0], 'itself'], *options, code=2)
        self.assertFalse((self.folder / 'out').exists())

    def test_capture_that_ends_within_a_frame(self):
        frames, want = ten_frames()
        for write in (capture.write_pcap, capture.write_pcapng):
            with self.subTest(write=write.__name__):
                write(self.folder / 'in', frames + [bytes(500)])
                whole = (self.folder / 'in').read_bytes()
                (self.folder / 'in').write_bytes(whole[:-100])
                _, err = self.run_it(self.folder / 'in', self.folder / 'out')
                self.assertIn('ends within a frame; only the %d before it' % len(frames), err)
                self.assertFrames(self.folder / 'out', want)

    def test_frame_that_cannot_be_received(self):
        capture.write_pcap(self.folder / 'in', [bytes(100), bytes(65536)])
        self.refuse(self.folder / 'in', self.folder / 'out', ['frame 2', '65536', '65535'])

    def test_two_ports_into_one_file(self):
        capture.write_pcap(self.folder / 'in', [])
        (self.folder / 'link').symlink_to('out')
        vdevs = ['net_pcap%d,rx_pcap=in' % n for n in range(2)]
        for old in (False, True):
            if old:
                (self.folder / 'out').write_bytes(b'old')
            code, out, err = appliance.run(
                appliance.command_line(BINARY, vdevs, ['--write', '0=out', '--write', '1=link',
                                                       '--exit-on-idle', '200']), cwd=self.folder)
            self.assertEqual(code, 1, out + err)
            self.assertIn('--write 1=link: is the file of port 0, too (out)', err)
        self.assertEqual((self.folder / 'out').read_bytes(), b'old')

    def test_output_that_is_an_input(self):
        capture.write_pcap(self.folder / 'in', [datagram(1).whole()])
        before = (self.folder / 'in').read_bytes()
        (self.folder / 'link').hardlink_to(self.folder / 'in')
        code, out, err = appliance.run(
            appliance.command_line(BINARY, ['net_pcap0,rx_pcap=in'], ['--port-topology', 'loop', '--write', '0=link',
                                                                      '--exit-on-idle', '200']), cwd=self.folder)
        self.assertEqual(code, 1, out + err)
        self.assertIn('--write 0=link: port 0 (net_pcap0) reads that file', err)
        self.assertEqual((self.folder / 'in').read_bytes(), before)
        self.refuse(self.folder / 'in', self.folder / 'link', [str(self.folder / 'link'), 'input'])

    def test_driver_that_keeps_mbufs(self):
        """infinite_rx=1 holds an mbuf for each frame of the file, more than there are descriptors."""
        capture.write_pcap(self.folder / 'in', [bytes(100)] * 3000)
        argv = appliance.command_line(BINARY, ['net_pcap0,rx_pcap=in,infinite_rx=1', 'net_null1,no-rx=1'],
                                      ['-i', '--total-num-mbufs', '8191'])
        done = subprocess.run(argv, cwd=self.folder, input='start\nstop\nshow check\nshow budget\n', text=True,
                              timeout=60, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn('BROKEN', done.stdout)
        self.assertNotIn('error', done.stdout)
        self.assertRegex(done.stdout, r'RX descriptors +3\d\d\d')
        done = subprocess.run(argv + ['--budget', '5000'], cwd=self.folder, input='', text=True, timeout=60,
                              capture_output=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('--budget 5000', done.stderr)

    def test_queues(self):
        """The fragments of one datagram come in on different queues of a port, whoever polls them."""
        data = [datagram(number, 2400, family) for number in range(100) for family in (4, 6)]
        frames = [frame for one in data for frame in one.fragments(400)]
        random.Random(5).shuffle(frames)
        for number in range(3):
            capture.write_pcap(self.folder / ('in%d' % number), frames[number::3])
        for workers in (1, 2, 3):
            with self.subTest(workers=workers):
                argv = appliance.command_line(
                    BINARY, ['net_pcap0,' + ','.join('rx_pcap=in%d,tx_pcap=back%d' % (n, n) for n in range(3)),
                             'net_pcap1,' + ','.join('rx_pcap=none,tx_pcap=out%d' % n for n in range(3))],
                    ['--exit-on-idle', '200'], appliance.eal(512, workers))
                capture.write_pcap(self.folder / 'none', [])
                code, out, err = appliance.run(argv, cwd=self.folder)
                self.assertEqual(code, 0, out + err)
                self.assertTrue(report.closing(out), out + err)
                got = [frame for number in range(3) for frame in capture.read_pcap(self.folder / ('out%d' % number))]
                self.assertEqual(sorted(frame.hex() for frame in got), sorted(one.whole().hex() for one in data))

    def test_written_frames_are_given_back(self):
        data = [datagram(number, 2400, family) for number in range(50) for family in (4, 6)]
        plain = [datagram(number, 100).whole() for number in range(50)]
        capture.write_pcap(self.folder / 'in', [frame for one in data for frame in one.fragments(800)] + plain)
        for mode, outputs in (('whole-or-refragment', 150), ('refragment', 350)):
            with self.subTest(mode=mode):
                app = appliance.Appliance(BINARY, ['net_pcap0,rx_pcap=%s/in' % self.folder], [
                    '--port-topology', 'loop', '--write', '0=%s/out' % self.folder, '--mbcache', '0', '--output', mode])
                self.addCleanup(app.close)
                self.assertTrue(wait_for(lambda: app.counters()['frames_in'] == 350))
                self.assertFull(app)
                self.assertEqual(app.stop('quit'), 0)
                self.assertEqual(len(capture.read_pcap(self.folder / 'out')), outputs)

    def test_by_hand(self):
        """The line that the wrapper stands for."""
        frames, want = ten_frames()
        capture.write_pcap(self.folder / 'in.pcap', frames)
        capture.write_pcap(self.folder / 'none.pcap', [])
        code, out, err = appliance.run(
            appliance.command_line(BINARY, ['net_pcap0,rx_pcap=in.pcap,tx_pcap=back.pcap',
                                            'net_pcap1,rx_pcap=none.pcap,tx_pcap=out.pcap'],
                                   ['--exit-on-idle', '200'], appliance.eal(256)), cwd=self.folder)
        self.assertEqual(code, 0, out + err)
        self.assertFrames(self.folder / 'out.pcap', want)
        self.assertFrames(self.folder / 'back.pcap', [])


if __name__ == '__main__':
    raise SystemExit(tap.main())
