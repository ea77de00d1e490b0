/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One test per pattern of machine code that a plan must get right, or refuse. The cases' names are those of
 * docs/probes.md.
 */
#include "code/plan.h"

#include "object.h"

#define MAX_SITES 16

struct planned {
	struct object object;
	struct code_module *module;
	struct code_plan plan;
	enum code_refusal refusal;
	uint64_t at;
};

/* One function and what follows it at once, planned. */
static void plan_of(struct planned *planned, const uint8_t *code, size_t size,
		    const uint8_t *behind, size_t n_behind)
{
	object_init(&planned->object, EM_X86_64, ET_DYN);
	planned->at = object_function(&planned->object, "f", code, size);
	object_code(&planned->object, behind, n_behind);
	planned->module = object_open(&planned->object);
	planned->refusal = object_plan(&planned->plan, planned->module, planned->at);
}

static void planned_release(struct planned *planned)
{
	code_plan_release(&planned->plan);
	code_module_close(planned->module);
	object_release(&planned->object);
}

/* Behind the function: padding, or another function's code at once. */
static const uint8_t padding[16] = { [0 ... 15] = 0xcc };
static const uint8_t nothing[16] = { 0x48, 0x89, 0xc3, 0x48, 0x89, 0xc3, 0x48, 0x89,
				     0xc3, 0x48, 0x89, 0xc3, 0x48, 0x89, 0xc3, 0xc3 };

#define PLAN(planned, code, behind) plan_of(planned, code, sizeof(code), behind, sizeof(behind))

static const uint8_t ordinary[] = {
	0x53,                                     /* push %rbx */
	0x48, 0x89, 0xfb,                         /* mov %rdi,%rbx */
	0x48, 0x83, 0xec, 0x10,                   /* sub $0x10,%rsp */
	0x48, 0x8b, 0x83, 0x00, 0x01, 0x00, 0x00, /* mov 0x100(%rbx),%rax */
	0xe8, 0xfb, 0x00, 0x00, 0x00,             /* call 0x10f */
	0x48, 0x89, 0xc3,                         /* mov %rax,%rbx */
	0x48, 0x83, 0xc4, 0x10,                   /* add $0x10,%rsp */
	0x48, 0x89, 0xd8,                         /* mov %rbx,%rax */
	0x5b,                                     /* pop %rbx */
	0xc3,                                     /* ret */
};

static void entry_and_ret_move_as_few_instructions_as_do(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, ordinary, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 2);
	assert_int_equal(p.plan.n_exits, 1);
	assert_int_equal(p.plan.entry_patch, 0);
	assert_int_equal(p.plan.patches[0].start, p.at);
	assert_int_equal(p.plan.patches[0].moved.end, p.at + 8);
	assert_int_equal(p.plan.patches[0].form, CODE_PATCH_JUMP);
	assert_false(p.plan.patches[0].may_fault);
	/* padding behind it: ret alone */
	assert_int_equal(p.plan.patches[1].start, p.at + sizeof(ordinary) - 1);
	assert_int_equal(p.plan.sites[1].kind, CODE_SITE_RETURN);
	planned_release(&p);
}

static void a_ret_before_a_packed_neighbour_takes_what_runs_before_it(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, ordinary, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	/* mov %rbx,%rax; pop %rbx; ret: exactly 5 bytes */
	assert_int_equal(patch_of(&p.plan, p.at + sizeof(ordinary) - 1)->start,
			 p.at + sizeof(ordinary) - 5);
	planned_release(&p);
}

static const uint8_t call_before_ret[] = {
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0x48, 0x89, 0xf3,             /* mov %rsi,%rbx */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x106 */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static void a_call_is_never_moved_and_its_return_address_never_covered(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, call_before_ret, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.patches[1].start, p.at + sizeof(call_before_ret) - 1);
	planned_release(&p);
	/* pop and ret have 2 bytes, and nothing lends an island: the call stands in the way */
	PLAN(&p, call_before_ret, nothing);
	assert_int_equal(p.refusal, CODE_EXIT_SHORT);
	assert_int_equal(p.plan.refused_at, p.at + sizeof(call_before_ret) - 2);
	planned_release(&p);
}

