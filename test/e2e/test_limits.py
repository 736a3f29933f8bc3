#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory: what does not complete goes, on time and whole; a full table takes nothing from the receive side."""
import random
import re

from harness import BumpTest, appliance, packet, tap, traffic, wait_for


def mine(frame):
    return frame[6:12] == packet.MAC_A


def datagram(number, size=2600):
    source = '10.8.%d.%d' % (number >> 8 & 255, number & 255)
    return packet.Datagram(source, '10.9.0.2', random.Random(number).randbytes(size), ident=number & 0xffff)


class Timeout(BumpTest):
    def test_without_traffic(self):
        self.start('--timeout4', '200', '--timeout6', '300')
        left, right = self.wires()
        for family, ends in ((4, ('10.9.0.1', '10.9.0.2')), (6, ('fd09::1', 'fd09::2'))):
            with self.subTest(family=family):
                data = packet.Datagram(*ends, bytes(3000), ident=5)
                before = self.app.counters()['timeout']
                left.send(*data.fragments(1000)[:2])
                self.assertCounters(timeout=before + 2)
                self.assertCounters(held_fragments=0)
                # The identification is free again: the same datagram in full goes through.
                right.forget()
                left.send(*data.fragments(1000))
                self.assertEqual(len(right.drain(1.0, mine, 3)), 3)

    def test_set_while_running(self):
        self.start('--timeout4', '120000')
        left, _ = self.wires()
        left.send(datagram(1).fragment(0, 1000, True))
        self.assertCounters(held_fragments=1)
        self.app.command('set timeout4 50')
        left.send(datagram(2).fragment(0, 1000, True))
        self.assertCounters(timeout=2)


