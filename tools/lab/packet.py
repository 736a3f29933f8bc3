# SPDX-License-Identifier: BSD-3-Clause
"""Frames: fragments built by hand with correct checksums, and what a receiver sees taken apart again."""
import collections
import dataclasses
import socket
import struct

UDP, ICMP, ICMPV6, FRAGMENT = 17, 1, 58, 44
ETH_IPV4, ETH_IPV6, ETH_ARP, ETH_VLAN, ETH_QINQ = 0x0800, 0x86dd, 0x0806, 0x8100, 0x88a8
MAC_A, MAC_B = bytes.fromhex('020000000001'), bytes.fromhex('020000000002')


def checksum(data):
    """RFC 1071."""
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ':' in text else socket.AF_INET, text)


def udp(source, destination, sport, dport, payload):
    """A UDP datagram (RFC 768) with its checksum; addresses of either family."""
    src, dst, length = address(source), address(destination), 8 + len(payload)
    header = struct.pack('!HHHH', sport, dport, length, 0)
    pseudo = src + dst + (struct.pack('!BBH', 0, UDP, length) if len(src) == 4 else struct.pack('!II', length, UDP))
    return header[:6] + struct.pack('!H', checksum(pseudo + header + payload) or 0xffff) + payload


@dataclasses.dataclass
class Datagram:
    """An IP datagram that can be cut anywhere: `payload` is all behind the (fragmentable) headers."""
    source: str
    destination: str
    payload: bytes
    ident: int = 1
    protocol: int = UDP
    ttl: int = 64
    tos: int = 0
    flags: int = 0              # IPv4: 2 = DF, 4 = reserved
    options: bytes = b''        # IPv4, a multiple of 4
    extensions: tuple = ()      # IPv6, in front of the fragment header: (type, header without its next-header byte)
    vlans: tuple = ()           # (TPID, TCI), outermost first
    macs: tuple = (MAC_B, MAC_A)

    @property
    def family(self):
        return 6 if ':' in self.source else 4

    def ether(self):
        frame = b''.join(self.macs)
        for tpid, tci in self.vlans:
            frame += struct.pack('!HH', tpid, tci)
        return frame + struct.pack('!H', ETH_IPV6 if self.family == 6 else ETH_IPV4)

    def ipv4(self, body, offset, more):
        words = 5 + len(self.options) // 4
        header = struct.pack('!BBHHHBBH4s4s', 4 << 4 | words, self.tos, 4 * words + len(body), self.ident,
                             self.flags << 13 | more << 13 | offset >> 3, self.ttl, self.protocol, 0,
                             address(self.source), address(self.destination)) + self.options
        return header[:10] + struct.pack('!H', checksum(header)) + header[12:] + body

    def ipv6(self, body, next_header):
        for kind, header in reversed(self.extensions):
            body, next_header = bytes([next_header]) + header + body, kind
        return struct.pack('!IHBB16s16s', 6 << 28 | self.tos << 20, len(body), next_header, self.ttl,
                           address(self.source), address(self.destination)) + body

    def fragment(self, offset, length, more, padding=0, payload=None):
        """The frame that carries [offset, offset + length) of the payload, or `payload` there instead."""
        body = self.payload[offset:offset + length] if payload is None else payload
        if self.family == 4:
            packet = self.ipv4(body, offset, more)
        else:
            packet = self.ipv6(struct.pack('!BBHI', self.protocol, 0, offset & ~7 | more, self.ident) + body, FRAGMENT)
        return self.ether() + packet + bytes(padding)

    def fragments(self, size):
        """All of them, in order; `size`: payload bytes in each but the last."""
        total = len(self.payload)
        return [self.fragment(at, size, at + size < total) for at in range(0, total, size)]

    def whole(self):
        """What must leave when all of it came in: RFC 791, RFC 8200 4.5."""
        return self.ether() + (self.ipv4(self.payload, 0, 0) if self.family == 4
                               else self.ipv6(self.payload, self.protocol))


Seen = collections.namedtuple('Seen', 'macs vlans ethertype family source destination protocol ident offset more body')


def dissect(frame):
    """A frame taken apart; `family` is 0 for what is not IP. IPv6 extension headers are skipped."""
    at, vlans = 12, []
    ethertype = struct.unpack_from('!H', frame, at)[0]
    while ethertype in (ETH_VLAN, ETH_QINQ):
        vlans.append(struct.unpack_from('!HH', frame, at))
        at += 4
        ethertype = struct.unpack_from('!H', frame, at)[0]
    ip, macs = frame[at + 2:], (frame[:6], frame[6:12])
    if ethertype == ETH_IPV4:
        total, ident, where = struct.unpack_from('!HHH', ip, 2)
        return Seen(macs, tuple(vlans), ethertype, 4, ip[12:16], ip[16:20], ip[9], ident, (where & 0x1fff) * 8,
                    bool(where & 0x2000), ip[(ip[0] & 15) * 4:total])
    if ethertype == ETH_IPV6:
        length, following = struct.unpack_from('!HB', ip, 4)
        body = ip[40:40 + length]
        while following in (0, 43, 60):
            following, body = body[0], body[8 + body[1] * 8:]
        ident, where = 0, 0
        if following == FRAGMENT:
            following, where, ident = body[0], *struct.unpack_from('!HI', body, 2)
            body = body[8:]
        return Seen(macs, tuple(vlans), ethertype, 6, ip[8:24], ip[24:40], following, ident, where & ~7,
                    bool(where & 1), body)
    return Seen(macs, tuple(vlans), ethertype, 0, b'', b'', 0, 0, 0, False, ip)


def is_fragment(seen):
    return seen.family != 0 and (seen.offset > 0 or seen.more)
