# SPDX-License-Identifier: BSD-3-Clause
"""Numbers out of what fragmend prints for people, on its console and on its way out."""
import re

# '! timeout                      12       3.1  Datagram was not complete in time.'
OUTCOME = re.compile(r'^[ !-] ([a-z][a-z0-9_]+) +(\d+)(?: +[-0-9.]+)?  \S', re.M)
ROW = r'^ *%s +(\d+)\b'
STATS = {
    'frames_in': 'frames in', 'fragments_in': 'fragments in', 'datagrams_done': 'datagrams completed',
}
HELD = {'held_fragments': 'fragments', 'held_mbufs': 'mbufs, of the budget', 'datagrams': 'datagrams'}


def _number(title, text):
    match = re.search(ROW % re.escape(title), text, re.M)
    if match is None:
        raise ValueError('no row "%s" in:\n%s' % (title, text))
    return int(match.group(1))


def outcomes(text):
    """Of `show reassembly drops`: name to count."""
    return {name: int(count) for name, count in OUTCOME.findall(text)}


def statistics(text):
    """Of `show reassembly stats`."""
    text = text.replace('\r', '')
    flow, held = text.split('\nheld now\n')
    return {**{name: _number(title, flow) for name, title in STATS.items()},
            **{name: _number(title, held) for name, title in HELD.items()}}


def check(text):
    """Of `show check`."""
    verdicts = re.findall(r'^ +(OK|BROKEN)\s*$', text, re.M)
    if len(verdicts) != 3:
        raise ValueError('no three verdicts in:\n' + text)
    frames, fragments, mbufs = (verdict == 'OK' for verdict in verdicts)
    return {'frames_ok': frames, 'fragments_ok': fragments, 'mbufs_ok': mbufs, 'held': _number('+ held now', text),
            'lost': _number('+ lost', text)}


def closing(text):
    """The one line about the accounts that a run ends with: True when all three are balanced."""
    found = re.findall(r'^accounting: frames (\w+), fragments (\w+), mbufs (\w+)', text, re.M)
    return bool(found) and set(found[-1]) == {'OK'}


def port(text):
    """Of `show port stats N`."""
    numbers = dict(re.findall(r'\b(rx missed|rx errors|rx no mbuf|tx errors) (\d+)', text))
    if len(numbers) != 4:
        raise ValueError('no port statistics in:\n' + text)
    return {'received': _number('received', text), 'sent': _number('sent', text),
            **{name.replace(' ', '_'): int(value) for name, value in numbers.items()}}


def budget(text):
    """Of `show budget`: mbufs in all."""
    return int(re.search(r'The budget is (\d+) mbufs', text).group(1))


def pools(text):
    """Of `show budget`: (size, free now) of each."""
    sizes, free = (re.findall(r'^ +%s +(\d+)$' % title, text, re.M) for title in ('size', 'free now, caches included'))
    return [(int(size), int(now)) for size, now in zip(sizes, free, strict=True)]