static const uint8_t call_first[] = {
	0x53,                         /* push %rbx */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x101 */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t indirect_call_first[] = {
	0x53,       /* push %rbx */
	0xff, 0xd0, /* call *%rax */
	0x5b,       /* pop %rbx */
	0xc3,       /* ret */
};

static void a_call_at_the_entry_only_changes_its_displacement_or_refuses(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, call_first, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.patches[0].form, CODE_PATCH_RETARGET);
	assert_int_equal(p.plan.patches[0].start, p.at + 1);
	/* the hook runs below the push and the return address */
	assert_int_equal(p.plan.sites[0].sp_bytes, 16);
	assert_int_equal(p.plan.sites[0].target, p.at + 0x101);
	planned_release(&p);
	PLAN(&p, indirect_call_first, padding);
	assert_int_equal(p.refusal, CODE_ENTRY_CALL);
	planned_release(&p);
}

static const uint8_t loop_back[] = {
	0x53,                         /* push %rbx */
	0x48, 0x01, 0xf8,             /* add %rdi,%rax */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x104 */
	0xff, 0xc9,                   /* dec %ecx */
	0x75, 0xf4,                   /* jne 0x1 */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t sum_to[] = {
	0xfc,             /* cld */
	0x48, 0x01, 0xf8, /* add %rdi,%rax */
	0x48, 0xff, 0xcf, /* dec %rdi */
	0x75, 0xf8,       /* jne 0x1 */
	0xc3,             /* ret */
};

static void a_jump_into_the_entrys_window_refuses_unless_the_body_can_move(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, loop_back, padding);
	assert_int_equal(p.refusal, CODE_ENTRY_TARGET);
	planned_release(&p);
	PLAN(&p, sum_to, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_true(p.plan.patches[0].body);
	assert_int_equal(p.plan.patches[0].n_sites, 2);
	assert_int_equal(p.plan.patches[0].busy.end, p.at + sizeof(sum_to));
	planned_release(&p);
}

static void a_body_that_others_jump_into_does_not_move(void **state)
{
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at;
	uint8_t jump[5] = { 0xe9, 0, 0, 0, 0 };
	uint32_t displacement;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = FUNCTION(&object, "sum_to", sum_to);
	object_code(&object, padding, sizeof(padding));
	displacement = (uint32_t)(at + 5 - (object_here(&object) + 5));
	memcpy(jump + 1, &displacement, 4);
	FUNCTION(&object, "other", jump);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_ENTRY_TARGET);
	/* and the other one leaves through a tail that is not its own */
	assert_int_equal(object_plan(&plan, module, at + sizeof(sum_to) + 16), CODE_SHARED_TAIL);
	code_module_close(module);
	object_release(&object);
}

static const uint8_t far_back[] = {
	0xf3, 0x0f, 0x1e, 0xfa,       /* endbr64 */
	0xff, 0xcf,                   /* dec %edi */
	0x8d, 0x76, 0x03,             /* lea 0x3(%rsi),%esi */
	0x78, 0x07,                   /* js 0x12 */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x10b */
	0xeb, 0xf2,                   /* jmp 0x4 */
	0x89, 0xf0,                   /* mov %esi,%eax */
	0xc3,                         /* ret */
};

static void endbr64_stays_and_a_jump_back_to_the_start_is_led_past_the_counter(void **state)
{
	struct planned p;
	const struct code_patch *loop = NULL;

	(void)state;
	PLAN(&p, far_back, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.patches[0].start, p.at + 4);
	for (uint32_t i = 0; i < p.plan.n_patches; i++)
		if (p.plan.patches[i].loop)
			loop = &p.plan.patches[i];
	assert_non_null(loop);
	assert_int_equal(loop->n_sites, 0);
	assert_int_equal(p.plan.n_exits, 1);
	planned_release(&p);
}

static const uint8_t far_back_long[] = {
	0xf3, 0x0f, 0x1e, 0xfa,             /* endbr64 */
	0xff, 0xcf,                         /* dec %edi */
	0x8d, 0x76, 0x03,                   /* lea 0x3(%rsi),%esi */
	0x0f, 0x88, 0x0a, 0x00, 0x00, 0x00, /* js 0x19 */
	0xe8, 0xfb, 0x00, 0x00, 0x00,       /* call 0x10f */
	0xe9, 0xeb, 0xff, 0xff, 0xff,       /* jmp 0x4 */
	0x89, 0xf0,                         /* mov %esi,%eax */
	0xc3,                               /* ret */
};

