/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

void fm_options_help(FILE *out)
{
	struct fm_option_view o;

	fprintf(out,
		"usage: fragmend [EAL options] -- [options]\n\n"
		"Joins IP fragments between pairs of ports. EAL options are those of every DPDK program (-l,\n"
		"--lcores, -a, --vdev, -m, --no-huge, ...; `fragmend -h` without `--` lists them). Options:\n\n");
	for (unsigned int i = 0; fm_options_view(i, &o); i++) {
		if (o.letter != '\0')
			fprintf(out, "  -%c, --%s", o.letter, o.name);
		else
			fprintf(out, "  --%s", o.name);
		fprintf(out, "%s%s\n        %s\n", o.arg == NULL ? "" : " ", o.arg == NULL ? "" : o.arg, o.text);
	}
	fprintf(out,
		"\nExit status: 0 after quit, SIGINT, SIGTERM, SIGHUP, SIGQUIT or --exit-on-idle; 1 if it could\n"
		"not start or finish; 2 on wrong usage.\n");
}