class Budget(BumpTest):
    BUDGET = 64

    def flood(self, left, count):
        """First fragments of datagrams that never complete."""
        self.feed(left, (datagram(number).fragment(0, 1304, True) for number in range(count)), 512)

    def assertNothingStarved(self):
        for port in (0, 1):
            self.assertEqual(self.app.port(port)['rx_no_mbuf'], 0)

    def test_all_or_nothing(self):
        """A datagram that lost one fragment to the budget gives up the others, and none of it leaves."""
        self.start('--budget', str(self.BUDGET), '--timeout4', '120000')
        left, right = self.wires()
        count = 500
        self.flood(left, count)
        held = self.app.counters()['held_fragments']
        self.assertLessEqual(held, self.BUDGET)
        right.forget()
        self.feed(left, (datagram(number).fragment(1304, 1296, False) for number in range(count)))
        counters = self.app.counters()
        pieces = [packet.dissect(frame) for frame in right.drain(0.5, mine)]
        sent = counters['sent_refragmented']
        self.assertEqual(len(pieces), 2 * sent)
        self.assertEqual(counters['completed'], 2 * sent)
        for seen in pieces:
            data = datagram(seen.ident).payload
            self.assertEqual(seen.body, data[seen.offset:seen.offset + len(seen.body)])
        refused = sum(counters[name] for name in ('refused_budget', 'refused_table', 'evicted_cold', 'evicted_progress',
                                                  'condemned'))
        self.assertEqual(counters['completed'] + refused + counters['held_fragments'], 2 * count)
        self.assertGreater(counters['condemned'], 0)
        self.assertNothingStarved()

    def test_full_table_leaves_the_wire_alone(self):
        """With every mbuf of the default budget held, other traffic passes and the port never lacks a buffer."""
        self.start('--total-num-mbufs', '16384', '--timeout4', '120000', '--timeout6', '120000')
        left, _ = self.wires()
        budget = self.app.budget_mbufs()
        self.flood(left, budget + 2000)
        self.assertSoon(lambda counters: counters['held_fragments'] > budget // 2)
        self.assertTrue(traffic.tcp_transfer(self.bump.sender, self.bump.receiver, self.bump.RECEIVER4, 1 << 20))
        self.assertGood(traffic.ping(self.bump.sender, self.bump.RECEIVER4, 1000, count=3))
        self.assertNothingStarved()

    def test_recovers(self):
        """When the flood has timed out, or has gone cold, honest traffic is whole again."""
        self.start('--budget', '256', '--timeout4', '300')
        left, _ = self.wires()
        self.flood(left, 1000)
        self.assertCounters(held_fragments=0)
        self.assertGood(self.exchange([3000, 20000, 65507] * 5, 4, window=2))

    def test_smaller_budget_while_running(self):
        self.start('--timeout4', '120000')
        left, _ = self.wires()
        self.flood(left, 300)
        self.assertCounters(held_fragments=300)
        self.app.command('set budget 100')
        self.assertSoon(lambda counters: counters['held_fragments'] <= 100)


class Leaks(BumpTest):
    """On ports whose driver keeps no mbuf, and without caches, every single mbuf must come back."""

    def vdevs(self):
        return [appliance.pcap_interface(0, 'm0'), appliance.pcap_interface(1, 'm1')]

    def setUp(self):
        super().setUp()
        self.start('--mbcache', '0', '--timeout4', '300', '--max-fragments', '16')
        self.left, self.right = self.wires()

    def assertNothingLeaked(self):
        self.app.command('flush reassembly')
        self.assertFull(self.app)

    def bad(self, number):
        """One of each kind that is dropped, and what the drop leaves behind."""
        data = [datagram(number * 16 + place, 2600) for place in range(8)]
        whole = data[0].fragments(1304)
        ecn, late = data[1].fragment(0, 1304, True), data[2].fragments(1304)
        data[1].tos = 3
        wrong = bytearray(data[3].fragment(0, 1304, True))
        wrong[24] ^= 0xff
        return [
            whole[0], whole[0], whole[1], whole[1],                                     # duplicate, then a second one
            ecn, data[1].fragment(1304, 1296, False),                                   # ecn_mismatch
            late[0], data[2].fragment(800, 800, True), late[1],                         # overlap, condemned
            bytes(wrong),                                                               # bad_ip_checksum
            data[4].fragment(0, 100, True),                                             # bad_length
            data[4].fragment(65528, 0, False, payload=bytes(100)),                      # too_big
            data[5].fragment(0, 1304, True)[:-100],                                     # truncated
            data[6].fragment(1304, 800, False), data[6].fragment(2400, 8, False),       # inconsistent_end
            data[7].fragment(8, 8, True),                                               # timeout
        ]

    def test_drops(self):
        self.feed(self.left, (frame for number in range(40) for frame in self.bad(number)))
        names = ('duplicate', 'ecn_mismatch', 'overlap', 'condemned', 'bad_ip_checksum', 'bad_length', 'too_big',
                 'truncated', 'inconsistent_end', 'timeout')
        self.assertSoon(lambda counters: all(counters[name] >= 40 for name in names))
        self.assertNothingLeaked()

    def test_too_many_and_flushed(self):
        self.feed(self.left, (frame for number in range(40) for frame in (
            datagram(number, 20 * 80).fragments(80) + datagram(1000 + number, 800).fragments(80)[:-1])))
        self.assertSoon(lambda counters: counters['too_many_fragments'] > 0)
        self.assertNothingLeaked()

    def test_every_way_out(self):
        for mode in ('whole-or-refragment', 'whole-only', 'refragment'):
            self.app.command('set output ' + mode)
            for size, cut in ((1200, 600), (2600, 600), (9000, 1304)):
                self.feed(self.left, (frame for number in range(20)
                                      for frame in datagram(number + size, size).fragments(cut)))
        self.assertCounters(completed=3 * 20 * (2 + 5 + 7))
        self.app.command('set bypass on')
        self.left.send(*(frame for number in range(50) for frame in datagram(number).fragments(1304)))
        self.assertSoon(lambda counters: counters['bypassed'] >= 100)
        self.assertNothingLeaked()

    def test_budget(self):
        self.app.command('set budget 64')
        self.feed(self.left, (datagram(number).fragment(0, 1304, True) for number in range(500)))
        self.assertSoon(lambda counters: counters['refused_budget'] + counters['evicted_cold']
                        + counters['evicted_progress'] > 0)
        self.app.command('set budget 10')
        self.assertNothingLeaked()


class Sources(BumpTest):
    """Who sends the fragments, on the console."""

    def vdevs(self):
        return [appliance.pcap_interface(0, 'm0'), appliance.pcap_interface(1, 'm1')]

    def table(self):
        """Prefix to (held mbufs, share, chance, delivered, wasted), in the order of the lines."""
        text = self.app.command('show reassembly sources')
        rows = re.findall(r'^(\S+/\d+)\s+(\d+) +([\d.]+)% +([\d.]+)% +(\d+) +(\d+)\s*$', text, re.M)
        self.assertIn('%d source' % len(rows), text)
        return {prefix: (int(held), float(share), float(chance), int(delivered), int(wasted))
                for prefix, held, share, chance, delivered, wasted in rows}

    def test_three_sources(self):
        self.start('--mbcache', '0', '--timeout4', '120000', '--timeout6', '120000')
        left, _ = self.wires()
        greedy, honest, broken = ('10.8.7.%d' % host for host in (1, 2, 3))
        data = [packet.Datagram(source, '10.9.0.2', bytes(4000), ident=number)
                for number, source in enumerate((greedy, greedy, honest, honest, broken))]
        self.feed(left, data[0].fragments(1000)[:3] + data[1].fragments(1000)[:3]
                  + data[2].fragments(1000) + data[3].fragments(1000)[:2]
                  + [data[4].fragment(0, 1000, True), data[4].fragment(800, 1000, True)])
        self.assertCounters(completed=4, overlap=2, held_fragments=8)
        table = self.table()
        self.assertEqual(list(table), ['%s/32' % source for source in (greedy, honest, broken)])
        self.assertEqual([(held, share) for held, share, *_ in table.values()], [(6, 75.0), (2, 25.0), (0, 0.0)])
        self.assertEqual([delivered for *_, delivered, _ in table.values()], [0, 4, 0])
        self.assertEqual([wasted for *_, wasted in table.values()][:2], [0, 0])
        self.assertGreater(table['%s/32' % broken][-1], 0)
        for _, _, chance, _, _ in table.values():
            self.assertTrue(0 <= chance <= 100)
        self.assertRegex(self.app.command('show reassembly datagrams'), r'idle [\d.]+ ms, chance [\d.]+%')
        # From now on their whole network is one source, whatever was known of its hosts.
        self.app.command('set source-prefix4 24')
        self.feed(left, [packet.Datagram(source, '10.9.0.2', bytes(4000), ident=99).fragment(0, 1000, True)
                         for source in (greedy, honest, broken)])
        self.assertCounters(held_fragments=11)
        table = self.table()
        self.assertEqual(list(table), ['10.8.7.0/24'])
        self.assertGreaterEqual(table['10.8.7.0/24'][0], 3)
        self.app.command('flush reassembly')
        self.assertEqual(self.table()['10.8.7.0/24'][0], 0)
        self.assertFull(self.app)

    def test_options(self):
        self.start('--mbcache', '0', '--source-prefix4', '16', '--source-prefix6', '48', '--timeout4', '120000',
                   '--timeout6', '120000')
        left, _ = self.wires()
        sources = ('10.8.1.1', '10.8.200.2', 'fd08::1:0:0:0:1', 'fd08::2:0:0:0:1', 'fd08::3:0:0:0:1')
        self.feed(left, [packet.Datagram(source, 'fd09::2' if ':' in source else '10.9.0.2', bytes(4000), ident=number)
                         .fragment(0, 1000, True) for number, source in enumerate(sources)])
        self.assertCounters(held_fragments=5)
        self.assertEqual([(prefix, held) for prefix, (held, *_) in self.table().items()],
                         [('fd08::/48', 3), ('10.8.0.0/16', 2)])
        self.app.command('flush reassembly')
        self.assertFull(self.app)


class Fragments(BumpTest):
    def test_max_fragments(self):
        self.start('--max-fragments', '16')
        left, right = self.wires()
        good, bad = datagram(1, 16 * 80), datagram(2, 17 * 80)
        left.send(*good.fragments(80), *bad.fragments(80))
        got = right.drain(1.0, mine, 2)
        self.assertEqual([frame.hex() for frame in got], [good.whole().hex()])
        self.assertEqual(self.app.counters()['too_many_fragments'] + self.app.counters()['condemned'], 17)

    def test_8192_fragments(self):
        """The most there can be: 65,515 bytes in pieces of 8, in a random order."""
        self.start('--max-fragments', '8192', '--timeout4', '60000', '--total-num-mbufs', '65536',
                   eal=appliance.eal(1024))
        left, right = self.wires()
        data = datagram(3, 65515)
        frames = data.fragments(8)
        random.Random(8192).shuffle(frames)
        self.feed(left, frames, 1024)
        pieces = [packet.dissect(frame) for frame in right.drain(2.0, mine, len(frames))]
        self.assertEqual(b''.join(seen.body for seen in pieces), data.payload)
        self.assertCounters(completed=8190)


if __name__ == '__main__':
    raise SystemExit(tap.main())