static void a_long_jump_back_only_changes_its_displacement(void **state)
{
	struct planned p;
	const uint64_t jump = 4 + 2 + 3 + 6 + 5;

	(void)state;
	PLAN(&p, far_back_long, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	for (uint32_t i = 0; i < p.plan.n_patches; i++) {
		const struct code_patch *patch = &p.plan.patches[i];

		if (!patch->loop)
			continue;
		assert_int_equal(patch->form, CODE_PATCH_RETARGET);
		assert_int_equal(patch->start, p.at + jump);
		assert_int_equal(patch->moved.start, patch->moved.end);
		planned_release(&p);
		return;
	}
	fail_msg("no patch leads the loop past the counter");
}

static const uint8_t early_ret[] = {
	0x85, 0xff,             /* test %edi,%edi */
	0x75, 0x01,             /* jne 0x5 */
	0xc3,                   /* ret */
	0x48, 0x83, 0x06, 0x01, /* addq $0x1,(%rsi) */
	0x83, 0xff, 0x01,       /* cmp $0x1,%edi */
	0x74, 0xf6,             /* je 0x4 */
	0x48, 0x83, 0x06, 0x0a, /* addq $0xa,(%rsi) */
	0xeb, 0xf0,             /* jmp 0x4 */
};

static void a_ret_that_is_jumped_to_moves_with_the_whole_body(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, early_ret, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_true(p.plan.patches[0].body);
	assert_true(p.plan.patches[0].may_fault);
	planned_release(&p);
}

static const uint8_t tail[] = {
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0x48, 0x83, 0xc0, 0x08,       /* add $0x8,%rax */
	0x50,                         /* push %rax */
	0x5f,                         /* pop %rdi */
	0xe9, 0x20, 0x00, 0x00, 0x00, /* jmp 0x2e */
};

static const uint8_t tail_branch[] = {
	0x48, 0x89, 0xf8,                   /* mov %rdi,%rax */
	0x48, 0x83, 0xc0, 0x08,             /* add $0x8,%rax */
	0x48, 0x85, 0xff,                   /* test %rdi,%rdi */
	0x0f, 0x84, 0x20, 0x00, 0x00, 0x00, /* je 0x30 */
	0x31, 0xc0,                         /* xor %eax,%eax */
	0xc3,                               /* ret */
};

static const uint8_t tail_short[] = {
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0x48, 0x83, 0xc0, 0x08,       /* add $0x8,%rax */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x107 */
	0x48, 0x85, 0xff,             /* test %rdi,%rdi */
	0x74, 0x22,                   /* je 0x33 */
	0x31, 0xc0,                   /* xor %eax,%eax */
	0xc3,                         /* ret */
};

/* A callee 0x20 bytes behind the end of the function. */
static void plan_with_callee(struct planned *p, const uint8_t *code, size_t size, size_t distance)
{
	static const uint8_t pad[64] = { [0 ... 63] = 0xcc };

	object_init(&p->object, EM_X86_64, ET_DYN);
	p->at = object_function(&p->object, "f", code, size);
	object_code(&p->object, pad, distance);
	object_function(&p->object, "callee", nothing, sizeof(nothing));
	p->module = object_open(&p->object);
	p->refusal = object_plan(&p->plan, p->module, p->at);
}

static void tail_jumps_are_exits_each_in_its_own_form(void **state)
{
	struct planned p;
	const struct code_patch *patch;

	(void)state;
	plan_with_callee(&p, tail, sizeof(tail), 0x20);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + sizeof(tail) - 5);
	assert_int_equal(patch->form, CODE_PATCH_JUMP);
	assert_int_equal(patch->start, p.at + sizeof(tail) - 5);
	assert_int_equal(p.plan.sites[patch->first_site].kind, CODE_SITE_TAIL_JUMP);
	assert_int_equal(p.plan.sites[patch->first_site].target, p.at + sizeof(tail) + 0x20);
	planned_release(&p);

	plan_with_callee(&p, tail_branch, sizeof(tail_branch), 0x20 - 3);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + sizeof(tail_branch) - 9);
	assert_int_equal(patch->form, CODE_PATCH_RETARGET);
	assert_int_equal(p.plan.sites[patch->first_site].kind, CODE_SITE_TAIL_BRANCH);
	planned_release(&p);

	plan_with_callee(&p, tail_short, sizeof(tail_short), 0x24 - 5);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + sizeof(tail_short) - 5);
	assert_int_equal(p.plan.sites[patch->first_site].kind, CODE_SITE_TAIL_BRANCH);
	assert_int_equal(patch->form, CODE_PATCH_JUMP);
	planned_release(&p);
}

