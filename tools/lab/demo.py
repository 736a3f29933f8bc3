# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration behind tools/demo.sh."""
import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from . import appliance, capture, hugepages, packet, report, traffic
from .netns import Bump

MEGABYTES = 512
SIZES = [100, 700, 1400, 1472, 1473, 2000, 2952, 4001, 5000, 8192, 9000, 12345, 16384, 20000, 30001, 40000, 50003,
         60000, 65000, 65507]
ROUNDS = 3
PINGS, PING_SIZE = 5, 60000
HAND_CUT = 50           # datagrams of 1,200 bytes, cut in three by hand and shuffled

PICTURE = '''
      sender                        appliance                       receiver
    +---------+   fragments   +-------------------+    clean    +------------+
    |  kernel | s0 ------- m0 |     fragmend      | m1 ------ r0 |   kernel   |
    +---------+    MTU 1500   +-------------------+   MTU %-6s+------------+
'''


class Failure(Exception):
    """What the user is told in one sentence."""


class Recording:
    """tcpdump on one end of the bump."""

    def __init__(self, ns, device, path):
        self.path = path
        self.process = ns.popen(['tcpdump', '-n', '-i', device, '-s', '0', '-B', '65536', '-U', '-Z', 'root',
                                 '-w', str(path), 'ip or ip6'],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                preexec_fn=appliance.die_with_parent, start_new_session=True)
        line = self.process.stderr.readline()
        if 'listening' not in line:
            raise Failure('tcpdump does not listen on %s: %s' % (device, line.strip()))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=10)

    def seen(self, source):
        """(fragments, largest frame) of what `source`, the sender's addresses, has sent."""
        frames = [(packet.dissect(frame), len(frame)) for frame in capture.read_pcap(self.path)]
        mine = [(seen, length) for seen, length in frames if seen.source in source]
        return sum(packet.is_fragment(seen) for seen, _ in mine), max((length for _, length in mine), default=0)


def mac(ns, device):
    return bytes.fromhex(ns.ip('-br', 'link', 'show', device).split()[2].replace(':', ''))


class Lab:
    """One bump with traffic; `egress_mtu`: None for 1500."""

    def __init__(self, egress_mtu=None):
        self.bump = Bump(egress_mtu=egress_mtu)
        bump = self.bump
        self.vdevs = [appliance.xdp(0, 'm0'),
                      appliance.pcap_interface(1, 'm1') if egress_mtu else appliance.xdp(1, 'm1')]
        self.ends = {4: (bump.SENDER4, bump.RECEIVER4), 6: (bump.SENDER6, bump.RECEIVER6)}
        self.pairs = {family: (traffic.udp_socket(bump.sender, local), traffic.udp_socket(bump.receiver, remote))
                      for family, (local, remote) in self.ends.items()}
        self.wire = capture.Wire(bump.sender, 's0')
        self.macs = (mac(bump.receiver, 'r0'), mac(bump.sender, 's0'))

    def close(self):
        for pair in self.pairs.values():
            for sock in pair:
                sock.close()
        self.wire.close()
        self.bump.close()

    def udp(self, family, sizes):
        return traffic.udp_exchange(*self.pairs[family], sizes)

    def raw(self, family, ident, payload):
        """A datagram from kernel to kernel that is cut by hand."""
        local, remote = self.ends[family]
        sender, receiver = self.pairs[family]
        data = packet.udp(local, remote, sender.getsockname()[1], receiver.getsockname()[1], payload)
        return packet.Datagram(local, remote, data, ident=ident, macs=self.macs)

    def hand_cut(self, family, count):
        """Datagrams in three fragments, the order of all of them mixed within groups of ten datagrams."""
        shuffle, result = random.Random(7), traffic.Exchange()
        for first in range(0, count, 10):
            payloads = [traffic.payload(number, 1200) for number in range(first, min(first + 10, count))]
            frames = [frame for number, data in enumerate(payloads, 40000 + first)
                      for frame in self.raw(family, number, data).fragments(408)]
            shuffle.shuffle(frames)
            self.wire.send(*frames)
            result += traffic.collect(self.pairs[family][1], payloads)
        return result

    def attack(self):
        """What must not come out: teardrop, ping of death, the same place twice with other bytes, one with a hole."""
        teardrop = self.raw(4, 50001, bytes(2000))
        death = self.raw(4, 50002, bytes(1480))
        liar = self.raw(4, 50003, bytes(3000))
        endless = self.raw(4, 50004, bytes(3000))
        frames = [teardrop.fragment(0, 1000, True), teardrop.fragment(504, 400, False)]
        frames += [death.fragment(65528, 0, False, payload=bytes(1000))]
        frames += [liar.fragment(0, 1000, True), liar.fragment(0, 1000, True, payload=b'\xff' * 1000)]
        frames += [endless.fragment(0, 1000, True)]
        self.wire.send(*frames)
        return len(frames)


