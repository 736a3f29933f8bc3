# SPDX-License-Identifier: BSD-3-Clause
"""THE table of metrics: what is served, what doc/metrics.md says and what the tests expect is made from it."""
import collections

# One metric: its kind, the member of the telemetry that it is (None: 1), what that is divided by, its sentence.
Row = collections.namedtuple('Row', 'name kind member text divisor', defaults=(1,))
# Metrics that have the same labels: which list of which answer, {label: member}, rows.
Group = collections.namedtuple('Group', 'endpoint list labels rows')


def rows(kind, *pairs):
    return tuple(Row(name, kind, member, text) for name, member, text in pairs)


OF_ITSELF = Group('', '', {}, rows(
    'gauge',
    ('up', 'up', 'Does fragmend answer?'),
    ('telemetry_complete', 'complete', 'Did it answer everything? 0 while it is busy with a long command.'),
    ('telemetry_duration_seconds', 'duration', 'How long the answers took.')))

GROUPS = (
    Group('config', 'build', {'version': 'version', 'dpdk': 'dpdk'}, rows(
        'info', ('build', None, 'Version of fragmend and of DPDK.'))),
    Group('config', '', {}, rows('gauge', ('forwarding', 'forwarding', 'Is forwarding on?'))),
    Group('stats', '', {}, rows(
        'counter',
        ('rx_frames', 'rx_frames', 'Frames that the workers received.'),
        ('rx_bytes', 'rx_bytes', 'Their bytes.'),
        ('tx_frames', 'tx_frames', 'Frames that were handed to TX queues.'),
        ('tx_bytes', 'tx_bytes', 'Their bytes.'),
        ('frames_in', 'frames_in', 'Frames that reassembly looked at.'),
        ('frames_dropped', 'frames_dropped', 'Frames that are no fragments and could not leave.'),
        ('fragments_in', 'fragments_in', 'Fragments that came in.'),
        ('fragments_completed', 'fragments_completed', 'Fragments of datagrams that were completed.'),
        ('fragments_dropped', 'fragments_dropped', 'Fragments that were dropped, whatever for.'),
        ('datagrams_completed', 'datagrams_completed', 'Datagrams that were completed.'),
        ('datagrams_sent_whole', 'datagrams_sent_whole', 'Those that left whole.'),
        ('datagrams_sent_refragmented', 'datagrams_sent_refragmented', 'Those that left as clean fragments.'),
        ('datagrams_dropped', 'datagrams_dropped', 'Those that were dropped on their way out.')) + rows(
        'gauge',
        ('held_fragments', 'held.fragments', 'Fragments held now.'),
        ('held_mbufs', 'held.mbufs', 'Mbufs that they take.'),
        ('budget_mbufs', 'held.budget_mbufs', 'Mbufs that they may take.'),
        ('held_datagrams', 'held.datagrams', 'Datagrams that wait for fragments now.'),
        ('max_datagrams', 'held.max_datagrams', 'How many may wait.'),
        ('condemned_datagrams', 'held.condemned', 'Datagrams that are remembered as dropped now.'),
        ('tx_backlog_mbufs', 'held.tx_backlog_mbufs', 'Mbufs that wait for room in TX queues now.'),
        ('between_workers_mbufs', 'held.between_workers_mbufs', 'Mbufs on their way from worker to worker now.'))),
    Group('drops', 'frame', {'outcome': 'name', 'severity': 'severity'}, rows(
        'counter', ('frame_outcomes', 'count', 'What became of frames that are no fragments.'))),
    Group('drops', 'fragment', {'outcome': 'name', 'severity': 'severity'}, rows(
        'counter', ('fragment_outcomes', 'count', 'What became of fragments.'))),
    Group('drops', 'datagram', {'outcome': 'name', 'severity': 'severity'}, rows(
        'counter', ('datagram_outcomes', 'count', 'What became of completed datagrams.'))),
    Group('check', 'accounts', {'account': 'account'}, rows(
        'gauge', ('accounting_ok', 'ok', 'Does the sum hold? Under traffic a difference comes and goes.'))),
    Group('check', '', {}, rows('gauge', ('lost_mbufs', 'mbufs.lost', 'Mbufs that are nowhere.'))),
    Group('budget', '', {}, rows(
        'gauge', ('budget_max_mbufs', 'budget_max_mbufs', 'What the budget could be set to.'))),
    Group('budget', 'pools', {'pool': 'name', 'port': 'port'}, rows(
        'gauge',
        ('pool_size_mbufs', 'size_mbufs', 'All mbufs of the pool.'),
        ('pool_available_mbufs', 'available_mbufs', 'Free now, caches included.'))),
    Group('budget', 'reserves', {'pool': 'name', 'port': 'port', 'use': 'use'}, rows(
        'gauge', ('pool_reserved_mbufs', 'mbufs', 'What the mbufs of the pool are reserved for.'))),
    Group('lcores', 'lcores', {'lcore': 'lcore'}, rows(
        'counter',
        ('lcore_polls', 'polls', "Turns of the worker's loop."),
        ('lcore_busy_polls', 'busy_polls', 'Turns that found frames.'),
        ('lcore_rx_frames', 'rx_frames', 'Frames that it received.'),
        ('lcore_fragments_in', 'fragments_in', 'Fragments that it was given.')) + (
        Row('lcore_busy_ratio', 'gauge', 'busy_permille', 'Part of its turns that found frames, of late.', 1000),
    ) + rows(
        'gauge',
        ('lcore_held_mbufs', 'held_mbufs', 'Mbufs that its table holds.'),
        ('lcore_budget_mbufs', 'budget_mbufs', 'Mbufs that it may hold.'),
        ('lcore_held_datagrams', 'datagrams', 'Datagrams in its table.'),
        ('lcore_max_datagrams', 'max_datagrams', 'How many may be there.'),
        ('lcore_tx_backlog_mbufs', 'tx_backlog_mbufs', 'Mbufs that wait for room in its TX queues.'),
        ('lcore_table_bytes', 'table_bytes', 'Memory of its table.'))),
    Group('ports', 'ports', {'port': 'id', 'name': 'name'}, rows('info', ('port', None, 'Name of the port.'))),
    Group('ports', 'ports', {'port': 'id'}, rows(
        'gauge', ('port_link_up', 'link_up', 'Has it a link?')) + (
        Row('port_link_speed_bytes_per_second', 'gauge', 'link_speed_mbps', 'Its speed; 0: unknown.', 8e-6),) + rows(
        'counter',
        ('port_rx_packets', 'rx_packets', 'Packets received, as ethdev counts.'),
        ('port_rx_bytes', 'rx_bytes', 'Their bytes.'),
        ('port_rx_missed', 'rx_missed', 'Dropped by the port, as no worker fetched them in time.'),
        ('port_rx_errors', 'rx_errors', 'Errors in reception.'),
        ('port_rx_no_mbuf', 'rx_no_mbuf', 'Dropped as the pool was empty; must stay 0.'),
        ('port_tx_packets', 'tx_packets', 'Packets sent.'),
        ('port_tx_bytes', 'tx_bytes', 'Their bytes.'),
        ('port_tx_errors', 'tx_errors', 'Errors in sending.'))),
    Group('sources', '', {}, rows(
        'gauge', ('largest_source_held_mbufs', 'largest', 'Mbufs held of the source that holds most.'))),
    Group('sources', 'sources', {'source': 'source'}, rows(
        'gauge',
        ('source_held_mbufs', 'held_mbufs', 'Mbufs held of it; the largest sources only.')) + (
        Row('source_chance_ratio', 'gauge', 'chance_permille', 'That its next datagram completes.', 1000),) + rows(
        'gauge',
        ('source_delivered_fragments', 'delivered_fragments',
         'Fragments of its completed datagrams, since its record was made.'),
        ('source_wasted_fragments', 'wasted_fragments',
         'Fragments of it that were held for nothing, since its record was made.'))),
)
ENDPOINTS = tuple(dict.fromkeys(group.endpoint for group in GROUPS))


