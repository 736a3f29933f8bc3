# SPDX-License-Identifier: BSD-3-Clause
#
# fragmend in line on a link of 10 Gbit/s: two ports of a card, hugepages, a worker or more for each direction.
#
#	fragmend -l 0-4 -a 0000:01:00.0 -a 0000:01:00.1 -- \
#		--total-num-mbufs 131071 --cmdline-file inline.cmd --stats-period 60
#
# Nothing in here needs more memory than there is by default.

# Datagrams leave whole where the other side's MTU lets them, in clean fragments where not.
set output whole-or-refragment

# Fragments of a datagram arrive within milliseconds of each other; what has a gap of a second has lost one. IPv4
# identifications come round within a second at this speed, and fragments of two datagrams must not be held for one.
set timeout4 500
set timeout6 1000

# Datagrams of up to 65,535 bytes at an MTU of 1,500 have 45. More of them in one datagram are no ordinary traffic.
set max-fragments 64

# The end systems verify transport checksums anyway, and here it costs a look at every byte.
set verify-l4 off

# Who filters behind fragmend must see ports in what it gets (RFC 7112).
set header-chain on

# A router that loses its neighbour shall see that, as if there were but a cable.
set link-follow on

set log notice
