# SPDX-License-Identifier: BSD-3-Clause
"""One run of the wire table: sender, fragmend or nothing, and a Linux kernel that reassembles; every hop counted.

A run in which any hop has lost a frame says nothing about reassembly: it is void, and `Run.void` names the hop.
"""
import contextlib
import ctypes
import dataclasses
import os
import signal
import socket
import struct
import subprocess
import time

from . import appliance, netns

PIDFD_GETFD = 438
AF_XDP, SOL_XDP, XDP_STATISTICS = 44, 283, 7
XDP_NAMES = ('rx_dropped', 'rx_invalid_descs', 'tx_invalid_descs', 'rx_ring_full')
ADDRESS = '10.7.0.2'
LOW_THRESH_BYTES = 131072
EXPECTED = {'ipfrag_time': 30, 'ipfrag_max_dist': 64}   # of a new namespace: what these figures are about
LATEST = 0.05           # part of the time that the sender may have fallen behind its pace
SETTLE_S = 0.3          # what is still on its way when the sender ends
NICE = -20              # the machine's other programs must not cost frames


def cpus():
    """(of fragmend's worker and of the sender where there is no fragmend, of all else)"""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1], allowed[0]


class Tool:
    """wire_send or wire_receive: a process on one CPU that prints `name value` lines."""

    def __init__(self, argv, ns, cpu, punctual=False):
        def prepare():
            appliance.die_with_parent()
            os.sched_setaffinity(0, {cpu})
            os.nice(NICE)
            if punctual:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self.process = ns.popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                text=True, preexec_fn=prepare)

    def wait_ready(self):
        line = self.process.stdout.readline()
        if line != 'ready\n':
            raise RuntimeError('wire_receive did not get ready: %r' % line)

    def finish(self, timeout):
        """({name: number}, [numbers of each sender])"""
        try:
            out, _ = self.process.communicate(timeout=timeout)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        if self.process.returncode:
            raise RuntimeError('%s: exit %d' % (self.process.args[0], self.process.returncode))
        rows = [line.split() for line in out.splitlines()]
        return ({row[0]: float(row[1]) if '.' in row[1] else int(row[1]) for row in rows if len(row) == 2},
                [[int(word) for word in row[1:]] for row in rows if row[0] == 'sender'])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def snmp(ns):
    """Ip and Udp of /proc/net/snmp, as a flat dictionary: IpInReceives and so on."""
    with ns, open('/proc/thread-self/net/snmp') as file:
        rows = [line.split() for line in file]
    return {names[0].rstrip(':') + name: int(value) for names, values in zip(rows[::2], rows[1::2])
            if names[0] in ('Ip:', 'Udp:') for name, value in zip(names[1:], values[1:])}


def stolen_ms():
    """Time that the host of this machine gave to others, all CPUs together."""
    with open('/proc/stat') as file:
        return int(file.readline().split()[8]) * 1000 // os.sysconf('SC_CLK_TCK')


def link(ns, device):
    counters = {}
    with ns, open('/proc/thread-self/net/dev') as file:
        for line in file:
            name, _, rest = line.partition(':')
            if name.strip() == device:
                words = [int(word) for word in rest.split()]
                counters = {'rx': words[1], 'rx_bad': words[2] + words[3], 'tx': words[9],
                            'tx_bad': words[10] + words[11]}
    return counters


def xdp_losses(pid):
    """What the kernel has dropped at the AF_XDP sockets of a process. DPDK 22.11 does not count full rings."""
    libc, found = ctypes.CDLL(None, use_errno=True), []
    pidfd = os.pidfd_open(pid)
    try:
        for number in os.listdir('/proc/%d/fd' % pid):
            with contextlib.suppress(OSError):
                if not os.readlink('/proc/%d/fd/%s' % (pid, number)).startswith('socket:'):
                    continue
                copy = libc.syscall(PIDFD_GETFD, pidfd, int(number), 0)
                if copy < 0:
                    continue
                with socket.socket(AF_XDP, socket.SOCK_RAW, 0, fileno=copy) as theirs:
                    found.append(struct.unpack('6Q', theirs.getsockopt(SOL_XDP, XDP_STATISTICS, 48))[:4])
    finally:
        os.close(pidfd)
    if not found:
        raise RuntimeError('fragmend has no AF_XDP socket')
    return {name: sum(values) for name, values in zip(XDP_NAMES, zip(*found, strict=True), strict=True)}


