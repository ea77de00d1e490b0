/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because code that is to run must be mapped for real
 */
#include "probe/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/bytes.h"
#include "agent/counter.h"
#include "probe/buffers.h"
#include "probe/machine.h"

#define CALLS       4000u
#define ROUNDS      15u
#define CODE_BYTES  (64u * 1024)
#define RATE_MIN_NS UINT64_C(20000000)

/* On AArch64 a thread finds its block without. */
static bool state_set(uint64_t state)
{
#ifdef __x86_64__
	return syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, state) == 0;
#else
	(void)state;
	return true;
#endif
}

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

struct bench {
	uint8_t *region, *buffers;
	size_t region_bytes, buffers_bytes;
	struct agent_shared *shared;
	struct agent_block *block; /* this thread's, from the first hit on */
	void (*plain)(void);
	void (*probed)(void);
};

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The lower quartile: what disturbs a round only adds. */
static double quartile(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 4];
}

/* The event as this thread's page has it, or the clock. */
static uint64_t counter_now(const struct bench *bench)
{
	uint64_t value = 0, away;

	if (!(bench->shared->counter & AGENT_EVENT))
		return machine_ticks();
	(void)!counter_event((const struct perf_event_mmap_page *)(uintptr_t)bench->block->page,
			     counter_hardware, false, &value, &away);
	return value;
}

static double loop(const struct bench *bench, void (*function)(void))
{
	const uint64_t start = counter_now(bench);

	for (unsigned int i = 0; i < CALLS; i++) {
		function();
		__asm__ volatile("" ::: "memory");
	}
	return (double)(counter_now(bench) - start) / CALLS;
}

/* The hooks, as a function is patched. AArch64: to the entry's and back, and to the exit's, which also counts where it
 * is instructions that are counted; a function of one instruction saves two of these jumps. x86-64: in one run, since
 * what a jump takes depends on where it stands. */
static void bench_probed(const struct stub *stub, struct code_buffer *buffer)
{
	const bool jumps = MACHINE == EM_AARCH64;

	if (jumps)
		code_jump_append(MACHINE, code_buffer_here(buffer) + 4, buffer);
	(void)!stub_append_kind(MACHINE, stub, CODE_SITE_ENTRY, buffer);
	for (unsigned int i = 0; jumps && i < 2; i++)
		code_jump_append(MACHINE, code_buffer_here(buffer) + 4, buffer);
	(void)!stub_append_kind(MACHINE, stub, CODE_SITE_RETURN, buffer);
}

static void bench_code(struct bench *bench, const struct stub *wanted)
{
	struct stub stub = *wanted;
	const size_t agent_bytes = agent_code_bytes;
	unsigned int ret_bytes;
	const uint8_t *ret = machine_return(&ret_bytes);
	struct code_buffer buffer = {
		.bytes = bench->region + AGENT_CODE_OFFSET + ((agent_bytes + 63) & ~(size_t)63),
		.capacity = 4096,
	};

	memcpy(bench->region + AGENT_CODE_OFFSET, agent_code_start, agent_bytes);
	memcpy(&stub.entries, agent_code_start, sizeof(stub.entries));
	buffer.address = (uint64_t)(uintptr_t)buffer.bytes;
	stub.region = (uint64_t)(uintptr_t)bench->region;
	stub.function = 0;
	bench->plain = (void (*)(void))(uintptr_t)code_buffer_here(&buffer);
	code_buffer_append(&buffer, ret, ret_bytes);
	buffer.size = 64;
	bench->probed = (void (*)(void))(uintptr_t)code_buffer_here(&buffer);
	bench_probed(&stub, &buffer);
	code_buffer_append(&buffer, ret, ret_bytes);
}

