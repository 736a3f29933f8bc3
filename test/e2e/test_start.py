#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fragmend starts and ends: refusals in one sentence, exit codes, nothing left behind."""
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import BINARY, BumpTest, appliance, packet, tap, wait_for

STARTED, FAILED, USAGE = 0, 1, 2
NULLS = ('net_null0', 'net_null1')

# title: (exit code, devices, options, what the sentence must name)
REFUSALS = {
    'unknown option': (USAGE, NULLS, ['--frobnicate'], ['frobnicate']),
    'argument that is none': (USAGE, NULLS, ['frobnicate'], ['frobnicate']),
    'repeated option': (USAGE, NULLS, ['--timeout4', '100', '--timeout4', '200'], ['timeout4']),
    'option without its value': (USAGE, NULLS, ['--timeout4'], ['timeout4']),
    'no number': (USAGE, NULLS, ['--timeout4', 'soon'], ['timeout4', 'soon', '120000']),
    'number with a tail': (USAGE, NULLS, ['--burst', '32x'], ['burst', '32x', '256']),
    'timeout of 0': (USAGE, NULLS, ['--timeout4', '0'], ['timeout4', '1', '120000', '0']),
    'timeout too long': (USAGE, NULLS, ['--timeout6', '120001'], ['timeout6', '120000', '120001']),
    'negative': (USAGE, NULLS, ['--max-fragments', '-5'], ['max-fragments', '8192', '-5']),
    'one fragment': (USAGE, NULLS, ['--max-fragments', '1'], ['max-fragments', '2', '8192']),
    'too many fragments': (USAGE, NULLS, ['--max-fragments', '8193'], ['max-fragments', '8192', '8193']),
    'burst of 0': (USAGE, NULLS, ['--burst', '0'], ['burst', '1', '256']),
    'burst too large': (USAGE, NULLS, ['--burst', '257'], ['burst', '256', '257']),
    'cache too large': (USAGE, NULLS, ['--mbcache', '513'], ['mbcache', '512', '513']),
    'unknown output': (USAGE, NULLS, ['--output', 'jumbo'], ['output', 'jumbo', 'whole-only']),
    'unknown topology': (USAGE, NULLS, ['--port-topology', 'ring'], ['port-topology', 'ring', 'paired', 'loop']),
    'header chain neither on nor off': (USAGE, NULLS, ['--header-chain', 'no'], ['header-chain', 'on or off', 'no']),
    'unknown clock': (USAGE, NULLS, ['--clock', 'sun'], ['clock', 'sun', 'tsc']),
    'budget over 100 %': (USAGE, NULLS, ['--budget', '101%'], ['budget', '101%']),
    'budget of 0': (USAGE, NULLS, ['--budget', '0'], ['budget']),
    'MTU without a port': (USAGE, NULLS, ['--mtu', '1500'], ['mtu', '1500']),
    'MTU too small': (USAGE, NULLS, ['--mtu', '0=20'], ['mtu', '20']),
    'MTU of a port that is not there': (FAILED, NULLS, ['--mtu', '7=1500'], ['mtu', '7']),
    'one port': (FAILED, NULLS[:1], [], ['1 port', 'loop']),
    'three ports': (FAILED, NULLS + ('net_null2',), [], ['3 ports', 'loop']),
    'no port': (FAILED, (), [], ['port']),
    'pool too small': (FAILED, NULLS, ['--total-num-mbufs', '512'], ['total-num-mbufs', '512']),
    'pool larger than memory': (FAILED, NULLS, ['--total-num-mbufs', '4000000'], ['mbuf']),
    'budget larger than the pool': (FAILED, NULLS, ['--total-num-mbufs', '8192', '--budget', '8000'],
                                    ['budget', '8000']),
    'more workers than lcores': (FAILED, NULLS, ['--nb-cores', '64'], ['nb-cores', '64']),
    'command file that is not there': (FAILED, NULLS, ['--cmdline-file', '/nowhere/commands'], ['/nowhere/commands']),
    'capture file that cannot be written': (FAILED, NULLS, ['--write', '1=/nowhere/out.pcap'], ['/nowhere/out.pcap']),
}


def runtime_files():
    return sorted(str(path) for place in ('/var/run/dpdk', '/dev/hugepages', '/tmp/dpdk')
                  for path in pathlib.Path(place).rglob('*') if not path.is_dir())


def sentences(text):
    """What is for the user: lines that are not EAL's or a driver's."""
    return [line for line in text.split('\n') if line.strip() and not re.match(
        r'(EAL|ETHDEV|TELEMETRY|MBUF|MEMPOOL|VDEV|PCI|libbpf|libxdp|\w+\(\)):? ', line)]


