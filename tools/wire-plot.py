#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and tables of the wire table, from the TSV of tools/wire-table.py.

Writes doc/img/wire-*.svg, and puts the tables into the pages, between their `<!-- wire: ... -->` lines.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = (('straight', 'Linux alone', 'a'), ('small', 'behind fragmend, as little memory as the receiver', 'b'),
            ('default', 'behind fragmend', 'c'))
WIDTH, HEIGHT = 800, 270
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 44, 44        # around the bars
VALUE_HEIGHT = 14                               # of the number above a bar
GAP = 0.24                                      # of a group's width, between groups
STYLE = '''
text { font: 11px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: #656d76; }
.title { font-size: 13px; font-weight: 600; }
.value { font-size: 9px; text-anchor: middle; }
.label { text-anchor: middle; }
.axis { text-anchor: end; font-size: 9px; }
.grid { stroke: #8b949e; stroke-opacity: 0.3; }
.ideal { stroke: #656d76; stroke-width: 1.5; stroke-dasharray: 4 2; }
.a { fill: #d9634c; } .b { fill: #7fb2dd; } .c { fill: #2f7fc1; }
@media (prefers-color-scheme: dark) {
text { fill: #c4ccd4; } .ideal { stroke: #c4ccd4; } .b { fill: #8fbce2; } .c { fill: #3f8fd4; }
}
'''

# Of each picture: file, title, [(row, two lines below its bars)].
PICTURES = (
    ('interleaved', 'Interleaved senders of 65,507-byte datagrams; the receiver may hold 256 KiB',
     [('interleaved-%d' % n, ('%d' % n, 'sender' if n == 1 else 'senders')) for n in (1, 2, 3, 4, 6, 8, 12, 16)]
     + [('burst-4', ('2, after a', 'burst of 4'))]),
    ('loss', 'Lost and repeated fragments; the receiver may hold 4 MiB',
     [('loss-65507-%s' % p, ('%s %% lost' % p, '65,507 bytes')) for p in ('0.003', '0.01', '0.1', '1')]
     + [('loss-4000-%s' % p, ('%s %% lost' % p, '4,000 bytes')) for p in ('0.1', '1')]
     + [('duplicates-1', ('1 % repeated', '4,000 bytes'))]),
    ('flood', 'Honest datagrams that arrive under a flood of first fragments; the receiver may hold 4 MiB',
     [('flood-%s-%d' % (kind, n), (format(n, ',') + '/s', '%s source%s' % (kind, '' if kind == 'one' else 's')))
      for kind in ('one', 'random') for n in (100, 1000, 10000, 100000)]),
    ('flows', 'Many datagrams under way at once, 4,000 bytes each; the receiver may hold 4 MiB',
     [('flows-1000', ('1,000', 'flows')), ('flows-5000', ('5,000', 'flows')), ('flows-20000', ('20,000', 'flows')),
      ('flows-20000-staggered', ('20,000', 'staggered')), ('flows-20000-pool', ('20,000', 'larger pool'))]
     + [('one-source-%d' % n, ('%d of' % n, 'one source')) for n in (65, 128, 300)]),
)
# The rows of the short table, for the front page.
SHORT = ('interleaved-2', 'interleaved-3', 'interleaved-16', 'burst-4', 'loss-65507-0.01', 'loss-4000-1',
         'duplicates-1', 'flood-one-1000', 'flood-random-100000', 'flows-1000', 'flows-20000', 'one-source-128')


def read(path):
    """{row: {setting: line}}; the last line of a row and setting counts."""
    lines = [line.split('\t') for line in path.read_text().splitlines()]
    rows = {}
    for words in lines[1:]:
        line = dict(zip(lines[0], words, strict=True))
        rows.setdefault(line['row'], {})[line['setting']] = line
    return rows


def number(lines, setting):
    """None where there is no figure."""
    try:
        return float(lines[setting]['ratio'])
    except (KeyError, ValueError):
        return None


def short_number(value):
    """Two digits that count, never a 1 or a 0 that is none."""
    if value in (0, 1):
        return '%d' % value
    text = '%.2f' % value if 0.01 <= value < 0.995 else '%.3f' % value if value > 0.5 else '%.4f' % value
    return text.lstrip('0') if value < 1 else text


