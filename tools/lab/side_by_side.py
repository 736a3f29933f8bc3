# SPDX-License-Identifier: BSD-3-Clause
"""Several appliances side by side, each in a namespace of its own, between two devices that hash on addresses.

    host --- left ===[box 0]=== right --- host
                  ===[box 1]===
"""
import collections
import json

from . import appliance, netns

# Classic BPF: the hash of Linux bonding's layer2+3 policy for IPv4, modulo the number of members; 1 for one member.
LDH, LDB, LDW, TAX, XORX, RSH, MOD, JEQ, RET = 0x28, 0x30, 0x20, 0x07, 0xac, 0x74, 0x94, 0x15, 0x06
FOUND, OTHER = 0xffffffff, 0


def layer23(members, member):
    """Which frames go to `member`: last bytes of the link addresses, EtherType, addresses, folded by 16 and 8 bits."""
    code = [(LDB, 0, 0, 5), (TAX, 0, 0, 0), (LDB, 0, 0, 11), (XORX, 0, 0, 0)]
    for load, at in ((LDH, 12), (LDW, 26), (LDW, 30)):
        code += [(TAX, 0, 0, 0), (load, 0, 0, at), (XORX, 0, 0, 0)]
    for bits in (16, 8):
        code += [(TAX, 0, 0, 0), (RSH, 0, 0, bits), (XORX, 0, 0, 0)]
    code += [(MOD, 0, 0, members), (JEQ, 0, 1, member), (RET, 0, 0, FOUND), (RET, 0, 0, OTHER)]
    return '%d,%s' % (len(code), ','.join('%d %d %d %d' % step for step in code))


def has_carrier(ns, device):
    return 'LOWER_UP' in ns.ip('link', 'show', device)


class Box:
    """A fragmend with its two ports, m0 and m1."""

    def __init__(self, number, binary, megabytes=256):
        self.number, self.binary, self.megabytes = number, binary, megabytes
        self.ns, self.app = netns.Namespace(ipv6=False), None

    def start(self, *options):
        # A configuration of its own for each: they are different DPDK applications on one machine.
        eal = ('--no-huge', '--no-pci', '--no-telemetry', '-m', str(self.megabytes), '--file-prefix',
               'fragmend-box%d' % self.number, *appliance.lcores())
        ports = [appliance.xdp(0, 'm0'), appliance.xdp(1, 'm1')]
        self.app = appliance.Appliance(self.binary, ports, options, self.ns, eal)
        return self.app

    def links_down(self):
        """What a power cut does, a card that its driver has left, or the unit's ExecStopPost."""
        for device in ('m0', 'm1'):
            self.ns.ip('link', 'set', device, 'down')

    def close(self):
        if self.app:
            self.app.close()
        self.ns.close()


class Site:
    """Left, right, the boxes between. l0, l1, ... and r0, r1, ... are the members; `host` leads to the hosts."""

    def __init__(self, binary, boxes):
        self.refused = collections.Counter()    # by member: frames for it that left did not get onto its link
        self.left, self.right = netns.Namespace(ipv6=False), netns.Namespace(ipv6=False)
        self.boxes = [Box(number, binary) for number in range(boxes)]
        for number, box in enumerate(self.boxes):
            netns.veth(self.left, 'l%d' % number, box.ns, 'm0')
            netns.veth(self.right, 'r%d' % number, box.ns, 'm1')

    def close(self):
        for box in self.boxes:
            box.close()
        self.left.close()
        self.right.close()

    def sides(self):
        return ((self.left, 'l'), (self.right, 'r'))

    def alive(self):
        """Members whose link is up at both sides."""
        return [number for number in range(len(self.boxes))
                if all(has_carrier(ns, name + str(number)) for ns, name in self.sides())]