def phase(binary, eal, folder, number, egress_mtu):
    """One run of fragmend; returns the column of the table."""
    print(PICTURE % (egress_mtu or 1500), end='', flush=True)
    with contextlib.ExitStack() as stack:
        lab = Lab(egress_mtu)
        stack.callback(lab.close)
        app = appliance.Appliance(binary, lab.vdevs, ['--timeout4', '1000'], lab.bump.middle, eal)
        stack.callback(app.close)
        lab.bump.resolve()
        recordings = [Recording(lab.bump.sender, 's0', folder / ('%d-sender.pcap' % number)),
                      Recording(lab.bump.receiver, 'r0', folder / ('%d-receiver.pcap' % number))]
        for recording in recordings:
            stack.callback(recording.stop)
        row = {}
        for family in (4, 6):
            row['udp%d' % family] = lab.udp(family, SIZES * ROUNDS)
            row['cut%d' % family] = lab.hand_cut(family, HAND_CUT)
            row['ping%d' % family] = traffic.ping(lab.bump.sender, lab.ends[family][1], PING_SIZE, PINGS)
        row['attack'] = lab.attack()
        time.sleep(1.2)         # the one that never completes times out
        for recording in recordings:
            recording.stop()
        row['counters'] = app.counters()
        code = app.stop(signal.SIGTERM)
        row['accounts'] = code == 0 and report.closing(app.log.replace('\r', ''))
        sources = {packet.address(local) for local, _ in lab.ends.values()}
        row['in'], _ = recordings[0].seen(sources)
        row['out'], row['largest'] = recordings[1].seen(sources)
        return row


def good(row):
    return row['accounts'] and all(row[kind + str(family)].good for kind in ('udp', 'cut', 'ping') for family in (4, 6))


def table(rows):
    def line(title, *cells):
        print('%-52s%14s%14s' % (title, *cells))

    def each(title, cell):
        line(title, *('{:,}'.format(value) if isinstance(value, int) else value for value in map(cell, rows)))

    def compared(*kinds):
        def cell(row):
            total = sum((row[kind] for kind in kinds), traffic.Exchange())
            return '%d of %d' % (total.equal, total.sent)
        return cell
    count = lambda name: lambda row: row['counters'][name]      # noqa: E731
    print()
    line('', 'refragmented', 'whole')
    line('egress MTU', '1,500', '65,535')
    each("fragments on the sender's wire", lambda row: row['in'])
    each('fragments in, both directions', count('fragments_in'))
    each('datagrams joined', count('datagrams_done'))
    each('  out whole', count('sent_whole'))
    each('  out re-fragmented', count('sent_refragmented'))
    each("fragments on the receiver's wire", lambda row: row['out'])
    each('largest frame there, bytes', lambda row: row['largest'])
    each('UDP payloads equal (SHA-256), IPv4, 100..65,507', compared('udp4'))
    each('UDP payloads equal (SHA-256), IPv6, 100..65,507', compared('udp6'))
    each('cut in 3 by hand, shuffled: payloads equal', compared('cut4', 'cut6'))
    each('ICMP echo of 60,000 bytes answered, byte for byte', compared('ping4', 'ping6'))
    print('dropped, by name (%d frames of attacks were sent)' % rows[0]['attack'])
    quiet = {'passed', 'passed_malformed', 'bypassed', 'completed', 'sent_whole', 'sent_refragmented'}
    names = [name for name in rows[0]['counters'] if name not in quiet and name not in report.STATS
             and name not in report.HELD and any(row['counters'][name] for row in rows)]
    for name in names:
        each('  ' + name, count(name))
    each('every frame, fragment and mbuf accounted for', lambda row: 'yes' if row['accounts'] else 'NO')


