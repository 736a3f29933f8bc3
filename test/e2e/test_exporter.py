#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""fragmend-exporter between a real fragmend and a real Prometheus; alerts, dashboard and the page of metrics."""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import BINARY, ROOT, appliance, capture, packet, tap, wait_for

sys.path.insert(0, str(ROOT / 'tools'))
from exporter import table, telemetry       # noqa: E402 (the path comes first)

EXPORTER = ROOT / 'tools/fragmend-exporter'
RULES = ROOT / 'config/prometheus/fragmend.rules.yml'
CHECKS = ROOT / 'config/prometheus/fragmend.rules.test.yml'
DASHBOARD = ROOT / 'config/grafana/fragmend.json'
OPENMETRICS = 'application/openmetrics-text; version=1.0.0'
COMPLETE, HELD = 12, 8      # datagrams in the capture: those with all of their three fragments, and those with two
SAMPLE = re.compile(r'(?m)^(\w+)(?:\{(.*)\})? (\S+)$')

NAMES = {table.full_name(row) for group in (table.OF_ITSELF, *table.GROUPS) for row in group.rows}


def get(url, accept='', timeout=20):
    with urllib.request.urlopen(urllib.request.Request(url, headers={'Accept': accept}), timeout=timeout) as answer:
        return answer.read().decode(), answer.headers['Content-Type']


def samples(text):
    """{(name, labels but for the file prefix): value}"""
    found = {}
    for name, labels, value in SAMPLE.findall(text):
        pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        pairs.pop('file_prefix', None)
        found[name, tuple(sorted(pairs.items()))] = float(value)
    return found