static const uint8_t zoo_of_rets[] = {
	0x48, 0x89, 0xf8,       /* mov %rdi,%rax */
	0x48, 0x83, 0xc0, 0x08, /* add $0x8,%rax */
	0x48, 0x85, 0xff,       /* test %rdi,%rdi */
	0x74, 0x09,             /* je 0x15 */
	0x48, 0x8d, 0x40, 0x08, /* lea 0x8(%rax),%rax */
	0xf3, 0xc3,             /* repz ret */
	0x90,                   /* nop */
	0x90,                   /* nop */
	0x90,                   /* nop */
	0x48, 0x83, 0xfe, 0x08, /* cmp $0x8,%rsi */
	0x74, 0x07,             /* je 0x22 */
	0xc2, 0x10, 0x00,       /* ret $0x10 */
	0x90,                   /* nop */
	0x90,                   /* nop */
	0x90,                   /* nop */
	0x90,                   /* nop */
	0xf2, 0xc3,             /* bnd ret */
};

static void every_kind_of_ret_is_an_exit(void **state)
{
	struct planned p;
	unsigned int popped = 0;

	(void)state;
	PLAN(&p, zoo_of_rets, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_exits, 3);
	for (uint32_t i = 0; i < p.plan.n_sites; i++)
		popped += p.plan.sites[i].pop_bytes;
	assert_int_equal(popped, 16);
	planned_release(&p);
}

static const uint8_t runs_off[] = {
	0xff, 0xc7, /* inc %edi */
	0x89, 0xf8, /* mov %edi,%eax */
	0x89, 0xc1, /* mov %eax,%ecx */
};

static const uint8_t ends_in_call[] = {
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0x48, 0x89, 0xc3,             /* mov %rax,%rbx */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x106 */
};

static void a_function_that_can_run_off_its_end_is_refused(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, runs_off, nothing);
	assert_int_equal(p.refusal, CODE_RUNS_OFF);
	planned_release(&p);
	/* a call at the end is one that does not return: no exit, but an entry */
	PLAN(&p, ends_in_call, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_exits, 0);
	planned_release(&p);
}

static const uint8_t just_ret[] = { 0xc3 };

static const uint8_t tiny[] = {
	0x31, 0xc0, /* xor %eax,%eax */
	0xc3,       /* ret */
};

static void a_function_shorter_than_a_patch_needs_padding_behind_it(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, just_ret, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_int_equal(p.plan.patches[0].n_sites, 2);
	assert_int_equal(p.plan.sites[0].kind, CODE_SITE_ENTRY);
	assert_int_equal(p.plan.sites[1].kind, CODE_SITE_RETURN);
	planned_release(&p);
	PLAN(&p, just_ret, nothing);
	assert_int_equal(p.refusal, CODE_ENTRY_SHORT);
	planned_release(&p);
	PLAN(&p, tiny, nothing);
	assert_int_equal(p.refusal, CODE_ENTRY_SHORT);
	planned_release(&p);
}

static const uint8_t nops_then_ret[] = {
	0x90,             /* nop */
	0x90,             /* nop */
	0x90,             /* nop */
	0x90,             /* nop */
	0x90,             /* nop */
	0x48, 0x89, 0xf8, /* mov %rdi,%rax */
	0xc3,             /* ret */
};

static const uint8_t xray[] = {
	0xeb, 0x09,                                                 /* jmp 0xb */
	0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00,       /* nopw 0x200(%rax,%rax,1) */
	0x48, 0x89, 0xf8,                                           /* mov %rdi,%rax */
	0xe8, 0xfb, 0x00, 0x00, 0x00,                               /* call 0x10e */
	0xc3,                                                       /* ret */
	0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00, /* cs nopw 0x200(%rax,%rax,1) */
	0xeb, 0x09,                                                 /* jmp 0x29 */
	0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00,       /* nopw 0x200(%rax,%rax,1) */
	0xe9, 0x00, 0x02, 0x00, 0x00,                               /* jmp 0x22e */
};

static void sleds_of_compilers_take_the_entry_without_moving_anything(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, nops_then_ret, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_true(p.plan.patches[0].sled);
	assert_int_equal(p.plan.patches[0].moved.end, p.at + 5);
	planned_release(&p);
	(void)xray;
}

static const uint8_t faulting[] = {
	0x8b, 0x07,                   /* mov (%rdi),%eax */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x102 */
	0x01, 0xc6,                   /* add %eax,%esi */
	0x85, 0xf6,                   /* test %esi,%esi */
	0xc3,                         /* ret */
};

static const uint8_t getter[] = {
	0x48, 0x8b, 0x47, 0x10, /* mov 0x10(%rdi),%rax */
	0xc3,                   /* ret */
};

static const uint8_t pushes[] = {
	0xff, 0x77, 0x10, /* push 0x10(%rdi) */
	0x48, 0x8b, 0x0f, /* mov (%rdi),%rcx */
	0x58,             /* pop %rax */
	0xc3,             /* ret */
};

