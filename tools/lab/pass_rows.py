# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the pass-through table: which frames, between which ports, and what ratio is wanted."""
import dataclasses
import random

from . import packet

FRAMES = 8190                   # of a capture that repeats; of 3 for each datagram
LOOP_FRAMES = 512               # that go round between two rings
PLAIN_TARGET, FRAGMENTS_TARGET = 0.95, 0.5
# Of the mixed traffic: length of a frame, how many in 12.
MIX = ((64, 7), (576, 4), (1500, 1))


def addresses(family, number):
    """Of flow `number`: one source out of 254, many destinations."""
    source, other = number % 254 + 1, number // 254
    if family == 4:
        return '10.1.0.%d' % source, '10.2.%d.1' % other
    return 'fd01::%x' % source, 'fd02::%x' % (other + 1)


def plain(family, size, number):
    """A whole UDP packet in a frame of `size` bytes."""
    source, destination = addresses(family, number)
    headers = 14 + (20 if family == 4 else 40) + 8
    body = packet.udp(source, destination, 1024 + number, 53, bytes(size - headers))
    return packet.Datagram(source, destination, body, number + 1).whole()


def mixed(rng):
    sizes = [size for size, share in MIX for _ in range(share)]
    return [plain(rng.choice((4, 6)), rng.choice(sizes), number) for number in range(FRAMES)]


def three(family, size, number):
    """A UDP datagram in three frames, the first two of `size` bytes or the least that can be; padded like Ethernet."""
    source, destination = addresses(family, number)
    room = max(16, (size - 14 - (20 if family == 4 else 48)) // 8 * 8)
    body = packet.udp(source, destination, 1024 + number, 53, bytes(3 * room - 8 - 8))
    frames = packet.Datagram(source, destination, body, number + 1).fragments(room)
    return [frame + bytes(max(0, min(size, 64) - len(frame))) for frame in frames]


def interleaved(datagrams, ways):
    """The first of `ways` datagrams, then the second of each, then the third; then the next ones."""
    return [frames[part] for at in range(0, len(datagrams), ways) for part in range(3)
            for frames in datagrams[at:at + ways]]


def fragments(families, sizes, ways, rng):
    return interleaved([three(rng.choice(families), rng.choice(sizes), number) for number in range(FRAMES // 3)], ways)


@dataclasses.dataclass
class Row:
    traffic: str
    vdevs: str                  # pcap-null, pcap-ring, ring-ring
    build: object = None        # function(rng) that makes the frames
    fragmented: bool = False

    @property
    def name(self):
        return '%s/%s' % (self.traffic, self.vdevs)

    @property
    def target(self):
        return FRAGMENTS_TARGET if self.fragmented else PLAIN_TARGET

    def frames(self):
        return self.build(random.Random(self.traffic))


def whole(family, size):
    return lambda rng: [plain(family, size, number) for number in range(FRAMES)]


def cut(families, sizes, ways):
    return lambda rng: fragments(families, sizes, ways, rng)


PLAIN = {'ipv4-64': whole(4, 64), 'ipv6-64': whole(6, 64), 'ipv4-1500': whole(4, 1500), 'ipv6-1500': whole(6, 1500),
         'mixed': mixed}
CUT = {'%s-%s-%s' % (name, size, order): cut(families, sizes, ways)
       for name, families in (('fragments4', (4,)), ('fragments6', (6,)))
       for size, sizes in (('64', (64,)), ('1500', (1500,)))
       for order, ways in (('in-order', 1), ('64-ways', 64), ('1024-ways', 1024))}
CUT['fragments-mixed-64-ways'] = cut((4, 6), (64, 576, 1500), 64)


def rows():
    for vdevs in ('pcap-null', 'pcap-ring', 'ring-ring'):
        for traffic, build in PLAIN.items():
            yield Row(traffic, vdevs, build)
    for vdevs in ('pcap-null', 'pcap-ring'):
        for traffic, build in CUT.items():
            if vdevs == 'pcap-null' or traffic.endswith('-64-ways'):
                yield Row(traffic, vdevs, build, True)
