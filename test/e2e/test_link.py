#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Link-follow under traffic: the far side sees the loss and the return, and each frame is accounted for, hop by hop."""
import errno
import re

from harness import BumpTest, tap, wait_for
from lab import hops

VETH_RING = 256         # frames a veth forgets uncounted when it is taken down: what its ring holds
CPU_QUEUE = 1000        # net.core.netdev_max_backlog


class Link(BumpTest):
    def setUp(self):
        super().setUp()
        for ns in (self.bump.sender, self.bump.receiver):
            # Nothing but the stream shall be on the wire.
            ns.sysctl('net/ipv6/conf/all/disable_ipv6', 1)
        self.ends_of = {'s0': self.bump.sender, 'm0': self.bump.middle, 'm1': self.bump.middle,
                        'r0': self.bump.receiver}

    def carrier(self, device):
        return 'LOWER_UP' in self.ends_of[device].ip('link', 'show', device)

    def is_up(self, device):
        return re.search(r'[<,]UP[,>]', self.ends_of[device].ip('link', 'show', device)) is not None

    def set(self, device, state):
        self.ends_of[device].ip('link', 'set', device, state)

    def assertBecomes(self, condition, message):
        self.assertTrue(wait_for(condition, 15.0), message + '\n' + self.app.log[-2000:])

    def stream(self):
        self.start('--link-follow', resolve=False)
        left, right = self.wires()
        left.forget()
        right.forget()
        return hops.Hops(self.app, self.ends_of), hops.Stream(left, right)

    def lose_and_return(self, near, far, held):
        """Take `near` down: `held` must follow, `far` must see it; and back."""
        self.set(near, 'down')
        self.assertBecomes(lambda: not self.is_up(held), held + ' was not taken down')
        self.assertFalse(self.carrier(far), far + ' still has a carrier')
        self.set(near, 'up')
        self.assertBecomes(lambda: self.is_up(held) and self.carrier(far), far + ' has no carrier again')

    def assertAccounted(self, counts, stream, downs=0):
        """Sender's sent = receiver's received + named drops + the kernel's counted drops; each hop by itself.

        `downs`: how often r0 and m0 were taken down, each time with what their queues held.
        """
        # ENOBUFS: the device dropped and counted it, and told the sender so.
        c, offered = counts, sum(stream.accepted.values()) + stream.refused[errno.ENOBUFS]
        message = '%s\naccepted %s, refused %s, got %d' % (dict(c), stream.accepted, stream.refused, len(stream.got))
        # A veth that hands frames to XDP counts them for both ends when it takes them out of its ring.
        forgotten = offered - c['s0', 'tx'] - c['s0', 'tx_bad']
        self.assertGreaterEqual(forgotten, 0, message)
        self.assertLessEqual(forgotten, downs * VETH_RING, message)
        self.assertEqual(c['s0', 'tx'], c['m0', 'rx'], message)
        self.assertEqual(c['m0', 'rx'], c[0, 'received'] + c['xdp', 'rx_dropped'] + c['xdp', 'rx_ring_full'], message)
        self.assertEqual(c[0, 'received'], c['count', 'frames_in'], message)
        self.assertEqual(c[1, 'sent'], c['m1', 'tx'] + c['m1', 'tx_bad'], message)
        self.assertEqual(c['m1', 'tx'], c['r0', 'rx'], message)
        # Where the receiver's own device went down, what waited for its CPU then was counted and given to nobody.
        unheard = c['r0', 'rx'] - len(stream.got)
        self.assertGreaterEqual(unheard, 0, message)
        self.assertLessEqual(unheard, downs * CPU_QUEUE, message)
        self.assertEqual(c['count', 'passed'] - c['count', 'tx_full_frame'],
                         c[1, 'sent'] - self.fragments_sent(c), message)
        print('# offered %d, received %d; dropped and counted: %d at s0, %d at m1; uncounted: %d at m0, %d at r0' % (
            offered, len(stream.got), c['s0', 'tx_bad'], c['m1', 'tx_bad'], forgotten, unheard))
        for flow, numbers in stream.flows_received().items():
            self.assertEqual(numbers, sorted(set(numbers)), 'order of flow %d' % flow)

    def fragments_sent(self, c):
        """All datagrams of the stream leave in as many pieces as they came in."""
        return 3 * c['count', 'sent_refragmented']

    def test_sender_is_lost_and_returns(self):
        """s0 down: m1 is taken down, r0 sees it; s0 up: all is back."""
        before, stream = self.stream()
        with stream:
            self.assertTrue(wait_for(stream.progress()))
            self.lose_and_return('s0', 'r0', 'm1')
            self.assertTrue(wait_for(stream.progress()), 'traffic does not come back')
        self.assertGreater(stream.refused[errno.ENETDOWN], 0, 's0 was never down')
        self.assertAccounted(before.since(), stream)

    def test_receiver_is_lost_and_returns(self):
        """r0 down: m0 is taken down, s0 sees it. What is on its way is lost: with counters of the kernel."""
        before, stream = self.stream()
        with stream:
            self.assertTrue(wait_for(stream.progress()))
            self.lose_and_return('r0', 's0', 'm0')
            self.assertTrue(wait_for(stream.progress()), 'traffic does not come back')
        counts = before.since()
        self.assertGreater(counts['s0', 'tx_bad'] + counts['m1', 'tx_bad'], 0, 'nothing was sent while r0 was down')
        self.assertAccounted(counts, stream, downs=1)

    def test_flapping(self):
        """However often: it settles as the cable was left, and the two ports do not take each other down in turns."""
        before, stream = self.stream()
        with stream:
            self.assertTrue(wait_for(stream.progress()))
            for _ in range(6):
                self.set('s0', 'down')
                wait_for(lambda: not self.is_up('m1'), 0.4)
                self.set('s0', 'up')
                wait_for(lambda: self.is_up('m1'), 0.2)
            self.assertBecomes(lambda: all(self.carrier(device) for device in self.ends_of), 'it did not settle')
            self.assertTrue(wait_for(stream.progress()), 'traffic does not come back')
        self.assertAccounted(before.since(), stream)

    def test_both_are_lost(self):
        """The side that is lost last returns first: nothing may stay down."""
        self.start('--link-follow', resolve=False)
        self.set('s0', 'down')
        self.assertBecomes(lambda: not self.is_up('m1'), 'm1 was not taken down')
        self.set('r0', 'down')
        for device in ('r0', 's0'):
            self.set(device, 'up')
        self.assertBecomes(lambda: all(self.carrier(device) for device in self.ends_of), 'something stayed down')
        left, right = self.wires()
        with hops.Stream(left, right) as stream:
            self.assertTrue(wait_for(stream.progress()), 'traffic does not come back')

    def killed_while_a_port_is_held_down(self, *options):
        """kill -9 leaves the interface down. The next start must not take that for a lost link, or nothing comes up."""
        self.start('--link-follow', resolve=False)
        self.set('s0', 'down')
        self.assertBecomes(lambda: not self.is_up('m1'), 'm1 was not taken down')
        self.app.close()
        self.assertFalse(self.is_up('m1'))
        self.set('s0', 'up')
        self.start(*options, resolve=False)
        if not options:
            self.app.command('set link-follow on')
        self.assertBecomes(lambda: all(self.carrier(device) for device in self.ends_of), 'something stayed down')
        left, right = self.wires()
        with hops.Stream(left, right) as stream:
            self.assertTrue(wait_for(stream.progress()), 'no traffic')

    def test_killed_while_a_port_is_held_down(self):
        self.killed_while_a_port_is_held_down('--link-follow')

    def test_killed_and_switched_on_by_command(self):
        """As a service does it: from a command file, when the ports have been opened."""
        self.killed_while_a_port_is_held_down()


if __name__ == '__main__':
    raise SystemExit(tap.main())
