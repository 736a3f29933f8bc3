#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The console socket: who gets in, and what clients of all kinds can and cannot do."""
import contextlib
import os
import pathlib
import select
import socket
import stat
import subprocess
import time

from harness import BINARY, BumpTest, appliance, packet, tap, wait_for
from served import PATH_MAX, PATIENCE_S, VDEVS, Served, ask, cli, connect, read_all

SESSIONS_MAX = 16


class Name(Served):
    def test_for_its_owner_alone_and_gone_at_the_end(self):
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
        self.finish()
        self.assertEqual(os.listdir(self.path.parent), [])

    def refused(self, path):
        done = subprocess.run(appliance.command_line(BINARY, VDEVS, ['--console-socket', str(path)]), timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.returncode, done.stderr

    def test_second_instance(self):
        code, err = self.refused(self.path)
        self.assertEqual(code, 1)
        self.assertIn('console socket %s: another program that runs listens there\n' % self.path, err)
        self.assertServes()

    def test_dead_one_is_replaced(self):
        self.process.kill()
        self.process.wait()
        self.assertTrue(stat.S_ISSOCK(self.path.stat().st_mode))
        self.process = self.launch()
        self.assertServes()
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)

    def test_other_files_stay(self):
        for make in (lambda path: path.write_text('precious'), os.mkdir, os.mkfifo,
                     lambda path: path.symlink_to('nowhere')):
            path = self.path.with_name('other')
            make(path)
            before = path.lstat()
            code, err = self.refused(path)
            self.assertEqual(code, 1)
            self.assertIn('console socket %s: a file of that name is there, and it is no socket\n' % path, err)
            self.assertEqual(path.lstat(), before)
            path.rmdir() if path.is_dir() else path.unlink()

    def test_folder_that_is_not_there(self):
        code, err = self.refused(self.path.parent / 'no' / 'socket')
        self.assertEqual(code, 1)
        self.assertIn('cannot open the folder %s/no: No such file or directory' % self.path.parent, err)

    def test_name_that_is_too_long(self):
        longest = str(self.path) + 'x' * (PATH_MAX - len(str(self.path)))
        code, err = self.refused(longest + 'x')
        self.assertEqual(code, 2)
        self.assertIn('--console-socket must have 1..107 bytes, got 108: "%sx"' % longest, err)
        self.path = pathlib.Path(longest)
        self.process = self.launch()
        self.assertServes()

    def test_another_ones_socket_is_not_removed(self):
        self.path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(self.path))
            self.finish()
            self.assertTrue(self.path.exists())


class Plain(Served):
    """As by hand, with socat or nc."""

    def say(self, data):
        client = self.connect()
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return read_all(client)

    def test_lines_and_errors(self):
        text = self.say(b'version\nshow nothing\n\n# a comment\nset timeout4 77\r\nshow config')
        self.assertRegex(text, r'^fragmend \S+, DPDK \S+\nerror: "nothing" cannot follow "show", ')
        self.assertRegex(text, r'(?m)^  timeout4 +77 ')
        self.assertNotIn('\0', text)

    def test_many_lines_at_once(self):
        text = self.say(b'version\n' * 1000)
        self.assertEqual(text.count('DPDK'), 1000)

    def test_bytes_of_all_kinds(self):
        text = self.say(bytes(byte for byte in range(256) if byte not in (1, 10)) + b'\nversion\n')
        self.assertRegex(text, r'^error: .*\nfragmend \S+, DPDK \S+\n$')

    def test_overlong_line(self):
        text = self.say(b'x' * 3000000 + b'\nversion\n')
        self.assertRegex(text, r'^error: line is longer than 511 characters\nfragmend \S+, DPDK \S+\n$')

    def test_exit_leaves_and_quit_does_not(self):
        text = self.say(b'quit\nversion\nexit\nversion\n')
        self.assertRegex(text, r'^error: "quit" ends fragmend, not this session: .*\nfragmend \S+, DPDK \S+\n$')
        self.assertServes()

    def test_a_file_that_quits(self):
        path = self.path.with_name('commands')
        path.write_text('set timeout4 78\nexit\nset timeout4 79\n')
        self.assertEqual(self.say(b'load %s\nversion\n' % bytes(path)), '')
        self.assertRegex(self.say(b'show config\n'), r'(?m)^  timeout4 +78 ')
        path.write_text('quit\n')
        self.assertIn('%s:1: "quit" ends fragmend, not this session' % path, self.say(b'load %s\n' % bytes(path)))
        self.assertServes()

    def test_nobody_waits_for_a_pipe(self):
        fifo = self.path.with_name('fifo')
        os.mkfifo(fifo)
        self.assertIn('error: cannot read %s: a pipe' % fifo, self.say(b'load %s\n' % bytes(fifo)))

    def test_quit_program(self):
        self.assertEqual(self.say(b'quit program\nversion\n'), '')
        out, err = self.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(self.process.returncode, 0, err)
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK\n', out)
        self.assertFalse(self.path.exists())


class Framed(Served):
    def test_requests(self):
        client = self.connect()
        self.assertEqual(ask(client, 'r set timeout4 81'), ('', '0'))
        self.assertRegex(ask(client, 'r show config')[0], r'(?m)^  timeout4 +81 ')
        text, status = ask(client, 'r set timeout4 0')
        self.assertEqual((text, status), ('', '22 timeout4 must be 1..120000 ms, got "0"'))
        self.assertEqual(ask(client, 'x'), ('', '22 there is no such request'))
        text, status = ask(client, 'c set ti')
        self.assertEqual(status, '0')
        self.assertRegex(text, r'^Ltimeout4\t.+\nLtimeout6\t.+\n$')
        self.assertRegex(ask(client, 'c set timeout4 ')[0], r'^PMS\t.*1\.\.120000')
        self.assertEqual(ask(client, 'r exit'), ('', '0 left'))
        self.assertEqual(client.recv(1), b'')

    def test_a_request_drops_half_a_line(self):
        client = self.connect()
        client.sendall(b'quit prog')
        self.assertIn('DPDK', ask(client, 'r version')[0])


