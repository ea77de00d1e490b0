/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/drawer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum status drawer_init(struct drawer *drawer, uint64_t seed, uint32_t n_clocks, uint32_t n_slots,
			struct error *error)
{
	*drawer = (struct drawer){ .seed = seed,
				   .n_slots = n_slots,
				   .n_numbers = n_clocks * n_slots };
	drawer->numbers =
		calloc(drawer->n_numbers ? drawer->n_numbers : 1, sizeof(*drawer->numbers));
	if (!drawer->numbers)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the clocks' streams");
	drawer_set_epoch(drawer, 0);
	return STATUS_OK;
}

void drawer_release(struct drawer *drawer)
{
	free(drawer->numbers);
	free(drawer->held);
	*drawer = (struct drawer){ 0 };
}

void drawer_set_epoch(struct drawer *drawer, uint64_t epoch)
{
	drawer->epoch = epoch;
	drawer->epoch_seed = schedule_epoch_seed(drawer->seed, epoch);
	memset(drawer->numbers, 0, drawer->n_numbers * sizeof(*drawer->numbers));
}

static struct draw_name next_name(struct drawer *drawer, uint32_t clock_index, uint32_t slot)
{
	uint32_t *number = &drawer->numbers[clock_index * drawer->n_slots + slot];

	return (struct draw_name){ drawer->epoch_seed, clock_index, slot, (*number)++ };
}

uint64_t drawer_next(struct drawer *drawer, const struct clock *clock, uint32_t clock_index,
		     uint32_t slot)
{
	const struct draw_name name = next_name(drawer, clock_index, slot);

	return schedule_draw(&clock->schedule, clock->mean, &name);
}

uint64_t drawer_residual(struct drawer *drawer, const struct clock *clock, uint32_t clock_index,
			 uint32_t slot)
{
	const struct draw_name name = next_name(drawer, clock_index, slot);

	return schedule_residual(&clock->schedule, clock->mean, &name);
}

enum status drawer_log(struct drawer *drawer, uint64_t before_ns, uint64_t after_ns,
		       uint64_t period, uint32_t clock_index, uint32_t slot, struct error *error)
{
	const struct draw draw = { before_ns, after_ns, period, drawer->epoch, clock_index, slot };

	if (drawer->log)
		return draws_writer_append(drawer->log, &draw, error);
	if (!array_reserve(&drawer->held, &drawer->held_capacity, drawer->n_held + 1))
		return error_set(error, STATUS_NO_MEMORY, "no memory for the draws");
	drawer->held[drawer->n_held++] = draw;
	return STATUS_OK;
}

enum status drawer_set_log(struct drawer *drawer, struct draws_writer *log, struct error *error)
{
	enum status status = STATUS_OK;

	drawer->log = log;
	for (size_t i = 0; status == STATUS_OK && i < drawer->n_held; i++)
		status = draws_writer_append(log, &drawer->held[i], error);
	free(drawer->held);
	drawer->held = NULL;
	drawer->n_held = drawer->held_capacity = 0;
	return status;
}
