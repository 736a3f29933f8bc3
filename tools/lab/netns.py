# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces that no death can leave behind.

They have no name: each lives as long as a file descriptor of this process or a process inside it. A socket stays in the
namespace it was made in, so one process can hold sockets of all of them.
"""
import contextlib
import ctypes
import os
import socket
import subprocess

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = '/proc/thread-self/ns/net'
OFFLOADS = ('rx', 'tx', 'sg', 'tso', 'gso', 'gro')


def _call(name, *args):
    if getattr(LIBC, name)(*args) != 0:
        error = ctypes.get_errno()
        raise OSError(error, '%s: %s' % (name, os.strerror(error)))


class Namespace:
    """`with namespace:` moves the calling thread into it; processes started and sockets made there belong to it."""

    def __init__(self, ipv6=True):
        with contextlib.ExitStack() as stack:
            home = os.open(HERE, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, home)
            _call('unshare', CLONE_NEWNET)
            stack.callback(_call, 'setns', home, CLONE_NEWNET)
            self.fd = os.open(HERE, os.O_RDONLY | os.O_CLOEXEC)
        self._homes = []
        # What others need to reach it: ip ... netns PATH, nsenter --net=PATH.
        self.path = '/proc/%d/fd/%d' % (os.getpid(), self.fd)
        self.sysctl('net/ipv6/conf/all/disable_ipv6', 0 if ipv6 else 1)
        self.ip('link', 'set', 'lo', 'up')

    def __enter__(self):
        self._homes.append(os.open(HERE, os.O_RDONLY | os.O_CLOEXEC))
        _call('setns', self.fd, CLONE_NEWNET)
        return self

    def __exit__(self, *_):
        home = self._homes.pop()
        _call('setns', home, CLONE_NEWNET)
        os.close(home)

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def run(self, *argv, check=True, **kwargs):
        with self:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, **kwargs)
        if check and done.returncode:
            raise RuntimeError('%s: exit %d: %s' % (' '.join(argv), done.returncode, done.stdout.strip()))
        return done

    def popen(self, argv, **kwargs):
        with self:
            return subprocess.Popen(argv, **kwargs)

    def ip(self, *argv):
        return self.run('ip', *argv).stdout

    def sysctl(self, name, value):
        with self, open('/proc/sys/' + name, 'w') as file:
            file.write(str(value))

    def socket(self, *args):
        with self:
            return socket.socket(*args)


def veth(ns, name, peer_ns, peer, mtu=1500):
    """A cable. Offloads off at both ends, so that what is on it is what a wire would carry."""
    ns.ip('link', 'add', name, 'mtu', str(mtu), 'type', 'veth', 'peer', 'name', peer, 'mtu', str(mtu), 'netns',
          peer_ns.path)
    for where, device in ((ns, name), (peer_ns, peer)):
        where.run('ethtool', '-K', device, *(word for offload in OFFLOADS for word in (offload, 'off')))
        where.ip('link', 'set', device, 'up')


def address(ns, device, v4, v6):
    ns.ip('addr', 'add', v4 + '/24', 'dev', device)
    ns.ip('addr', 'add', v6 + '/64', 'dev', device, 'nodad')


class Bump:
    """Sender, appliance, receiver: s0 === m0 [appliance] m1 === r0."""

    SENDER4, RECEIVER4 = '10.7.0.1', '10.7.0.2'
    SENDER6, RECEIVER6 = 'fd07::1', 'fd07::2'

    def __init__(self, mtu=1500, egress_mtu=None):
        self.sender, self.middle, self.receiver = Namespace(), Namespace(ipv6=False), Namespace()
        veth(self.sender, 's0', self.middle, 'm0', mtu)
        veth(self.receiver, 'r0', self.middle, 'm1', egress_mtu or mtu)
        address(self.sender, 's0', self.SENDER4, self.SENDER6)
        address(self.receiver, 'r0', self.RECEIVER4, self.RECEIVER6)
        if egress_mtu:
            # The receiver takes large frames but sends none that the sender's side could not take.
            self.receiver.ip('route', 'replace', '10.7.0.0/24', 'dev', 'r0', 'src', self.RECEIVER4, 'mtu', str(mtu))
            self.receiver.ip('-6', 'route', 'replace', 'fd07::/64', 'dev', 'r0', 'metric', '100', 'mtu', str(mtu))
        for ns in (self.sender, self.receiver):
            ns.sysctl('net/ipv4/ipfrag_high_thresh', 64 << 20)
            ns.sysctl('net/ipv6/ip6frag_high_thresh', 64 << 20)

    def resolve(self):
        """Let both ends learn each other's link addresses, so that no kernel queue overflows while it asks."""
        for target in (self.RECEIVER4, self.RECEIVER6):
            self.sender.run('ping', '-n', '-c', '1', '-W', '5', target)

    def close(self):
        for ns in (self.sender, self.middle, self.receiver):
            ns.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
