# SPDX-License-Identifier: BSD-3-Clause
"""Traffic from kernel to kernel, and what became of it."""
import dataclasses
import hashlib
import random
import select
import socket
import struct
import time

from .capture import SO_RCVBUFFORCE

SO_SNDBUFFORCE = 32
IP_MTU_DISCOVER, IP_PMTUDISC_DONT, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT = 10, 0, 23, 0


@dataclasses.dataclass
class Exchange:
    sent: int = 0
    equal: int = 0
    missing: list = dataclasses.field(default_factory=list)     # sizes
    different: list = dataclasses.field(default_factory=list)   # sizes

    @property
    def good(self):
        return self.sent > 0 and self.equal == self.sent

    def __add__(self, other):
        return Exchange(self.sent + other.sent, self.equal + other.equal, self.missing + other.missing,
                        self.different + other.different)


def udp_socket(ns, local, port=0):
    """Fragments itself, as large as they come: no path MTU discovery."""
    v6 = ':' in local
    sock = ns.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 32 << 20)
    if v6:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT)
    else:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
    with ns:
        sock.bind((local, port))
    sock.setblocking(False)
    return sock


def payload(number, size):
    """Random bytes that carry their number in front; `size`: 4 or more."""
    return struct.pack('!I', number) + random.Random(number).randbytes(size - 4)


def udp_exchange(sender, receiver, sizes, window=8, timeout=2.0):
    """Send one datagram of each size, no more than `window` under way, and compare the SHA-256 of what arrives."""
    target, waiting, result = receiver.getsockname()[:2], {}, Exchange()
    queue = list(enumerate(sizes))
    deadline = time.monotonic() + timeout
    while queue or waiting:
        while queue and len(waiting) < window:
            number, size = queue.pop(0)
            data = payload(number, size)
            sender.sendto(data, target)
            waiting[number] = (size, hashlib.sha256(data).digest())
            result.sent += 1
            deadline = time.monotonic() + timeout
        if not select.select([receiver], [], [], max(0.0, deadline - time.monotonic()))[0]:
            # Nothing came for a whole timeout: what is under way is lost, the rest gets its chance.
            result.missing += [size for size, _ in waiting.values()]
            waiting.clear()
            continue
        data = receiver.recv(1 << 16)
        size, digest = waiting.pop(struct.unpack_from('!I', data)[0], (len(data), None))
        if hashlib.sha256(data).digest() == digest:
            result.equal += 1
        else:
            result.different.append(size)
        deadline = time.monotonic() + timeout
    return result


def collect(receiver, payloads, timeout=2.0):
    """Wait for datagrams with these payloads, in any order."""
    waiting, result = {hashlib.sha256(data).digest(): len(data) for data in payloads}, Exchange(sent=len(payloads))
    while waiting and select.select([receiver], [], [], timeout)[0]:
        data = receiver.recv(1 << 16)
        if waiting.pop(hashlib.sha256(data).digest(), None) is not None:
            result.equal += 1
        else:
            result.different.append(len(data))
    result.missing += waiting.values()
    return result


def ping(ns, target, size, count=5, interval=0.1):
    """ICMP echo by the ping program, which compares every byte; an Exchange of requests and replies."""
    done = ns.run('ping', '-n', '-c', str(count), '-i', str(interval), '-W', '2', '-M', 'dont', '-s', str(size), target,
                  check=False)
    received = next((int(line.split(' received')[0].split(', ')[-1]) for line in done.stdout.split('\n')
                     if ' received' in line), 0)
    wrong = done.stdout.count('wrong data byte')
    return Exchange(count, received - wrong, [size] * (count - received), [size] * wrong)


def tcp_transfer(sender_ns, receiver_ns, target, total, timeout=60):
    """Move `total` random bytes over one TCP connection; True when they came through unchanged."""
    family = socket.AF_INET6 if ':' in target else socket.AF_INET
    listener = receiver_ns.socket(family, socket.SOCK_STREAM)
    client = sender_ns.socket(family, socket.SOCK_STREAM)
    with listener, client:
        listener.bind((target, 0))
        listener.listen(1)
        listener.settimeout(timeout)
        client.settimeout(timeout)
        client.connect(listener.getsockname()[:2])
        server, _ = listener.accept()
        with server:
            return _pump(client, server, total, timeout)


def _pump(client, server, total, timeout):
    data, sent, got = random.Random(total).randbytes(1 << 20), 0, 0
    hash_sent, hash_got, end = hashlib.sha256(), hashlib.sha256(), time.monotonic() + timeout
    client.setblocking(False)
    server.setblocking(False)
    while got < total and time.monotonic() < end:
        readable, writable, _ = select.select([server], [client] if sent < total else [], [], 1.0)
        if writable:
            at = sent % len(data)
            count = client.send(data[at:at + min(total - sent, 1 << 16)])
            hash_sent.update(data[at:at + count])
            sent += count
        if readable:
            piece = server.recv(1 << 18)
            hash_got.update(piece)
            got += len(piece)
    return sent == got == total and hash_sent.digest() == hash_got.digest()
