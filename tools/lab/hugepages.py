# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages for one run, given back afterwards; --no-huge where there are none to be had.

--in-memory takes them as anonymous memory, so that nothing is mounted and no file is made.
"""
import contextlib
import time

SIZE_MB = 2
PAGES = '/sys/kernel/mm/hugepages/hugepages-2048kB/'


def _read(name):
    try:
        with open(PAGES + name) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _write(value):
    with contextlib.suppress(OSError), open(PAGES + 'nr_hugepages', 'w') as file:
        file.write(str(value))


@contextlib.contextmanager
def reserved(megabytes):
    """EAL arguments for `megabytes` of memory."""
    need, before = megabytes // SIZE_MB, _read('nr_hugepages')
    short = need - _read('free_hugepages')
    if short > 0:
        _write(before + short)
    try:
        enough = _read('free_hugepages') >= need
        yield ('--in-memory' if enough else '--no-huge', '-m', str(megabytes))
    finally:
        # Pages that a socket of the dead process still pins come free a little later.
        end = time.monotonic() + 3
        while short > 0 and _read('nr_hugepages') != before and time.monotonic() < end:
            _write(before)
            time.sleep(0.05)