@dataclasses.dataclass
class Run:
    """What one run has shown."""
    sent: dict
    sent_by_sender: list
    received: dict
    received_by_sender: list
    void: list                      # sentences; empty: the run counts
    budget_mbufs: int = 0           # of fragmend
    counters: dict = dataclasses.field(default_factory=dict)        # its outcomes
    reassembly: dict = dataclasses.field(default_factory=dict)      # of the receiver's kernel

    @property
    def fragments_per_s(self):
        return self.sent['sent'] / self.sent['seconds']


class Rig:
    """Sender and receiver in namespaces of their own; fragmend in a third where there are `options` for it."""

    def __init__(self, stack, limit_bytes, fragmend=None, options=(), eal=()):
        self.sender, self.receiver = netns.Namespace(ipv6=False), netns.Namespace(ipv6=False)
        stack.callback(self.sender.close)
        stack.callback(self.receiver.close)
        self.app = None
        if fragmend:
            self.middle = netns.Namespace(ipv6=False)
            stack.callback(self.middle.close)
            netns.veth(self.sender, 's0', self.middle, 'm0')
            netns.veth(self.receiver, 'r0', self.middle, 'm1')
        else:
            netns.veth(self.sender, 's0', self.receiver, 'r0')
        self._set_up_receiver(limit_bytes)
        if fragmend:
            self.app = appliance.Appliance(fragmend, [appliance.xdp(0, 'm0'), appliance.xdp(1, 'm1')], options,
                                           self.middle, eal)
            stack.callback(self.app.close)
            for task in os.listdir('/proc/%d/task' % self.app.process.pid):
                os.setpriority(os.PRIO_PROCESS, int(task), NICE)
        self.before = self._count()

    def _set_up_receiver(self, limit_bytes):
        # A host address and no route: the kernel has no way to answer, so that nothing but the table's frames moves.
        self.receiver.ip('addr', 'add', ADDRESS + '/32', 'dev', 'r0')
        for name in ('all', 'default', 'r0'):
            self.receiver.sysctl('net/ipv4/conf/%s/rp_filter' % name, 0)
        if limit_bytes:
            self.receiver.sysctl('net/ipv4/ipfrag_low_thresh', min(LOW_THRESH_BYTES, limit_bytes))
            self.receiver.sysctl('net/ipv4/ipfrag_high_thresh', limit_bytes)
        for name, value in EXPECTED.items():
            if self._setting(name) != value:
                raise RuntimeError('%s is not %d' % (name, value))
        self.limit_bytes = self._setting('ipfrag_high_thresh')
        if limit_bytes and self.limit_bytes != limit_bytes:
            raise RuntimeError('ipfrag_high_thresh is %d' % self.limit_bytes)

    def _setting(self, name):
        with self.receiver, open('/proc/sys/net/ipv4/' + name) as file:
            return int(file.read())

    def _count(self):
        counts = {'snmp': snmp(self.receiver), 's0': link(self.sender, 's0'), 'r0': link(self.receiver, 'r0')}
        if self.app:
            counts['ports'] = [self.app.port(0), self.app.port(1)]
        return counts

    def mac(self):
        return self.receiver.ip('-br', 'link', 'show', 'r0').split()[2]

    def since_start(self):
        """What has been counted since the start, by hop."""
        now = self._count()

        def less(new, old):
            return {name: new[name] - old[name] for name in new}
        return {name: [less(*pair) for pair in zip(value, self.before[name], strict=True)] if name == 'ports'
                else less(value, self.before[name]) for name, value in now.items()}


