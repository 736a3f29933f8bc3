/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netdev.h"

static int ask(unsigned int ifindex, unsigned long request, struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (if_indextoname(ifindex, req->ifr_name) == NULL || ioctl(fd, request, req) != 0)
		ret = -errno;
	close(fd);
	return ret;
}

uint32_t fm_netdev_mtu(unsigned int ifindex)
{
	struct ifreq req = { 0 };

	return ask(ifindex, SIOCGIFMTU, &req) == 0 ? (uint32_t)req.ifr_mtu : 0;
}

bool fm_netdev_running(unsigned int ifindex)
{
	struct ifreq req = { 0 };

	return ask(ifindex, SIOCGIFFLAGS, &req) != 0 || (req.ifr_flags & IFF_RUNNING) != 0;
}

bool fm_netdev_up(unsigned int ifindex)
{
	struct ifreq req = { 0 };

	return ask(ifindex, SIOCGIFFLAGS, &req) != 0 || (req.ifr_flags & IFF_UP) != 0;
}

bool fm_netdev_promiscuous(unsigned int ifindex)
{
	struct ifreq req = { 0 };

	return ask(ifindex, SIOCGIFFLAGS, &req) != 0 || (req.ifr_flags & IFF_PROMISC) != 0;
}

int fm_netdev_set_up(unsigned int ifindex, bool up)
{
	struct ifreq req = { 0 };
	int ret = ask(ifindex, SIOCGIFFLAGS, &req);

	if (ret != 0)
		return ret;
	req.ifr_flags = (short)(up ? req.ifr_flags | IFF_UP : req.ifr_flags & ~IFF_UP);
	return ask(ifindex, SIOCSIFFLAGS, &req);
}