def show(binary, eal, keep):
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(keep or stack.enter_context(tempfile.TemporaryDirectory(prefix='fragmend-demo-')))
        folder.mkdir(parents=True, exist_ok=True)
        rows = [phase(binary, eal, folder, number, mtu) for number, mtu in enumerate((None, 65535), 1)]
    table(rows)
    if keep:
        print('captures: %s/*.pcap' % keep)
    if not all(map(good, rows)):
        raise Failure('something was lost or changed: see the table')
    print('\nNothing was lost or changed.')


class Background(threading.Thread):
    """Mild traffic, some of it bad, until it is told to stop."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.stopping, self.result = lab, threading.Event(), traffic.Exchange()

    def run(self):
        choose, turn = random.Random(), 0
        while not self.stopping.wait(0.1):
            turn += 1
            result = self.lab.udp(4 if turn % 2 else 6, [choose.choice(SIZES)])
            if self.stopping.is_set():
                break           # under way when fragmend ended
            self.result += result
            if turn % 20 == 0:
                self.lab.attack()


def interact(binary, eal):
    with contextlib.ExitStack() as stack:
        lab = Lab()
        stack.callback(lab.close)
        print(PICTURE % 1500)
        print('Ten datagrams a second run from sender to receiver, and an attack every two seconds. Try\n'
              '    show reassembly stats          show reassembly drops         show reassembly datagrams\n'
              '    set output whole-only          show budget                   help\n'
              'and, from another terminal, look at either side:\n'
              '    nsenter --net=%s tcpdump -ni s0\n    nsenter --net=%s tcpdump -ni r0\n'
              '`quit` ends it all.\n' % (lab.bump.sender.path, lab.bump.receiver.path), flush=True)
        # Ctrl-C is for the console.
        signal.signal(signal.SIGINT, lambda *_: None)
        argv = appliance.command_line(binary, lab.vdevs, ['-i', '--auto-start'], eal)
        process = lab.bump.middle.popen(argv, preexec_fn=appliance.die_with_parent)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        background = Background(lab)
        background.start()
        code = process.wait()
        background.stopping.set()
        background.join(5)
        print('\n%d datagrams were sent, %d arrived unchanged.' % (background.result.sent, background.result.equal))
        if code:
            raise Failure('fragmend ended with exit code %d' % code)


def main():
    parser = argparse.ArgumentParser(prog='tools/demo.sh')
    parser.add_argument('binary', help=argparse.SUPPRESS)
    parser.add_argument('--interactive', action='store_true', help="stay at fragmend's console while traffic runs")
    parser.add_argument('--keep', metavar='DIR', help='keep the captures of both sides')
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)        # also where a shell started it in the background
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit('demo.sh: ended by a signal'))
    binary = os.path.abspath(args.binary)
    try:
        with hugepages.reserved(MEGABYTES) as memory:
            eal = (*memory, '--no-pci', '--no-telemetry', *appliance.lcores())
            if '--no-huge' in memory:
                eal += ('--no-shconf',)
            interact(binary, eal) if args.interactive else show(binary, eal, args.keep)
    except (Failure, RuntimeError, OSError) as error:
        print('demo.sh: %s' % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\ndemo.sh: interrupted', file=sys.stderr)
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
