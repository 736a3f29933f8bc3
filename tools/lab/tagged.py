# SPDX-License-Identifier: BSD-3-Clause
"""VLAN hosts on any kernel: its IP stack on a TAP device, and a pump between that and the wire that tags and untags."""
import fcntl
import os
import select
import struct
import threading

from .capture import Wire
from .netns import OFFLOADS, address

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 0x0002, 0x1000


class TaggedHost:
    """In `ns`: device t0 with addresses; its frames leave through `device` with `vlans`, and come back without."""

    def __init__(self, ns, device, v4, v6, vlans, mtu=1500):
        self.tags = b''.join(struct.pack('!HH', tpid, tci) for tpid, tci in vlans)
        self.wire = Wire(ns, device)
        with ns:
            self.tap = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.tap, TUNSETIFF, struct.pack('16sH', b't0', IFF_TAP | IFF_NO_PI))
        ns.run('ethtool', '-K', 't0', *(word for offload in OFFLOADS for word in (offload, 'off')), check=False)
        ns.ip('addr', 'flush', 'dev', device)
        ns.ip('link', 'set', 't0', 'mtu', str(mtu), 'up')
        address(ns, 't0', v4, v6)
        self.stopping = threading.Event()
        self.pump = threading.Thread(target=self._pump, daemon=True)
        self.pump.start()

    def _pump(self):
        while not self.stopping.is_set():
            readable, _, _ = select.select([self.tap, self.wire.socket], [], [], 0.1)
            if self.tap in readable:
                frame = os.read(self.tap, 1 << 17)
                self.wire.send(frame[:12] + self.tags + frame[12:])
            if self.wire.socket in readable:
                frame = self.wire.receive(0)
                if frame and frame[12:12 + len(self.tags)] == self.tags:
                    os.write(self.tap, frame[:12] + frame[12 + len(self.tags):])

    def close(self):
        self.stopping.set()
        self.pump.join()
        self.wire.close()
        os.close(self.tap)