def promtool(*argv, text=None):
    done = subprocess.run(['promtool', *map(str, argv)], input=text, text=True, capture_output=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def metrics_in(query):
    return set(re.findall(r'\bfragmend_\w+', query))


class ExporterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='fragmend-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.prefix = 'fragmend-test-%d' % os.getpid()
        (self.folder / 'dpdk').mkdir()

    def fragmend(self, prefix=None):
        """With fragments from a capture; its sockets are in the folder of the test."""
        frames = []
        for number in range(COMPLETE + HELD):
            parts = packet.Datagram('10.8.0.%d' % number, '10.9.0.1', random.Random(number).randbytes(2500),
                                    ident=number).fragments(1000)
            frames += parts if number < COMPLETE else parts[:2]
        capture.write_pcap(self.folder / 'in', frames)
        keep = [word for word in appliance.eal(256) if word not in ('--no-telemetry', '--no-shconf')]
        with self.runtime_directory():
            app = appliance.Appliance(BINARY, ['net_pcap0,rx_pcap=%s/in' % self.folder, 'net_null1,no-rx=1'],
                                      ['--timeout4', '120000', '--total-num-mbufs', '8191'],
                                      eal=(*keep, '--file-prefix', prefix or self.prefix))
        self.addCleanup(app.close)
        self.assertTrue(wait_for(lambda: app.counters()['fragments_in'] == 3 * COMPLETE + 2 * HELD))
        return app

    @contextlib.contextmanager
    def runtime_directory(self):
        """EAL's, for what is started meanwhile."""
        before = os.environ.get('RUNTIME_DIRECTORY')
        os.environ['RUNTIME_DIRECTORY'] = str(self.folder)
        try:
            yield
        finally:
            del os.environ['RUNTIME_DIRECTORY']
            if before is not None:
                os.environ['RUNTIME_DIRECTORY'] = before

    def start(self, *options, listen='127.0.0.1:0', prefixes=None):
        """The exporter; its address."""
        words = [word for prefix in prefixes or [self.prefix] for word in ('--file-prefix', prefix)]
        self.exporter = subprocess.Popen(
            ['/usr/bin/python3', EXPORTER, '--listen', listen, '--runtime-directory', self.folder, *words, *options],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=appliance.die_with_parent)
        self.addCleanup(self.exporter.stderr.close)
        self.addCleanup(self.exporter.wait)
        self.addCleanup(self.exporter.kill)
        line = self.exporter.stderr.readline()
        self.assertIn('listening on http://', line)
        return line.split()[-1]

    def end(self):
        """What it said, after it has ended well."""
        self.exporter.send_signal(signal.SIGTERM)
        self.assertEqual(self.exporter.wait(10), 0)
        said = self.exporter.stderr.read()
        self.assertNotIn('Traceback', said)
        return said

    def ask(self, *endpoints):
        with contextlib.closing(telemetry.Telemetry(self.folder / 'dpdk' / self.prefix / 'dpdk_telemetry.v2',
                                                    10)) as client:
            return [client.ask('/fragmend/' + endpoint) for endpoint in endpoints]

    def listener(self, prefix):
        """Somebody else's socket in the place of telemetry's."""
        path = self.folder / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        path.parent.mkdir(parents=True)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(server.close)
        server.bind(str(path))
        server.listen()
        return server


class WithFragmend(ExporterTest):
    def prometheus(self, target):
        """A server of its own; its address."""
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        (self.folder / 'prometheus.yml').write_text(json.dumps({
            'global': {'scrape_interval': '1s', 'scrape_timeout': '1s', 'evaluation_interval': '1s'},
            'rule_files': [str(RULES)],
            'scrape_configs': [{'job_name': 'fragmend', 'static_configs': [{'targets': [target]}]}]}))
        with open(self.folder / 'prometheus.log', 'w') as log:
            server = subprocess.Popen(
                ['prometheus', '--config.file', self.folder / 'prometheus.yml', '--storage.tsdb.path',
                 self.folder / 'data', '--web.listen-address', '127.0.0.1:%d' % port], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=appliance.die_with_parent)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return 'http://127.0.0.1:%d/api/v1/' % port

    def query(self, api, expression):
        """[(labels, value)], or nothing as long as the server is not there."""
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            answer = json.loads(get(api + 'query?' + urllib.parse.urlencode({'query': expression}))[0])
            return [(one['metric'], float(one['value'][1])) for one in answer['data']['result']]
        return []

    def test_prometheus(self):
        """What it has in its database is what telemetry says, and it follows an end and a new start."""
        app = self.fragmend()
        url = self.start()
        api = self.prometheus(url.split('/')[2])
        value = lambda expression: [number for _, number in self.query(api, expression)]     # noqa: E731
        self.assertTrue(wait_for(lambda: value('fragmend_up') == [1], 20),
                        (self.folder / 'prometheus.log').read_text()[-2000:])
        stats, drops, budget = self.ask('stats', 'drops', 'budget')
        self.assertEqual(stats['fragments_completed'], 3 * COMPLETE)
        self.assertEqual(value('fragmend_fragments_in_total'), [stats['fragments_in']])
        self.assertEqual(value('fragmend_datagrams_completed_total'), [COMPLETE])
        self.assertEqual(value('fragmend_held_mbufs'), [stats['held']['mbufs']])
        self.assertEqual(value('fragmend_budget_mbufs'), [budget['budget_mbufs']])
        for unit in ('frame', 'fragment', 'datagram'):
            got = {labels['outcome']: number
                   for labels, number in self.query(api, 'fragmend_%s_outcomes_total' % unit)}
            self.assertEqual(got, {name: one['count'] for name, one in drops.items() if one['unit'] == unit})
        # Every query of the dashboard is one, and it finds what its metrics are.
        for query in dashboard_queries():
            self.assertEqual(json.loads(get(api + 'query?' + urllib.parse.urlencode({'query': query}))[0])['status'],
                             'success', query)
        rules = json.loads(get(api + 'rules')[0])['data']['groups'][0]['rules']
        self.assertTrue(wait_for(lambda: all(
            rule['health'] == 'ok' for rule in json.loads(get(api + 'rules')[0])['data']['groups'][0]['rules'])), rules)
        app.process.kill()
        app.process.wait()
        self.assertTrue(wait_for(lambda: value('fragmend_up') == [0], 20))
        self.assertTrue(wait_for(lambda: value('ALERTS{alertname="FragmendDown",alertstate="pending"}') == [1], 20))
        self.fragmend()
        self.assertTrue(wait_for(lambda: value('fragmend_up') == [1], 20))
        self.assertEqual(value('fragmend_datagrams_completed_total'), [COMPLETE])
        self.assertEqual(re.findall('(?m): (answers|.*dpdk_telemetry.v2: .*)$', self.end())[::2],
                         ['answers', 'answers'])

    def test_output(self):
        """Clean for promtool and for its own client, every metric is in the table, and the other way round."""
        app = self.fragmend()
        # Rates come with the second sample.
        self.assertTrue(wait_for(lambda: 'busy_permille' in self.ask('lcores')[0]['lcores']['0']))
        text, kind = get(self.start())
        self.assertTrue(kind.startswith('text/plain'), kind)
        self.assertEqual(promtool('check', 'metrics', text=text), (0, ''))
        found = samples(text)
        self.assertEqual({name for name, _ in found}, NAMES)
        stats, drops, ports = self.ask('stats', 'drops', 'ports')
        self.assertEqual(found['fragmend_rx_frames_total', ()], stats['rx_frames'])
        self.assertEqual(found['fragmend_port_rx_packets_total', (('port', '0'),)], ports['ports']['0']['rx_packets'])
        self.assertEqual(found['fragmend_accounting_ok', (('account', 'mbufs'),)], 1)
        self.assertEqual(found['fragmend_lcore_fragments_in_total', (('lcore', '1'),)], stats['fragments_in'])
        self.assertEqual(sum(number for (name, _), number in found.items() if name == 'fragmend_source_held_mbufs'),
                         2 * HELD)
        for name, one in drops.items():
            # The sentence of each outcome is in the help of its metric.
            self.assertIn('%s: %s' % (name, one['text']), text)
        ratios = [number for (name, _), number in found.items() if name.endswith('_ratio')]
        self.assertTrue(ratios and all(0 <= ratio <= 1 for ratio in ratios), ratios)
        self.check_openmetrics()
        self.assertEqual(app.stop('quit'), 0)
        self.end()

    def check_openmetrics(self):
        from prometheus_client.openmetrics import parser
        url = self.start('--top-sources', '3', listen='[::1]:0', prefixes=[self.prefix, 'nobody'])
        text, kind = get(url, OPENMETRICS)
        self.assertIn('openmetrics', kind)
        families = {family.name: family for family in parser.text_string_to_metric_families(text)}
        ups = {sample.labels['file_prefix']: sample.value for sample in families['fragmend_up'].samples}
        self.assertEqual(ups, {self.prefix: 1, 'nobody': 0})
        self.assertEqual(len(families['fragmend_source_held_mbufs'].samples), 3)
        self.assertEqual([sample.labels['file_prefix'] for sample in families['fragmend_held_mbufs'].samples],
                         [self.prefix])
        self.end()
        found = samples(get(self.start('--top-sources', '0'))[0])
        self.assertNotIn('fragmend_source_held_mbufs', {name for name, _ in found})
        self.assertEqual(found['fragmend_largest_source_held_mbufs', ()], 2)


    def test_hung(self):
        """One that stands still is down in time; one whose ten places are taken, too; both come back."""
        app = self.fragmend()
        url = self.start('--timeout', '1')
        up = lambda: samples(get(url)[0])['fragmend_up', ()]      # noqa: E731
        self.assertEqual(up(), 1)
        app.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        self.assertEqual(up(), 0)
        self.assertLess(time.monotonic() - began, 3)
        app.process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_for(lambda: up() == 1))
        path = self.folder / 'dpdk' / self.prefix / 'dpdk_telemetry.v2'
        clients = [telemetry.Telemetry(path, 10) for _ in range(10)]
        self.assertEqual(up(), 0)
        for client in clients:
            client.close()
        self.assertTrue(wait_for(lambda: up() == 1))
        self.assertIn('no room for one more client', self.end())