class Crowd(Served):
    def test_as_many_as_allowed(self):
        clients = []
        for _ in range(SESSIONS_MAX):
            clients.append(self.connect())
            self.assertEqual(ask(clients[-1], 'r version')[1], '0')     # whoever left before has been seen to go
        for number, client in enumerate(clients):
            self.assertEqual(ask(client, 'r set timeout4 %d' % (100 + number)), ('', '0'))
            self.assertRegex(ask(clients[-1 - number], 'r show config')[0], r'(?m)^  timeout4 +%d ' % (100 + number))
        refusal = 'error: 16 sessions are open, and there can be no more\n'
        self.assertEqual(read_all(self.connect()), refusal)
        self.assertEqual(cli(self.path, 'version'), (3, '', 'fragmend-cli: %s: %s' % (self.path, refusal)))
        clients[3].close()
        self.assertTrue(wait_for(self.answers, PATIENCE_S))

    def test_who_does_not_read_is_dropped(self):
        """And until then costs nobody anything but a place."""
        hung = [self.connect() for _ in range(3)]
        for client in hung:
            client.setblocking(False)
            # Until the other end takes no more: it answers nothing while its answers are not read.
            sent = 0
            with contextlib.suppress(BlockingIOError):
                while sent < 1 << 24:
                    sent += client.send(b'help\n' * 1000)
            self.assertLess(sent, 1 << 24)
        self.assertServes()
        for client in hung:
            poll = select.poll()
            poll.register(client, 0)
            self.assertTrue(wait_for(lambda: poll.poll(0), 2 * PATIENCE_S), 'still there')
            client.setblocking(True)
            got = []
            with contextlib.suppress(ConnectionError):
                got.extend(iter(lambda: client.recv(65536), b''))
            self.assertIn(b'Forwarding', b''.join(got))
            self.assertLess(sum(map(len, got)), 1 << 22)
        self.assertServes()

    def test_who_floods_keeps_nobody_waiting(self):
        flood = [self.connect() for _ in range(4)]
        for client in flood:
            client.setblocking(False)
        other = self.connect()
        until = time.monotonic() + 3
        answers = 0
        while time.monotonic() < until:
            for client in flood:
                with contextlib.suppress(BlockingIOError):
                    client.send(b'show reassembly datagrams top 1000\n' * 100)
                with contextlib.suppress(BlockingIOError):
                    self.assertNotEqual(client.recv(1 << 20), b'')
            self.assertEqual(ask(other, 'r version')[1], '0')
            answers += 1
        self.assertGreater(answers, 1)
        for client in flood:
            client.close()
        self.assertServes()
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK\n', self.finish())

    def test_who_leaves_without_reading(self):
        for _ in range(200):
            # All places may be taken by those of whom it is not known yet that they left.
            with connect(self.path) as client, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(b'help\n' * 20)
        self.assertTrue(wait_for(self.answers, PATIENCE_S))
        self.assertTrue(wait_for(lambda: len(os.listdir('/proc/%d/fd' % self.process.pid)) ==
                                 self.descriptors_when_idle(), PATIENCE_S))

    def descriptors_when_idle(self):
        """Those of a fresh one that is like it."""
        path, self.path = self.path, self.path.with_name('fresh')
        process = self.launch()
        number = wait_for(lambda: len(os.listdir('/proc/%d/fd' % process.pid)))
        self.reap(process)
        self.path.unlink()
        self.path = path
        return number


class Worker(BumpTest):
    def test_clients_cost_no_datagram(self):
        """Every kind of bad client while datagrams pass: each arrives."""
        path = self.temporary() / 'console.sock'
        self.start('--console-socket', str(path))
        clients = [connect(path) for _ in range(6)]
        for number, client in enumerate(clients):
            self.addCleanup(client.close)
            client.setblocking(False)
            junk = (b'show reassembly sources top 1000\n' * 2000, b'x' * 100000, bytes(range(2, 256)) * 400,
                    b'help\n' * 20000, b'\x01r flo', b'')[number]
            with contextlib.suppress(BlockingIOError):
                client.send(junk)
        self.assertGood(self.exchange([100, 5000, 20000] * 20, 4))
        self.assertGood(self.exchange([100, 5000, 20000] * 20, 6))
        # The terminal's console, too.
        self.assertIn('DPDK', self.app.command('version'))

    def test_beside_the_terminal(self):
        path = self.temporary() / 'console.sock'
        self.start('--console-socket', str(path))
        left, _ = self.wires()
        left.send(packet.Datagram('10.9.1.2', '10.9.3.4', bytes(4000), ident=4242).fragment(1000, 1000, True))
        self.assertCounters(datagrams=1)
        self.assertIn('10.9.3.4', cli(path, 'show', 'reassembly', 'datagrams')[1])
        self.assertEqual(cli(path, 'set timeout4 7654'), (0, '', ''))
        self.assertRegex(self.app.command('show config'), r'timeout4\b.*\b7654\b')


if __name__ == '__main__':
    raise SystemExit(tap.main())
