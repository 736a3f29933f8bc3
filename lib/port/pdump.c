/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_pdump.h>

#include "engine.h"
#include "state.h"

static bool up;

int fm_pdump_up(char *err, size_t err_len)
{
	(void)err;
	(void)err_len;
	/* Memory of a process without hugepages cannot be attached to: do not spend some of it. */
	if (!rte_eal_has_hugepages()) {
		FM_LOG(WARNING, "--pdump: without hugepages dpdk-dumpcap cannot attach\n");
		return 0;
	}
	up = rte_pdump_init() == 0;
	if (!up)
		FM_LOG(WARNING, "dpdk-dumpcap will not be able to attach: %s\n", rte_strerror(rte_errno));
	return 0;
}

int fm_pdump_down(char *err, size_t err_len)
{
	(void)err;
	(void)err_len;
	if (up)
		rte_pdump_uninit();
	up = false;
	return 0;
}
