# SPDX-License-Identifier: BSD-3-Clause
"""Capture files (pcap, pcapng) and a raw socket that sends and sees frames as they are on the wire."""
import select
import socket
import struct
import time

ETHERNET, RAW_IP = 1, 101
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
VLAN_VALID, VLAN_TPID_VALID = 1 << 4, 1 << 6
ETH_P_ALL = 3


def write_pcap(path, frames, linktype=ETHERNET, times=None):
    """`times`: seconds, one for each frame; default: a millisecond apart."""
    with open(path, 'wb') as file:
        file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 262144, linktype))
        for number, frame in enumerate(frames):
            micros = round((times[number] if times else 1 + number * 0.001) * 1e6)
            file.write(struct.pack('<IIII', micros // 1000000, micros % 1000000, len(frame), len(frame)) + frame)


def write_pcapng(path, frames):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack('<II', kind, len(body) + 12) + body + struct.pack('<I', len(body) + 12)
    with open(path, 'wb') as file:
        file.write(block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1)))
        file.write(block(1, struct.pack('<HHI', ETHERNET, 0, 262144)))
        for number, frame in enumerate(frames):
            micros = 1000000 + number * 1000
            file.write(block(6, struct.pack('<IIIII', 0, micros >> 32, micros & 0xffffffff, len(frame), len(frame))
                             + frame))


def read_pcap(path):
    with open(path, 'rb') as file:
        data = file.read()
    order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
    frames, at = [], 24
    while at + 16 <= len(data):
        length = struct.unpack_from(order + 'I', data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


class Wire:
    """A raw socket on one device. Sees what arrives there, VLAN tags included, not what it sends."""

    def __init__(self, ns, device):
        self.socket = ns.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        with ns:
            self.socket.bind((device, ETH_P_ALL))
        self.socket.setblocking(False)

    def send(self, *frames):
        for frame in frames:
            while True:
                try:
                    self.socket.send(frame)
                    break
                except (BlockingIOError, OSError) as error:
                    if not isinstance(error, BlockingIOError) and error.errno != 105:   # ENOBUFS
                        raise
                    time.sleep(0.001)

    def receive(self, timeout):
        """The next frame, or None when nothing came for `timeout` seconds."""
        if not select.select([self.socket], [], [], timeout)[0]:
            return None
        data, controls, _, _ = self.socket.recvmsg(1 << 17, 256)
        for level, kind, body in controls:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack_from('=IIIHHHH', body)
                if status & VLAN_VALID:
                    # The kernel took the outer tag off; it goes back to where it was.
                    data = data[:12] + struct.pack('!HH', tpid if status & VLAN_TPID_VALID else 0x8100, tci) + data[12:]
        return data

    def drain(self, quiet=0.3, wanted=None, want=1 << 30, timeout=5.0):
        """Frames for which `wanted` holds, until `want` came, or nothing came for `quiet` seconds."""
        frames, end = [], time.monotonic() + timeout
        while len(frames) < want and time.monotonic() < end:
            frame = self.receive(quiet)
            if frame is None:
                break
            if wanted is None or wanted(frame):
                frames.append(frame)
        return frames

    def forget(self):
        """What came so far."""
        while self.receive(0) is not None:
            pass

    def close(self):
        self.socket.close()
