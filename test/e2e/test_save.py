#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""`save config`: what it writes brings the settings back, and what it cannot write leaves no half file behind."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import BINARY, appliance, tap

VDEVS = ['net_null0', 'net_null1']
# Of each setting a value that it does not have at start.
CHANGES = {'budget': '777', 'timeout4': '1234', 'timeout6': '4321', 'max-fragments': '64', 'source-prefix4': '24',
           'source-prefix6': '48', 'output': 'whole-only', 'verify-l4': 'on', 'header-chain': 'off', 'bypass': 'on',
           'link-follow': 'on', 'log': 'warning', 'stats-period': '3600'}


class Save(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *options):
        app = appliance.Appliance(BINARY, VDEVS, options)
        self.addCleanup(app.close)
        return app

    def save(self, app, name):
        path = self.folder / name
        self.assertEqual(app.command('save config %s' % path), '')
        return path.read_text()

    def test_round_trip(self):
        """Save, restart with the file, save again: equal, to the byte, with no setting at its default."""
        first = self.start()
        plain = self.save(first, 'plain')
        settings = dict(re.findall(r'^set (\S+) (\S+)$', plain, re.M))
        self.assertEqual(sorted(settings), sorted(CHANGES))
        for name, value in CHANGES.items():
            self.assertNotEqual(settings[name], value)
            self.assertEqual(first.command('set %s %s' % (name, value)), '')
        changed = self.save(first, 'changed')
        self.assertEqual(dict(re.findall(r'^set (\S+) (\S+)$', changed, re.M)), CHANGES)
        config = first.command('show config').split('\n\n')[0]
        self.assertEqual(first.stop('quit'), 0)
        second = self.start('--cmdline-file', str(self.folder / 'changed'))
        self.assertEqual(self.save(second, 'again'), changed)
        self.assertEqual(second.command('show config').split('\n\n')[0], config)
        # And back, while it runs.
        self.assertEqual(second.command('load %s' % (self.folder / 'plain')), '')
        self.assertEqual(self.save(second, 'back'), plain)
        self.assertEqual(sorted(os.listdir(self.folder)), ['again', 'back', 'changed', 'plain'])
        self.assertEqual(second.stop('quit'), 0)

    def mount(self, options):
        path = self.folder / 'disk'
        path.mkdir()
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', options, 'fragmend-test', str(path)], text=True,
                              capture_output=True)
        if done.returncode != 0:
            self.skipTest('a file system cannot be mounted: ' + done.stderr)
        self.addCleanup(subprocess.run, ['umount', str(path)], check=True)
        return path

    def assertKept(self, app, path, reason):
        """The old file is what it was, nothing is beside it, and the error says which file and why."""
        before, files = path.read_text(), sorted(os.listdir(path.parent))
        text = app.command('save config %s' % path)
        self.assertIn(str(path), text)
        self.assertIn(reason, text)
        self.assertEqual(len(text.strip().split('\n')), 1, text)
        self.assertEqual((path.read_text(), sorted(os.listdir(path.parent))), (before, files))

    def test_full_disk(self):
        app, disk = self.start(), self.mount('size=8k')
        (disk / 'config').write_text('set timeout4 5\n')
        with open(disk / 'ballast', 'wb', buffering=0) as ballast, self.assertRaises(OSError):
            while True:
                ballast.write(bytes(4096))
        self.assertKept(app, disk / 'config', 'No space left on device')
        (disk / 'ballast').unlink()
        self.assertEqual(app.command('save config %s' % (disk / 'config')), '')
        self.assertIn('set timeout4 2000\n', (disk / 'config').read_text())

    def test_no_room_for_another_file(self):
        app, disk = self.start(), self.mount('size=64k,nr_inodes=2')
        (disk / 'config').write_text('set timeout4 5\n')
        self.assertKept(app, disk / 'config', 'No space left on device')

    def test_directory_that_cannot_be_written(self):
        app, disk = self.start(), self.mount('size=64k')
        (disk / 'config').write_text('set timeout4 5\n')
        subprocess.run(['mount', '-o', 'remount,ro', str(disk)], check=True)
        self.assertKept(app, disk / 'config', 'Read-only file system')
        text = app.command('save config %s' % (self.folder / 'none' / 'config'))
        self.assertIn('No such file or directory', text)
        self.assertFalse((self.folder / 'none').exists())


if __name__ == '__main__':
    raise SystemExit(tap.main())
