/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show config
 */
#include <inttypes.h>

#include <rte_version.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"

static void print_settings(FILE *out)
{
	char text[FM_SETTING_TEXT_LEN], range[160];
	struct fm_settings settings;

	fm_door_settings(&settings);
	fprintf(out, "Settings\n");
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++) {
		const struct fm_setting *setting = &fm_setting[i];

		fm_setting_format(setting, setting->get(&settings), text, sizeof(text));
		fm_setting_range(setting, range, sizeof(range));
		fprintf(out, "  %-16s %-22s ", setting->name, text);
		fm_print_wrapped(out, range, 42, 42);
	}
}

static void print_number(FILE *out, const char *name, uint64_t value, const char *unit, const char *if_zero)
{
	if (value == 0 && if_zero != NULL)
		fprintf(out, "  %-16s %s\n", name, if_zero);
	else
		fprintf(out, "  %-16s %" PRIu64 "%s%s\n", name, value, *unit != '\0' ? " " : "", unit);
}

static const char *topology_text(const struct fm_config *config)
{
	return config->topology == FM_TOPOLOGY_LOOP ? "loop" : "paired";
}

static const char *steer_text(const struct fm_config *config)
{
	return config->steer == FM_STEERING_ON ? "on" : "auto";
}

static const char *clock_text(const struct fm_config *config)
{
	return config->clock == FM_CLOCK_TSC ? "tsc" : "rx-timestamp";
}

static void print_start(FILE *out, const struct fm_config *config)
{
	fprintf(out, "\nAs started\n");
	fprintf(out, "  %-16s %s\n", "port-topology", topology_text(config));
	print_number(out, "nb-cores", config->nb_cores, "", "all but the main lcore");
	fprintf(out, "  %-16s %s\n", "steer", steer_text(config));
	print_number(out, "rxq", config->nb_rxq, "", "chosen for each port");
	print_number(out, "txq", config->nb_txq, "", "chosen for each port");
	print_number(out, "rxd", config->nb_rxd, "", "chosen for each port");
	print_number(out, "txd", config->nb_txd, "", "chosen for each port");
	print_number(out, "burst", config->burst, "frames", NULL);
	print_number(out, "mbcache", config->mbcache, "mbufs", NULL);
	print_number(out, "mbuf-size", config->mbuf_size, "bytes", NULL);
	print_number(out, "total-num-mbufs", config->total_num_mbufs, "", "chosen");
	print_number(out, "max-pkt-len", config->max_pkt_len, "bytes", "what the port takes");
	print_number(out, "max-datagrams", config->max_datagrams, "", "chosen from the budget");
	fprintf(out, "  %-16s %s\n", "numa", config->numa ? "on" : "off");
	fprintf(out, "  %-16s %s\n", "clock", clock_text(config));
	if (config->has_seed)
		fprintf(out, "  %-16s fixed: anyone can make keys collide\n", "seed");
}

static void put_setting(struct fm_value *in, const struct fm_setting *setting, const struct fm_settings *settings)
{
	const uint64_t value = setting->get(settings);
	char name[64], text[FM_SETTING_TEXT_LEN];

	snprintf(name, sizeof(name), "%s", setting->name);
	for (char *at = name; *at != '\0'; at++)
		if (*at == '-')
			*at = '_';
	switch (setting->kind) {
	case FM_KIND_NUMBER:
	case FM_KIND_BUDGET:
		fm_put_uint(in, name, value);
		break;
	case FM_KIND_SWITCH:
		fm_put_bool(in, name, value != 0);
		break;
	case FM_KIND_CHOICE:
		fm_setting_format(setting, value, text, sizeof(text));
		fm_put_text(in, name, text);
		break;
	}
}

/* 0: chosen by the program. */
static void put_start(struct fm_value *in, const struct fm_config *config)
{
	fm_put_text(in, "port_topology", topology_text(config));
	fm_put_uint(in, "nb_cores", config->nb_cores);
	fm_put_text(in, "steer", steer_text(config));
	fm_put_uint(in, "rxq", config->nb_rxq);
	fm_put_uint(in, "txq", config->nb_txq);
	fm_put_uint(in, "rxd", config->nb_rxd);
	fm_put_uint(in, "txd", config->nb_txd);
	fm_put_uint(in, "burst", config->burst);
	fm_put_uint(in, "mbcache", config->mbcache);
	fm_put_uint(in, "mbuf_size", config->mbuf_size);
	fm_put_uint(in, "total_num_mbufs", config->total_num_mbufs);
	fm_put_uint(in, "max_pkt_len", config->max_pkt_len);
	fm_put_uint(in, "max_datagrams", config->max_datagrams);
	fm_put_bool(in, "numa", config->numa);
	fm_put_text(in, "clock", clock_text(config));
	fm_put_bool(in, "fixed_seed", config->has_seed);
}

int fm_put_config(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_value *in = fm_put_object(root, "settings");
	struct fm_settings settings;

	(void)ask;
	(void)err;
	(void)err_len;
	fm_door_settings(&settings);
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++)
		put_setting(in, &fm_setting[i], &settings);
	put_start(fm_put_object(root, "start"), fm_door_config());
	fm_put_bool(root, "forwarding", fm_door_forwarding());
	fm_put_text(root, "version", FM_VERSION);
	fm_put_text(root, "dpdk", rte_version());
	return 0;
}

int fm_do_show_config(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = false };

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_config);
	print_settings(shell->out);
	print_start(shell->out, fm_door_config());
	fprintf(shell->out, "\nForwarding is %s.\n", fm_door_forwarding() ? "on" : "stopped");
	return 0;
}
