/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding of this very process, against what the C library's backtrace() says at the same place; and
 * of made-up stacks over an AArch64 program, whose frames are laid out by its own frame information.
 */
#include "symbolize/unwind.h"

#include <elf.h>
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "fixture.h"
#include "symbolize/cfi_row.h"

#define MAX_FRAMES  256
#define STACK_BYTES (64u * 1024)

struct snapshot {
	uint64_t regs[33];
	uint64_t regs_mask;
	uint64_t sp;
	uint8_t stack[STACK_BYTES];
	size_t stack_size;
	void *expected[MAX_FRAMES]; /* backtrace() in the function that took the snapshot */
	int n_expected;
	bool taken;
};

static struct snapshot snapshot;
static volatile int sink;

/* perf's numbers of the registers in a ucontext. */
static void registers_take(struct snapshot *taken, const ucontext_t *context)
{
#if defined(__x86_64__)
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
				     REG_RDI, REG_RBP, REG_RSP, REG_RIP };
	static const int high[] = { REG_R8,  REG_R9,  REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15 };

	taken->regs_mask = 0x1ff | UINT64_C(0xff) << 16;
	for (int i = 0; i < 9; i++)
		taken->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	for (int i = 0; i < 8; i++)
		taken->regs[9 + i] = (uint64_t)context->uc_mcontext.gregs[high[i]];
	taken->sp = taken->regs[7];
#elif defined(__aarch64__)
	taken->regs_mask = (UINT64_C(1) << 33) - 1;
	for (int i = 0; i < 31; i++)
		taken->regs[i] = context->uc_mcontext.regs[i];
	taken->regs[31] = taken->sp = context->uc_mcontext.sp;
	taken->regs[32] = context->uc_mcontext.pc;
#endif
}

static uint64_t stack_end(void)
{
	pthread_attr_t attributes;
	size_t size;
	void *start;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
	pthread_attr_getstack(&attributes, &start, &size);
	pthread_attr_destroy(&attributes);
	return (uint64_t)start + size;
}

/* Stacks are read whole here, with what the sanitizers put between variables. */
__attribute__((no_sanitize("address", "undefined"), noinline)) static void
stack_copy(uint8_t *to, uint64_t from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = *(const volatile uint8_t *)(from + i);
}

static void snapshot_take(const ucontext_t *context)
{
	uint64_t left;

	registers_take(&snapshot, context);
	left = stack_end() - snapshot.sp;
	snapshot.stack_size = left < STACK_BYTES ? left : STACK_BYTES;
	stack_copy(snapshot.stack, snapshot.sp, snapshot.stack_size);
	snapshot.taken = true;
}

/* Address space: the objects of this process, by dl_iterate_phdr. */
struct space {
	struct symbolizer *symbolizer;
	struct runtime_address wanted;
	struct module *module;
	uint64_t load_bias;
	bool hide; /* pretend that nothing is mapped */
};

static int space_object(struct dl_phdr_info *info, size_t size, void *state)
{
	struct space *space = state;
	char program[600];

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		struct module_identity identity = { .path = info->dlpi_name };
		ssize_t length;

		if (header->p_type != PT_LOAD ||
		    space->wanted.value - (info->dlpi_addr + header->p_vaddr) >= header->p_memsz)
			continue;
		if (!identity.path[0]) {
			length = readlink("/proc/self/exe", program, sizeof(program) - 1);
			program[length > 0 ? length : 0] = '\0';
			identity.path = program;
		}
		space->module = strstr(identity.path, "vdso")
					? symbolizer_vdso(space->symbolizer, false)
					: symbolizer_module(space->symbolizer, &identity);
		space->load_bias = info->dlpi_addr;
		return 1;
	}
	return 0;
}

static bool space_find(void *state, struct runtime_address address, struct module **module,
		       uint64_t *load_bias)
{
	struct space *space = state;

	space->wanted = address;
	if (space->hide || !dl_iterate_phdr(space_object, space))
		return false;
	*module = space->module;
	*load_bias = space->load_bias;
	return true;
}

