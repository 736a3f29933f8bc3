#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a service manager hears: ready, state, signs of life, the end; and how lines of the log begin."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from harness import BINARY, BumpTest, appliance, packet, tap, wait_for
from lab import service

NULLS = ('net_null0', 'net_null1')
WATCHDOG_US = 1000000
SEVERAL = 2.5 * WATCHDOG_US / 1e6       # seconds in which a live one gives some signs


class ServiceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.manager = service.Manager(self.folder / 'notify')
        self.addCleanup(self.manager.close)

    def start(self, *options, vdevs=NULLS, watchdog_us=WATCHDOG_US, workers=1, env=(), stdin=subprocess.DEVNULL):
        self.log = self.folder / 'log'
        with open(self.log, 'w') as file:
            where = os.fstat(file.fileno())
            names = {key: value.format(dev=where.st_dev, ino=where.st_ino) for key, value in dict(env).items()}
            self.process = subprocess.Popen(
                appliance.command_line(BINARY, vdevs, options, appliance.eal(512, workers)), stdin=stdin,
                stdout=subprocess.DEVNULL, stderr=file, preexec_fn=appliance.die_with_parent,
                env=self.manager.environment(watchdog_us, **names))
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        return self.process

    def text(self):
        return self.log.read_text()

    def assertHears(self, key, value):
        message = self.manager.until(lambda message: re.search(value, message.get(key, '')))
        self.assertIsNotNone(message, '%s=%s never came: %s\n%s' % (key, value, self.manager.messages, self.text()))
        return message

    def assertSilent(self, seconds=SEVERAL):
        signs = [message for message in self.manager.drain(seconds) if 'WATCHDOG' in message]
        self.assertEqual(signs, [])

    def started(self, *args, **kwargs):
        self.start(*args, **kwargs)
        self.assertHears('READY', '^1$')

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.assertEqual(self.process.wait(20), 0, self.text())


class States(ServiceTest):
    def test_ready_is_said_once_and_the_end_last(self):
        self.started()
        self.assertHears('STATUS', r'^forwarding, 2 of 2 links up; in \S+ [kMGT]?pps ')
        self.end()
        self.manager.drain()
        self.assertEqual([message['READY'] for message in self.manager.messages if 'READY' in message], ['1'])
        self.assertEqual(self.manager.messages[-1].get('STOPPING'), '1', self.manager.messages)

    def test_not_ready_before_it_forwards(self):
        self.start('--interactive', stdin=subprocess.PIPE)
        self.assertHears('STATUS', '^stopped, ')
        self.assertHears('WATCHDOG', '^1$')
        self.assertFalse([message for message in self.manager.messages if 'READY' in message])
        for line, word in (('start', 'forwarding'), ('set bypass on', 'bypass'), ('stop', 'stopped')):
            self.process.stdin.write(line.encode() + b'\n')
            self.process.stdin.flush()
            message = self.assertHears('STATUS', '^%s, ' % word)
            self.assertEqual('READY' in message, line == 'start')
        self.process.stdin.close()
        self.assertEqual(self.process.wait(20), 0, self.text())

    def test_a_start_that_fails(self):
        self.start(vdevs=NULLS[:1])
        self.assertEqual(self.process.wait(20), 1)
        message = self.assertHears('STATUS', '1 port')
        self.assertIn(message['STATUS'], self.text())
        self.assertFalse([message for message in self.manager.messages if 'READY' in message])

    def test_without_a_manager(self):
        """Nor does it wait for one that is not there."""
        os.unlink(self.manager.path)
        self.start('--exit-on-idle', '300', vdevs=('net_ring0', 'net_ring1'))
        self.assertEqual(self.process.wait(30), 0, self.text())
        self.assertEqual(self.manager.drain(), [])


