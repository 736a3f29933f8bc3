#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: built, looked at by lintian, installed, used, upgraded, removed and purged.

Nothing is installed on this machine. Each test has a mount namespace in which a tmpfs lies over the root file system,
and no network.
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from harness import BINARY, ROOT, capture, packet, tap

OUTPUT = pathlib.Path(BINARY).parents[1] / 'package'
NAMES = ('fragmend', 'libfragmend0', 'libfragmend-dev')
# What dpkg, ldconfig and man-db keep for themselves.
BOOKS = re.compile(r'var/lib/dpkg/|var/log/|var/cache/|var/lib/systemd/|etc/ld\.so\.cache$|root/\.')
ENTER = '''
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount -t sysfs sysfs "$1/root/sys"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/run"
mount -t tmpfs tmpfs "$1/root/tmp"
mount --bind "$2" "$1/root/mnt"
echo ready
exec cat
'''


class Sandbox:
    """This machine, but what is done to it is forgotten."""

    def __init__(self, shared):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='fragmend-package-'))
        self.holder = subprocess.Popen(['unshare', '-m', '-n', 'sh', '-c', ENTER, 'sh', str(self.folder), str(shared)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != 'ready\n':
            self.close()
            raise RuntimeError('no sandbox: overlayfs or a mount is refused')

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()
        self.holder.stdout.close()
        # Empty: all that was in it was the namespace's.
        self.folder.rmdir()

    def outside(self, *argv):
        return subprocess.run(['nsenter', '-m', '-n', '-t', str(self.holder.pid), *argv], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=300)

    def run(self, line):
        """A shell command within; (exit code, what it said)."""
        done = self.outside('chroot', str(self.folder / 'root'), 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
                            'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive', 'HOME=/root', 'sh', '-c',
                            'exec 2>&1; cd /; ' + line)
        return done.returncode, done.stdout + done.stderr

    def changes(self):
        """What is new, different or gone, but for directories and the books."""
        done = self.outside('find', str(self.folder / 'upper'), '-not', '-type', 'd', '-printf', '%P\n')
        return sorted(path for path in done.stdout.split('\n') if path and not BOOKS.match(path))


def closure(names):
    """The packages that a set of packages needs, as far as they are installed here; and all that are installed."""
    text = subprocess.run(['dpkg-query', '-W', '-f', '${Package}|${Provides}|${Pre-Depends},${Depends}\n'],
                          capture_output=True, text=True, check=True).stdout
    needs, provided = {}, {}
    for line in text.split('\n')[:-1]:
        name, provides, depends = line.split('|', 2)
        needs[name] = re.findall(r'(?:^|[,|])\s*([a-z0-9.+-]+)', depends)
        for other in re.findall(r'(?:^|,)\s*([a-z0-9.+-]+)', provides):
            provided.setdefault(other, []).append(name)
    seen, left = set(), list(names)
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        left += needs.get(name, []) + provided.get(name, [])
    return seen, set(needs)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([ROOT / 'tools/build-deb.sh', '--output', OUTPUT], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        cls.debs = dict(zip(NAMES, done.stdout.split()))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, deb in self.debs.items():
            shutil.copy(deb, self.folder / (name + '.deb'))

    def sandbox(self):
        sandbox = Sandbox(self.folder)
        self.addCleanup(sandbox.close)
        return sandbox

    def do(self, sandbox, line):
        status, out = sandbox.run(line)
        self.assertEqual(status, 0, '%s\n%s' % (line, out))
        return out

    def field(self, name, field):
        return subprocess.run(['dpkg-deb', '-f', self.debs[name], field], capture_output=True, text=True,
                              check=True).stdout.strip()

    def depends(self):
        return re.findall(r'(?:^|, )([a-z0-9.+-]+)', self.field('fragmend', 'Depends'))

    def assertWorks(self, sandbox):
        """The offline mode: two datagrams in pieces, joined."""
        data = [packet.Datagram('10.1.0.1', '10.2.0.1', bytes(2500), ident=1),
                packet.Datagram('fd01::1', 'fd02::1', bytes(4000), ident=2)]
        capture.write_pcap(self.folder / 'in.pcap', [frame for one in data for frame in one.fragments(1000)])
        (self.folder / 'out.pcap').unlink(missing_ok=True)
        out = self.do(sandbox, 'fragmend-pcap /mnt/in.pcap /mnt/out.pcap')
        self.assertIn('accounting: frames OK, fragments OK, mbufs OK', out)
        self.assertEqual(sorted(capture.read_pcap(self.folder / 'out.pcap')), sorted(one.whole() for one in data))

    def test_lintian(self):
        # The maintainer's address is that of who builds it; there is none in the tree.
        done = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error,warning', '--suppress-tags',
                               'bogus-mail-host,bogus-mail-host-in-debian-changelog', *self.debs.values()],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)

    def test_depends_names_every_library(self):
        text = subprocess.run(['objdump', '-p', OUTPUT / 'build/app/fragmend'], capture_output=True, text=True,
                              check=True).stdout
        libraries = re.findall(r'NEEDED\s+(\S+)', text)
        self.assertGreater(len(libraries), 8)
        for library in libraries:
            owner = subprocess.run(['dpkg-query', '-S', '*/' + library], capture_output=True, text=True).stdout
            self.assertTrue(set(re.findall(r'(?m)^([a-z0-9.+-]+):', owner)) & set(self.depends()), library)

    def test_depends_suffice(self):
        """With every other package of DPDK gone, it still works."""
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/fragmend.deb')
        needed, installed = closure(self.depends())
        gone = sorted(name for name in installed - needed if re.match('librte-|libdpdk|dpdk', name))
        self.assertGreater(len(gone), 20)
        self.do(sandbox, 'dpkg --purge --force-depends ' + ' '.join(gone))
        self.assertWorks(sandbox)

    def test_install_use_remove_purge(self):
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/*.deb')
        self.assertEqual(self.do(sandbox, 'dpkg --audit'), '')
        self.assertEqual(self.do(sandbox, 'dpkg -V ' + ' '.join(NAMES)), '')
        self.assertEqual(self.do(sandbox, 'fragmend --version'), 'fragmend %s\n' % self.field('fragmend', 'Version'))
        self.assertIn('--budget', self.do(sandbox, 'fragmend --help'))
        for page in ('8 fragmend', '1 fragmend-cli', '1 fragmend-exporter', '1 fragmend-pcap', '3 libfragmend'):
            self.assertIn('/usr/share/man/', self.do(sandbox, 'man -w ' + page))
        self.assertWorks(sandbox)
        self.do(sandbox, 'dpkg -r ' + ' '.join(NAMES))
        status, _ = sandbox.run('command -v fragmend || command -v fragmend-pcap')
        self.assertNotEqual(status, 0)
        self.do(sandbox, 'mkdir -p /var/lib/fragmend && touch /var/lib/fragmend/saved.cmd')
        self.assertNotEqual(sandbox.changes(), [])
        self.do(sandbox, 'dpkg --purge ' + ' '.join(NAMES))
        self.assertEqual(sandbox.changes(), [])

    def test_pages_are_in_it(self):
        """Those of doc/, which send their readers to each other."""
        out = subprocess.run(['dpkg-deb', '-c', self.debs['fragmend']], capture_output=True, text=True, check=True)
        inside = set(re.findall(r' \./usr/share/doc/fragmend/(\S+)', out.stdout))
        pages = {path.relative_to(ROOT / 'doc').as_posix() for path in (ROOT / 'doc').rglob('*.md')}
        self.assertGreater(len(pages), 20)
        self.assertLessEqual(pages, inside)
        self.assertFalse([name for name in inside if re.search(r'\.(build|c|h|scd|bash)$', name)])

    def test_it_does_not_start_by_itself(self):
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/fragmend.deb')
        self.assertEqual([path for path in sandbox.changes() if re.match('etc/(systemd|rc.)', path)], [])
        found = sandbox.outside('sh', '-c', 'ls -l /proc/[0-9]*/exe 2>/dev/null | grep %s' %
                                shlex.quote(str(sandbox.folder)))
        self.assertEqual(found.stdout, '')

    def test_upgrade(self):
        """What is below /etc is a conffile: it survives an upgrade and a removal as edited, and goes with a purge."""
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/fragmend.deb')
        out = subprocess.run(['dpkg-deb', '-c', self.debs['fragmend']], capture_output=True, text=True, check=True)
        below = sorted(re.findall(r'(?m)^-.* \.(/etc/\S+)$', out.stdout))
        marked = re.findall(r'(?m)^ ?(/etc/\S+) ', self.do(sandbox, "dpkg-query -f '${Conffiles}\\n' -W fragmend"))
        self.assertEqual(sorted(marked), below)
        self.assertEqual('/etc/default/fragmend' in below, (ROOT / 'config/fragmend.default').exists())
        for path in below:
            self.do(sandbox, 'echo "# mine" >>' + path)
        self.do(sandbox, 'dpkg-deb -R /mnt/fragmend.deb /tmp/next && sed -i "s/^Version: .*/&+next/" '
                         '/tmp/next/DEBIAN/control && echo "# theirs" >>/tmp/next/usr/share/fragmend/lab.cmd && '
                         'dpkg-deb --root-owner-group -b /tmp/next /tmp/next.deb && dpkg -i /tmp/next.deb')
        self.assertIn('+next', self.do(sandbox, 'dpkg-query -W fragmend'))
        self.assertIn('# theirs', self.do(sandbox, 'cat /usr/share/fragmend/lab.cmd'))
        for path in below:
            self.assertIn('# mine', self.do(sandbox, 'cat ' + path))
        self.do(sandbox, 'dpkg -r fragmend')
        for path in below:
            self.assertIn('# mine', self.do(sandbox, 'cat ' + path))
        self.do(sandbox, 'dpkg --purge fragmend')
        self.assertEqual(sandbox.changes(), [])

    def test_completion(self):
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/fragmend.deb')
        for name in ('fragmend', 'fragmend-pcap', 'fragmend-cli'):
            out = self.do(sandbox, "bash -c '. /usr/share/bash-completion/completions/%s && complete -p %s'" %
                          (name, name))
            self.assertIn('complete -F _fragmend', out)

    def test_example_of_the_manual(self):
        """The program in libfragmend(3), as a reader sees it, compiled against the installed packages."""
        sandbox = self.sandbox()
        self.do(sandbox, 'dpkg -i /mnt/libfragmend0.deb /mnt/libfragmend-dev.deb')
        page = re.sub('.\b', '', self.do(sandbox, 'MANWIDTH=200 MANPAGER=cat man 3 libfragmend'))
        (self.folder / 'example.c').write_text(page[page.index('#include <stdio.h>'):page.index('\nSEE ALSO')])
        self.do(sandbox, 'cc -O2 -Wall -Wextra -Werror /mnt/example.c $(pkg-config --cflags --libs libfragmend libdpdk)'
                         ' -o /tmp/example')
        out = self.do(sandbox, "/tmp/example --no-huge --no-shconf --no-pci --no-telemetry -l 0 -m 64 "
                               "--log-level '*:error'")
        want = re.search(r'(?s)```text\n(.*?)```', (ROOT / 'doc/library.md').read_text()).group(1)
        self.assertEqual(out, want)


if __name__ == '__main__':
    raise SystemExit(tap.main())
