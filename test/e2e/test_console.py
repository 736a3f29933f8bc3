#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The console on a terminal, and command files, against a running appliance."""
import os

from harness import BumpTest, packet, tap, wait_for


class Console(BumpTest):
    def setUp(self):
        super().setUp()
        self.start()

    def test_every_command_answers(self):
        for line in ('help', 'help set', 'version', 'show port info all', 'show port stats 0', 'show config',
                     'show budget', 'show lcores', 'show numa', 'show reassembly stats', 'show reassembly drops',
                     'show reassembly datagrams', 'show reassembly datagrams top 3', 'show reassembly sources',
                     'show reassembly sources top 3', 'show check'):
            with self.subTest(line=line):
                text = self.app.command(line)
                self.assertGreater(len(text.strip()), 10)
                self.assertNotIn('unknown', text)

    def test_settings_stick(self):
        for name, value in (('timeout4', '1234'), ('timeout6', '4321'), ('max-fragments', '64'),
                            ('output', 'whole-only'), ('bypass', 'on'), ('verify-l4', 'on'), ('link-follow', 'on'),
                            ('header-chain', 'off'), ('source-prefix4', '24'), ('source-prefix6', '48'),
                            ('budget', '777')):
            with self.subTest(name=name):
                self.app.command('set %s %s' % (name, value))
                self.assertRegex(self.app.command('show config'), r'(?m)%s\b.*\b%s\b' % (name, value))

    def test_bad_settings_change_nothing(self):
        before = self.app.command('show config')
        for line, named in (('set timeout4 0', '120000'), ('set timeout4 x', 'x'), ('set output jumbo', 'jumbo'),
                            ('set budget 101%', '101%'), ('set budget 99999999', '99999999'),
                            ('set max-fragments 1', '8192'), ('set source-prefix4 0', '1..32'),
                            ('set source-prefix4 33', '1..32'), ('set source-prefix6 129', '1..128'),
                            ('show reassembly sources top 0', '1..1000'), ('set nothing 1', 'nothing'),
                            ('show reassembly', 'show reassembly'), ('frobnicate', 'frobnicate')):
            with self.subTest(line=line):
                text = self.app.command(line)
                self.assertIn(named, text)
                self.assertEqual(len(text.strip().split('\n')), 1, text)
        self.assertEqual(self.app.command('show config'), before)

    def test_completion(self):
        os.write(self.app.master, b'show re\t')
        self.assertTrue(wait_for(lambda: 'show reassembly' in self.seen()), self.seen())
        os.write(self.app.master, b'\x15')      # empties the line
        self.app.command('version')

    def seen(self):
        self.app.log += self.app._read(0.05) or ''
        return self.app.log

    def test_command_files(self):
        path = self.temporary() / 'commands'
        path.write_text('# quick ones only\nset timeout4 250\n\nset output refragment\n')
        self.app.command('load %s' % path)
        self.assertRegex(self.app.command('show config'), r'timeout4\b.*\b250\b')
        path.write_text('set timeout4 300\nset timeout6 0\nset timeout4 400\n')
        self.assertIn('%s:2:' % path, self.app.command('load %s' % path))
        self.assertRegex(self.app.command('show config'), r'timeout4\b.*\b300\b')

    def test_held_datagrams(self):
        left, _ = self.wires()
        left.send(packet.Datagram('10.9.1.2', '10.9.3.4', bytes(4000), ident=4242).fragment(1000, 1000, True),
                  packet.Datagram('fd09::12', 'fd09::34', bytes(4000), ident=0xabcdef).fragment(3000, 1000, False))
        self.assertCounters(datagrams=2)
        text = self.app.command('show reassembly datagrams')
        for word in ('10.9.1.2', '10.9.3.4', 'fd09::12', 'fd09::34'):
            self.assertIn(word, text)

    def test_clear(self):
        self.assertGood(self.exchange([5000], 4))
        self.assertCounters(fragments_in=4)
        self.app.command('clear reassembly stats')
        self.assertCounters(fragments_in=0, completed=0, sent_refragmented=0)
        self.app.command('clear port stats all')
        self.assertEqual(self.app.port(1)['received'], 0)


if __name__ == '__main__':
    raise SystemExit(tap.main())