class WithoutFragmend(ExporterTest):
    def test_none(self):
        """One that is not there, one that hangs, one that talks nonsense, and one that is another DPDK program."""
        hung = self.listener('hung')
        threading.Thread(target=self.talk, args=(self.listener('nonsense'), b'\xff{'), daemon=True).start()
        threading.Thread(target=self.talk, args=(self.listener('other'), b'{"/fragmend/config": null}'),
                         daemon=True).start()
        url = self.start('--timeout', '1', prefixes=['nobody', 'hung', 'nonsense', 'other'])
        began = time.monotonic()
        text, _ = get(url)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(promtool('check', 'metrics', text=text), (0, ''))
        self.assertEqual(re.findall(r'(?m)^fragmend_up\{file_prefix="(\w+)"\} 0.0$', text),
                         ['nobody', 'hung', 'nonsense', 'other'])
        self.assertEqual({name for name, _ in samples(text)}, {table.full_name(row) for row in table.OF_ITSELF.rows})
        self.assertGreater(hung.fileno(), 0)       # it listened all the while
        # Many at once share what was asked.
        threads = [threading.Thread(target=get, args=(url,)) for _ in range(8)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertLess(time.monotonic() - began, 8)
        said = self.end()
        for reason in ('nobody.*No such file', 'hung.*timed out', 'nonsense: ', 'other.*does not know'):
            self.assertRegex(said, reason)
        self.assertLess(len(said.splitlines()), 8, said)       # once each, not at each scrape

    def test_busy(self):
        """While fragmend is at work with a long command it is there, but says nothing."""
        threading.Thread(target=self.talk, args=(self.listener('rte'), b'{"/fragmend/config": {"error": "busy"}}'),
                         daemon=True).start()
        found = samples(get(self.start(prefixes=['rte']))[0])
        self.assertEqual((found['fragmend_up', ()], found['fragmend_telemetry_complete', ()]), (1, 0))
        self.assertIn('busy', self.end())

    @staticmethod
    def talk(server, answer):
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                with client:
                    client.send(b'{"version": "x", "pid": 1, "max_output_len": 16384}')
                    client.recv(1000)
                    client.send(answer)

    def test_http(self):
        url = self.start()
        place = url.split('/')[2].split(':')
        self.assertIn('/metrics', get(url.replace('/metrics', '/'))[0])
        with self.assertRaises(urllib.error.HTTPError) as refusal:
            get(url + '/etc')
        self.assertEqual(refusal.exception.code, 404)
        refusal.exception.close()
        # Who connects and says nothing, or goes away, keeps nobody else from asking.
        silent = [socket.create_connection((place[0], int(place[1]))) for _ in range(8)]
        with socket.create_connection((place[0], int(place[1]))) as rude:
            rude.send(b'GET /metrics HTTP/1.0\r\n\r\n')
        self.assertIn('fragmend_up', get(url)[0])
        for one in silent:
            one.close()
        self.assertIn('127.0.0.1', url)
        self.end()

    def test_usage(self):
        for words, says in ((['--listen', 'x'], 'PORT'), (['--listen', '::1:80'], 'ADDRESS'),
                            (['--listen', '1:99999'], '65535'),
                            (['--top-sources', '201'], '200'), (['--top-sources', '-1'], '200'),
                            (['--timeout', '0'], '0.1'), (['--file-prefix', '../x'], 'prefix'),
                            (['--file-prefix', 'a', '--file-prefix', 'a'], 'twice'), (['x'], 'x')):
            with self.subTest(words=words):
                status, _, err = appliance.run(['/usr/bin/python3', str(EXPORTER), *words])
                self.assertEqual(status, 2, err)
                self.assertIn(says, err.splitlines()[-1])
        place = self.start().split('/')[2]
        status, _, err = appliance.run(['/usr/bin/python3', str(EXPORTER), '--listen', place])
        self.assertEqual((status, len(err.splitlines())), (1, 1), err)
        self.assertIn('in use', err)


def dashboard_queries():
    """As Grafana would send them."""
    found = []

    def look(value):
        if isinstance(value, dict):
            found.extend([value['expr']] if 'expr' in value else [])
            value = list(value.values())
        for one in value if isinstance(value, list) else ():
            look(one)
    look(json.loads(DASHBOARD.read_text()))
    return [query.replace('$__rate_interval', '1m').replace('$instance', '.*').replace('$file_prefix', '.*')
            for query in found]


class Files(unittest.TestCase):
    def test_rules(self):
        status, said = promtool('check', 'rules', RULES)
        self.assertEqual(status, 0, said)
        self.assertIn('6 rules', said)
        self.assertLessEqual(metrics_in(RULES.read_text().replace('fragmend_exporter', '')), NAMES)
        status, said = promtool('test', 'rules', CHECKS)
        self.assertEqual(status, 0, said)

    def test_each_alert_is_tested_both_ways_and_documented(self):
        page = (ROOT / 'doc/operations.md').read_text()
        alerts = re.findall(r'(?m)^ +- alert: (\w+)$', RULES.read_text())
        self.assertEqual(len(alerts), 6)
        runbooks = re.findall(r'(?m)^ +runbook: doc/operations.md#(\w+)$', RULES.read_text())
        self.assertEqual(runbooks, [alert.lower() for alert in alerts])
        for alert in alerts:
            self.assertIn('\n### %s\n' % alert, page)
            cases = re.findall(r'alertname: %s\n +exp_alerts:(.*)' % alert, CHECKS.read_text())
            self.assertIn('', cases, alert)
            self.assertIn(' []', cases, alert)

    def test_a_rule_that_never_fires_is_noticed(self):
        broken, found = re.subn(r'(?m)^( +expr:).*\n(?: {10}.*\n)*', r'\1 vector(0) > 1' + '\n', RULES.read_text())
        self.assertEqual(found, 6)
        with tempfile.TemporaryDirectory(prefix='fragmend-test-') as folder:
            shutil.copy(CHECKS, folder)
            pathlib.Path(folder, RULES.name).write_text(broken)
            status, said = promtool('test', 'rules', pathlib.Path(folder, CHECKS.name))
        self.assertEqual(status, 1, said)
        for alert in re.findall(r'(?m)^ +- alert: (\w+)$', broken):
            self.assertIn('alertname: ' + alert, said)

    def test_dashboard(self):
        queries = dashboard_queries()
        self.assertGreater(len(queries), 30)
        for query in queries:
            self.assertLessEqual(metrics_in(query), NAMES, query)
        dashboard = json.loads(DASHBOARD.read_text())
        numbers = [panel['id'] for panel in dashboard['panels']]
        self.assertEqual(len(set(numbers)), len(numbers))
        places = [(panel['gridPos']['x'], panel['gridPos']['y']) for panel in dashboard['panels']]
        self.assertEqual(len(set(places)), len(places))
        used = set(re.findall(r'\$\{?(\w+)', DASHBOARD.read_text())) - {'__rate_interval', '__all'}
        self.assertEqual(used, {variable['name'] for variable in dashboard['templating']['list']})

    def test_page_of_metrics(self):
        page = (ROOT / 'doc/metrics.md').read_text()
        self.assertEqual(page, table.describe())
        self.assertEqual(set(re.findall(r'(?m)^\| `(fragmend_\w+)` \|', page)), NAMES)

    def test_manual_page(self):
        _, said, _ = appliance.run(['/usr/bin/python3', str(EXPORTER), '--help'])
        manual = (ROOT / 'doc/man/fragmend-exporter.1.scd').read_text()
        options = set(re.findall(r'--[a-z-]+', said))
        self.assertGreater(len(options), 5)
        self.assertEqual(options, set(re.findall(r'\*(--[a-z-]+)\*', manual)))

    def test_unit(self):
        """systemd-analyze reads it: not a word when it verifies, and the exposure that the page says."""
        text = (ROOT / 'config/fragmend-exporter.service.in').read_text().replace(
            '@bindir@/fragmend-exporter', str(EXPORTER))
        with tempfile.TemporaryDirectory(prefix='fragmend-test-') as folder:
            path = pathlib.Path(folder, 'fragmend-exporter.service')
            path.write_text(text)
            verify, security = (subprocess.run(
                ['systemd-analyze', *argv, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})
                for argv in (['verify', '--man=no'], ['security', '--offline=true', '--no-pager']))
        self.assertEqual((verify.returncode, verify.stdout), (0, ''))
        level = re.search(r'Overall exposure level for fragmend-exporter.service: (\S+)', security.stdout).group(1)
        self.assertIn('exposure level is %s.' % level, (ROOT / 'doc/service.md').read_text())


if __name__ == '__main__':
    raise SystemExit(tap.main())