static size_t snapshot_unwind(struct space *space, size_t stack_size, uint64_t *addresses,
			      size_t capacity, enum unwind_end *end)
{
	const struct unwind_space callbacks = { space, space_find };
	const struct unwind_sample sample = {
#if defined(__x86_64__)
		.machine = EM_X86_64,
#else
		.machine = EM_AARCH64,
#endif
		.regs_mask = snapshot.regs_mask,
		.regs = snapshot.regs,
		.stack = snapshot.stack,
		.stack_size = stack_size,
	};
	struct symbolizer_options options = { .demangle = true };
	struct unwinder *unwinder;
	size_t n;

	assert_int_equal(symbolizer_new(&space->symbolizer, sys_real(), &options, NULL), STATUS_OK);
	assert_int_equal(unwinder_new(&unwinder, space->symbolizer, NULL), STATUS_OK);
	n = unwind(unwinder, &sample, &callbacks, addresses, capacity, end);
	unwinder_free(unwinder);
	symbolizer_free(space->symbolizer);
	return n;
}

/* Our frames from the first one that backtrace() knows too must be its frames, to the end. */
static void frames_agree(const uint64_t *addresses, size_t n)
{
	int skipped = 0;
	size_t i;

	/* [0] is where the registers were taken, in the function that called backtrace() */
	while (skipped < snapshot.n_expected &&
	       (uint64_t)snapshot.expected[skipped] != addresses[1])
		skipped++;
	assert_true(skipped < snapshot.n_expected);
	for (i = 1; i < n && skipped < snapshot.n_expected; i++, skipped++)
		assert_int_equal(addresses[i], (uint64_t)snapshot.expected[skipped]);
	assert_int_equal(i, n);
	assert_int_equal(skipped, snapshot.n_expected);
}

__attribute__((noinline)) static void take_here(void)
{
	ucontext_t context;

	snapshot.n_expected = backtrace(snapshot.expected, MAX_FRAMES);
	getcontext(&context);
	snapshot_take(&context);
	sink++;
}

__attribute__((noinline)) static int recurse(int depth)
{
	char *bytes = __builtin_alloca((size_t)(depth * 17 + 1));

	memset(bytes, depth, (size_t)(depth * 17 + 1));
	if (depth)
		sink += recurse(depth - 1);
	else
		take_here();
	return bytes[depth];
}

