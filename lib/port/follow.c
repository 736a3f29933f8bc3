/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link-follow: what is plugged into one port shall see it when the other side is gone.
 *
 * Two rules keep it from swinging. A port that was taken down here says nothing about its own cable, so its state
 * does not count. And a port that was let up again has FM_GRACE_S to find its link before a missing one counts:
 * otherwise the two ports would take each other down in turns for ever.
 */
#include <string.h>

#include <rte_cycles.h>

#include "engine.h"
#include "netdev.h"
#include "port.h"

enum { FM_GRACE_S = 6 };

static void hold_down(struct fm_port *port, const struct fm_port *lost)
{
	int ret;

	if (port->follow.refused)
		return;
	ret = fm_port_set_link(port, false);
	if (ret != 0) {
		port->follow.refused = true;
		FM_LOG(WARNING, "port %u (%s): link-follow cannot take it down: %s\n", port->id, port->name,
		       strerror(-ret));
		return;
	}
	port->follow.held_down = true;
	FM_LOG(NOTICE, "port %u: link lost, port %u taken down\n", lost->id, port->id);
}

static void let_up(struct fm_port *port)
{
	int ret = fm_port_set_link(port, true);

	if (ret != 0) {
		/* It is tried again each time, but said once. */
		if (!port->follow.refused)
			FM_LOG(WARNING, "port %u (%s): cannot be taken up again: %s\n", port->id, port->name,
			       strerror(-ret));
		port->follow.refused = true;
		return;
	}
	port->follow.refused = false;
	port->follow.held_down = false;
	port->follow.grace_until_tsc = rte_rdtsc() + FM_GRACE_S * rte_get_tsc_hz();
	FM_LOG(NOTICE, "port %u: taken up again\n", port->id);
}

/* What the state of `port` means for its peer. */
static void follow(const struct fm_port *port, struct fm_port *peer)
{
	bool up;

	if (port->follow.held_down)
		return;
	up = fm_port_link_up(port);
	if (up && peer->follow.held_down)
		let_up(peer);
	else if (!up && !peer->follow.held_down && rte_rdtsc() > port->follow.grace_until_tsc)
		hold_down(peer, port);
}

static void wake(struct fm_port *port)
{
	int ret;

	if (port->kernel_ifindex == 0 || fm_netdev_up(port->kernel_ifindex))
		return;
	ret = fm_netdev_set_up(port->kernel_ifindex, true);
	if (ret != 0) {
		FM_LOG(WARNING, "port %u (%s): its interface is down and cannot be set up: %s\n", port->id, port->name,
		       strerror(-ret));
		return;
	}
	port->follow.grace_until_tsc = rte_rdtsc() + FM_GRACE_S * rte_get_tsc_hz();
	FM_LOG(NOTICE, "port %u (%s): its interface was down, set up for link-follow\n", port->id, port->name);
}

void fm_port_release_link(struct fm_port *port)
{
	if (port->follow.held_down)
		let_up(port);
}

void fm_engine_link_follow(void)
{
	const bool wanted = fm_engine.current->settings.link_follow, before = fm_engine.followed;

	fm_engine.followed = wanted;
	/* From now on, by option or by command: what a killed run held down is no lost link. */
	for (uint16_t i = 0; wanted && !before && i < fm_engine_ports(); i++)
		wake(&fm_engine.port[i]);
	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		struct fm_port *port = &fm_engine.port[i];

		if (!wanted)
			fm_port_release_link(port);
		else if (port->peer != i)
			follow(port, &fm_engine.port[port->peer]);
	}
}
