/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trampolines and writes. On x86-64 they are run: a function is patched in memory with hooks that count, and
 * called beside its unpatched self.
 */
#include <sys/mman.h>

#include "object.h"

#define MEMORY     (UINT64_C(1) << 20)
#define TRAMPOLINE 0x40000u
#define DATA_SIZE  256u
#define MAX_SITES  16u

#ifdef __x86_64__

struct counted {
	/* by site of the plan, within reach of the trampoline; behind them the sums of the stack pointers */
	uint64_t *counts;
};

/* incq count(%rip), or add %rsp,sum(%rip) */
static void word_append(struct code_buffer *buffer, const uint8_t opcode[3], const uint64_t *word)
{
	int32_t distance;

	code_buffer_append(buffer, opcode, 3);
	distance = (int32_t)((uint64_t)(uintptr_t)word - (code_buffer_here(buffer) + 4));
	code_buffer_append(buffer, &distance, sizeof(distance));
}

/* lea -128(%rsp),%rsp; pushf; count and sum; popf; lea 128(%rsp),%rsp */
static bool count_append(void *state, const struct code_plan *plan, const struct code_site *site,
			 struct code_buffer *buffer)
{
	const struct counted *counted = state;
	static const uint8_t before[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c };
	static const uint8_t increment[] = { 0x48, 0xff, 0x05 }, add_sp[] = { 0x48, 0x01, 0x25 };
	static const uint8_t after[] = { 0x9d, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	const size_t i = (size_t)(site - plan->sites);

	code_buffer_append(buffer, before, sizeof(before));
	word_append(buffer, increment, &counted->counts[i]);
	word_append(buffer, add_sp, &counted->counts[MAX_SITES + i]);
	code_buffer_append(buffer, after, sizeof(after));
	return true;
}

/* A module whose image stands in executable memory, as if it had been loaded at its own addresses. */
struct running {
	struct object object;
	struct code_module *module;
	struct code_plan plan;
	uint8_t *memory;
	uint64_t bias;
	struct counted counted;
	uint64_t at;
};

static bool running_start(struct running *running, const uint8_t *code, size_t size)
{
	memset(running, 0, sizeof(*running));
	running->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (running->memory == MAP_FAILED)
		return false;
	object_init(&running->object, EM_X86_64, ET_DYN);
	running->at = object_function(&running->object, "f", code, size);
	{
		static const uint8_t pad[0x200] = { [0 ... 0x1ff] = 0xcc };
		static const uint8_t callee[] = { 0x48, 0x8d, 0x47, 0x64, 0xc3 }; /* +100 */

		object_code(&running->object, pad, 0x200 - size);
		object_function(&running->object, "callee", callee, sizeof(callee));
		object_code(&running->object, pad, 32);
	}
	running->module = object_open(&running->object);
	running->bias = (uint64_t)(uintptr_t)running->memory;
	running->counted.counts = (uint64_t *)(void *)(running->memory + 0x80000);
	return true;
}

static void running_reset(struct running *running)
{
	memcpy(running->memory, running->object.image, IMAGE_SIZE);
	memset(running->counted.counts, 0, 2 * MAX_SITES * sizeof(uint64_t));
}

static void patch_all(struct running *running)
{
	const struct code_hook hook = { &running->counted, count_append };
	struct code_plan *plan = &running->plan;
	struct code_buffer buffer = { .bytes = running->memory + TRAMPOLINE, .capacity = 0x10000 };
	uint64_t resume = 0;

	/* the code refers to where it runs; vaddr + bias */
	buffer.address = TRAMPOLINE;
	assert_true(plan->n_sites <= MAX_SITES);
	for (uint32_t round = 0; round <= plan->n_patches; round++) {
		const uint32_t i = round ? round - 1 : plan->entry_patch;
		const struct code_patch *patch = &plan->patches[i];
		struct code_origin origins[600];
		struct code_write writes[CODE_PATCH_MAX_WRITES];
		const uint64_t to = code_buffer_here(&buffer);
		size_t n_origins, n;

		if (round && i == plan->entry_patch)
			continue;
		if (!(patch->loop && patch->form == CODE_PATCH_RETARGET))
			assert_int_equal(code_patch_emit(plan, patch, resume, &hook, &buffer,
							 origins, 600, &n_origins),
					 CODE_EMITTED);
		for (size_t o = 0; !round && o < n_origins; o++)
			if (!origins[o].hook && origins[o].address == patch->moved.start)
				resume = to + origins[o].offset;
		n = code_patch_writes(
			plan, patch,
			patch->loop && patch->form == CODE_PATCH_RETARGET ? resume : to, writes);
		assert_true(n > 0);
		for (size_t w = 0; w < n; w++) {
			uint8_t *at = running->memory + writes[w].address;

			assert_memory_equal(at, writes[w].original, writes[w].length);
			memcpy(at, writes[w].bytes, writes[w].length);
		}
	}
}

static void running_end(struct running *running)
{
	code_plan_release(&running->plan);
	code_module_close(running->module);
	object_release(&running->object);
	munmap(running->memory, MEMORY);
}

typedef long (*function)(long, long, long *);

static uint64_t entries_of(const struct running *running)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < running->plan.n_sites; i++)
		if (running->plan.sites[i].kind == CODE_SITE_ENTRY)
			n += running->counted.counts[i];
	return n;
}

