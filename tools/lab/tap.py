# SPDX-License-Identifier: BSD-3-Clause
"""Run the unittest cases of a file and say TAP, so that every test function counts by itself."""
import os
import sys
import time
import unittest


class TapResult(unittest.TestResult):
    """A test that fails in several places (subtests, tear-down) is one `not ok`."""

    def __init__(self):
        super().__init__()
        self.number, self.bad, self.pending = 0, 0, []

    def _say(self, title, complaints, seconds):
        self.number += 1
        self.bad += bool(complaints)
        print('%sok %d - %s%s' % ('not ' if complaints else '', self.number, title, ' # %.1f s' % seconds))
        for text in complaints:
            print('\n'.join('# ' + line for line in text.strip().split('\n')))
        sys.stdout.flush()

    def startTest(self, test):
        super().startTest(test)
        self.pending, self.began = [], time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self._say(test.id().split('.', 1)[-1], self.pending, time.monotonic() - self.began)

    def _complain(self, test, error):
        text = self._exc_info_to_string(error, test)
        if isinstance(test, unittest.TestCase):
            self.pending.append(text)
        else:
            # setUpClass or setUpModule: its tests do not run at all.
            self._say(str(test), [text], 0.0)

    def addError(self, test, err):
        super().addError(test, err)
        self._complain(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._complain(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.pending.append('%s\n%s' % (subtest._subDescription(), self._exc_info_to_string(err, test)))

    def addSkip(self, test, reason):
        # What cannot run here has not passed.
        super().addSkip(test, reason)
        self.pending.append('skipped: ' + reason)


def main():
    """`python3 test_x.py [part of a name]`"""
    if os.geteuid() != 0:
        print('1..1\nnot ok 1 - needs root, for network namespaces')
        return 1
    loader = unittest.TestLoader()
    if len(sys.argv) > 1:
        loader.testNamePatterns = ['*%s*' % sys.argv[1]]
    suite = loader.loadTestsFromModule(sys.modules['__main__'])
    print('1..%d' % suite.countTestCases(), flush=True)
    result = TapResult()
    suite.run(result)
    return 1 if result.bad or result.number == 0 else 0
