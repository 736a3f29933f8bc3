#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds of the fuzz targets: make_corpus.py DIRECTORY. Always the same files.

The formats are those described on top of fuzz_parser.c, fuzz_core.c and fuzz_pressure.c. Inputs that once failed are
committed beside the seeds, under names that begin with "found-"; this program leaves them alone.
"""
import pathlib
import random
import struct
import sys

CHECKSUM_GOOD, CHECKSUM_BAD, SHORT_CHAIN, FIX_IPV4, CUT_SHORT = 1, 2, 4, 8, 16
MACS = bytes.fromhex('020000000002020000000001')
IPV4_ADDRESSES = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
IPV6_ADDRESSES = bytes.fromhex('fd07' + '00' * 13 + '01'), bytes.fromhex('fd07' + '00' * 13 + '02')


def checksum(data):
    total = sum(struct.unpack('>%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total >> 16) + (total & 0xffff)
    return struct.pack('>H', ~total & 0xffff)


# --- parser ---

def ipv4(payload=bytes(16), field=0x2000, protocol=17, options=b'', total=None, ihl=None):
    """An IPv4 packet; `field` is flags and offset."""
    length = 20 + len(options)
    header = struct.pack('>BBHHHBBH4s4s', 0x40 | (length // 4 if ihl is None else ihl), 0,
                         length + len(payload) if total is None else total, 0x1234, field, 64, protocol, 0,
                         *IPV4_ADDRESSES) + options
    return header[:10] + checksum(header) + header[12:] + payload


def ipv6(next_header, rest, length=None):
    length = len(rest) if length is None else length
    return struct.pack('>IHBB', 6 << 28, length, next_header, 64) + b''.join(IPV6_ADDRESSES) + rest


def fragment(field, payload=bytes(16), next_header=17):
    return struct.pack('>BBHI', next_header, 0, field, 0x01020304) + payload


def extension(next_header, words=0):
    return bytes([next_header, words, 1, (4 + 8 * words) & 0xff]) + bytes(4 + 8 * words)


def frame(packet, tags=b''):
    return MACS + tags + (b'\x08\x00' if packet[0] >> 4 == 4 else b'\x86\xdd') + packet


def parser_seeds():
    nested = fragment(0x0001, fragment(0x0001, next_header=17) + bytes(16), next_header=44)
    frames = {
        'ipv4-whole': frame(ipv4(field=0x4000)),
        'ipv4-first': frame(ipv4()),
        'ipv4-middle': frame(ipv4(field=0x2002)),
        'ipv4-last': frame(ipv4(bytes(5), 0x0003) + bytes(20)),
        'ipv4-options': frame(ipv4(options=bytes([0x94, 4, 0, 0, 7, 7, 4, 0, 0, 0, 0, 0]))),
        'ipv4-tag': frame(ipv4(), bytes.fromhex('81002005')),
        'ipv4-two-tags': frame(ipv4(), bytes.fromhex('88a8000581000007')),
        'ipv4-three-tags': frame(ipv4(), bytes.fromhex('88a800058100000781000009')),
        'ipv4-odd-length': frame(ipv4(bytes(13))),
        'ipv4-empty': frame(ipv4(b'')),
        'ipv4-too-big': frame(ipv4(bytes(24), 0x1fff)),
        'ipv4-short-ihl': frame(ipv4(ihl=4)),
        'ipv4-short-total': frame(ipv4(total=12)),
        'ipv4-truncated': frame(ipv4(total=1000)),
        'ipv4-bad-checksum': frame(ipv4())[:-18] + b'\x55' + frame(ipv4())[-17:],
        'ipv6-whole': frame(ipv6(17, bytes(16))),
        'ipv6-first': frame(ipv6(44, fragment(0x0001))),
        'ipv6-last': frame(ipv6(44, fragment(0x0010, bytes(5)))),
        'ipv6-atomic': frame(ipv6(44, fragment(0))),
        'ipv6-nested': frame(ipv6(44, nested)),
        'ipv6-hop-by-hop': frame(ipv6(0, extension(60, 1) + extension(44) + fragment(0x0001))),
        'ipv6-routing-ah': frame(ipv6(43, extension(51) + bytes([44, 4]) + bytes(22) + fragment(0x0009))),
        'ipv6-eight-headers': frame(ipv6(60, extension(60) * 7 + extension(44) + fragment(0x0001))),
        'ipv6-nine-headers': frame(ipv6(60, extension(60) * 8 + extension(44) + fragment(0x0001))),
        'ipv6-far-header': frame(ipv6(60, extension(60, 32) + extension(44) + fragment(0x0001))),
        'ipv6-chain-behind': frame(ipv6(44, fragment(0x0001, extension(17) + bytes(8), 60))),
        'ipv6-chain-cut': frame(ipv6(44, fragment(0x0001, extension(17, 3)[:8], 60))),
        'ipv6-header-cut': frame(ipv6(44, fragment(0x0001)[:6])),
        'ipv6-truncated': frame(ipv6(44, fragment(0x0001), 1000)),
        'ipv6-too-big': frame(ipv6(44, fragment(0xfff8))),
        'arp': MACS + b'\x08\x06' + bytes(28),
        'runt': MACS[:9],
    }
    for name, data in frames.items():
        yield name, bytes([0, 0, 1]) + data
    yield 'ipv4-fixed', bytes([FIX_IPV4, 0, 1]) + frame(ipv4())
    yield 'ipv4-checksum-good', bytes([CHECKSUM_GOOD, 0, 1]) + frames['ipv4-bad-checksum']
    yield 'ipv4-checksum-bad', bytes([CHECKSUM_BAD, 0, 1]) + frames['ipv4-first']
    yield 'ipv6-short-chain', bytes([SHORT_CHAIN, 0, 1]) + frames['ipv6-chain-cut']
    yield 'ipv6-goes-on', bytes([CUT_SHORT, 1, 0]) + frames['ipv6-hop-by-hop'][:70]


# --- core ---

COMPARE, NO_HEADER_POOL, VERIFY_L4, CORE_SHORT_CHAIN, STARVE_SPLIT = 1, 2, 4, 8, 16
PADDING, CE, ECT, OPTIONS, TAGGED, LENGTH, OFFSET, MORE = 1, 2, 4, 8, 16, 32, 64, 128
SHARED, CLONE, EXTERNAL, SEGMENTED = 13, 14, 15, 16


def parameters(flags, max_datagrams=47, max_mbufs=255, budget=255, timeout4=100, timeout6=200, max_fragments=60):
    return struct.pack('>BBBHBBB', flags, max_datagrams, max_mbufs, budget, timeout4 - 1, timeout6 - 1, max_fragments)


def piece(plan, number, tweak=0, extra=b'', how=0, segment=b''):
    return bytes([0, plan, number, tweak]) + extra + bytes([how]) + segment


def plan(family, pieces, size=0, source=0):
    return (pieces - 2) << 4 | size << 2 | source << 1 & 6 | (family == 6)


def burst(port=0):
    return bytes([11, port])


def done(mtu=60):
    """What a joined datagram reads behind its burst: the MTU to cut it for."""
    return bytes([mtu])


def tick(time):
    return bytes([12, time])


def settings(budget, timeout4=100, timeout6=200, max_fragments=60):
    return bytes([14, 1]) + struct.pack('>HBBB', budget, timeout4 - 1, timeout6 - 1, max_fragments)


EXPIRE, EXPIRE_TWO, FLUSH, HEADERS_EMPTY, HEADERS_BACK = (bytes([n]) for n in (13 + 16, 13, 0x8e, 31, 15))


def orders(rng, pieces):
    shuffled = list(range(pieces))
    rng.shuffle(shuffled)
    return {'forward': range(pieces), 'reverse': reversed(range(pieces)), 'shuffled': shuffled}


def core_seeds():
    rng = random.Random(791)
    for family in (4, 6):
        for pieces, size in ((2, 0), (5, 2), (17, 1), (6, 3)):
            for order, numbers in orders(rng, pieces).items():
                yield 'order-%d-%d-%s' % (family, pieces, order), parameters(COMPARE) + b''.join(
                    piece(plan(family, pieces, size), n) for n in numbers) + burst() + done() + EXPIRE
        p = plan(family, 4, 1)
        for name, tweak, extra in (('padding', PADDING, b''), ('ce', CE, b''), ('ect', ECT, b''),
                                   ('options', OPTIONS, b''), ('tagged', TAGGED, b''), ('longer', LENGTH, b'\x88'),
                                   ('shorter', LENGTH, b'\x78'), ('back', OFFSET, b'\xff'),
                                   ('onward', OFFSET, b'\x01'), ('more', MORE, b'')):
            yield 'one-%s-%d' % (name, family), parameters(COMPARE) + b''.join(
                piece(p, n, tweak if n == 2 else 0, extra if n == 2 else b'') for n in range(4)) + burst() + done()
            yield 'all-%s-%d' % (name, family), parameters(COMPARE) + b''.join(
                piece(p, n, tweak, extra) for n in range(4)) + burst() + done() + tick(210) + EXPIRE
        for name, how, segment in (('shared', SHARED, b''), ('clone', CLONE, b''), ('external', EXTERNAL, b''),
                                   ('segmented', SEGMENTED, b'\x06'), ('segmented-clone', SEGMENTED | CLONE, b'\x20')):
            for flags in (COMPARE | STARVE_SPLIT, NO_HEADER_POOL):
                yield 'mbuf-%s-%d-%d' % (name, flags, family), parameters(flags) + b''.join(
                    piece(p, n, OPTIONS, how=how, segment=segment) for n in (3, 1, 0, 2)) + burst() + done(5)
        yield 'padding-segmented-%d' % family, parameters(COMPARE) + b''.join(
            piece(p, n, PADDING, how=SEGMENTED, segment=b'\x10') for n in (0x82, 0x81, 0x80, 0x83)) + burst() + done()
        yield 'duplicates-%d' % family, parameters(COMPARE) + b''.join(
            piece(p, n) for n in (0, 0, 1, 1, 3, 3, 2)) + burst() + done() + piece(p, 2) + burst()
        yield 'timeout-%d' % family, parameters(COMPARE) + piece(p, 0) + burst() + tick(99) + EXPIRE_TWO + b''.join(
            piece(p, n) for n in (1, 2)) + burst() + tick(120) + piece(p, 3) + burst() + EXPIRE_TWO + tick(255) + EXPIRE
        yield 'headers-empty-%d' % family, parameters(0) + HEADERS_EMPTY + b''.join(
            piece(p, n, how=SHARED) for n in range(4)) + burst() + HEADERS_BACK + b''.join(
                piece(p, n, how=CLONE) for n in range(4)) + burst() + done()
        yield 'large-%d' % family, parameters(COMPARE) + b''.join(
            bytes([8, 4 | (family == 6), more, 1, 1, 17]) + struct.pack('>HH', offset, length) + b'\0'
            for offset, length, more in ((0, 20000, 1), (20000, 20000, 1), (40000, 20000, 1), (60000, 5400, 0))
            ) + burst() + done()
        yield 'at-once-%d' % family, parameters(COMPARE) + b''.join(
            bytes([how, plan(family, n, 1), 0]) + bytes(n) for n in (2, 3, 8, 17)
            for how in (0x80, 0xc0)) + burst() + done()
        yield 'crowd-%d' % family, parameters(COMPARE) + b''.join(
            bytes([0x8f, 250, n]) + bytes(250) + burst() + bytes(60) + bytes([0x8c, 64 * n]) for n in range(4)) + done()
    yield from pressure_seeds(rng)
    yield from transport_seeds()
    yield 'raw', parameters(COMPARE) + raw(frame(ipv4(bytes(8)))) + raw(frame(ipv4(bytes(3), 0x0001))) + raw(
        frame(ipv6(17, bytes(16)))) + raw(MACS) + burst() + done()


def raw(data):
    return bytes([10, len(data) - 1]) + data + b'\0'


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return struct.pack('<I', crc ^ 0xffffffff)


def transport_seeds():
    """Datagrams of 40 bytes in two fragments, with the right transport checksum; verify-l4 is on."""
    udp, tcp, icmp, icmpv6, sctp = 17, 6, 1, 58, 132
    headers = {
        udp: struct.pack('>HHHH', 4000, 53, 40, 0),
        tcp: struct.pack('>HHIIBBHHH', 1, 2, 3, 4, 0x50, 0x10, 5, 0, 0),
        icmp: bytes([8, 0, 0, 0]),
        icmpv6: bytes([128, 0, 0, 0]),
        sctp: struct.pack('>HHII', 1, 2, 3, 0),
    }
    for family, addresses in ((4, IPV4_ADDRESSES), (6, IPV6_ADDRESSES)):
        for protocol, at in ((udp, 6), (tcp, 16), (icmp, 2), (icmpv6, 2), (sctp, 8)):
            segment = (headers[protocol] + bytes(range(1, 41)))[:40]
            pseudo = b''.join(addresses) + struct.pack('>II', len(segment), protocol)
            if protocol == sctp:
                sum_bytes = crc32c(segment)
            else:
                sum_bytes = checksum(segment if protocol == icmp else pseudo + segment)
            segment = segment[:at] + sum_bytes + segment[at + len(sum_bytes):]
            if family == 4:
                pieces = ipv4(segment[:24], 0x2000, protocol), ipv4(segment[24:], 3, protocol)
            else:
                pieces = (ipv6(44, fragment(1, segment[:24], protocol)), ipv6(44, fragment(24, segment[24:], protocol)))
            yield 'transport-%d-%d' % (protocol, family), parameters(COMPARE | VERIFY_L4) + raw(frame(pieces[1])) + raw(
                frame(pieces[0])) + burst() + done(1)


def pressure_seeds(rng):
    for flags, max_mbufs, max_datagrams in ((0, 15, 47), (0, 60, 7), (VERIFY_L4, 7, 3), (CORE_SHORT_CHAIN, 255, 15)):
        out = parameters(flags, max_datagrams, max_mbufs, max_mbufs)
        work = [(plan(rng.choice((4, 6)), 6, 1, s), n) for s in range(4) for n in range(6)] * 3
        rng.shuffle(work)
        for i, (p, n) in enumerate(work):
            out += piece(p, n)
            if i % 8 == 7:
                out += burst() + tick(rng.randrange(30))
            if i % 24 == 23:
                out += rng.choice((EXPIRE, settings(max_mbufs // 3), settings(max_mbufs, 5, 5, 4), HEADERS_BACK, FLUSH))
        yield 'pressure-%d-%d-%d' % (flags, max_mbufs, max_datagrams), out + burst() + EXPIRE


# --- pressure ---

ONE, MANY, BURST, TICK, JUMP, EXPIRE_FEW, EXPIRE_ALL, FLOOD, SET, SET_PREFIXES, BACK, FLUSH_ALL = (
    0, 6, 8, 9, 10, 11 + 64, 11 + 16, 12, 13, 13 + 16, 14 + 48, 15)
EASE, CROWD = 9 + 128, 12 + 128
PIECES = 2, 3, 5, 8, 13, 21, 34, 2


def who(family, source, datagram):
    return datagram << 4 | source << 1 | (family == 6)


def pieces_of(sender):
    return PIECES[(sender >> 1 & 7) ^ (sender >> 5)]


def give(sender, number, how=0, segment=b'', operation=ONE):
    """One piece; how it lies in mbufs is read behind it."""
    return bytes([operation, sender, number, how]) + segment


def whole(sender, **kinds):
    return b''.join(give(sender, n, **kinds) for n in range(pieces_of(sender)))


def flood_of(number, flags=0):
    return bytes([FLOOD, flags | number]) + bytes(number)


def limits(budget, timeout4=125, timeout6=250, max_fragments=62):
    return bytes([budget - 1, timeout4, timeout6, max_fragments])


def table(max_mbufs, max_datagrams=63, **kinds):
    return bytes([max_mbufs - 1, max_datagrams - 1]) + limits(max_mbufs, **kinds)


def disturbance(rng, budget):
    return rng.choice((bytes([TICK, 20]), bytes([JUMP, 0, 40]), bytes([EXPIRE_FEW]), bytes([EXPIRE_ALL]), flood_of(7),
                       flood_of(9, 32), flood_of(5, 16 + 64), bytes([SET]) + limits(rng.randrange(1, budget + 1)),
                       bytes([SET_PREFIXES, rng.randrange(33), rng.randrange(129)]), bytes([BACK]), bytes([FLUSH_ALL])))


def squeeze_seeds():
    rng = random.Random(815)
    for family in (4, 6):
        for source in range(8):
            yield 'whole-%d-%d' % (family, source), table(64) + b''.join(whole(who(family, source, n)) for n in (0, 1))
        a, b, c = who(family, 0, 1), who(family, 1, 2), who(10 - family, 2, 3)
        for budget in (1, 2, 3, 5, 8):
            work = [(sender, n) for sender in (a, b, c) for n in range(pieces_of(sender))]
            rng.shuffle(work)
            yield 'three-%d-%d' % (family, budget), table(budget) + b''.join(give(*w) for w in work)
        yield 'learned-%d' % family, table(16) + whole(who(family, 3, 0)) * 4 + b''.join(
            give(who(family, 3, n), 0) for n in range(1, 8)) + bytes([TICK, 30]) + flood_of(15) + bytes([BURST])
        yield 'cold-%d' % family, table(8) + b''.join(give(who(family, 4, n), 0) for n in range(8)) + bytes(
            [TICK, 200, TICK, 200, TICK, 200, TICK, 200]) + whole(a) + bytes([EXPIRE_ALL])
        yield 'shared-%d' % family, table(20) + whole(who(family, 2, 0), how=SHARED) + whole(
            who(family, 2, 1), how=CLONE) + whole(who(family, 2, 2), how=SEGMENTED, segment=b'\x10')
        yield 'burst-%d' % family, table(12) + whole(who(family, 3, 1), operation=MANY) + flood_of(9) + bytes(
            [BURST]) + whole(who(family, 4, 2), operation=MANY) + bytes([BURST, FLUSH_ALL])
        yield 'faulty-%d' % family, table(30) + give(a, 0) + give(a, 250) + give(a, 1) + give(b, 0) + give(b, 0)
        yield 'at-once-%d' % family, table(5) + give(a, 0) + b''.join(
            bytes([how, sender]) + bytes(pieces_of(sender)) for sender in (a, b, c, b, a)
            for how in (0x80, 0xc0)) + bytes(
                [BURST])
    for budget in (2, 4, 7, 12, 20, 33, 64):
        out = table(budget, max_datagrams=rng.choice((3, 63)))
        for _ in range(120):
            sender = who(rng.choice((4, 6)), rng.randrange(8), rng.randrange(16))
            out += give(sender, rng.randrange(pieces_of(sender)), operation=rng.choice((ONE, ONE, MANY)))
            if rng.randrange(4) == 0:
                out += disturbance(rng, budget)
        yield 'storm-%d' % budget, out
    for size in (224, 232, 250):
        out = bytes([size, 255]) + limits(256)
        for n in range(24):
            some = bytes([CROWD, rng.randrange(48, 64)]) if n % 3 else bytes([BURST, CROWD, 64 + 63])
            out += some + bytes(64)
            out += rng.choice((b'', b'', bytes([EASE, rng.randrange(256)]), bytes([TICK, 9]), flood_of(15)))
        yield 'crowd-%d' % size, out + bytes([BURST, EXPIRE_ALL])


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: make_corpus.py DIRECTORY')
    for target, seeds in (('parser', parser_seeds()), ('core', core_seeds()), ('pressure', squeeze_seeds())):
        directory = pathlib.Path(sys.argv[1]) / target
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.iterdir():
            if not old.name.startswith('found-'):
                old.unlink()
        for name, data in seeds:
            (directory / name).write_bytes(data)


if __name__ == '__main__':
    main()
