# SPDX-License-Identifier: BSD-3-Clause
"""Frames under way while something is done to the wire, and where each of them went, hop by hop."""
import collections
import errno
import random
import struct
import threading
import time

from . import packet
from .wire_rig import link, xdp_losses

EXPERIMENTAL = 0x88b5           # ethertype of plain frames: nothing but fragmend looks at them
GROUP, PAUSE_S = 8, 0.001       # far below what a copying AF_XDP port carries


def plain(flow, number):
    return packet.MAC_B + packet.MAC_A + struct.pack('!HHI', EXPERIMENTAL, flow, number) + bytes(80)


def datagram(number, size=2000):
    """Its source and identification make a number unique; its payload is made of it."""
    return packet.Datagram('10.9.%d.%d' % (number >> 24, number >> 16 & 255), '10.9.255.1',
                           random.Random(number).randbytes(size), ident=number & 0xffff)


class Stream:
    """Plain frames of some flows and datagrams in fragments, from one wire to another, for as long as `with` lasts."""

    def __init__(self, sender, receiver, flows=4, cut=800):
        self.sender, self.receiver, self.flows, self.cut = sender, receiver, flows, cut
        self.accepted = collections.Counter()   # by kind: the kernel took them
        self.refused = collections.Counter()    # by errno: it did not
        self.got = []                           # frames, in order
        self.sent_datagrams = 0
        self._stop, self._threads = threading.Event(), []

    def _send(self, kind, frame):
        try:
            self.sender.socket.send(frame)
            self.accepted[kind] += 1
        except OSError as error:
            self.refused[error.errno] += 1

    def _run_sender(self):
        number = 0
        while not self._stop.is_set():
            for flow in range(self.flows):
                self._send('plain', plain(flow, number))
            for fragment in datagram(number).fragments(self.cut):
                self._send('fragment', fragment)
            number += 1
            self.sent_datagrams = number
            time.sleep(PAUSE_S)

    def _run_receiver(self):
        while True:
            try:
                frame = self.receiver.receive(0.2)
            except OSError as error:
                # The socket says once that its device went down, and goes on when it is up again.
                if error.errno != errno.ENETDOWN:
                    raise
                continue
            if frame is not None and frame[6:12] == packet.MAC_A:
                self.got.append(frame)
            elif frame is None and self._stop.is_set():
                return

    def __enter__(self):
        self._threads = [threading.Thread(target=run) for run in (self._run_receiver, self._run_sender)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def progress(self):
        """A condition: that frames arrive which were not there yet."""
        before = len(self.got)
        return lambda: len(self.got) > before + 20

    def flows_received(self):
        """The numbers of each flow's frames, as they came."""
        flows = collections.defaultdict(list)
        for frame in self.got:
            if frame[12:14] == struct.pack('!H', EXPERIMENTAL):
                flow, number = struct.unpack_from('!HI', frame, 14)
                flows[flow].append(number)
        return flows

    def fragments_received(self):
        return sum(packet.is_fragment(packet.dissect(frame)) for frame in self.got)

    def plain_received(self):
        return sum(len(numbers) for numbers in self.flows_received().values())


class Hops:
    """What each device and fragmend have counted since the beginning."""

    def __init__(self, app, devices):
        self.app, self.devices = app, devices   # name: namespace
        self.start = self._read()

    def _read(self):
        now = {name: link(ns, name) for name, ns in self.devices.items()}
        ports = [self.app.port(number) for number in (0, 1)]
        losses = xdp_losses(self.app.process.pid)
        return {**{(name, key): value for name, counts in now.items() for key, value in counts.items()},
                **{(number, key): value for number, port in enumerate(ports) for key, value in port.items()},
                **{('xdp', key): value for key, value in losses.items()},
                **{('count', key): value for key, value in self.app.counters().items()}}

    def since(self):
        now = self._read()
        return collections.defaultdict(int, {key: value - self.start.get(key, 0) for key, value in now.items()})