def full_name(row):
    return 'fragmend_' + row.name + {'counter': '_total', 'info': '_info', 'gauge': ''}[row.kind]

INTRODUCTION = '''
    # Metrics

    Made from the table in `tools/exporter/table.py` by `ninja update-reference`; do not edit.

    What `fragmend-exporter` serves at `http://127.0.0.1:9709/metrics`, as text for Prometheus or, if asked for that, as
    OpenMetrics. It asks fragmend's [telemetry](telemetry.md) at each scrape; how to run it stands in
    [operations.md](operations.md#metrics).

    Counters count from the start of fragmend, and begin again at 0 when it is started anew. `outcome` is a name of
    [outcomes.md](outcomes.md), and the help of these metrics has the sentence of each. Names of ports and versions are
    labels of metrics that are always 1 (`_info`), to be joined where they are wanted.

    Of sources, only those that hold most have metrics of their own, 10 unless `--top-sources` says else, and none that
    holds nothing. Under a flood with forged addresses each scrape may name others; `--top-sources 0` keeps them out of
    the database, and `fragmend_largest_source_held_mbufs`, on which the alert stands, is there all the same.

    If fragmend does not answer, `fragmend_up` is 0 and nothing else is there but what the exporter says of itself.
    While fragmend is busy with a long command of its console, `fragmend_up` is 1 and `fragmend_telemetry_complete` 0.
'''


def describe():
    """doc/metrics.md."""
    lines = [line.strip() for line in INTRODUCTION.strip().split('\n')]
    for group in (OF_ITSELF, *GROUPS):
        title = '## From `/fragmend/%s`' % group.endpoint if group.endpoint else '## Of the exporter itself'
        if title not in lines:
            lines += ['', title, '', '| metric | kind | labels | what it is |', '| --- | --- | --- | --- |']
        labels = ', '.join('`%s`' % label for label in ('file_prefix', *group.labels))
        lines += ['| `%s` | %s | %s | %s |' % (full_name(row), row.kind, labels, row.text) for row in group.rows]
    return '\n'.join(lines) + '\n'