/* Over all hooks of entries or exits. */
static uint64_t stack_pointers_of(const struct running *running, bool entries)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < running->plan.n_sites; i++)
		if ((running->plan.sites[i].kind == CODE_SITE_ENTRY) == entries)
			sum += running->counted.counts[MAX_SITES + i];
	return sum;
}

static uint64_t exits_of(const struct running *running)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < running->plan.n_sites; i++)
		if (running->plan.sites[i].kind != CODE_SITE_ENTRY)
			n += running->counted.counts[i];
	return n;
}

/* The hooks' counters lie at bias + 0x80000, and so does the address that the code computes. */
static void counts_relocate(struct running *running)
{
	running->counted.counts = (uint64_t *)(uintptr_t)0x80000;
}

/* Calls the function with arguments of small numbers, patched and not: same results, and as many entries and
 * exits as calls, with the same stack pointers. */
static void counted_exactly_with(const uint8_t *code, size_t size, bool faults_matter)
{
	const struct code_plan_options options = { .faults_matter = faults_matter };
	struct running running;
	uint64_t *counts;
	long want[64], got[64], memory_want[2] = { 0 }, memory_got[2] = { 0 };
	function f;

	if (!running_start(&running, code, size))
		SKIP("no memory that is writable and executable");
	counts = running.counted.counts;
	running_reset(&running);
	assert_int_equal(code_plan_make(&running.plan, running.module,
					code_module_function_at(running.module, running.at),
					&options),
			 CODE_PLANNED);
	for (uint32_t i = 0; i < running.plan.n_patches; i++)
		assert_false(faults_matter && running.plan.patches[i].may_fault);
	f = (function)(void *)(running.memory + running.at);
	for (long i = 0; i < 64; i++)
		want[i] = f(i % 8, i / 8, memory_want);
	counts_relocate(&running);
	patch_all(&running);
	running.counted.counts = counts;
	for (long i = 0; i < 64; i++)
		got[i] = f(i % 8, i / 8, memory_got);
	assert_memory_equal(want, got, sizeof(want));
	assert_memory_equal(memory_want, memory_got, sizeof(memory_want));
	assert_int_equal(entries_of(&running), 64);
	assert_int_equal(exits_of(&running), 64);
	assert_int_equal(stack_pointers_of(&running, true), stack_pointers_of(&running, false));
	running_end(&running);
}

static void counted_exactly(const uint8_t *code, size_t size)
{
	counted_exactly_with(code, size, false);
}

