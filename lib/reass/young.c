/* SPDX-License-Identifier: BSD-3-Clause */
#include "young.h"

#include "promise.h"
#include "source.h"

enum { STEPS_EACH = 4 };	/* entries of the age list to be passed for each datagram to be enrolled */

void fm_young_enroll(struct fm_reass *r, struct fm_datagram *d)
{
	struct fm_who who;
	struct fm_source *s;

	fm_source_ask(r, &d->key, (enum fm_family_index)d->family, &who);
	s = fm_source_find(r, &who);
	d->source = (uint32_t)(s - r->sources.record);
	d->source_check = s->check;
	d->mbufs_expected = (uint16_t)fm_expected_size(r, s);
	d->marks |= fm_source_known(s) ? 0 : FM_MARK_STRANGER;
	fm_source_enrolled(r, d, s);
	r->n_young--;
	fm_datagram_enlist(r, d, fm_chance_with(r, d, d->mbufs_held, d->fragments));
}

uint32_t fm_young_enroll_some(struct fm_reass *r, uint32_t max, uint64_t now_tsc)
{
	uint64_t steps = (uint64_t)max * STEPS_EACH;

	for (int family = 0; family < FM_FAMILIES; family++)
		for (; steps > 0 && r->n_young > 0 && r->young[family] != FM_NONE; steps--) {
			struct fm_datagram *d = fm_entry(r, r->young[family]);

			r->young[family] = fm_age_next(r, r->young[family]);
			if (!fm_is_young(d))
				continue;
			fm_young_enroll(r, d);
			if (fm_admit_cold(r, d, now_tsc)) {
				fm_source_failed(r, d, 0);
				fm_datagram_cool(r, d);
			}
			steps -= RTE_MIN(steps - 1, (uint64_t)STEPS_EACH - 1);
		}
	return max - (uint32_t)(steps / STEPS_EACH);
}