static int compare_numbers(const void *a, const void *b)
{
	if (!snapshot.taken)
		recurse(12);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void in_a_callback(void)
{
	int numbers[] = { 5, 3, 4, 1, 2 };

	qsort(numbers, 5, sizeof(int), compare_numbers);
	sink += numbers[0];
}

static void a_callback_out_of_the_c_library_is_unwound_to_the_start(void **state)
{
	uint64_t addresses[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;
	size_t n;

	(void)state;
	snapshot.taken = false;
	in_a_callback();
	n = snapshot_unwind(&space, snapshot.stack_size, addresses, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	frames_agree(addresses, n);
}

static jmp_buf out_of_never;

__attribute__((noinline, noreturn)) static void never_returns(void)
{
	take_here();
	longjmp(out_of_never, 1);
}

/* Nothing follows the call here: its return address is the first byte of whatever comes next, whose frame
 * is another one. */
__attribute__((noinline)) static void ends_with_a_call(int n)
{
	char *bytes = __builtin_alloca((size_t)n);

	memset(bytes, n, (size_t)n);
	sink += bytes[n / 2];
	never_returns();
}

static void a_call_at_the_very_end_of_a_function_is_unwound_by_its_own_frame(void **state)
{
	uint64_t addresses[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;
	size_t n;

	(void)state;
	if (!setjmp(out_of_never))
		ends_with_a_call(100);
	n = snapshot_unwind(&space, snapshot.stack_size, addresses, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	frames_agree(addresses, n);
}

static void *thread_main(void *argument)
{
	recurse(5);
	return argument;
}

static void a_thread_is_unwound_to_its_start(void **state)
{
	uint64_t addresses[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;
	pthread_t thread;
	size_t n;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	n = snapshot_unwind(&space, snapshot.stack_size, addresses, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	frames_agree(addresses, n);
}

static uint64_t interrupted_pc;

static void handler(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
#if defined(__x86_64__)
	interrupted_pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	interrupted_pc = interrupted->uc_mcontext.pc;
#endif
	take_here();
}

static void unwinding_crosses_a_signal_handler(void **state)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	uint64_t addresses[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;
	size_t n, found = 0;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	n = snapshot_unwind(&space, snapshot.stack_size, addresses, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	/* the interrupted instruction is no return address: given one higher, so that taking one off is
	 * right for it as well */
	for (size_t i = 1; i < n; i++)
		if (addresses[i] == interrupted_pc + 1) {
			found = i;
			addresses[i]--;
		}
	assert_true(found >= 2);
	frames_agree(addresses, n);
}

static void a_stack_that_was_copied_in_part_is_told_from_a_whole_one(void **state)
{
	uint64_t whole[MAX_FRAMES], part[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;
	size_t n, n_part, previous = 0;

	(void)state;
	recurse(20);
	n = snapshot_unwind(&space, snapshot.stack_size, whole, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	for (size_t size = 0; size < 4096; size += 512) {
		n_part = snapshot_unwind(&space, size, part, MAX_FRAMES, &end);
		assert_true(n_part >= 1 && n_part < n && n_part >= previous);
		assert_memory_equal(part, whole, n_part * sizeof(*part));
		assert_int_equal(end, UNWIND_DUMP_EXHAUSTED);
		previous = n_part;
	}
}

static void a_stack_deeper_than_the_room_for_it_is_told_so(void **state)
{
	uint64_t addresses[MAX_FRAMES];
	struct space space = { 0 };
	enum unwind_end end;

	(void)state;
	recurse(30);
	assert_int_equal(snapshot_unwind(&space, snapshot.stack_size, addresses, 10, &end), 10);
	assert_int_equal(end, UNWIND_DEPTH);
}

static void without_modules_only_the_sampled_address_is_given(void **state)
{
	uint64_t addresses[MAX_FRAMES];
	struct space space = { .hide = true };
	enum unwind_end end;

	(void)state;
	recurse(3);
	assert_int_equal(snapshot_unwind(&space, snapshot.stack_size, addresses, MAX_FRAMES, &end),
			 1);
	assert_int_equal(end, UNWIND_NO_CFI);
}

/* A module whose every address is code without frame information, such as a JIT's. */
static bool bare_find(void *state, struct runtime_address address, struct module **module,
		      uint64_t *load_bias)
{
	(void)state;
	*module = NULL;
	*load_bias = 0;
	return address.value >= 0x10000 && address.value < 0x20000;
}

static size_t bare_unwind(uint16_t machine, uint64_t fp, const uint64_t *stack, size_t n,
			  uint64_t *addresses, enum unwind_end *end)
{
	const struct unwind_space space = { NULL, bare_find };
	const bool x86 = machine == EM_X86_64;
	const uint64_t regs[] = { fp, 0x7000, 0x10010 };
	const struct unwind_sample sample = {
		.machine = machine,
		.regs_mask = x86 ? 1u << 6 | 1u << 7 | 1u << 8
				 : UINT64_C(1) << 29 | UINT64_C(1) << 31 | UINT64_C(1) << 32,
		.regs = regs,
		.stack = stack,
		.stack_size = n * sizeof(*stack),
	};

	return unwind(NULL, &sample, &space, addresses, MAX_FRAMES, end);
}

static void frame_pointers_are_followed_where_there_is_no_frame_information(void **state)
{
	/* 0x7000: two records, 0x7010 -> 0x7020 -> 0 */
	const uint64_t stack[] = { 1, 2, 0x7020, 0x10100, 0, 0x10200, 7, 8 };
	uint64_t addresses[MAX_FRAMES];
	enum unwind_end end;

	(void)state;
	assert_int_equal(bare_unwind(EM_X86_64, 0x7010, stack, 8, addresses, &end), 3);
	assert_int_equal(addresses[0], 0x10010);
	assert_int_equal(addresses[1], 0x10100);
	assert_int_equal(addresses[2], 0x10200);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_int_equal(bare_unwind(EM_AARCH64, 0x7010, stack, 8, addresses, &end), 3);
	assert_int_equal(end, UNWIND_COMPLETE);
}

static void a_frame_pointer_that_leads_nowhere_is_not_believed(void **state)
{
	const uint64_t outside[] = { 0x7010, 0x30000, 0x7000, 0x10100, 0, 0 };
	uint64_t addresses[MAX_FRAMES];
	enum unwind_end end;

	(void)state;
	/* a return address outside all modules; a loop down the stack; not aligned; below the stack */
	assert_int_equal(bare_unwind(EM_X86_64, 0x7000, outside, 6, addresses, &end), 1);
	assert_int_equal(end, UNWIND_NO_CFI);
	assert_int_equal(bare_unwind(EM_X86_64, 0x7010, outside, 6, addresses, &end), 2);
	assert_int_equal(end, UNWIND_NO_CFI);
	assert_int_equal(bare_unwind(EM_X86_64, 0x7011, outside, 6, addresses, &end), 1);
	assert_int_equal(bare_unwind(EM_X86_64, 0x6000, outside, 6, addresses, &end), 1);
	assert_int_equal(end, UNWIND_NO_CFI);
	/* above the copied part */
	assert_int_equal(bare_unwind(EM_X86_64, 0x7100, outside, 6, addresses, &end), 1);
	assert_int_equal(end, UNWIND_DUMP_EXHAUSTED);
}

static void authentication_codes_are_taken_off_return_addresses(void **state)
{
	const uint64_t stack[] = { 0x7010, 0x00ab000000010100, 0, 0x003f000000010200 };
	uint64_t addresses[MAX_FRAMES];
	enum unwind_end end;

	(void)state;
	assert_int_equal(bare_unwind(EM_AARCH64, 0x7000, stack, 4, addresses, &end), 3);
	assert_int_equal(addresses[1], 0x10100);
	assert_int_equal(addresses[2], 0x10200);
}

/* One stack frame per function of the AArch64 program, put together from its unwind rows: at an address
 * where the return address is saved and the CFA is sp plus an offset, with another row behind it, so that
 * it matters whether a return address is taken for itself or for the call before it. */
struct arranged {
	uint64_t pcs[64], depths[64];
	size_t n;
};

static bool is_frame(const struct cfi_row *row)
{
	return row->rules[30].kind == CFI_AT_CFA && row->cfa.kind == CFI_CFA_PLUS &&
	       row->cfa_register == 31 && row->cfa.offset > 0;
}

static void frames_arrange(const struct elf_file *file, const struct fde_table *fdes,
			   struct arranged *arranged)
{
	for (size_t i = 0; i < fdes->n && arranged->n < 60; i++)
		for (uint64_t at = fdes->ranges[i].start; at + 4 < fdes->ranges[i].end; at += 4) {
			struct cfi_row row, behind;

			if (!cfi_row_at(&row, file, fdes, &fdes->ranges[i], at) ||
			    !cfi_row_at(&behind, file, fdes, &fdes->ranges[i], at + 4) ||
			    !is_frame(&row) || is_frame(&behind))
				continue;
			arranged->pcs[arranged->n] = at + 4;
			arranged->depths[arranged->n++] = (uint64_t)row.cfa.offset;
			break;
		}
}

static bool one_module_find(void *state, struct runtime_address address, struct module **module,
			    uint64_t *load_bias)
{
	(void)address;
	*module = state;
	*load_bias = 0x5500000000;
	return true;
}

static void an_aarch64_stack_is_unwound_on_any_host(void **state)
{
	static uint8_t stack[1u << 20];
	const uint64_t bias = 0x5500000000, sp = 0x7fff0000;
	uint64_t addresses[MAX_FRAMES], regs[2], at = sp;
	struct arranged arranged = { 0 };
	struct unwind_sample sample = {
		.machine = EM_AARCH64,
		.regs_mask = UINT64_C(3) << 31,
		.regs = regs,
		.stack = stack,
		.stack_size = sizeof(stack),
	};
	struct unwind_space space = { NULL, one_module_find };
	struct fixture fixture;
	struct elf_file file;
	struct fde_table fdes;
	enum unwind_end end;
	size_t n;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "frames-aarch64-pac");
	assert_int_equal(
		elf_file_open(&file, sys_real(), fixture_path(&fixture, "frames-aarch64-pac")),
		SYMBOL_OK);
	assert_true(fde_table_read(&fdes, &file, NULL));
	frames_arrange(&file, &fdes, &arranged);
	assert_true(arranged.n >= 4);
	for (size_t i = 0; i < arranged.n; i++) {
		/* the signed return address of frame i stands where its row says: below its CFA */
		const uint64_t next = i + 1 < arranged.n
					      ? (bias + arranged.pcs[i + 1]) | UINT64_C(0x2b) << 48
					      : 0;
		struct cfi_row row;
		const uint64_t vaddr = arranged.pcs[i] - 4;

		assert_true(cfi_row_at(&row, &file, &fdes, fde_table_at(&fdes, vaddr), vaddr));
		at += arranged.depths[i];
		memcpy(stack + (at - sp) + row.rules[30].offset, &next, 8);
	}
	regs[0] = sp;
	regs[1] = bias + arranged.pcs[0] - 4;
	space.state = fixture_module(&fixture, "frames-aarch64-pac");
	n = unwind(NULL, &sample, &space, addresses, MAX_FRAMES, &end);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_int_equal(n, arranged.n);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(addresses[i], bias + arranged.pcs[i]);
	fde_table_release(&fdes);
	elf_file_release(&file);
	fixture_release(&fixture);
}

/* A handler without frame information returns, by its frame record, into the trampoline; above that lies
 * what the kernel saved of the interrupted thread. */
static void trampoline_check(const char *name, uint16_t machine, uint64_t saved_sp,
			     uint64_t saved_pc)
{
	static uint8_t stack[4096];
	const uint64_t bias = 0x5500000000, sp = 0x7fff0000;
	const bool x86 = machine == EM_X86_64;
	const uint64_t regs[] = { sp, sp, bias + 0x100000 };
	const struct unwind_sample sample = {
		.machine = machine,
		.regs_mask = x86 ? 1u << 6 | 1u << 7 | 1u << 8
				 : UINT64_C(1) << 29 | UINT64_C(1) << 31 | UINT64_C(1) << 32,
		.regs = regs,
		.stack = stack,
		.stack_size = sizeof(stack),
	};
	struct unwind_space space = { NULL, one_module_find };
	uint64_t addresses[MAX_FRAMES], record[2], interrupted[2] = { sp + 0x800, bias + 0x200000 };
	const struct function *function;
	struct fixture fixture;
	enum unwind_end end;

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	space.state = fixture_module(&fixture, name);
	function = fixture_function(space.state, "trampoline");
	assert_non_null(function);
	memset(stack, 0, sizeof(stack));
	record[0] = 0;
	record[1] = bias + function->start.value;
	memcpy(stack, record, sizeof(record));
	/* sp in the trampoline is 16 further, above the frame record */
	memcpy(stack + 16 + saved_sp, &interrupted[0], 8);
	memcpy(stack + 16 + saved_pc, &interrupted[1], 8);
	assert_int_equal(unwind(NULL, &sample, &space, addresses, MAX_FRAMES, &end), 3);
	assert_int_equal(addresses[1], bias + function->start.value);
	/* the interrupted pc is no return address, so one is added */
	assert_int_equal(addresses[2], bias + 0x200000 + 1);
	/* its frame pointer, which was saved as 0, ends the walk */
	assert_int_equal(end, UNWIND_COMPLETE);
	fixture_release(&fixture);
}

static void a_trampoline_without_frame_information_is_crossed(void **state)
{
	(void)state;
#ifdef __x86_64__
	/* struct ucontext: registers from 40 on, rsp the 16th and rip the 17th of them */
	trampoline_check("trampoline", EM_X86_64, 40 + 15 * 8, 40 + 16 * 8);
#else
	SKIP("x86-64 only");
#endif
}

static void an_aarch64_trampoline_is_crossed_on_any_host(void **state)
{
	(void)state;
	/* struct rt_sigframe: sp at 304 + 8 + 31 * 8, then pc */
	trampoline_check("trampoline-aarch64", EM_AARCH64, 304 + 8 + 31 * 8, 304 + 8 + 32 * 8);
}

static void an_unknown_machine_or_a_sample_without_registers_gives_nothing(void **state)
{
	struct unwind_sample sample = { .machine = EM_S390 };
	const struct unwind_space space = { NULL, bare_find };
	uint64_t addresses[4];
	enum unwind_end end;

	(void)state;
	assert_int_equal(unwind(NULL, &sample, &space, addresses, 4, &end), 0);
	assert_int_equal(end, UNWIND_NO_CFI);
	sample.machine = EM_X86_64;
	assert_int_equal(unwind(NULL, &sample, &space, addresses, 4, &end), 0);
	assert_int_equal(end, UNWIND_NO_CFI);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_out_of_the_c_library_is_unwound_to_the_start),
		cmocka_unit_test(a_call_at_the_very_end_of_a_function_is_unwound_by_its_own_frame),
		cmocka_unit_test(a_thread_is_unwound_to_its_start),
		cmocka_unit_test(unwinding_crosses_a_signal_handler),
		cmocka_unit_test(a_stack_that_was_copied_in_part_is_told_from_a_whole_one),
		cmocka_unit_test(a_stack_deeper_than_the_room_for_it_is_told_so),
		cmocka_unit_test(without_modules_only_the_sampled_address_is_given),
		cmocka_unit_test(frame_pointers_are_followed_where_there_is_no_frame_information),
		cmocka_unit_test(a_frame_pointer_that_leads_nowhere_is_not_believed),
		cmocka_unit_test(authentication_codes_are_taken_off_return_addresses),
		cmocka_unit_test(an_aarch64_stack_is_unwound_on_any_host),
		cmocka_unit_test(a_trampoline_without_frame_information_is_crossed),
		cmocka_unit_test(an_aarch64_trampoline_is_crossed_on_any_host),
		cmocka_unit_test(an_unknown_machine_or_a_sample_without_registers_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
