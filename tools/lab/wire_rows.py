# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the wire table: what is sent, where the receiver's limit is, what would be ideal and what is wanted."""
import dataclasses

RATE = 45000                    # fragments per second
BURSTY_RATE = 25000             # where 20,000 datagrams end in one turn: each fragment of it sends three
LARGEST, SMALL = 65507, 4000    # bytes of UDP payload: 45 and 3 fragments
ROOM = 1480                     # bytes of a datagram in a fragment, at an MTU of 1500
MBUF_BYTES = 2048               # of data
KERNEL_DEFAULT = 4 << 20        # ipfrag_high_thresh of Linux
TIGHT = 262144                  # and that of the 2012 report
LOSS_SENDERS = 16
MARGIN = 0.01                   # that loss may cost besides what is lost


@dataclasses.dataclass
class Row:
    name: str
    params: str
    senders: int
    bytes: int
    arguments: tuple = ()       # of wire_send, besides these
    rate: int = RATE            # of the steady senders
    limit_bytes: int = KERNEL_DEFAULT
    ideal: float = 1.0
    target: float = 1.0         # for fragmend with its default budget
    extra: int = 0              # senders of a burst
    measure: str = 'steady'     # or 'after': what was begun after the burst
    peak_mbufs: int = 0         # all datagrams of a turn, held at once; 0: no matter
    mean_mbufs: int = 0         # and over time
    options: tuple = ()         # of fragmend

    @property
    def fragments(self):
        return -(-(self.bytes + 8) // ROOM)

    @property
    def small_budget(self):
        """mbufs of as many bytes of data as the receiver's limit has."""
        return self.limit_bytes // MBUF_BYTES

    def send(self, seconds):
        """Arguments of wire_send."""
        burst = ('--burst', self.extra, '--burst-at', seconds / 2) if self.extra else ()
        return ('--senders', self.senders, '--bytes', self.bytes, '--rate', self.rate, *burst, *self.arguments)


def interleaved():
    for n in (1, 2, 3, 4, 6, 8, 12, 16):
        yield Row('interleaved-%d' % n, '%d sender%s, 65,507 bytes' % (n, 's'[:n > 1]), n, LARGEST, limit_bytes=TIGHT)


def burst():
    yield Row('burst-4', '2 senders, 65,507 bytes; 4 more datagrams at half-time', 2, LARGEST, limit_bytes=TIGHT,
              extra=4, measure='after')


def loss():
    for size, chances in ((LARGEST, (0.00003, 0.0001, 0.001, 0.01)), (SMALL, (0.001, 0.01))):
        for chance in chances:
            row = Row('loss-%d-%g' % (size, 100 * chance),
                      '%d senders, %s bytes, %g %% loss' % (LOSS_SENDERS, format(size, ','), 100 * chance),
                      LOSS_SENDERS, size, ('--loss', '%.5f' % chance))
            row.ideal = (1 - chance) ** row.fragments
            row.target = row.ideal - MARGIN
            yield row


def duplicates():
    yield Row('duplicates-1', '%d senders, 4,000 bytes, 1 %% duplicates' % LOSS_SENDERS, LOSS_SENDERS, SMALL,
              ('--duplicates', '0.01'))


def flood():
    for kind, words, target in (('one', (), (0.98,) * 4),
                                ('random', ('--hostile-random',), (0.98, 0.98, 0.98, 0.95))):
        for rate, wanted in zip((100, 1000, 10000, 100000), target, strict=True):
            yield Row('flood-%s-%d' % (kind, rate), '16 senders, 4,000 bytes, 10,000 fragments/s; %s hostile/s, %s'
                      % (format(rate, ','), 'one source' if kind == 'one' else 'random sources'), 16, SMALL,
                      ('--hostile', rate, *words), rate=10000, target=wanted)


def flows():
    for n, name, words, rate, arguments, options in (
            (1000, '', '', RATE, (), ()),
            (5000, '', '', RATE, (), ()),
            (20000, '', '', RATE, (), ()),
            (20000, '-staggered', ', staggered', RATE, ('--staggered',), ()),
            (20000, '-pool', ', 25,000 fragments/s, --total-num-mbufs 65535', BURSTY_RATE, (),
             ('--total-num-mbufs', '65535'))):
        # At once: all but one fragment of each at the end of the last turn but one. Staggered: the mean, always.
        yield Row('flows-%d%s' % (n, name), '%s flows, 4,000 bytes%s' % (format(n, ','), words), n, SMALL, arguments,
                  rate, peak_mbufs=n if arguments else 2 * n, mean_mbufs=n, options=options)


def one_source():
    for n in (65, 128, 300):
        yield Row('one-source-%d' % n, '%d interleaved datagrams of one source, 4,000 bytes' % n, n, SMALL,
                  ('--one-source',))


def every():
    return [row for kind in (interleaved, burst, loss, duplicates, flood, flows, one_source) for row in kind()]
