#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Boxes side by side between devices that hash on addresses: every datagram completes, and a box that dies costs what
it held and what was sent into it until the neighbours noticed: counted, and nothing else."""
import collections
import random
import select
import signal
import threading
import time
import unittest

from harness import BINARY, capture, packet, tap, wait_for
from lab import side_by_side
from lab.wire_rig import link

SOURCES, TARGETS = '10.9.0.0/24', '10.9.255.0/24'
PAIRS = 64 * 8
PIECES, CUT, SIZE = 3, 800, 2000
WINDOW, PAUSE_S = 8, 0.004      # datagrams whose fragments are shuffled; far below what the rig carries
HELD_FROM, HELD = 40000, 200    # numbers of datagrams that are held, by whichever box, when one is killed


def datagram(number, macs):
    return packet.Datagram('10.9.0.%d' % (1 + number % 64), '10.9.255.%d' % (1 + number // 64 % 8),
                           random.Random(number).randbytes(SIZE), ident=number, macs=macs)


class Sender(threading.Thread):
    """Datagrams 0, 1, ... in fragments, those of a window in random order, until it is told to stop."""

    def __init__(self, wire, macs):
        super().__init__()
        self.wire, self.macs, self.number, self.stopped = wire, macs, 0, threading.Event()

    def window(self, numbers):
        frames = [frame for number in numbers for frame in datagram(number, self.macs).fragments(CUT)]
        random.Random(numbers[0]).shuffle(frames)
        self.wire.send(*frames)

    def run(self):
        while not self.stopped.is_set():
            self.window(range(self.number, self.number + WINDOW))
            self.number += WINDOW
            time.sleep(PAUSE_S)

    def stop(self):
        self.stopped.set()
        self.join()


class Receiver(threading.Thread):
    """What comes out of each box, by datagram."""

    def __init__(self, wires):
        super().__init__()
        self.wires, self.stopped = wires, threading.Event()
        self.bodies = collections.defaultdict(dict)     # number: offset: bytes
        self.by = collections.defaultdict(set)          # number: boxes
        self.complete = set()

    def run(self):
        sockets = {wire.socket: box for box, wire in enumerate(self.wires)}
        while True:
            ready = select.select(list(sockets), [], [], 0.2)[0]
            if not ready and self.stopped.is_set():
                return
            for sock in ready:
                self.take(sockets[sock], sock.recv(1 << 16))

    def take(self, box, frame):
        seen = packet.dissect(frame)
        if seen.family != 4 or seen.source[:3] != bytes((10, 9, 0)):
            return
        self.by[seen.ident].add(box)
        self.bodies[seen.ident][seen.offset] = seen.body
        whole = b''.join(body for _, body in sorted(self.bodies[seen.ident].items()))
        if whole == random.Random(seen.ident).randbytes(SIZE):
            self.complete.add(seen.ident)

    def stop(self):
        self.stopped.set()
        self.join()


class SideBySide:
    """What is the same at layer 2 and at layer 3."""

    boxes = 2

    def set_up(self, site):
        self.site = site
        self.addCleanup(site.close)
        for box in site.boxes:
            box.start('--timeout4', '100000')
        members = [device + str(number) for _, device in site.sides() for number in range(len(site.boxes))]
        self.assertTrue(wait_for(lambda: site.alive() == list(range(len(site.boxes)))), members)
        wire = capture.Wire(site.hosts[0], 'h0')
        self.addCleanup(wire.close)
        wires = [capture.Wire(site.right, 'r%d' % number) for number in range(len(site.boxes))]
        for each in wires:
            self.addCleanup(each.close)
        self.receiver, self.sender = Receiver(wires), Sender(wire, (self.next_mac(), packet.MAC_A))
        self.addCleanup(self.stop)
        self.before = self.links()
        self.receiver.start()

    def next_mac(self):
        return bytes.fromhex(side_by_side.link_address(self.site.left, 'host').replace(':', ''))

    def stop(self):
        for thread in (self.sender, self.receiver):
            thread.stopped.set()
            if thread.is_alive():
                thread.join()

    def links(self):
        return {(name, number): link(ns, name + str(number)) for ns, name in self.site.sides()
                for number in range(len(self.site.boxes))}

    def since(self, name, number, key):
        return self.links()[name, number][key] - self.before[name, number][key]

    def into(self, number):
        """Fragments the left side has sent, or tried to send, into a box; what came out of it at the right side."""
        return self.since('l', number, 'tx') + self.since('l', number, 'tx_bad') + self.site.refused[number]

    def out_of(self, number):
        return self.since('r', number, 'rx')

    def alive_apps(self):
        return [box.app for box in self.site.boxes if box.app.process.poll() is None]

    def settled(self, app):
        check = app.check()
        return check['fragments_ok'] and check['frames_ok'] and check['mbufs_ok'] and check['held'] == 0

    def every_datagram_completes(self):
        self.sender.start()
        self.assertTrue(wait_for(lambda: self.sender.number >= 2 * PAIRS, 30))
        self.sender.stop()
        sent = set(range(self.sender.number))
        wait_for(lambda: self.receiver.complete >= sent, 5)
        self.assertEqual(self.receiver.complete, sent)
        self.assertTrue(all(len(boxes) == 1 for boxes in self.receiver.by.values()), 'a datagram took two ways')
        share = collections.Counter(next(iter(boxes)) for boxes in self.receiver.by.values())
        print('# datagrams by box:', dict(sorted(share.items())))
        for number, box in enumerate(self.site.boxes):
            self.assertGreater(share[number], 0, 'box %d has got nothing' % number)
            self.assertTrue(wait_for(lambda: box.app.counters()['completed'] == PIECES * share[number]),
                            box.app.counters())
            self.assertEqual(box.app.counters()['fragments_in'], PIECES * share[number])
            self.assertTrue(wait_for(lambda: self.settled(box.app)), box.app.command('show check'))
            self.assertEqual(box.app.stop('quit'), 0)

    def hold(self):
        """First fragments only: each box holds those that come by it."""
        macs = self.sender.macs
        self.sender.wire.send(*(datagram(number, macs).fragment(0, CUT, True)
                                for number in range(HELD_FROM, HELD_FROM + HELD)))

    def release(self):
        """What was missing of them."""
        for number in range(HELD_FROM, HELD_FROM + HELD):
            self.sender.wire.send(*datagram(number, self.sender.macs).fragments(CUT)[1:])

    def react(self):
        """The neighbours notice that box 0 has no link any more."""
        raise NotImplementedError

    def one_dies(self, how):
        self.sender.start()
        self.assertTrue(wait_for(lambda: len(self.receiver.complete) >= 2 * PAIRS, 30), len(self.receiver.complete))
        way = {number % PAIRS: next(iter(boxes)) for number, boxes in list(self.receiver.by.items())}
        self.assertEqual(len(way), PAIRS)
        self.hold()
        held = [sum(way[number % PAIRS] == box for number in range(HELD_FROM, HELD_FROM + HELD)) for box in (0, 1)]
        self.assertGreater(min(held), 0)
        for box, app in enumerate(self.alive_apps()):
            self.assertTrue(wait_for(lambda: app.counters()['held_fragments'] >= held[box]), app.counters())
        began = time.monotonic()
        if how == signal.SIGKILL:
            self.site.boxes[0].app.kill()
        else:
            self.assertEqual(self.site.boxes[0].app.stop(how), 0)
        ended = time.monotonic()
        self.site.boxes[0].links_down()
        self.react()
        noticed = time.monotonic()
        # Whatever is sent from now on has another way.
        mark = self.sender.number + 2 * WINDOW
        self.assertTrue(wait_for(lambda: self.sender.number >= mark + PAIRS, 30))
        self.sender.stop()
        self.release()
        late = set(range(mark, self.sender.number))
        self.assertTrue(wait_for(lambda: self.receiver.complete >= late, 5), 'lost after the neighbours had noticed')
        self.account(way, mark, held)
        print('# end of the process %.0f ms, links down and noticed %.0f ms' % ((ended - began) * 1e3,
                                                                             (noticed - ended) * 1e3))

    def account(self, way, mark, held):
        all_held = set(range(HELD_FROM, HELD_FROM + HELD))
        sent = set(range(self.sender.number)) | all_held
        theirs = {number for number in all_held if way[number % PAIRS] == 0}
        # Those the other box held complete; it keeps what belongs to datagrams that began in the dead one.
        wait_for(lambda: self.receiver.complete >= all_held - theirs, 5)
        survivor = self.site.boxes[1].app
        survivor.command('flush reassembly')
        self.assertTrue(wait_for(lambda: self.settled(survivor)), survivor.command('show check'))
        lost = sent - self.receiver.complete
        self.assertEqual({way[number % PAIRS] for number in lost}, {0}, 'the other box has lost something')
        self.assertEqual(lost & all_held, theirs, 'what the dead box held, and no more')
        self.assertTrue(all(number < mark for number in lost - all_held))
        # Exactly: fragments of lost datagrams = what went into the dead box and did not come out
        # + what came to the other one of datagrams that were cut in two.
        counts = survivor.counters()
        in_dead, in_other = self.into(0) - self.out_of(0), self.into(1) - self.out_of(1)
        self.assertEqual(in_other, counts['flushed'] + counts['timeout'])
        self.assertEqual(PIECES * len(lost), in_dead + in_other)
        print('# lost: %d datagrams held, %d others; fragments: %d into the dead box, %d too late to the other'
              % (len(theirs), len(lost - theirs), in_dead, in_other))
        self.assertEqual(survivor.stop('quit'), 0)


class LayerTwo(SideBySide, unittest.TestCase):
    """Two switches with an aggregation: the hash of bonding's balance-xor with layer2+3, done by tc."""

    def start(self, boxes=2):
        self.set_up(side_by_side.Aggregation(BINARY, boxes))

    def react(self):
        self.assertTrue(wait_for(lambda: self.site.alive() == [1]))
        self.site.use([1])

    def test_two_boxes(self):
        self.start()
        self.every_datagram_completes()

    def test_three_boxes(self):
        self.start(3)
        self.every_datagram_completes()

    def test_killed(self):
        self.start()
        self.one_dies(signal.SIGKILL)

    def test_terminated(self):
        self.start()
        self.one_dies(signal.SIGTERM)


class LayerThree(SideBySide, unittest.TestCase):
    """Two routers with equal-cost routes, hashed by the kernel on addresses; it notices a lost link by itself."""

    def start(self, boxes=2):
        self.set_up(side_by_side.Routes(BINARY, boxes, SOURCES, TARGETS))

    def react(self):
        gone = lambda: 'linkdown' in self.site.left.ip('route', 'show', TARGETS)      # noqa: E731
        self.assertTrue(wait_for(gone), self.site.left.ip('route', 'show', TARGETS))

    def test_two_boxes(self):
        self.start()
        self.every_datagram_completes()

    def test_three_boxes(self):
        self.start(3)
        self.every_datagram_completes()

    def test_killed(self):
        self.start()
        self.one_dies(signal.SIGKILL)

    def test_terminated(self):
        self.start()
        self.one_dies(signal.SIGTERM)


if __name__ == '__main__':
    raise SystemExit(tap.main())