static const uint8_t straight[] = {
	0x53,                         /* push %rbx */
	0x48, 0x89, 0xfb,             /* mov %rdi,%rbx */
	0x48, 0x8d, 0x44, 0x73, 0x05, /* lea 0x5(%rbx,%rsi,2),%rax */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t sum_loop[] = {
	0x31, 0xc0,       /* xor %eax,%eax */
	0x48, 0x01, 0xf8, /* add %rdi,%rax */
	0x48, 0xff, 0xcf, /* dec %rdi */
	0x79, 0xf8,       /* jns 0x2 */
	0xc3,             /* ret */
};

static const uint8_t far_loop[] = {
	0xf3, 0x0f, 0x1e, 0xfa,       /* endbr64 */
	0xff, 0xcf,                   /* dec %edi */
	0x78, 0x08,                   /* js 0x10 */
	0x83, 0xc6, 0x03,             /* add $0x3,%esi */
	0xe9, 0xf4, 0xff, 0xff, 0xff, /* jmp 0x4 */
	0x89, 0xf0,                   /* mov %esi,%eax */
	0xc3,                         /* ret */
};

static const uint8_t early[] = {
	0x85, 0xff,             /* test %edi,%edi */
	0x75, 0x03,             /* jne 0x7 */
	0x31, 0xc0,             /* xor %eax,%eax */
	0xc3,                   /* ret */
	0x48, 0x83, 0x02, 0x01, /* addq $0x1,(%rdx) */
	0x83, 0xff, 0x01,       /* cmp $0x1,%edi */
	0x74, 0xf4,             /* je 0x4 */
	0x48, 0x83, 0x02, 0x0a, /* addq $0xa,(%rdx) */
	0xeb, 0xee,             /* jmp 0x4 */
};

static const uint8_t to_ret[] = {
	0x48, 0x8d, 0x47, 0x01, /* lea 0x1(%rdi),%rax */
	0x85, 0xff,             /* test %edi,%edi */
	0x75, 0x01,             /* jne 0x9 */
	0xc3,                   /* ret */
	0x48, 0x83, 0xc0, 0x02, /* add $0x2,%rax */
	0x83, 0xff, 0x01,       /* cmp $0x1,%edi */
	0x74, 0xf6,             /* je 0x8 */
	0x48, 0x83, 0xc0, 0x0a, /* add $0xa,%rax */
	0xeb, 0xf0,             /* jmp 0x8 */
};

static const uint8_t call_loop[] = {
	0xf3, 0x0f, 0x1e, 0xfa,       /* endbr64 */
	0xff, 0xcf,                   /* dec %edi */
	0x8d, 0x76, 0x03,             /* lea 0x3(%rsi),%esi */
	0x78, 0x0e,                   /* js 0x19 */
	0x57,                         /* push %rdi */
	0x56,                         /* push %rsi */
	0xe8, 0xee, 0x01, 0x00, 0x00, /* call 0x200 */
	0x5e,                         /* pop %rsi */
	0x5f,                         /* pop %rdi */
	0xe9, 0xeb, 0xff, 0xff, 0xff, /* jmp 0x4 */
	0x89, 0xf0,                   /* mov %esi,%eax */
	0xc3,                         /* ret */
};

static const uint8_t short_call_loop[] = {
	0x83, 0xef, 0x01,             /* sub $0x1,%edi */
	0x8d, 0x76, 0x03,             /* lea 0x3(%rsi),%esi */
	0x78, 0x0d,                   /* js 0x15 */
	0x57,                         /* push %rdi */
	0x56,                         /* push %rsi */
	0xe8, 0xf1, 0x01, 0x00, 0x00, /* call 0x200 */
	0x5e,                         /* pop %rsi */
	0x5f,                         /* pop %rdi */
	0x85, 0xff,                   /* test %edi,%edi */
	0x79, 0xeb,                   /* jns 0x0 */
	0x89, 0xf0,                   /* mov %esi,%eax */
	0xc3,                         /* ret */
};

static const uint8_t branch_only[] = {
	0x89, 0xf9,                   /* mov %edi,%ecx */
	0xe3, 0x06,                   /* jrcxz 0xa */
	0xb8, 0x01, 0x00, 0x00, 0x00, /* mov $0x1,%eax */
	0xc3,                         /* ret */
	0x31, 0xc0,                   /* xor %eax,%eax */
	0xc3,                         /* ret */
};

static const uint8_t loop_only[] = {
	0x8d, 0x4f, 0x02,             /* lea 0x2(%rdi),%ecx */
	0xe2, 0x06,                   /* loop 0xb */
	0xb8, 0x64, 0x00, 0x00, 0x00, /* mov $0x64,%eax */
	0xc3,                         /* ret */
	0x89, 0xc8,                   /* mov %ecx,%eax */
	0xc3,                         /* ret */
};

static const uint8_t flags_live[] = {
	0x48, 0x39, 0xfe,             /* cmp %rdi,%rsi */
	0xb8, 0x00, 0x00, 0x00, 0x00, /* mov $0x0,%eax */
	0xb9, 0x07, 0x00, 0x00, 0x00, /* mov $0x7,%ecx */
	0x0f, 0x9f, 0xc0,             /* setg %al */
	0xc3,                         /* ret */
};

static const uint8_t red_zone[] = {
	0x48, 0x89, 0x7c, 0x24, 0xf8, /* mov %rdi,-0x8(%rsp) */
	0x48, 0x89, 0x74, 0x24, 0x88, /* mov %rsi,-0x78(%rsp) */
	0x48, 0x8d, 0x04, 0x37,       /* lea (%rdi,%rsi,1),%rax */
	0x48, 0x03, 0x44, 0x24, 0xf8, /* add -0x8(%rsp),%rax */
	0x48, 0x03, 0x44, 0x24, 0x88, /* add -0x78(%rsp),%rax */
	0xc3,                         /* ret */
};

static const uint8_t tiny_neg[] = {
	0x6a, 0xff, /* push $0xffffffffffffffff */
	0x58,       /* pop %rax */
	0xc3,       /* ret */
};

static const uint8_t call_at_once[] = {
	0x53,                         /* push %rbx */
	0x48, 0x89, 0xf3,             /* mov %rsi,%rbx */
	0xe8, 0xf7, 0x01, 0x00, 0x00, /* call 0x200 */
	0x48, 0x01, 0xd8,             /* add %rbx,%rax */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t tail_long[] = {
	0x48, 0x89, 0xf0,             /* mov %rsi,%rax */
	0x48, 0x01, 0xc7,             /* add %rax,%rdi */
	0x48, 0x8d, 0x7f, 0x01,       /* lea 0x1(%rdi),%rdi */
	0xe9, 0xf1, 0x01, 0x00, 0x00, /* jmp 0x200 */
};

static const uint8_t tail_taken[] = {
	0x48, 0x8d, 0x44, 0x37, 0x03,       /* lea 0x3(%rdi,%rsi,1),%rax */
	0x48, 0x85, 0xff,                   /* test %rdi,%rdi */
	0x0f, 0x84, 0xf2, 0x01, 0x00, 0x00, /* je 0x200 */
	0xc3,                               /* ret */
	0x90,                               /* nop */
	0x90,                               /* nop */
	0x90,                               /* nop */
	0x90,                               /* nop */
	0x90,                               /* nop */
	0x48, 0x83, 0xfe, 0x04,             /* cmp $0x4,%rsi */
};

static const uint8_t tail_indirect[] = {
	0x48, 0x8d, 0x05, 0xf9, 0x01, 0x00, 0x00, /* lea 0x1f9(%rip),%rax */
	0x48, 0x89, 0xf1,                         /* mov %rsi,%rcx */
	0x48, 0x8d, 0x3c, 0x0f,                   /* lea (%rdi,%rcx,1),%rdi */
	0xff, 0xe0,                               /* jmp *%rax */
};

static const uint8_t switched[] = {
	0x48, 0x8d, 0x05, 0x14, 0x00, 0x00, 0x00, /* lea 0x14(%rip),%rax */
	0x48, 0x83, 0xff, 0x03,                   /* cmp $0x3,%rdi */
	0x77, 0x18,                               /* ja 0x25 */
	0x48, 0x85, 0xff,                         /* test %rdi,%rdi */
	0x74, 0x0a,                               /* je 0x1c */
	0x48, 0x8d, 0x46, 0x0a,                   /* lea 0xa(%rsi),%rax */
	0xc3,                                     /* ret */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x48, 0x8d, 0x46, 0x14,                   /* lea 0x14(%rsi),%rax */
	0xc3,                                     /* ret */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x90,                                     /* nop */
	0x48, 0x8d, 0x46, 0x1e,                   /* lea 0x1e(%rsi),%rax */
	0xc3,                                     /* ret */
};

static const uint8_t push_load[] = {
	0x53,                         /* push %rbx */
	0x48, 0x8b, 0x1a,             /* mov (%rdx),%rbx */
	0x48, 0x8d, 0x44, 0x77, 0x03, /* lea 0x3(%rdi,%rsi,2),%rax */
	0x48, 0x01, 0xd8,             /* add %rbx,%rax */
	0x48, 0x89, 0x02,             /* mov %rax,(%rdx) */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t sub_load[] = {
	0x48, 0x83, 0xec, 0x18,       /* sub $0x18,%rsp */
	0x48, 0x03, 0x32,             /* add (%rdx),%rsi */
	0x48, 0x89, 0x74, 0x24, 0x08, /* mov %rsi,0x8(%rsp) */
	0x48, 0x8d, 0x44, 0x77, 0x03, /* lea 0x3(%rdi,%rsi,2),%rax */
	0x48, 0x03, 0x44, 0x24, 0x08, /* add 0x8(%rsp),%rax */
	0x48, 0x89, 0x02,             /* mov %rax,(%rdx) */
	0x48, 0x83, 0xc4, 0x18,       /* add $0x18,%rsp */
	0xc3,                         /* ret */
};

static const uint8_t store_ret[] = {
	0x31, 0xc0,                   /* xor %eax,%eax */
	0x85, 0xff,                   /* test %edi,%edi */
	0x75, 0x0c,                   /* jne 0x12 */
	0x48, 0x8d, 0x46, 0x05,       /* lea 0x5(%rsi),%rax */
	0x48, 0x8d, 0x40, 0x01,       /* lea 0x1(%rax),%rax */
	0x48, 0x01, 0x02,             /* add %rax,(%rdx) */
	0xc3,                         /* ret */
	0x48, 0x89, 0xf0,             /* mov %rsi,%rax */
	0x48, 0x8d, 0x44, 0x07, 0x02, /* lea 0x2(%rdi,%rax,1),%rax */
	0xc3,                         /* ret */
};

static const uint8_t lone_ret[] = {
	0x48, 0x8b, 0x0a,                   /* mov (%rdx),%rcx */
	0x31, 0xc0,                         /* xor %eax,%eax */
	0x85, 0xff,                         /* test %edi,%edi */
	0x74, 0x15,                         /* je 0x1e */
	0x48, 0x8d, 0x44, 0x37, 0x09,       /* lea 0x9(%rdi,%rsi,1),%rax */
	0x83, 0xff, 0x03,                   /* cmp $0x3,%edi */
	0x74, 0x0b,                         /* je 0x1e */
	0x81, 0xe1, 0xff, 0x00, 0x00, 0x00, /* and $0xff,%ecx */
	0x48, 0x01, 0xc8,                   /* add %rcx,%rax */
	0xeb, 0x01,                         /* jmp 0x1f */
	0xc3,                               /* ret */
	0x48, 0x89, 0x02,                   /* mov %rax,(%rdx) */
	0xc3,                               /* ret */
};

static const uint8_t load_jump[] = {
	0x48, 0x8d, 0x05, 0xf9, 0x01, 0x00, 0x00, /* lea 0x1f9(%rip),%rax ; 0x200 */
	0x48, 0x89, 0x02,                         /* mov %rax,(%rdx) */
	0x48, 0x89, 0xf1,                         /* mov %rsi,%rcx */
	0x48, 0x8d, 0x3c, 0x0f,                   /* lea (%rdi,%rcx,1),%rdi */
	0xff, 0x22,                               /* jmp *(%rdx) */
};

static const uint8_t check_load[] = {
	0x48, 0x85, 0xff,       /* test %rdi,%rdi */
	0x74, 0x03,             /* je 0x8 */
	0x8b, 0x02,             /* mov (%rdx),%eax */
	0xc3,                   /* ret */
	0x48, 0x89, 0xf0,       /* mov %rsi,%rax */
	0x48, 0x8d, 0x40, 0x04, /* lea 0x4(%rax),%rax */
	0xc3,                   /* ret */
};

static void what_can_fault_stays_and_the_hooks_run_beside_it(void **state)
{
	(void)state;
	counted_exactly_with(push_load, sizeof(push_load), true);
	counted_exactly_with(sub_load, sizeof(sub_load), true);
	counted_exactly_with(store_ret, sizeof(store_ret), true);
	counted_exactly_with(lone_ret, sizeof(lone_ret), true);
	counted_exactly_with(check_load, sizeof(check_load), true);
	counted_exactly_with(load_jump, sizeof(load_jump), true);
}

static void patched_functions_compute_the_same_and_are_counted_exactly(void **state)
{
	(void)state;
#define RUN(code) counted_exactly(code, sizeof(code))
	RUN(straight);
	RUN(sum_loop);
	RUN(far_loop);
	RUN(early);
	RUN(to_ret);
	RUN(call_loop);
	RUN(short_call_loop);
	RUN(branch_only);
	RUN(loop_only);
	RUN(flags_live);
	RUN(red_zone);
	RUN(tiny_neg);
	RUN(call_at_once);
	RUN(tail_long);
	RUN(tail_indirect);
	RUN(switched);
#undef RUN
}

static void a_conditional_tail_is_counted_when_it_is_taken(void **state)
{
	(void)state;
	counted_exactly(tail_taken, 15);
}

static void restoring_the_original_bytes_restores_the_function(void **state)
{
	struct running running;
	uint64_t *counts;

	(void)state;
	if (!running_start(&running, far_loop, sizeof(far_loop)))
		SKIP("no memory that is writable and executable");
	counts = running.counted.counts;
	running_reset(&running);
	assert_int_equal(object_plan(&running.plan, running.module, running.at), CODE_PLANNED);
	counts_relocate(&running);
	patch_all(&running);
	assert_memory_not_equal(running.memory, running.object.image, IMAGE_SIZE);
	for (uint32_t i = 0; i < running.plan.n_patches; i++) {
		struct code_write writes[CODE_PATCH_MAX_WRITES];
		const size_t n = code_patch_writes(&running.plan, &running.plan.patches[i],
						   TRAMPOLINE, writes);

		for (size_t w = 0; w < n; w++)
			memcpy(running.memory + writes[w].address, writes[w].original,
			       writes[w].length);
	}
	assert_memory_equal(running.memory, running.object.image, IMAGE_SIZE);
	running.counted.counts = counts;
	running_end(&running);
}

#endif

static bool nothing_append(void *state, const struct code_plan *plan, const struct code_site *site,
			   struct code_buffer *buffer)
{
	static const uint8_t mark[] = { 0x1f, 0x20, 0x03, 0xd5 }; /* nop */

	(void)state;
	(void)plan;
	(void)site;
	code_buffer_append(buffer, mark, sizeof(mark));
	return true;
}

static const uint8_t arm_code[] = {
	0x00, 0x04, 0x00, 0xd1, /* sub x0, x0, */
	0x80, 0x00, 0x00, 0xb4, /* cbz x0, 14 <+0x14> */
	0xfe, 0xff, 0xff, 0x17, /* b 0 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
	0x1f, 0x20, 0x03, 0xd5, /* nop */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
};

static uint32_t word_at(const uint8_t *bytes, size_t i)
{
	uint32_t w;

	memcpy(&w, bytes + 4 * i, 4);
	return w;
}

static void trampolines_of_aarch64_have_hook_instruction_and_jump_back(void **state)
{
	const struct code_hook hook = { NULL, nothing_append };
	struct code_origin origins[8];
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint8_t bytes[64];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes) };
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_AARCH64, ET_DYN);
	at = FUNCTION(&object, "f", arm_code);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	buffer.address = at + 0x100000;
	assert_int_equal(code_patch_emit(&plan, &plan.patches[plan.entry_patch], 0, &hook, &buffer,
					 origins, 8, &n),
			 CODE_EMITTED);
	assert_int_equal(buffer.size, 12);
	assert_int_equal(word_at(bytes, 0), 0xd503201f);
	assert_int_equal(word_at(bytes, 1), 0xd1000400); /* sub x0, x0, #1 */
	/* back to at + 4 from at + 0x100008 */
	assert_int_equal(word_at(bytes, 2), 0x14000000 | ((-0x100004 >> 2) & 0x3ffffff));
	assert_int_equal(n, 3);
	assert_true(origins[0].hook && origins[0].address == at && origins[0].offset == 0);
	assert_true(!origins[1].hook && origins[1].address == at && origins[1].offset == 4);
	assert_true(!origins[2].hook && origins[2].address == at + 4 && origins[2].offset == 8);
	assert_int_equal(code_patch_writes(&plan, &plan.patches[0], buffer.address, writes), 1);
	assert_int_equal(writes[0].length, 4);
	assert_int_equal(word_at(writes[0].bytes, 0), 0x14000000 | (0x100000 >> 2));
	/* the loop back: to where the entry's first instruction stands now */
	for (uint32_t i = 0; i < plan.n_patches; i++) {
		if (!plan.patches[i].loop)
			continue;
		assert_int_equal(
			code_patch_writes(&plan, &plan.patches[i], buffer.address + 4, writes), 1);
		assert_int_equal(writes[0].address, at + 8);
		assert_int_equal(word_at(writes[0].bytes, 0), 0x14000000 | ((0x100004 - 8) >> 2));
	}
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

static const uint8_t plain[] = {
	0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, /* mov 0x100(%rip),%rax */
	0xc3,                                     /* ret */
};

static void what_is_too_far_or_too_large_is_said_so_and_leaves_nothing(void **state)
{
	const struct code_hook hook = { NULL, nothing_append };
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	struct code_origin origins[1];
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint8_t bytes[64];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes) };
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = FUNCTION(&object, "f", plain);
	object_code(&object, bytes, 0);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	buffer.address = at + UINT64_C(0x90000000);
	assert_int_equal(code_patch_emit(&plan, &plan.patches[0], 0, &hook, &buffer, NULL, 0, &n),
			 CODE_UNREACHABLE);
	assert_int_equal(buffer.size, 0);
	assert_true(code_buffer_good(&buffer));
	assert_int_equal(code_patch_writes(&plan, &plan.patches[0], buffer.address, writes), 0);
	buffer.address = at + 0x10000;
	buffer.capacity = 6;
	assert_int_equal(code_patch_emit(&plan, &plan.patches[0], 0, &hook, &buffer, NULL, 0, &n),
			 CODE_NO_SPACE);
	assert_int_equal(buffer.size, 0);
	buffer.capacity = sizeof(bytes);
	assert_int_equal(
		code_patch_emit(&plan, &plan.patches[0], 0, &hook, &buffer, origins, 1, &n),
		CODE_NO_SPACE);
	assert_int_equal(code_patch_emit(&plan, &plan.patches[0], 0, &hook, &buffer, NULL, 0, &n),
			 CODE_EMITTED);
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

