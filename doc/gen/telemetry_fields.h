/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of the answers of telemetry, for the reference page. An end-to-end test asks every endpoint and fails for a
 * member that is not here.
 */
#ifndef FM_TELEMETRY_FIELDS_H
#define FM_TELEMETRY_FIELDS_H

/*
 * F(endpoint, path, what it is). In a path N stands for a number in a list, and NAME for the name of an outcome or a
 * setting.
 */
#define FM_TELEMETRY_FIELDS(F) \
	F("stats", "lcore", "Of one worker only: its lcore.") \
	F("stats", "rx_frames", "Frames that the workers received.") \
	F("stats", "rx_bytes", "Their bytes.") \
	F("stats", "tx_frames", "Frames that were handed to TX queues.") \
	F("stats", "tx_bytes", "Their bytes.") \
	F("stats", "frames_in", "Frames that reassembly looked at.") \
	F("stats", "frames_dropped", "Frames that are no fragments and could not leave.") \
	F("stats", "fragments_in", "Fragments among them.") \
	F("stats", "fragments_completed", "Fragments of datagrams that were completed.") \
	F("stats", "fragments_dropped", "Fragments that were dropped, whatever for.") \
	F("stats", "datagrams_completed", "Datagrams that were completed.") \
	F("stats", "datagrams_sent_whole", "Those that left whole.") \
	F("stats", "datagrams_sent_refragmented", "Those that left as clean fragments.") \
	F("stats", "datagrams_dropped", "Those that were dropped on their way out.") \
	F("stats", "polls", "Turns of the workers' loops.") \
	F("stats", "busy_polls", "Turns that found frames.") \
	F("stats", "held.fragments", "Fragments held now.") \
	F("stats", "held.mbufs", "Mbufs they take.") \
	F("stats", "held.budget_mbufs", "Mbufs they may take.") \
	F("stats", "held.datagrams", "Datagrams that wait for fragments now.") \
	F("stats", "held.max_datagrams", "How many may wait.") \
	F("stats", "held.condemned", "Datagrams that are remembered as dropped now.") \
	F("stats", "held.tx_backlog_mbufs", "Mbufs that wait for room in TX queues now.") \
	F("stats", "held.between_workers_mbufs", "Mbufs on their way from worker to worker now.") \
	F("drops", "NAME.count", "How often it happened.") \
	F("drops", "NAME.per_s", "How often each second, of late.") \
	F("drops", "NAME.severity", "good, drop (for what it is) or pressure (for want of memory, time or room).") \
	F("drops", "NAME.unit", "What is counted: frame, fragment or datagram.") \
	F("drops", "NAME.text", "What it means.") \
	F("sources", "held_mbufs", "Mbufs held of all sources.") \
	F("sources", "sources.N.source", "Prefix, as 10.0.0.1/32.") \
	F("sources", "sources.N.held_mbufs", "Mbufs held of it.") \
	F("sources", "sources.N.share_permille", "Its share of all that is held.") \
	F("sources", "sources.N.chance_permille", "That its next datagram completes.") \
	F("sources", "sources.N.delivered_fragments", "Fragments of its completed datagrams.") \
	F("sources", "sources.N.wasted_fragments", "Fragments of it that were held for nothing.") \
	F("datagrams", "held", "Datagrams that wait for fragments in all.") \
	F("datagrams", "datagrams.N.source", "Source address.") \
	F("datagrams", "datagrams.N.destination", "Destination address.") \
	F("datagrams", "datagrams.N.family", "4 or 6.") \
	F("datagrams", "datagrams.N.id", "Identification.") \
	F("datagrams", "datagrams.N.protocol", "IPv4 only.") \
	F("datagrams", "datagrams.N.port", "Where it comes in.") \
	F("datagrams", "datagrams.N.vlan.N", "VLAN, the outer one first.") \
	F("datagrams", "datagrams.N.age_us", "Microseconds since its first fragment.") \
	F("datagrams", "datagrams.N.idle_us", "Microseconds since its last one.") \
	F("datagrams", "datagrams.N.fragments", "Fragments of it that are held.") \
	F("datagrams", "datagrams.N.held_mbufs", "Mbufs they take.") \
	F("datagrams", "datagrams.N.held_bytes", "Bytes of it that are there.") \
	F("datagrams", "datagrams.N.end_bytes", "Its length, once its last fragment is there.") \
	F("datagrams", "datagrams.N.missing_ranges", "Gaps in it.") \
	F("datagrams", "datagrams.N.chance_permille", "That it completes.") \
	F("datagrams", "datagrams.N.cold", "Idle for longer than fragments are apart: first to be evicted.") \
	F("config", "settings.NAME", "Each setting of `show config`, with `_` for `-`.") \
	F("config", "start.port_topology", "Options at the start; 0: chosen by the program.") \
	F("config", "start.nb_cores", "") \
	F("config", "start.steer", "") \
	F("config", "start.rxq", "") \
	F("config", "start.txq", "") \
	F("config", "start.rxd", "") \
	F("config", "start.txd", "") \
	F("config", "start.burst", "") \
	F("config", "start.mbcache", "") \
	F("config", "start.mbuf_size", "") \
	F("config", "start.total_num_mbufs", "") \
	F("config", "start.max_pkt_len", "") \
	F("config", "start.max_datagrams", "") \
	F("config", "start.numa", "") \
	F("config", "start.clock", "") \
	F("config", "start.fixed_seed", "1: anyone can make keys collide.") \
	F("config", "forwarding", "Is it on?") \
	F("config", "version", "Of fragmend.") \
	F("config", "dpdk", "Version of DPDK.") \
	F("budget", "budget_mbufs", "Mbufs that held fragments may take in all.") \
	F("budget", "budget_max_mbufs", "What it could be set to.") \
	F("budget", "held_mbufs", "What they take now.") \
	F("budget", "pools.N.name", "Name of the pool.") \
	F("budget", "pools.N.port", "Port that receives into it.") \
	F("budget", "pools.N.numa_node", "-1: unknown.") \
	F("budget", "pools.N.size_mbufs", "All mbufs of the pool.") \
	F("budget", "pools.N.available_mbufs", "Free now, caches included.") \
	F("budget", "pools.N.rx_descriptors", "Reserved for RX descriptors.") \
	F("budget", "pools.N.tx_descriptors", "For TX descriptors.") \
	F("budget", "pools.N.tx_backlog_mbufs", "For what waits for room in TX queues.") \
	F("budget", "pools.N.between_workers_mbufs", "For what is between workers.") \
	F("budget", "pools.N.cache_mbufs", "For caches of lcores.") \
	F("budget", "pools.N.burst_reserve_mbufs", "For bursts.") \
	F("budget", "pools.N.budget_mbufs", "For held fragments.") \
	F("budget", "pools.N.spare_mbufs", "For nothing.") \
	F("budget", "tables.N.lcore", "Whose table it is.") \
	F("budget", "tables.N.max_datagrams", "Datagrams it has room for.") \
	F("budget", "tables.N.bytes", "Its memory.") \
	F("check", "ok", "Do all of them hold?") \
	F("check", "frames.ok", "Is every frame counted once?") \
	F("check", "frames.in", "Received,") \
	F("check", "frames.by_outcome", "which is so many by outcome") \
	F("check", "frames.between_workers", "and so many between two workers.") \
	F("check", "fragments.ok", "Is every fragment somewhere?") \
	F("check", "fragments.in", "Received,") \
	F("check", "fragments.completed", "which is so many of completed datagrams,") \
	F("check", "fragments.dropped", "so many dropped") \
	F("check", "fragments.held", "and so many held now.") \
	F("check", "mbufs.ok", "Is no mbuf lost?") \
	F("check", "mbufs.size", "In all pools,") \
	F("check", "mbufs.free", "which is so many free,") \
	F("check", "mbufs.held", "so many held now") \
	F("check", "mbufs.elsewhere", "and so many in rings, queues, caches and between workers, among which") \
	F("check", "mbufs.lost", "so many are more than all of these can hold.") \
	F("ports", "ports.N.id", "Port number.") \
	F("ports", "ports.N.name", "Its name.") \
	F("ports", "ports.N.link_up", "Has it a link?") \
	F("ports", "ports.N.link_speed_mbps", "0: unknown.") \
	F("ports", "ports.N.rx_packets", "As ethdev counts.") \
	F("ports", "ports.N.rx_bytes", "") \
	F("ports", "ports.N.rx_missed", "Dropped by the port, as no worker fetched them in time.") \
	F("ports", "ports.N.rx_errors", "") \
	F("ports", "ports.N.rx_no_mbuf", "Dropped as the pool was empty; must stay 0.") \
	F("ports", "ports.N.tx_packets", "") \
	F("ports", "ports.N.tx_bytes", "") \
	F("ports", "ports.N.tx_errors", "") \
	F("ports", "ports.N.per_s.rx_packets", "Rates, of late.") \
	F("ports", "ports.N.per_s.rx_bytes", "") \
	F("ports", "ports.N.per_s.tx_packets", "") \
	F("ports", "ports.N.per_s.tx_bytes", "") \
	F("lcores", "lcores.N.lcore", "Lcore of a worker.") \
	F("lcores", "lcores.N.worker", "Its number.") \
	F("lcores", "lcores.N.numa_node", "-1: unknown.") \
	F("lcores", "lcores.N.polls", "Turns of its loop.") \
	F("lcores", "lcores.N.busy_polls", "Turns that found frames.") \
	F("lcores", "lcores.N.busy_permille", "Part of them that found frames, of late.") \
	F("lcores", "lcores.N.rx_frames", "Frames it received.") \
	F("lcores", "lcores.N.rx_frames_per_s", "") \
	F("lcores", "lcores.N.fragments_in", "Fragments it was given.") \
	F("lcores", "lcores.N.fragments_in_per_s", "") \
	F("lcores", "lcores.N.held_mbufs", "Mbufs its table holds.") \
	F("lcores", "lcores.N.budget_mbufs", "Mbufs it may hold.") \
	F("lcores", "lcores.N.datagrams", "Datagrams in its table.") \
	F("lcores", "lcores.N.max_datagrams", "How many may be there.") \
	F("lcores", "lcores.N.tx_backlog_mbufs", "Mbufs that wait for room in its TX queues.") \
	F("lcores", "lcores.N.table_bytes", "Memory of its table.") \
	F("lcores", "lcores.N.queues.N.port", "Of one worker only: what it polls,") \
	F("lcores", "lcores.N.queues.N.queue", "") \
	F("lcores", "lcores.N.queues.N.to_port", "where that leaves") \
	F("lcores", "lcores.N.queues.N.to_queue", "") \
	F("lcores", "lcores.N.queues.N.sent_by_lcore", "and by whom it is sent.") \
	F("lcores", "lcores.N.owned_ports.N", "Ports of whose fragments it gets a part.") \
	F("lcores", "lcores.N.pipes.N.to_lcore", "Whom it hands frames to,") \
	F("lcores", "lcores.N.pipes.N.of", "what they are if they are not for a port,") \
	F("lcores", "lcores.N.pipes.N.to_port", "or the port,") \
	F("lcores", "lcores.N.pipes.N.frames", "how many since the start,") \
	F("lcores", "lcores.N.pipes.N.dropped", "how many for which there was no room,") \
	F("lcores", "lcores.N.pipes.N.mbufs", "how many are on their way now") \
	F("lcores", "lcores.N.pipes.N.room_mbufs", "and how many may be.")

/* Rates of the counters of `stats` are under per_s, with the same names. */
#define FM_TELEMETRY_RATES(F) \
	F("rx_frames") F("rx_bytes") F("tx_frames") F("tx_bytes") F("frames_in") F("frames_dropped") \
	F("fragments_in") F("fragments_completed") F("fragments_dropped") F("datagrams_completed") \
	F("datagrams_sent_whole") F("datagrams_sent_refragmented") F("datagrams_dropped") F("polls") F("busy_polls")

#endif