class Watchdog(ServiceTest):
    def test_signs_of_life(self):
        self.started()
        for _ in range(4):
            self.assertHears('WATCHDOG', '^1$')
        self.end()

    def test_nobody_watches(self):
        for env in ({}, {'WATCHDOG_USEC': str(WATCHDOG_US), 'WATCHDOG_PID': '1'}):
            with self.subTest(env=env):
                self.started(watchdog_us=None, env=env)
                self.assertSilent()
                self.end()

    def stand_still(self, which):
        tid = service.workers(self.process.pid)[which]
        with service.stopped(tid):
            # The control thread lives, and says who does not.
            self.assertHears('STATUS', r'^worker %d \(lcore %d\) stands still' % (which, which + 1))
            self.assertRegex(self.text(), r'worker %d \(lcore %d\) has stood still' % (which, which + 1))
            self.assertSilent()
        self.assertHears('WATCHDOG', '^1$')
        self.assertTrue(wait_for(lambda: 'all workers turn again' in self.text()), self.text())

    def test_a_worker_that_stands_still(self):
        self.started(workers=2)
        self.stand_still(1)
        self.stand_still(0)
        self.end()

    def test_a_worker_that_waits(self):
        """Not to forward is no reason to be killed; to stand still is, then, too."""
        self.start('--interactive', stdin=subprocess.PIPE)
        self.assertHears('STATUS', '^stopped, ')
        for _ in range(4):
            self.assertHears('WATCHDOG', '^1$')
        self.stand_still(0)
        self.end()

    def test_the_control_thread_stands_still(self):
        self.started()
        with service.stopped(self.process.pid):
            self.manager.drain()
            self.assertSilent()
        self.assertHears('WATCHDOG', '^1$')
        self.end()

    def test_the_process_stands_still(self):
        self.started()
        self.process.send_signal(signal.SIGSTOP)
        self.assertTrue(wait_for(lambda: all(fields['State'].startswith('T') for fields in
                                             service.status(self.process.pid).values())))
        self.manager.drain()
        self.assertSilent()
        self.process.send_signal(signal.SIGCONT)
        self.assertHears('WATCHDOG', '^1$')
        self.end()


class Frames(BumpTest):
    def test_ready_means_that_frames_pass(self):
        manager = service.Manager(self.temporary() / 'notify')
        self.addCleanup(manager.close)
        left, right = self.wires()
        frame = packet.Datagram('10.3.0.1', '10.4.0.1', b'first', protocol=253).whole()
        process = self.bump.middle.popen(appliance.command_line(BINARY, self.vdevs()), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         preexec_fn=appliance.die_with_parent, env=manager.environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIsNotNone(manager.until(lambda message: 'READY' in message), manager.messages)
        left.send(frame)
        self.assertIn(frame, right.drain(5, wanted=lambda seen: seen == frame, want=1))
        process.terminate()
        self.assertEqual(process.wait(20), 0)


class Log(ServiceTest):
    OWN = re.compile(r'^(<\d>)?fragmend: ', re.M)

    def prefixes(self, *options, **env):
        """How fragmend's own lines begin."""
        self.start('--seed', '1', *options, env=env, vdevs=NULLS + ('net_null2',))
        self.assertEqual(self.process.wait(20), 1, self.text())
        found = self.OWN.findall(self.text())
        self.assertEqual(len(found), 2, self.text())
        return found

    def test_levels_for_the_journal(self):
        self.assertEqual(self.prefixes(JOURNAL_STREAM='{dev}:{ino}'), ['<4>', '<3>'])

    def test_stderr_is_something_else(self):
        self.assertEqual(self.prefixes(), ['', ''])
        self.assertEqual(self.prefixes(JOURNAL_STREAM='{dev}:1'), ['', ''])
        self.assertEqual(self.prefixes(JOURNAL_STREAM='journal'), ['', ''])

    def test_levels_by_option(self):
        self.assertEqual(self.prefixes('--log-prefix'), ['<4>', '<3>'])

    def test_level_of_what_is_logged(self):
        """`set log` is for all of it."""
        self.started('--log-prefix', '--max-pkt-len', '1500')
        self.assertRegex(self.text(), r'(?m)^<5>fragmend: port 0 ')
        self.end()
        commands = self.folder / 'commands'
        commands.write_text('set log critical\n')
        self.started('--log-prefix', '--cmdline-file', str(commands))
        with service.stopped(service.workers(self.process.pid)[0]):
            self.assertHears('STATUS', 'stands still')
        self.assertNotIn('stood still', self.text())
        self.end()


if __name__ == '__main__':
    raise SystemExit(tap.main())
