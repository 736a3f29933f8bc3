# SPDX-License-Identifier: BSD-3-Clause
#
# fragmend in a laboratory: veth pairs and net_af_xdp, packets few enough to be looked at one by one.
#
#	fragmend --no-huge --no-shconf --no-pci -m 512 --lcores 0@0,1@1 \
#		--vdev net_af_xdp0,iface=m0 --vdev net_af_xdp1,iface=m1 -- -i --auto-start --cmdline-file lab.cmd
#
# Switch the offloads of the veth ends off first: ethtool -K m0 rx off tx off sg off tso off gso off gro off

# What fits the interface's MTU leaves whole, the rest in clean fragments. `refragment` shows the latter with any MTU.
set output whole-or-refragment

# Long enough to type `show reassembly datagrams` while fragments are held.
set timeout4 10000
set timeout6 10000

# As many fragments as a datagram of 65,535 bytes has at an MTU of 576.
set max-fragments 128

# A wrong transport checksum is worth a counter here: somebody has built that packet by hand, or a veth end offloads.
set verify-l4 on
set header-chain on

# The other side of a cable that is unplugged stays up: an experiment is easier to repeat.
set link-follow off

# All that fragmend has to say.
set log info