def _kernel_losses(counts, sent, arrived, received):
    """Sentences about each hop of the two kernels that lost a frame; `arrived`: what the last hop before has sent."""
    snmp_now, bad = counts['snmp'], []
    if sent['unsent']:
        bad.append('sender: %d unsent' % sent['unsent'])
    if counts['s0']['tx'] != sent['sent'] or counts['s0']['tx_bad']:
        bad.append('s0: %d of %d sent, %d dropped' % (counts['s0']['tx'], sent['sent'], counts['s0']['tx_bad']))
    if counts['r0']['rx_bad'] or snmp_now['IpInReceives'] != arrived:
        bad.append('r0: %d of %d received, %d dropped' % (snmp_now['IpInReceives'], arrived, counts['r0']['rx_bad']))
    for name in ('IpInHdrErrors', 'IpInAddrErrors', 'IpInDiscards', 'UdpNoPorts', 'UdpInErrors', 'UdpRcvbufErrors',
                 'UdpInCsumErrors', 'UdpMemErrors'):
        if snmp_now.get(name):
            bad.append('receiver: %s %d' % (name, snmp_now[name]))
    if received['socket_drops']:
        bad.append('receiver: socket dropped %d' % received['socket_drops'])
    counted = sum(received[name] for name in received if name.startswith('distinct')) + received['repeated']
    if counted + received['wrong'] != snmp_now['UdpInDatagrams']:
        bad.append('receiver: %d datagrams read of %d' % (counted, snmp_now['UdpInDatagrams']))
    return bad


def _fragmend_losses(app, counts, sent):
    bad, outcomes, check = [], app.counters(), app.check()
    for number, port in enumerate(counts['ports']):
        bad += ['fragmend port %d: %s %d' % (number, name, port[name])
                for name in ('rx_missed', 'rx_errors', 'rx_no_mbuf', 'tx_errors') if port[name]]
    if counts['ports'][0]['received'] != sent['sent']:
        bad.append('fragmend: %d of %d received' % (counts['ports'][0]['received'], sent['sent']))
    bad += ['fragmend: %s %d' % (name, count) for name, count in xdp_losses(app.process.pid).items() if count]
    bad += ['fragmend: %s %d' % (name, outcomes[name]) for name in outcomes
            if name.startswith('tx_full') and outcomes[name]]
    if not (check['frames_ok'] and check['fragments_ok'] and check['mbufs_ok']):
        bad.append('fragmend: accounts do not balance')
    return bad, outcomes


def run(row_arguments, senders, seed, seconds, limit_bytes, tools, fragmend=None, options=(), eal=()):
    """One run from new namespaces to the counters. `tools`: directory of wire_send and wire_receive."""
    worker_cpu, other_cpu = cpus()
    stolen = stolen_ms()
    with contextlib.ExitStack() as stack:
        rig = Rig(stack, limit_bytes, fragmend, options, eal)
        receiver = Tool([tools / 'wire_receive', '--senders', senders, '--seed', seed, '--each'], rig.receiver,
                        other_cpu)
        stack.callback(receiver.close)
        receiver.wait_ready()
        sender = Tool([tools / 'wire_send', '--device', 's0', '--mac', rig.mac(), '--to', ADDRESS, '--seed', seed,
                       '--seconds', seconds, '--each', *row_arguments], rig.sender,
                      other_cpu if fragmend else worker_cpu, punctual=True)
        stack.callback(sender.close)
        sent, sent_by_sender = sender.finish(timeout=3 * seconds + 60)
        time.sleep(SETTLE_S)
        receiver.process.send_signal(signal.SIGTERM)
        received, received_by_sender = receiver.finish(timeout=60)
        counts = rig.since_start()
        result = Run(sent, sent_by_sender, received, received_by_sender, [], reassembly={
            name: counts['snmp'][name] for name in ('IpReasmReqds', 'IpReasmOKs', 'IpReasmFails')})
        arrived = sent['sent']
        if rig.app:
            result.void, result.counters = _fragmend_losses(rig.app, counts, sent)
            result.budget_mbufs = rig.app.budget_mbufs()
            arrived = counts['ports'][1]['sent']
        result.void += _kernel_losses(counts, sent, arrived, received)
        if received['wrong']:
            result.void.append('receiver: %d datagrams with wrong bytes' % received['wrong'])
        if sent['slipped_seconds'] > LATEST * seconds:
            result.void.append('sender: %.2f s behind its pace' % sent['slipped_seconds'])
        if result.void:
            result.void.append('%d ms stolen by the machine\'s host' % (stolen_ms() - stolen))
        if rig.app and rig.app.stop('quit'):
            raise RuntimeError('fragmend ended badly:\n' + rig.app.log[-2000:])
    return result