static const uint8_t frame[] = {
	0x55,                         /* push %rbp */
	0x48, 0x89, 0xe5,             /* mov %rsp,%rbp */
	0x89, 0x7d, 0xfc,             /* mov %edi,-0x4(%rbp) */
	0x8b, 0x45, 0xf8,             /* mov -0x8(%rbp),%eax */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x10a */
	0x8b, 0x45, 0xfc,             /* mov -0x4(%rbp),%eax */
	0x5d,                         /* pop %rbp */
	0xc3,                         /* ret */
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

static void what_can_fault_stays_where_the_program_handles_faults(void **state)
{
	const struct code_plan_options options = { .faults_matter = true };
	struct planned p;

	(void)state;
	PLAN(&p, faulting, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_true(p.plan.patches[0].may_fault);
	code_plan_release(&p.plan);
	/* the entry's hook goes to the call behind */
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.sites[0].address, p.at + 2);
	assert_false(p.plan.patches[0].may_fault);
	planned_release(&p);
	/* what can fault stays in front of the entry's hook, where the stack pointer does not move */
	PLAN(&p, getter, padding);
	assert_int_equal(p.plan.patches[0].start, p.at);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_int_equal(p.plan.patches[0].start, p.at + 4);
	assert_int_equal(p.plan.sites[0].kind, CODE_SITE_ENTRY);
	assert_int_equal(p.plan.sites[0].address, p.at + 4);
	assert_int_equal(p.plan.sites[1].kind, CODE_SITE_RETURN);
	planned_release(&p);
	PLAN(&p, pushes, padding);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_FAULTS);
	planned_release(&p);
	/* behind a push the stack pointer is known */
	PLAN(&p, push_load, padding);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.sites[0].address, p.at + 4);
	assert_int_equal(p.plan.sites[0].sp_bytes, 8);
	planned_release(&p);
	/* the hook of an exit runs before what stays in front of it; the site names the exit */
	PLAN(&p, store_ret, nothing);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.sites[1].exit, p.at + 17);
	assert_int_equal(p.plan.sites[1].address, p.at + 14);
	assert_int_equal(patch_of(&p.plan, p.at + 14)->moved.end, p.at + 14);
	planned_release(&p);
	/* a frame pointer that is one: the entry takes what is stored beyond it along */
	PLAN(&p, frame, padding);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.patches[0].form, CODE_PATCH_JUMP);
	assert_int_equal(p.plan.patches[0].moved.end, p.at + 7);
	assert_false(p.plan.patches[0].may_fault);
	planned_release(&p);
}

static const uint8_t far_return[] = {
	0xcb,             /* lret */
	0x48, 0x89, 0xf8, /* mov %rdi,%rax */
	0xc3,             /* ret */
};

static const uint8_t elision[] = {
	0x48, 0x83, 0xec, 0x08,             /* sub $0x8,%rsp */
	0x48, 0x31, 0xc0,                   /* xor %rax,%rax */
	0xc7, 0xf8, 0x09, 0x00, 0x00, 0x00, /* xbegin 0x16 */
	0x48, 0x83, 0xc4, 0x08,             /* add $0x8,%rsp */
	0xc3,                               /* ret */
	0x90, 0x90, 0x90, 0x90,             /* nop */
	0x48, 0x83, 0xc4, 0x08,             /* add $0x8,%rsp */
	0xc3,                               /* ret */
};

static const uint8_t transaction_out[] = {
	0x48, 0x83, 0xec, 0x08,             /* sub $0x8,%rsp */
	0x48, 0x31, 0xc0,                   /* xor %rax,%rax */
	0xc7, 0xf8, 0x0c, 0x00, 0x00, 0x00, /* xbegin, behind the function */
	0x48, 0x83, 0xc4, 0x08,             /* add $0x8,%rsp */
	0xc3,                               /* ret */
};

static const uint8_t system_call[] = {
	0x0f, 0x05,       /* syscall */
	0x89, 0xc7,       /* mov %eax,%edi */
	0x48, 0x89, 0xf8, /* mov %rdi,%rax */
	0xc3,             /* ret */
};

static void odd_flow_and_system_calls_are_refused(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, far_return, padding);
	assert_int_equal(p.refusal, CODE_ODD_FLOW);
	planned_release(&p);
	/* a transaction stays where it is, and its fallback may not be another function's */
	PLAN(&p, elision, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	for (uint32_t i = 0; i < p.plan.n_patches; i++)
		assert_false(p.plan.patches[i].moved.start < p.at + 13 &&
			     p.at + 7 < p.plan.patches[i].moved.end);
	planned_release(&p);
	PLAN(&p, transaction_out, padding);
	assert_int_equal(p.refusal, CODE_ODD_FLOW);
	planned_release(&p);
	PLAN(&p, system_call, padding);
	assert_int_equal(p.refusal, CODE_ENTRY_IMMOVABLE);
	planned_release(&p);
}