class Refusals(unittest.TestCase):
    """A method for each row is made below."""

    def refuse(self, code, vdevs, options, named, eal=appliance.EAL):
        before = runtime_files()
        got, out, err = appliance.run(appliance.command_line(BINARY, vdevs, options, eal))
        self.assertEqual(got, code, out + err)
        lines = [line for line in sentences(err) if all(word in line for word in named)]
        self.assertEqual(len(lines), 1, 'no one line names %s:\n%s%s' % (named, out, err))
        self.assertEqual(runtime_files(), before)

    def test_missing_interface(self):
        self.refuse(FAILED, ('net_af_xdp0,iface=nosuch0', 'net_null1'), [], ['nosuch0'])

    def test_no_hugepages(self):
        """Without --no-huge, on a machine whose hugepages are none or too few."""
        eal = ('--no-shconf', '--no-pci', '--no-telemetry', '-m', '16777216', *appliance.lcores())
        self.refuse(FAILED, NULLS, [], ['hugepages', '--no-huge'], eal)

    def test_unreadable_capture(self):
        self.refuse(FAILED, ('net_pcap0,rx_pcap=/nowhere/in.pcap', 'net_null1'), [], ['/nowhere/in.pcap'])

    def test_command_file_with_an_error(self):
        with open('/tmp/fragmend-test-%d.cmd' % os.getpid(), 'w') as file:
            file.write('set timeout4 500\n\nset timeout4 never  # the third line\nset output refragment\n')
        self.addCleanup(os.unlink, file.name)
        self.refuse(FAILED, NULLS, ['--cmdline-file', file.name], [file.name + ':3:', 'never'])


def _add(title, row):
    setattr(Refusals, 'test_' + re.sub(r'\W+', '_', title).strip('_'), lambda self: self.refuse(*row))


for _title, _row in REFUSALS.items():
    _add(_title, _row)


class WithoutAnything(unittest.TestCase):
    """--help and --version need no hugepages, no ports and no root."""

    def plain(self, *argv):
        done = subprocess.run([BINARY, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=20, user=65534, group=65534, extra_groups=[], env={'PATH': '/usr/bin'})
        self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
        return done.stdout

    def test_help(self):
        before = runtime_files()
        text = self.plain('--help')
        for option in ('--cmdline-file', '--port-topology', '--budget', '--timeout4', '--output', '--exit-on-idle'):
            self.assertIn(option, text)
        self.assertEqual(runtime_files(), before)

    def test_version(self):
        self.assertRegex(self.plain('--version'), r'^fragmend \d+\.\d+\.\d+')


class Ends(BumpTest):
    def daemon(self, *options):
        """Without a console, as under systemd; its output so far is read from a file."""
        log = self.temporary() / 'log'
        with open(log, 'w') as file:
            process = self.bump.middle.popen(appliance.command_line(BINARY, self.vdevs(), options),
                                             stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                             preexec_fn=appliance.die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(lambda: process.poll() is not None or self.forwards(), 30), log.read_text())
        self.assertIsNone(process.poll(), log.read_text())
        self.bump.resolve()
        return process, log

    def forwards(self):
        """Without a console it does not say so."""
        ping = self.bump.sender.run('ping', '-n', '-c', '1', '-W', '1', self.bump.RECEIVER4, check=False)
        return ping.returncode == 0

    def by_signal(self, number):
        before = runtime_files()
        process, log = self.daemon()
        left, _ = self.wires()
        left.send(packet.Datagram('10.9.0.1', '10.9.0.2', bytes(3000)).fragment(0, 1000, True))
        self.assertGood(self.exchange([5000], 4))
        process.send_signal(number)
        self.assertEqual(process.wait(20), 0, log.read_text())
        # The final statistics: what was held is flushed and counted.
        text = log.read_text()
        self.assertRegex(text, r'flushed +1 ')
        self.assertRegex(text, r'sent_refragmented +1 ')
        self.assertEqual(runtime_files(), before)

    def test_sigint(self):
        self.by_signal(signal.SIGINT)

    def test_sigterm(self):
        self.by_signal(signal.SIGTERM)

    def test_sighup(self):
        self.by_signal(signal.SIGHUP)

    def test_sigquit(self):
        self.by_signal(signal.SIGQUIT)

    def test_promiscuous_only_while_it_runs(self):
        """... unless somebody else has set it."""
        flags = lambda name: self.bump.middle.ip('link', 'show', name).split('>')[0]    # noqa: E731
        self.bump.middle.ip('link', 'set', 'm1', 'promisc', 'on')
        process, log = self.daemon()
        self.assertIn('PROMISC', flags('m0'))
        process.terminate()
        self.assertEqual(process.wait(20), 0, log.read_text())
        self.assertNotIn('PROMISC', flags('m0'))
        self.assertIn('PROMISC', flags('m1'))

    def test_sigterm_at_once(self):
        """While it is still starting."""
        process = self.bump.middle.popen(appliance.command_line(BINARY, self.vdevs()), stdout=subprocess.DEVNULL,
                                         stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(0.15)
        process.terminate()
        # The signal's default action, or a clean end; never a crash, never a hang.
        self.assertIn(process.wait(20), (0, -signal.SIGTERM))
        self.assertTrue(wait_for(lambda: 'xdp' not in self.bump.middle.ip('link', 'show', 'm0')))

    def test_console(self):
        for how in ('quit', signal.SIGINT, signal.SIGTERM):
            with self.subTest(how=how):
                app = self.start()
                self.assertEqual(app.stop(how), 0, app.log[-2000:])
                app.close()

    def test_exit_on_idle(self):
        code, out, err = appliance.run(appliance.command_line(BINARY, self.vdevs(),
                                                              ['--exit-on-idle', '300']), self.bump.middle)
        self.assertEqual(code, 0, out + err)

    def test_stats_period(self):
        process, log = self.daemon('--stats-period', '1')
        tables = lambda: re.findall(r'^per s: fragments', log.read_text(), re.M)     # noqa: E731
        self.assertTrue(wait_for(lambda: len(tables()) >= 2), log.read_text())
        process.terminate()
        self.assertEqual(process.wait(20), 0)


if __name__ == '__main__':
    raise SystemExit(tap.main())