class Picture:
    def __init__(self, title, rows, chosen):
        self.parts, self.rows, self.chosen = [], rows, chosen
        self.group = (WIDTH - LEFT - RIGHT) / len(chosen)
        self.add('<text class="title" x="%d" y="16">%s</text>', LEFT, title)
        self.legend()
        for value in (0, 0.25, 0.5, 0.75, 1):
            self.add('<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>', LEFT, self.y(value), WIDTH - RIGHT,
                     self.y(value))
            self.add('<text class="axis" x="%d" y="%.1f">%d %%</text>', LEFT - 3, self.y(value) + 3, 100 * value)
        for place, (row, label) in enumerate(chosen):
            self.bars(place, rows.get(row, {}), label)

    def add(self, markup, *values):
        self.parts.append(markup % values)

    @staticmethod
    def y(value):
        return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM - 8)

    def legend(self):
        x = LEFT
        for _, words, style in SETTINGS:
            self.add('<rect class="%s" x="%d" y="24" width="10" height="10" rx="1.5"/>', style, x)
            self.add('<text x="%d" y="33">%s</text>', x + 14, words)
            x += 34 + 6 * len(words)
        self.add('<line class="ideal" x1="%d" y1="29" x2="%d" y2="29"/>', x, x + 20)
        self.add('<text x="%d" y="33">%s</text>', x + 25, 'ideal')

    def bars(self, place, lines, label):
        left, width = LEFT + place * self.group, self.group * (1 - GAP) / len(SETTINGS)
        first = left + self.group * GAP / 2
        ideal = max((float(line['ideal']) for line in lines.values()), default=None)
        for i, (setting, _, style) in enumerate(SETTINGS):
            if setting in lines:
                self.bar(first + i * width, width, style, number(lines, setting), ideal)
        if lines:
            self.add('<line class="ideal" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>', first - 3, self.y(ideal),
                     first + 3 * width + 3, self.y(ideal))
        for i, text in enumerate(label):
            self.add('<text class="label" x="%.1f" y="%d">%s</text>', left + self.group / 2,
                     HEIGHT - BOTTOM + 15 + 13 * i, text)

    def bar(self, x, width, style, value, ideal):
        """`value` None: there is no figure, as each try was void."""
        top = self.y(value or 0)
        if value:
            self.add('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5"/>', style, x + 1, top,
                     width - 2, self.y(0) - top)
        if -2 < top - self.y(ideal) < VALUE_HEIGHT:
            top = self.y(ideal)         # not through the number
        self.add('<text class="value" x="%.1f" y="%.1f">%s</text>', x + width / 2, top - 4,
                 'void' if value is None else short_number(value))

    def svg(self, title):
        return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
                'aria-label="%s">\n<!-- SPDX-License-Identifier: BSD-3-Clause -->\n<style>%s</style>\n%s\n</svg>\n'
                % (WIDTH, HEIGHT, WIDTH, HEIGHT, title, STYLE, '\n'.join(self.parts)))


def cell(lines, setting):
    """Of the table; a row that was not measured in a setting has a dot."""
    return lines[setting]['ratio'] if setting in lines else '·'


def table(rows, names):
    """Markdown: a line for each row, in the order of `names`."""
    out = ['| traffic | Linux alone | fragmend, small | fragmend | ideal |', '| --- | --: | --: | --: | --: |']
    for name in names:
        lines = rows[name]
        some = next(iter(lines.values()))
        out.append('| %s | %s | %s | %s | %s |' % (some['params'], cell(lines, 'straight'), cell(lines, 'small'),
                                                   cell(lines, 'default'), some['ideal']))
    return '\n'.join(out)


def put(page, tables):
    """Between `<!-- wire: NAME -->` and `<!-- wire: end -->`; a page that has none is left alone."""
    old = page.read_text()
    new = re.sub(r'(<!-- wire: (\w+) -->\n).*?(<!-- wire: end -->)',
                 lambda match: match.group(1) + tables[match.group(2)] + '\n' + match.group(3), old, flags=re.S)
    if new != old:
        page.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tsv', type=pathlib.Path, default=ROOT / 'doc/wire.tsv', metavar='FILE')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'doc/img', metavar='DIR', help='for the pictures')
    parser.add_argument('--page', type=pathlib.Path, action='append', metavar='FILE',
                        help='with tables; may be repeated (README.md and doc/wire.md)')
    args = parser.parse_args()
    rows = read(args.tsv)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, title, chosen in PICTURES:
        (args.out / ('wire-%s.svg' % name)).write_text(Picture(title, rows, chosen).svg(title))
    order = [row for _, _, chosen in PICTURES for row, _ in chosen if row in rows]
    tables = {'full': table(rows, order), 'short': table(rows, [name for name in SHORT if name in rows])}
    for page in args.page or [ROOT / 'README.md', ROOT / 'doc/wire.md']:
        put(page, tables)


if __name__ == '__main__':
    sys.exit(main())