static const uint8_t into_insn[] = {
	0x85, 0xff,                   /* test %edi,%edi */
	0x74, 0x05,                   /* je 0x9 */
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0xb8, 0xc3, 0xc3, 0xc3, 0xc3, /* mov $0xc3c3c3c3,%eax */
	0xc3,                         /* ret */
};

static const uint8_t lock_skip[] = {
	0x48, 0x89, 0xf8,       /* mov %rdi,%rax */
	0x83, 0x7e, 0x04, 0x00, /* cmpl $0x0,0x4(%rsi) */
	0x74, 0x01,             /* je 0xa */
	0xf0, 0x0f, 0xb1, 0x0f, /* lock cmpxchg %ecx,(%rdi) */
	0x48, 0x89, 0xc2,       /* mov %rax,%rdx */
	0x48, 0x89, 0xd0,       /* mov %rdx,%rax */
	0xc3,                   /* ret */
};

static void a_jump_into_an_instruction_is_refused_but_for_a_lock_prefix(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, into_insn, padding);
	assert_int_equal(p.refusal, CODE_INTO_INSTRUCTION);
	planned_release(&p);
	PLAN(&p, lock_skip, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	planned_release(&p);
}

static void a_jump_to_where_no_function_is_known_is_refused(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, tail, nothing); /* 0x20 bytes on there is nothing */
	assert_int_equal(p.refusal, CODE_JUMP_NOWHERE);
	planned_release(&p);
}

static const uint8_t virtual_tail[] = {
	0x48, 0x8b, 0x07, /* mov (%rdi),%rax */
	0x48, 0x89, 0xfe, /* mov %rdi,%rsi */
	0x48, 0x89, 0xf7, /* mov %rsi,%rdi */
	0xff, 0x60, 0x18, /* jmp *0x18(%rax) */
};

static const uint8_t unknown_inside[] = {
	0x48, 0x8d, 0x15, 0x08, 0x00, 0x00, 0x00, /* lea 0x8(%rip),%rdx */
	0x48, 0x01, 0xfa,                         /* add %rdi,%rdx */
	0x48, 0x89, 0xf1,                         /* mov %rsi,%rcx */
	0xff, 0xe2,                               /* jmp *%rdx */
	0x48, 0x89, 0xf0,                         /* mov %rsi,%rax */
	0x48, 0x89, 0xc2,                         /* mov %rax,%rdx */
	0x5a,                                     /* pop %rdx */
	0xc3,                                     /* ret */
};