static const uint8_t loop_moves[] = {
	0x00, 0x04, 0x00, 0xd1, /* sub x0, x0, */
	0xe0, 0xff, 0xff, 0xb5, /* cbnz x0, 0 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
};

static void a_jump_to_the_start_is_not_emitted_before_it_is_known_where_to(void **state)
{
	const struct code_hook hook = { NULL, nothing_append };
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint8_t bytes[64];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes) };
	unsigned int loops = 0;
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_AARCH64, ET_DYN);
	at = FUNCTION(&object, "f", loop_moves);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	buffer.address = at + 0x1000;
	for (uint32_t i = 0; i < plan.n_patches; i++) {
		if (!plan.patches[i].loop)
			continue;
		loops++;
		assert_int_equal(
			code_patch_emit(&plan, &plan.patches[i], 0, &hook, &buffer, NULL, 0, &n),
			CODE_IMPOSSIBLE);
		assert_int_equal(code_patch_emit(&plan, &plan.patches[i], at + 0x800, &hook,
						 &buffer, NULL, 0, &n),
				 CODE_EMITTED);
	}
	assert_int_equal(loops, 1);
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(patched_functions_compute_the_same_and_are_counted_exactly),
		cmocka_unit_test(what_can_fault_stays_and_the_hooks_run_beside_it),
		cmocka_unit_test(a_conditional_tail_is_counted_when_it_is_taken),
		cmocka_unit_test(restoring_the_original_bytes_restores_the_function),
#endif
		cmocka_unit_test(trampolines_of_aarch64_have_hook_instruction_and_jump_back),
		cmocka_unit_test(a_jump_to_the_start_is_not_emitted_before_it_is_known_where_to),
		cmocka_unit_test(what_is_too_far_or_too_large_is_said_so_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
