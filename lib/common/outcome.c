/* SPDX-License-Identifier: BSD-3-Clause */
#include "fm_outcome.h"

const struct fm_outcome_info fm_outcome_info[FM_OUTCOME_MAX] = {
#define FM_OUTCOME_ROW(sym, nm, sev, un, txt) \
	[FM_##sym] = { .name = #nm, .text = txt, .severity = FM_SEV_##sev, .unit = FM_UNIT_##un },
	FM_OUTCOMES(FM_OUTCOME_ROW)
#undef FM_OUTCOME_ROW
};