static void
an_indirect_jump_is_looked_at_when_it_runs_and_unknown_targets_keep_windows_small(void **state)
{
	struct code_range inside[CODE_FUNCTION_MAX_PARTS];
	struct planned p;
	const struct code_patch *patch;

	(void)state;
	PLAN(&p, virtual_tail, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + sizeof(virtual_tail) - 3);
	assert_int_equal(p.plan.sites[patch->first_site + patch->n_sites - 1].kind,
			 CODE_SITE_TAIL_INDIRECT);
	/* nobody holds an address inside */
	assert_true(p.plan.sites[patch->first_site + patch->n_sites - 1].leaves);
	/* its own start is not inside: the entry's hook runs again there */
	assert_int_equal(code_plan_inside(&p.plan, inside, CODE_FUNCTION_MAX_PARTS), 1);
	assert_int_equal(inside[0].start, p.at + 1);
	assert_int_equal(inside[0].end, p.at + sizeof(virtual_tail));
	planned_release(&p);
	PLAN(&p, unknown_inside, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	for (uint32_t i = 0; i < p.plan.n_patches; i++)
		assert_int_equal(p.plan.patches[i].n_sites, 1);
	assert_int_equal(p.plan.patches[0].moved.end, p.at + 7);
	assert_int_equal(patch_of(&p.plan, p.at + sizeof(unknown_inside) - 1)->start,
			 p.at + sizeof(unknown_inside) - 1);
	planned_release(&p);
	PLAN(&p, unknown_inside, nothing);
	assert_int_equal(p.refusal, CODE_UNKNOWN_JUMP);
	planned_release(&p);
}

static const uint8_t two_exits[] = {
	0x48, 0x89, 0xf8,             /* mov %rdi,%rax */
	0x48, 0x85, 0xff,             /* test %rdi,%rdi */
	0x74, 0x07,                   /* je 0xf */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x108 */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
	0xb8, 0x05, 0x00, 0x00, 0x00, /* mov $0x5,%eax */
	0xb9, 0x06, 0x00, 0x00, 0x00, /* mov $0x6,%ecx */
	0xba, 0x07, 0x00, 0x00, 0x00, /* mov $0x7,%edx */
	0xbe, 0x08, 0x00, 0x00, 0x00, /* mov $0x8,%esi */
	0xe8, 0xfb, 0x00, 0x00, 0x00, /* call 0x123 */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static void a_short_exit_takes_an_island_in_padding_nearby(void **state)
{
	struct planned p;
	const struct code_patch *patch;

	(void)state;
	PLAN(&p, two_exits, padding);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + 14);
	assert_int_equal(patch->form, CODE_PATCH_ISLAND);
	assert_int_equal(patch->start, p.at + 13);
	/* not over the bytes that the last ret's jump overhangs */
	assert_true(patch->island >= patch_of(&p.plan, p.at + sizeof(two_exits) - 1)->start + 5);
	assert_true(patch->island + 5 <= p.at + sizeof(two_exits) + sizeof(padding));
	planned_release(&p);
}

static void a_short_exit_without_padding_makes_room_by_moving_a_run(void **state)
{
	struct planned p;
	const struct code_patch *patch;
	bool inside = false;

	(void)state;
	PLAN(&p, two_exits, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	patch = patch_of(&p.plan, p.at + 14);
	assert_int_equal(patch->form, CODE_PATCH_ISLAND);
	for (uint32_t i = 0; i < p.plan.n_patches; i++) {
		const struct code_patch *room = &p.plan.patches[i];

		inside |= room->form == CODE_PATCH_JUMP && patch->island >= room->start + 5 &&
			  patch->island + 5 <= room->moved.end;
	}
	assert_true(inside);
	planned_release(&p);
}

static const uint8_t close_together[] = {
	0x8d, 0x47, 0x05, /* lea 0x5(%rdi),%eax */
	0x89, 0xc1,       /* mov %eax,%ecx */
	0xff, 0xc0,       /* inc %eax */
	0xc3,             /* ret */
};

static void windows_that_meet_become_one_patch(void **state)
{
	struct planned p;

	(void)state;
	PLAN(&p, close_together, nothing);
	assert_int_equal(p.refusal, CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_false(p.plan.patches[0].body);
	assert_int_equal(p.plan.patches[0].n_sites, 2);
	assert_int_equal(p.plan.patches[0].moved.start, p.at);
	assert_int_equal(p.plan.patches[0].moved.end, p.at + sizeof(close_together));
	planned_release(&p);
}

static void entry_only_plans_need_no_exit(void **state)
{
	const struct code_plan_options options = { .entry_only = true };
	struct planned p;

	(void)state;
	PLAN(&p, runs_off, nothing);
	code_plan_release(&p.plan);
	assert_int_equal(code_plan_make(&p.plan, p.module, 0, &options), CODE_PLANNED);
	assert_int_equal(p.plan.n_patches, 1);
	assert_int_equal(p.plan.n_exits, 0);
	planned_release(&p);
}

static void a_point_is_one_patch_at_an_instruction(void **state)
{
	struct planned p;
	struct code_plan point;

	(void)state;
	PLAN(&p, ordinary, padding);
	assert_int_equal(code_plan_point(&point, p.module, p.at + 4, NULL), CODE_PLANNED);
	assert_int_equal(point.n_patches, 1);
	assert_int_equal(point.n_sites, 1);
	assert_int_equal(point.sites[0].kind, CODE_SITE_POINT);
	assert_int_equal(point.patches[0].start, p.at + 4);
	code_plan_release(&point);
	assert_int_equal(code_plan_point(&point, p.module, p.at + 5, NULL), CODE_INTO_INSTRUCTION);
	assert_int_equal(code_plan_point(&point, p.module, p.at + 15, NULL), CODE_ENTRY_CALL);
	assert_int_equal(code_plan_point(&point, p.module, p.at + 0x1000, NULL), CODE_NO_CODE);
	planned_release(&p);
}

static const uint8_t arm_ordinary[] = {
	0x5f, 0x24, 0x03, 0xd5, /* bti c */
	0x3f, 0x23, 0x03, 0xd5, /* paciasp */
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, */
	0x40, 0x00, 0x00, 0x94, /* bl 10c <+0x10c> */
	0x60, 0x00, 0x00, 0xb4, /* cbz x0, 1c <+0x1c> */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], */
	0xff, 0x0b, 0x5f, 0xd6, /* retaa */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], */
	0xbf, 0x23, 0x03, 0xd5, /* autiasp */
	0x00, 0x02, 0x1f, 0xd6, /* br x16 */
};

static const uint8_t arm_loop[] = {
	0x00, 0x04, 0x00, 0xd1, /* sub x0, x0, */
	0xe0, 0xff, 0xff, 0xb5, /* cbnz x0, 0 */
	0xfe, 0xff, 0xff, 0x17, /* b 0 */
};

static void every_site_of_aarch64_is_one_word_behind_the_landing(void **state)
{
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at, loop;

	(void)state;
	object_init(&object, EM_AARCH64, ET_DYN);
	at = FUNCTION(&object, "f", arm_ordinary);
	loop = FUNCTION(&object, "loop", arm_loop);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	assert_int_equal(plan.n_patches, 3);
	assert_int_equal(plan.patches[0].start, at + 8);
	assert_int_equal(plan.patches[1].start, at + 24);
	assert_int_equal(plan.patches[2].start, at + 36);
	assert_int_equal(plan.sites[1].kind, CODE_SITE_RETURN);
	assert_int_equal(plan.sites[2].kind, CODE_SITE_TAIL_INDIRECT);
	for (uint32_t i = 0; i < plan.n_patches; i++)
		assert_int_equal(plan.patches[i].moved.end - plan.patches[i].moved.start, 4);
	code_plan_release(&plan);
	/* both jumps to the start are led past the counter: one moves, one changes its target */
	assert_int_equal(object_plan(&plan, module, loop), CODE_PLANNED);
	assert_int_equal(plan.n_patches, 3);
	assert_true(plan.patches[1].loop && plan.patches[1].form == CODE_PATCH_JUMP);
	assert_true(plan.patches[2].loop && plan.patches[2].form == CODE_PATCH_RETARGET);
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

static void every_reason_has_a_name_and_a_text(void **state)
{
	(void)state;
	for (int i = 0; i <= CODE_N_REFUSALS; i++) {
		assert_true(strlen(code_refusal_name((enum code_refusal)i)) > 3);
		assert_true(strlen(code_refusal_text((enum code_refusal)i)) > 10);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(code_refusal_name((enum code_refusal)i),
						code_refusal_name((enum code_refusal)j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_and_ret_move_as_few_instructions_as_do),
		cmocka_unit_test(a_ret_before_a_packed_neighbour_takes_what_runs_before_it),
		cmocka_unit_test(a_call_is_never_moved_and_its_return_address_never_covered),
		cmocka_unit_test(a_call_at_the_entry_only_changes_its_displacement_or_refuses),
		cmocka_unit_test(a_jump_into_the_entrys_window_refuses_unless_the_body_can_move),
		cmocka_unit_test(a_body_that_others_jump_into_does_not_move),
		cmocka_unit_test(
			endbr64_stays_and_a_jump_back_to_the_start_is_led_past_the_counter),
		cmocka_unit_test(a_long_jump_back_only_changes_its_displacement),
		cmocka_unit_test(a_ret_that_is_jumped_to_moves_with_the_whole_body),
		cmocka_unit_test(tail_jumps_are_exits_each_in_its_own_form),
		cmocka_unit_test(every_kind_of_ret_is_an_exit),
		cmocka_unit_test(a_function_that_can_run_off_its_end_is_refused),
		cmocka_unit_test(a_function_shorter_than_a_patch_needs_padding_behind_it),
		cmocka_unit_test(sleds_of_compilers_take_the_entry_without_moving_anything),
		cmocka_unit_test(what_can_fault_stays_where_the_program_handles_faults),
		cmocka_unit_test(odd_flow_and_system_calls_are_refused),
		cmocka_unit_test(a_jump_into_an_instruction_is_refused_but_for_a_lock_prefix),
		cmocka_unit_test(a_jump_to_where_no_function_is_known_is_refused),
		cmocka_unit_test(
			an_indirect_jump_is_looked_at_when_it_runs_and_unknown_targets_keep_windows_small),
		cmocka_unit_test(a_short_exit_takes_an_island_in_padding_nearby),
		cmocka_unit_test(a_short_exit_without_padding_makes_room_by_moving_a_run),
		cmocka_unit_test(windows_that_meet_become_one_patch),
		cmocka_unit_test(entry_only_plans_need_no_exit),
		cmocka_unit_test(a_point_is_one_patch_at_an_instruction),
		cmocka_unit_test(every_site_of_aarch64_is_one_word_behind_the_landing),
		cmocka_unit_test(every_reason_has_a_name_and_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
