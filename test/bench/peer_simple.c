/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two policies that need no more than a table of datagrams:
 *
 *   refuse-full  any fragment is refused while the budget is used up, the timer is 30 s: Linux today;
 *   lru          whatever has been idle for longest is evicted, and forgotten: Linux before 2014, and most others.
 *
 * It is about what they complete, so joining is no more than chaining: their cycles flatter them. The streams hold no
 * duplicates of honest fragments, so none are looked for.
 */
#include <stdlib.h>

#include <sys/queue.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "peer.h"

#define LINUX_TIMEOUT_NS UINT64_C(30000000000)

struct key {
	rte_be32_t source, destination;
	rte_be16_t id;
};

struct entry {
	struct key key;
	uint64_t first_ns;
	uint32_t bytes, end;   /* end 0: not known */
	struct rte_mbuf *head; /* fragments, linked as one chain */
	LIST_ENTRY(entry) bucket;
	TAILQ_ENTRY(entry) age, activity;
};

TAILQ_HEAD(entry_queue, entry);
LIST_HEAD(entry_list, entry);

struct simple {
	bool evicts;
	uint64_t timeout_ns;
	uint32_t held_mbufs, budget_mbufs;
	uint32_t bucket_mask;
	struct entry_list *bucket;
	struct entry_list free;
	struct entry_queue age, activity; /* oldest, and longest idle, first */
	struct entry *entry;
	struct rte_mbuf *done[FM_PEER_BURST];
};

static uint32_t mbufs(const struct fm_peer_params *params)
{
	return params->budget_mbufs;
}

static struct simple *create(const struct fm_peer_params *params)
{
	struct simple *peer = fm_peer_memory(sizeof(*peer));
	const uint32_t buckets = rte_align32pow2(params->budget_mbufs);

	peer->budget_mbufs = params->budget_mbufs;
	peer->bucket_mask = buckets - 1;
	peer->bucket = fm_peer_memory(buckets * sizeof(*peer->bucket));
	peer->entry = fm_peer_memory((uint64_t)params->budget_mbufs * sizeof(*peer->entry));
	TAILQ_INIT(&peer->age);
	TAILQ_INIT(&peer->activity);
	for (uint32_t i = 0; i < params->budget_mbufs; i++)
		LIST_INSERT_HEAD(&peer->free, &peer->entry[i], bucket);
	return peer;
}

static void *create_refuse(const struct fm_peer_params *params)
{
	struct simple *peer = create(params);

	peer->timeout_ns = LINUX_TIMEOUT_NS;
	return peer;
}

static void *create_lru(const struct fm_peer_params *params)
{
	struct simple *peer = create(params);

	peer->evicts = true;
	peer->timeout_ns = FM_PEER_TIMEOUT_NS;
	return peer;
}

static struct entry_list *bucket_of(struct simple *peer, const struct key *key)
{
	uint64_t hash = ((uint64_t)key->source << 32 | key->destination) ^ (uint64_t)key->id << 16;

	/* The finaliser of MurmurHash3. */
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return &peer->bucket[(hash ^ hash >> 33) & peer->bucket_mask];
}

/* Returns the fragments, as one chain. */
static struct rte_mbuf *forget(struct simple *peer, struct entry *e)
{
	LIST_REMOVE(e, bucket);
	LIST_INSERT_HEAD(&peer->free, e, bucket);
	TAILQ_REMOVE(&peer->age, e, age);
	TAILQ_REMOVE(&peer->activity, e, activity);
	peer->held_mbufs -= e->head->nb_segs;
	return e->head;
}

static struct entry *find(struct simple *peer, const struct key *key)
{
	struct entry *e;

	LIST_FOREACH(e, bucket_of(peer, key), bucket)
	if (e->key.source == key->source && e->key.destination == key->destination && e->key.id == key->id)
		return e;
	return NULL;
}

static struct entry *begin(struct simple *peer, const struct key *key, uint64_t now_ns)
{
	/* Each holds an mbuf, so there are never more than the budget. */
	struct entry *e = LIST_FIRST(&peer->free);

	LIST_REMOVE(e, bucket);
	*e = (struct entry){.key = *key, .first_ns = now_ns};
	LIST_INSERT_HEAD(bucket_of(peer, key), e, bucket);
	TAILQ_INSERT_TAIL(&peer->age, e, age);
	TAILQ_INSERT_TAIL(&peer->activity, e, activity);
	return e;
}

static void store(struct simple *peer, struct entry *e, struct rte_mbuf *m, const struct rte_ipv4_hdr *ip)
{
	const uint32_t length = rte_be_to_cpu_16(ip->total_length) - sizeof(*ip);
	const uint32_t field = rte_be_to_cpu_16(ip->fragment_offset);

	e->bytes += length;
	if ((field & RTE_IPV4_HDR_MF_FLAG) == 0)
		e->end = (field & RTE_IPV4_HDR_OFFSET_MASK) * RTE_IPV4_HDR_OFFSET_UNITS + length;
	if (e->head != NULL) {
		m->next = e->head;
		m->nb_segs = (uint16_t)(e->head->nb_segs + 1);
	}
	e->head = m;
	peer->held_mbufs++;
	TAILQ_REMOVE(&peer->activity, e, activity);
	TAILQ_INSERT_TAIL(&peer->activity, e, activity);
}

/* The whole datagram if `m` completes it. */
static struct rte_mbuf *reassemble(struct simple *peer, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
	const struct key key = {ip->src_addr, ip->dst_addr, ip->packet_id};
	struct entry *e;

	while (peer->held_mbufs >= peer->budget_mbufs) {
		if (!peer->evicts) {
			rte_pktmbuf_free(m);
			return NULL;
		}
		rte_pktmbuf_free(forget(peer, TAILQ_FIRST(&peer->activity)));
	}
	e = find(peer, &key);
	if (e == NULL)
		e = begin(peer, &key, now_ns);
	store(peer, e, m, ip);
	if (e->bytes != e->end)
		return NULL;
	m = forget(peer, e);
	m->pkt_len = sizeof(struct rte_ether_hdr) + sizeof(*ip) + e->bytes;
	return m;
}

static uint32_t burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_ns, struct rte_mbuf ***done)
{
	struct simple *peer = arg;
	uint32_t n_done = 0;

	while (!TAILQ_EMPTY(&peer->age) && now_ns - TAILQ_FIRST(&peer->age)->first_ns >= peer->timeout_ns)
		rte_pktmbuf_free(forget(peer, TAILQ_FIRST(&peer->age)));
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = reassemble(peer, in[i], now_ns);

		if (m != NULL)
			peer->done[n_done++] = m;
	}
	*done = peer->done;
	return n_done;
}

static void destroy(void *arg)
{
	struct simple *peer = arg;

	while (!TAILQ_EMPTY(&peer->age))
		rte_pktmbuf_free(forget(peer, TAILQ_FIRST(&peer->age)));
	free(peer->entry);
	free(peer->bucket);
	free(peer);
}

const struct fm_peer fm_peer_refuse = {
	.name = "refuse-full",
	.mbufs = mbufs,
	.create = create_refuse,
	.burst = burst,
	.destroy = destroy,
};

const struct fm_peer fm_peer_lru = {
	.name = "lru",
	.mbufs = mbufs,
	.create = create_lru,
	.burst = burst,
	.destroy = destroy,
};
