/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port is set up to spread by addresses, and a driver that does something else is found out. The ethdev functions
 * that this takes are the test's: in place of DPDK's, with a driver that does as the test wants.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rss.h"
#include "rss_port.h"

int fm_port_logtype;

enum { PORT = 5, ODD_QUEUE = 77 };

static struct fake {
	struct rte_eth_dev_info info;	/* once it is configured */
	uint64_t adds, drops;		/* types, of what it is asked for */
	bool other_key;
	int get_error, update_error, query_error;
	int32_t odd_entry;		/* -1: none */
	uint64_t types;
	uint8_t key[UINT8_MAX];
	uint16_t updates, n_entries;
	struct rte_eth_rss_reta_entry64 table[FM_RSS_GROUPS_MAX];
} fake;

int rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	assert_int_equal(id, PORT);
	*info = fake.info;
	return 0;
}

int rte_eth_dev_rss_hash_conf_get(uint16_t id, struct rte_eth_rss_conf *conf)
{
	assert_int_equal(id, PORT);
	conf->rss_hf = (fake.types | fake.adds) & ~fake.drops;
	memcpy(conf->rss_key, fake.key, fake.info.hash_key_size);
	if (fake.other_key)
		conf->rss_key[fake.info.hash_key_size - 1] ^= 1;
	return fake.get_error;
}

int rte_eth_dev_rss_reta_update(uint16_t id, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	assert_int_equal(id, PORT);
	assert_int_equal(size, fake.info.reta_size);
	if (fake.update_error != 0)
		return fake.update_error;
	fake.updates++;
	fake.n_entries = size;
	memcpy(fake.table, reta, (size_t)(size + 63) / 64 * sizeof(*reta));
	return 0;
}

int rte_eth_dev_rss_reta_query(uint16_t id, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	assert_int_equal(id, PORT);
	for (uint16_t i = 0; i < size && fake.query_error == 0; i++)
		if ((reta[i / 64].mask & RTE_BIT64(i % 64)) != 0)
			reta[i / 64].reta[i % 64] = i == fake.odd_entry ? ODD_QUEUE : fm_rss_reta_queue(fake.table, i);
	return fake.query_error;
}

struct fixture {
	struct fm_port port;
	char *log;
	size_t log_len;
	FILE *stream;
	bool steered;
	char err[512];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memset(&fake, 0, sizeof(fake));
	fake.odd_entry = -1;
	fake.info.reta_size = 128;
	fake.info.hash_key_size = 40;
	fake.info.flow_type_rss_offloads = RTE_ETH_RSS_PROTO_MASK;
	f->port.id = PORT;
	f->port.info = fake.info;
	snprintf(f->port.name, sizeof(f->port.name), "fake");
	f->stream = open_memstream(&f->log, &f->log_len);
	rte_openlog_stream(f->stream);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	rte_openlog_stream(NULL);
	fclose(f->stream);
	free(f->log);
	free(f);
	return 0;
}

/* The way of fm_port_open(), as far as RSS is concerned. */
static int open_port(struct fixture *f, uint16_t n_queues)
{
	struct rte_eth_conf conf = { 0 };
	const struct rte_eth_rss_conf *rss = &conf.rx_adv_conf.rss_conf;
	int ret;

	rewind(f->stream);
	fm_rss_ask(&f->port, &conf);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	assert_int_equal(rss->rss_hf & ~f->port.info.flow_type_rss_offloads, 0);
	/* The rule of 23.11. */
	assert_true(rss->rss_key == NULL || rss->rss_key_len == f->port.info.hash_key_size);
	fake.types = rss->rss_hf;
	if (rss->rss_key != NULL)
		memcpy(fake.key, rss->rss_key, rss->rss_key_len);
	ret = fm_rss_settle(&f->port, n_queues, f->steered, f->err, sizeof(f->err));
	fputc('\0', f->stream);
	fflush(f->stream);
	return ret;
}

static void assert_said(const struct fixture *f, const char *words)
{
	if (strstr(f->log, "port 5 (fake)") == NULL || strstr(f->log, words) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", f->log, words);
}

static void as_asked_for(void **state)
{
	struct fixture *f = *state;
	static const uint16_t sizes[] = { 64, 100, 128, 512, 2048, FM_RSS_RETA_MAX };

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		fake.info.reta_size = sizes[i];
		assert_int_equal(open_port(f, 6), 0);
		assert_string_equal(f->log, "");
		assert_true(f->port.symmetric);
		assert_int_equal(fake.types, FM_RSS_ADDRESSES);
		assert_int_equal(fake.n_entries, sizes[i]);
		for (uint16_t e = 0; e < sizes[i]; e++)
			assert_int_equal(fm_rss_reta_queue(fake.table, e), e % 6);
	}
	assert_int_equal(fake.updates, RTE_DIM(sizes));
}

static void a_wider_hash_is_refused(void **state)
{
	struct fixture *f = *state;

	fake.adds = RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	assert_int_equal(open_port(f, 4), -EINVAL);
	assert_non_null(strstr(f->err, "port 5 (fake): hashes more than addresses"));
	assert_non_null(strstr(f->err, "--rxq 1"));
	assert_int_equal(fake.updates, 0);
	/* But where software sees to the fragments, it does no harm. */
	f->steered = true;
	assert_int_equal(open_port(f, 4), 0);
	assert_int_equal(fake.updates, 1);
}

static void a_narrower_hash_is_told(void **state)
{
	struct fixture *f = *state;

	fake.drops = RTE_ETH_RSS_IPV6;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "IPv6");
	assert_int_equal(fake.updates, 1);
}

static void a_hash_that_is_not_told(void **state)
{
	struct fixture *f = *state;

	fake.get_error = -ENOTSUP;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "does not tell");
	assert_int_equal(fake.updates, 1);
}

static void keys(void **state)
{
	struct fixture *f = *state;

	fake.info.hash_key_size = f->port.info.hash_key_size = 52;
	assert_int_equal(open_port(f, 4), 0);
	assert_true(f->port.symmetric);
	fake.other_key = true;
	assert_int_equal(open_port(f, 4), 0);
	assert_false(f->port.symmetric);
	assert_said(f, "symmetric");
	fake.other_key = false;
	fake.info.hash_key_size = f->port.info.hash_key_size = 0;
	assert_int_equal(open_port(f, 4), 0);
	assert_false(f->port.symmetric);
	assert_said(f, "symmetric");
}

static void tables(void **state)
{
	struct fixture *f = *state;

	fake.update_error = -ENOTSUP;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "128 entries cannot be set");
	fake.update_error = 0;
	fake.odd_entry = 127;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "entry 127 of its redirection table is queue 77 instead of 3");
	fake.odd_entry = -1;
	fake.query_error = -ENOTSUP;
	assert_int_equal(open_port(f, 4), 0);
	assert_string_equal(f->log, "");
	fake.query_error = 0;
	fake.info.reta_size = 2;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "give --rxq 2");
	fake.updates = 0;
	fake.info.reta_size = 0;
	assert_int_equal(open_port(f, 4), 0);
	assert_said(f, "has 0 entries");
	fake.info.reta_size = FM_RSS_RETA_MAX + 1;
	assert_int_equal(open_port(f, 4), 0);
	assert_int_equal(fake.updates, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(as_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_wider_hash_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_narrower_hash_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_hash_that_is_not_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables, set_up, tear_down),
	};

	fm_port_logtype = rte_log_register("test.rss");
	rte_log_set_level((uint32_t)fm_port_logtype, RTE_LOG_NOTICE);
	return cmocka_run_group_tests_name("rss_port", tests, NULL, NULL);
}