class Aggregation(Site):
    """Layer 2. The hosts are in namespaces of their own: h0 there, `host` in left and right."""

    def __init__(self, binary, boxes):
        super().__init__(binary, boxes)
        self.hosts = [netns.Namespace(ipv6=False), netns.Namespace(ipv6=False)]
        self.pref, self.in_use = 1000, []
        for host, (ns, name) in zip(self.hosts, self.sides(), strict=True):
            netns.veth(host, 'h0', ns, 'host')
            for device in ['host'] + [name + str(number) for number in range(boxes)]:
                ns.run('tc', 'qdisc', 'add', 'dev', device, 'clsact')
                if device != 'host':
                    self._redirect(ns, device, 'host')
        self.use(list(range(boxes)))

    @staticmethod
    def _redirect(ns, device, to, *match, pref=1):
        ns.run('tc', 'filter', 'add', 'dev', device, 'ingress', 'protocol', 'all', 'pref', str(pref),
               *(match or ('u32', 'match', 'u32', '0', '0')), 'action', 'mirred', 'egress', 'redirect', 'dev', to)

    def use(self, members):
        """What bonding does itself with miimon: spread over these. The new rules stand before the old ones go."""
        self.pref -= len(self.boxes)
        for ns, name in self.sides():
            for at, number in enumerate(members):
                self._redirect(ns, 'host', name + str(number), 'bpf', 'bytecode', layer23(len(members), at),
                               'flowid', '1:1', pref=self.pref + at)
            for pref, number in self.in_use:
                if name == 'l':
                    self.refused[number] += self._without_carrier(ns, pref)
                ns.run('tc', 'filter', 'del', 'dev', 'host', 'ingress', 'pref', str(pref))
        self.in_use = [(self.pref + at, number) for at, number in enumerate(members)]

    @staticmethod
    def _without_carrier(ns, pref):
        """Frames a rule could not redirect, as the member had no carrier: it counts them, the member does not."""
        shown = ns.run('tc', '-s', '-j', 'filter', 'show', 'dev', 'host', 'ingress', 'pref', str(pref)).stdout
        return sum(action['stats']['overlimits'] for rule in json.loads(shown) if 'options' in rule
                   for action in rule['options'].get('actions', ()))

    def close(self):
        for host in self.hosts:
            host.close()
        super().close()


class Routes(Site):
    """Layer 3: equal-cost routes at both sides, hashed by the kernel on addresses; left has a host behind it."""

    def __init__(self, binary, boxes, sources, targets):
        super().__init__(binary, boxes)
        self.hosts = [netns.Namespace(ipv6=False), self.right]
        netns.veth(self.hosts[0], 'h0', self.left, 'host')
        for ns, name in self.sides():
            for setting, value in (('ip_forward', 1), ('fib_multipath_hash_policy', 0), ('conf/all/rp_filter', 0),
                                   ('conf/default/rp_filter', 0), ('conf/all/ignore_routes_with_linkdown', 1)):
                ns.sysctl('net/ipv4/' + setting, value)
            for number in range(boxes):
                ns.sysctl('net/ipv4/conf/%s%d/ignore_routes_with_linkdown' % (name, number), 1)
        self._route(self.left, 'l', 1, 'r', 2, targets)
        self._route(self.right, 'r', 2, 'l', 1, sources)
        self.left.ip('route', 'add', sources, 'dev', 'host')
        # Read off the members there; nobody is behind it.
        self.right.ip('route', 'add', 'blackhole', targets)

    def _route(self, ns, name, mine, other, theirs, network):
        other_ns = self.right if other == 'r' else self.left
        hops = []
        for number in range(len(self.boxes)):
            via, device = '10.8.%d.%d' % (number, theirs), name + str(number)
            ns.ip('addr', 'add', '10.8.%d.%d/24' % (number, mine), 'dev', device)
            ns.ip('neigh', 'replace', via, 'lladdr', link_address(other_ns, other + str(number)), 'dev', device, 'nud',
                  'permanent')
            hops += ['nexthop', 'via', via, 'dev', device]
        ns.ip('route', 'add', network, *hops)

    def close(self):
        self.hosts[0].close()
        super().close()


def link_address(ns, device):
    return ns.ip('-o', 'link', 'show', device).split('link/ether ')[1].split()[0]