static enum status bench_make(struct bench *bench, const struct stub *stub,
			      const struct metric *metric, uint64_t every, struct error *error)
{
	struct buffers_plan plan;
	struct agent_control *control;
	struct stub own = *stub;

	buffers_plan_make(&plan, stub->mode, 1, BUFFERS_DEFAULT_BYTES);
	bench->buffers_bytes = plan.bytes;
	bench->region_bytes = CODE_BYTES;
	bench->buffers = mmap(NULL, bench->buffers_bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bench->region = mmap(NULL, bench->region_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bench->buffers == MAP_FAILED || bench->region == MAP_FAILED)
		return error_set(error, STATUS_NO_MEMORY, "no memory to calibrate the probes in");
	bench->shared = (struct agent_shared *)(void *)(bench->region + AGENT_SHARED_OFFSET);
	buffers_header_fill(bench->shared, &plan, every, stub->capped ? 1u << 30 : 0);
	metric_header_fill(bench->shared, metric, 0);
	bench->shared->owner = (uint32_t)own_tid();
	memcpy(bench->buffers, bench->shared, sizeof(*bench->shared));
	control = (struct agent_control *)(void *)(bench->region + AGENT_CONTROL_OFFSET);
	control->negative_owner = -(uint64_t)own_tid();
	control->buffers = (uint64_t)(uintptr_t)bench->buffers;
	control->pid = (uint64_t)getpid();
	buffers_null_block(bench->buffers, control->buffers);
	bench->block = (struct agent_block *)(void *)(bench->buffers + plan.blocks_offset);
	own.state_end = buffers_state_end(&plan);
	bench_code(bench, &own);
	__builtin___clear_cache((char *)bench->region, (char *)bench->region + bench->region_bytes);
	if (mprotect(bench->region + AGENT_CODE_OFFSET, bench->region_bytes - AGENT_CODE_OFFSET,
		     PROT_READ | PROT_EXEC) < 0 ||
	    !state_set(control->buffers + AGENT_PAGE))
		return error_set_errno(error, STATUS_UNSUPPORTED, errno,
				       "cannot run the probes here to calibrate them");
	return STATUS_OK;
}

/* What the agent measured for the empty function since the last look. */
static double inner(const struct bench *bench)
{
	struct agent_function *function =
		(struct agent_function *)(void *)((uint8_t *)bench->block + AGENT_FUNCTIONS_OFFSET);
	const double mean = function->timed
				    ? (double)(int64_t)function->inclusive / (double)function->timed
				    : 0;

	function->timed = function->inclusive = 0;
	return mean;
}

/* What an event counts in the agent itself is overhead already: the pair is the rest. */
static void bench_run(struct bench *bench, const struct stub *stub, struct calibration *result)
{
	double pairs[ROUNDS], inners[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const double plain = loop(bench, bench->plain);
		const uint64_t overhead = bench->block->overhead;

		bench->block->records_tail = bench->block->records_head; /* an empty ring */
		pairs[i] = loop(bench, bench->probed) - plain;
		if (bench->shared->counter & AGENT_EVENT)
			pairs[i] -= (double)(bench->block->overhead - overhead) / CALLS;
		inners[i] = probe_mode_measures(stub->mode) ? inner(bench) : 0;
	}
	result->pair_ticks = quartile(pairs, ROUNDS);
	result->inner_ticks = quartile(inners, ROUNDS);
	if (result->pair_ticks < 0)
		result->pair_ticks = 0;
}

static void bench_release(struct bench *bench)
{
	state_set(0);
	if (bench->block && bench->block->page)
		munmap((void *)(uintptr_t)bench->block->page, bench->shared->page_bytes);
	if (bench->buffers != MAP_FAILED)
		munmap(bench->buffers, bench->buffers_bytes);
	if (bench->region != MAP_FAILED)
		munmap(bench->region, bench->region_bytes);
}

enum status probe_calibrate(struct calibration *calibration, const struct sys *sys,
			    const struct stub *stub, const struct metric *metric, uint64_t every,
			    struct error *error)
{
	struct bench bench = { .buffers = MAP_FAILED, .region = MAP_FAILED };
	enum status status;

	if (!machine_pages_fit())
		return error_set(error, STATUS_UNSUPPORTED,
				 "this kernel's memory pages are not of 4096 bytes, which the "
				 "probes are laid out for");
	status = bench_make(&bench, stub, metric, every, error);
	*calibration = (struct calibration){ .ns0 = sys_now_ns(sys), .tsc0 = machine_ticks() };
	if (status == STATUS_OK) {
		bench.probed(); /* the block, and its page */
		if (metric->by_event && bench.block->page_errno)
			status = error_set_errno(
				error, STATUS_UNSUPPORTED, (int)bench.block->page_errno,
				"cannot count %s to calibrate the probes", metric->name);
	}
	if (status == STATUS_OK)
		bench_run(&bench, stub, calibration);
	bench_release(&bench);
	return status;
}

double calibration_ticks_per_ns(const struct calibration *calibration, const struct sys *sys)
{
	uint64_t now;

	do
		now = sys_now_ns(sys);
	while (now - calibration->ns0 < RATE_MIN_NS);
	return (double)(machine_ticks() - calibration->tsc0) / (double)(now - calibration->ns0);
}
