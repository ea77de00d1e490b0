/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into a program, patches every function of one of its modules that can be planned, by the plans of
 * src/code, before main() runs: if a plan is wrong, the program computes something else, or crashes.
 *
 *	LD_PRELOAD=exercise_patches.so EXERCISE_MODULE=libz.so EXERCISE_REPORT=FILE program ...
 *
 * This is no engine: it patches its own process while that has one thread, with hooks that save everything and call a
 * handler here. The handler keeps a stack of open frames per thread and counts, at each exit, whether the frame on
 * top is that function's with that stack pointer: a function whose exits are not all found leaves frames open.
 *
 * EXERCISE_ENTRY_ONLY=1 plans entries alone; EXERCISE_FAULTS=1 leaves what can fault where it is; EXERCISE_FROM
 * and EXERCISE_TO choose functions by index, to find the one to blame. x86-64 only.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code/plan.h"

#define MAX_FRAMES 65536u
#ifdef __aarch64__
#define REGION_SIZE (UINT64_C(32) << 20)
#define REACH       (UINT64_C(90) << 20)
#else
#define REGION_SIZE (UINT64_C(256) << 20)
#define REACH       (UINT64_C(1) << 30)
#endif
#define REGION_STEP (UINT64_C(16) << 20)
#define MAX_BLAMED  20u

/* What a hook hands to the handler: one per site, in memory that the code points at. */
struct exercise_site {
	uint32_t function;
	uint8_t kind;
	uint8_t n_ranges;
	struct code_range *ranges; /* of an indirect jump's function, as they are loaded */
	uint64_t count;
};

struct exercise {
	struct code_module *module;
	const char *path;
	uint64_t bias;
	uint8_t *region; /* trampolines, within reach of the module */
	size_t used;
	struct exercise_site *sites;
	size_t n_sites, sites_capacity; /* sites of whole plans */
	struct code_write *writes;
	size_t n_writes, writes_capacity;
	uint64_t *orphans, *left_open; /* per function */
	uint64_t n_planned, n_refused;
	bool entry_only;
};

struct open_frame {
	uint64_t sp;
	uint32_t function;
};

struct thread_frames {
	struct open_frame frames[MAX_FRAMES];
	uint32_t n;
	uint64_t entries, exits, too_deep;
};

static struct exercise the_exercise; /* the constructor has nobody to hand it to */
static _Thread_local struct thread_frames *frames __attribute__((tls_model("initial-exec")));
static struct thread_frames main_frames;

static bool is_inside(const struct exercise_site *site, uint64_t address)
{
	for (unsigned int i = 0; i < site->n_ranges; i++)
		if (address >= site->ranges[i].start && address < site->ranges[i].end)
			return true;
	return false;
}

/* Frames below the stack pointer were left by a jump or an exception. */
static void frames_drop(struct exercise *exercise, struct thread_frames *own, uint64_t sp)
{
	while (own->n && own->frames[own->n - 1].sp < sp) {
		exercise->left_open[own->frames[own->n - 1].function]++;
		own->n--;
	}
}

static void exercise_hit(struct exercise_site *site, uint64_t sp, uint64_t target)
	__attribute__((used));
static void exercise_hit(struct exercise_site *site, uint64_t sp, uint64_t target)
{
	struct exercise *exercise = &the_exercise;
	struct thread_frames *own = frames;

	site->count++;
	if (!own) /* threads besides the first one only count */
		return;
	frames_drop(exercise, own, sp);
	if (site->kind == CODE_SITE_ENTRY) {
		own->entries++;
		while (own->n && own->frames[own->n - 1].sp == sp) {
			exercise->left_open[own->frames[own->n - 1].function]++;
			own->n--;
		}
		if (own->n == MAX_FRAMES)
			own->too_deep++;
		else
			own->frames[own->n++] = (struct open_frame){ sp, site->function };
		return;
	}
	if (site->kind == CODE_SITE_TAIL_INDIRECT &&
	    (is_inside(site, target) || !own->n || own->frames[own->n - 1].sp != sp))
		return;
	own->exits++;
	if (own->n && own->frames[own->n - 1].sp == sp &&
	    own->frames[own->n - 1].function == site->function)
		own->n--;
	else
		exercise->orphans[site->function]++;
}

static bool ranges_keep(const struct exercise *exercise, const struct code_plan *plan,
			struct exercise_site *site)
{
	struct code_range ranges[CODE_FUNCTION_MAX_PARTS];

	if (site->ranges)
		return true;
	site->n_ranges = (uint8_t)code_plan_inside(plan, ranges, CODE_FUNCTION_MAX_PARTS);
	site->ranges = malloc(sizeof(ranges));
	if (!site->ranges)
		return false;
	for (unsigned int i = 0; i < site->n_ranges; i++)
		site->ranges[i] = (struct code_range){ ranges[i].start + exercise->bias,
						       ranges[i].end + exercise->bias };
	return true;
}

/* What the code of a hook needs to know. */
struct hook_parts {
	const struct exercise_site *site;
	const struct code_insn *insn; /* of an indirect jump, NULL for others */
	const uint8_t *bytes;
};

/* The vector and x87 registers survive since the handler is built without them. */
#ifdef __aarch64__

static void put_word(struct code_buffer *buffer, uint32_t word)
{
	code_buffer_append(buffer, &word, sizeof(word));
}

/* movz, movk: all 64 bits */
static void put_address(struct code_buffer *buffer, unsigned int reg, uint64_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		put_word(buffer, (i ? 0xf2800000u : 0xd2800000u) | i << 21 |
					 (uint32_t)(value >> 16 * i & 0xffff) << 5 | reg);
}

/* stp or ldp of x0-x17, and of x18 with x30 */
static void put_pairs(struct code_buffer *buffer, uint32_t opcode)
{
	for (uint32_t reg = 0; reg <= 18; reg += 2)
		put_word(buffer,
			 opcode | reg << 15 | (reg == 18 ? 30 : reg + 1) << 10 | 31 << 5 | reg);
}

static bool hook_put(struct code_buffer *buffer, const struct hook_parts *parts)
{
	put_word(buffer, 0xd102c3ff);  /* sub sp, sp, #176 */
	put_pairs(buffer, 0xa9000000); /* stp */
	if (parts->insn &&
	    !code_target_load_append(EM_AARCH64, parts->insn, parts->bytes, 2, 0, buffer))
		return false;
	put_word(buffer, 0xd53b4200); /* mrs x0, nzcv */
	put_word(buffer, 0xf90053e0); /* str x0, [sp, #160] */
	put_word(buffer, 0x9102c3e1); /* add x1, sp, #176 */
	put_address(buffer, 0, (uint64_t)(uintptr_t)parts->site);
	put_address(buffer, 16, (uint64_t)(uintptr_t)exercise_hit);
	put_word(buffer, 0xd63f0200);  /* blr x16 */
	put_word(buffer, 0xf94053e0);  /* ldr x0, [sp, #160] */
	put_word(buffer, 0xd51b4200);  /* msr nzcv, x0 */
	put_pairs(buffer, 0xa9400000); /* ldp */
	put_word(buffer, 0x9102c3ff);  /* add sp, sp, #176 */
	return true;
}

#else

static void put(struct code_buffer *buffer, const char *hex)
{
	while (*hex) {
		const char digits[3] = { hex[0], hex[1], 0 };
		const uint8_t byte = (uint8_t)strtoul(digits, NULL, 16);

		code_buffer_append(buffer, &byte, 1);
		hex += hex[2] == ' ' ? 3 : 2;
	}
}

static void put_u64(struct code_buffer *buffer, uint64_t value)
{
	code_buffer_append(buffer, &value, sizeof(value));
}

static bool hook_put(struct code_buffer *buffer, const struct hook_parts *parts)
{
	put(buffer, "48 8d 64 24 80");             /* lea -128(%rsp),%rsp: over the red zone */
	put(buffer, "9c 50 51 52 56 57");          /* pushf; push rax, rcx, rdx, rsi, rdi */
	put(buffer, "41 50 41 51 41 52 41 53 53"); /* push r8-r11, rbx */
	if (parts->insn &&
	    !code_target_load_append(EM_X86_64, parts->insn, parts->bytes, 2, 128 + 11 * 8, buffer))
		return false;
	put(buffer, "48 8d b4 24 d8 00 00 00"); /* lea 216(%rsp),%rsi: the program's rsp */
	put(buffer, "48 bf");                   /* movabs $site,%rdi */
	put_u64(buffer, (uint64_t)(uintptr_t)parts->site);
	put(buffer, "48 b8"); /* movabs $handler,%rax */
	put_u64(buffer, (uint64_t)(uintptr_t)exercise_hit);
	put(buffer, "48 89 e3 48 83 e4 f0 fc"); /* mov %rsp,%rbx; and $-16,%rsp; cld */
	put(buffer, "ff d0 48 89 dc");          /* call *%rax; mov %rbx,%rsp */
	put(buffer, "5b 41 5b 41 5a 41 59 41 58");
	put(buffer, "5f 5e 5a 59 58 9d");
	put(buffer, "48 8d a4 24 80 00 00 00"); /* lea 128(%rsp),%rsp */
	return true;
}

#endif

static bool hook_append(void *state, const struct code_plan *plan, const struct code_site *site,
			struct code_buffer *buffer)
{
	struct exercise *exercise = state;
	struct exercise_site *kept =
		&exercise->sites[exercise->n_sites + (size_t)(site - plan->sites)];
	struct hook_parts parts = { .site = kept };
	struct code_insn insn;
	size_t size = CODE_INSN_MAX_LENGTH;

	for (; size && !parts.bytes; size -= !parts.bytes)
		parts.bytes = code_module_bytes(plan->module, site->address, size);
	if (!parts.bytes)
		return false;
	kept->function = plan->function;
	kept->kind = site->kind;
	if (site->kind == CODE_SITE_TAIL_INDIRECT && !site->leaves) {
		if (!ranges_keep(exercise, plan, kept) ||
		    !code_insn_decode(code_module_machine(plan->module), parts.bytes, size,
				      site->address, &insn))
			return false;
		parts.insn = &insn;
	}
	return hook_put(buffer, &parts);
}

static bool patch_apply(struct exercise *exercise, const struct code_plan *plan,
			const struct code_patch *patch, uint64_t *resume)
{
	const struct code_hook hook = { exercise, hook_append };
	struct code_buffer buffer = {
		.bytes = exercise->region + exercise->used,
		.capacity = REGION_SIZE - exercise->used,
		.address =
			(uint64_t)(uintptr_t)(exercise->region + exercise->used) - exercise->bias,
	};
	struct code_origin origins[CODE_PLAN_MAX_BODY * 2];
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	size_t n_origins = 0, n;
	uint64_t to = buffer.address;

	if (patch->loop && patch->form == CODE_PATCH_RETARGET)
		to = *resume;
	else if (code_patch_emit(plan, patch, *resume, &hook, &buffer, origins,
				 CODE_PLAN_MAX_BODY * 2, &n_origins) != CODE_EMITTED)
		return false;
	if (patch == &plan->patches[plan->entry_patch])
		for (size_t i = 0; i < n_origins; i++)
			if (!origins[i].hook && origins[i].address == patch->moved.start)
				*resume = buffer.address + origins[i].offset;
	n = code_patch_writes(plan, patch, to, writes);
	if (!n || exercise->n_writes + n > exercise->writes_capacity)
		return false;
	memcpy(exercise->writes + exercise->n_writes, writes, n * sizeof(*writes));
	exercise->n_writes += n;
	exercise->used += (buffer.size + 15) & ~UINT64_C(15);
	return true;
}

static bool plan_apply(struct exercise *exercise, const struct code_plan *plan)
{
	const size_t n_writes = exercise->n_writes, used = exercise->used;
	bool good = exercise->n_sites + plan->n_sites <= exercise->sites_capacity;
	uint64_t resume = 0;

	good = good && patch_apply(exercise, plan, &plan->patches[plan->entry_patch], &resume);
	for (uint32_t i = 0; good && i < plan->n_patches; i++)
		if (i != plan->entry_patch)
			good = patch_apply(exercise, plan, &plan->patches[i], &resume);
	if (good) {
		exercise->n_sites += plan->n_sites;
	} else {
		exercise->n_writes = n_writes;
		exercise->used = used;
	}
	return good;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

static void plans_apply(struct exercise *exercise)
{
	const struct code_plan_options options = {
		.entry_only = exercise->entry_only,
		.faults_matter = number_of("EXERCISE_FAULTS", 0) != 0,
	};
	const uint64_t from = number_of("EXERCISE_FROM", 0);
	const uint64_t to = number_of("EXERCISE_TO", UINT64_MAX);
	size_t n, failed = 0;

	code_module_functions(exercise->module, &n);
	for (size_t i = 0; i < n; i++) {
		struct code_plan plan;

		if (i < from || i >= to)
			continue;
		if (code_plan_make(&plan, exercise->module, (uint32_t)i, &options) !=
		    CODE_PLANNED) {
			exercise->n_refused++;
			continue;
		}
		if (plan_apply(exercise, &plan))
			exercise->n_planned++;
		else
			failed++;
		code_plan_release(&plan);
	}
	if (failed)
		fprintf(stderr, "exercise: %zu functions could not be emitted\n", failed);
}

static bool region_try(struct exercise *exercise, uint64_t address)
{
	void *at = mmap((void *)(uintptr_t)(address & ~UINT64_C(0xfff)), REGION_SIZE,
			PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	if ((uint64_t)(uintptr_t)at !=
	    (address & ~UINT64_C(0xfff))) { /* an old kernel or emulator */
		munmap(at, REGION_SIZE);
		return false;
	}
	exercise->region = at;
	return true;
}

/* Within reach below the module, or above it. */
static bool region_map(struct exercise *exercise, uint64_t near)
{
	for (uint64_t distance = REGION_STEP; distance < REACH; distance += REGION_STEP)
		if ((near > distance + REGION_SIZE &&
		     region_try(exercise, near - REGION_SIZE - distance)) ||
		    region_try(exercise, near + distance))
			return true;
	return false;
}

static int module_find(struct dl_phdr_info *info, size_t size, void *state)
{
	struct exercise *exercise = state;
	const char *wanted = getenv("EXERCISE_MODULE");
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	(void)size;

	if (!strstr(path, wanted))
		return 0;
	exercise->path = strdup(path);
	exercise->bias = info->dlpi_addr;
	return 1;
}

/* No library function is called while the text is half written: it might be the one. */
static int text_write(struct dl_phdr_info *info, size_t size, void *state)
{
	struct exercise *exercise = state;
	(void)size;

	if (info->dlpi_addr != exercise->bias)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *program = &info->dlpi_phdr[i];
		const uint64_t start = (exercise->bias + program->p_vaddr) & ~0xfffULL;
		const uint64_t end = exercise->bias + program->p_vaddr + program->p_memsz;

		if (program->p_type == PT_LOAD && (program->p_flags & PF_X) &&
		    mprotect((void *)(uintptr_t)start, end - start,
			     PROT_READ | PROT_WRITE | PROT_EXEC))
			abort();
	}
	for (size_t i = 0; i < exercise->n_writes; i++) {
		const struct code_write *write = &exercise->writes[i];
		volatile uint8_t *at =
			(volatile uint8_t *)(uintptr_t)(exercise->bias + write->address);

		for (unsigned int j = 0; j < write->length; j++) {
			if (at[j] != write->original[j])
				abort();
			at[j] = write->bytes[j];
		}
		__builtin___clear_cache((char *)(uintptr_t)(exercise->bias + write->address),
					(char *)(uintptr_t)(exercise->bias + write->address + 8));
	}
	__builtin___clear_cache((char *)exercise->region,
				(char *)exercise->region + exercise->used);
	return 1;
}

static pid_t patched_pid;

__attribute__((constructor)) static void exercise_start(void)
{
	struct exercise *exercise = &the_exercise;
	const size_t most = UINT64_C(4) << 20;
	const struct code_function *functions;
	struct error error;
	size_t n;

	if (!getenv("EXERCISE_MODULE"))
		return;
	if (!dl_iterate_phdr(module_find, exercise)) {
		fprintf(stderr, "exercise: %s is not loaded\n", getenv("EXERCISE_MODULE"));
		_exit(98);
	}
	exercise->entry_only = number_of("EXERCISE_ENTRY_ONLY", 0) != 0;
	if (code_module_open(&exercise->module, sys_real(), exercise->path, NULL, &error) !=
	    STATUS_OK) {
		fprintf(stderr, "exercise: %s\n", error.text);
		_exit(99);
	}
	functions = code_module_functions(exercise->module, &n);
	exercise->sites_capacity = exercise->writes_capacity = most;
	exercise->sites = calloc(most, sizeof(*exercise->sites));
	exercise->writes = calloc(most, sizeof(*exercise->writes));
	exercise->orphans = calloc(n + 1, sizeof(uint64_t));
	exercise->left_open = calloc(n + 1, sizeof(uint64_t));
	if (!exercise->sites || !exercise->writes || !exercise->orphans || !exercise->left_open ||
	    !region_map(exercise, exercise->bias + functions[0].range.start))
		_exit(99);
	plans_apply(exercise);
	frames = &main_frames;
	patched_pid = getpid();
	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(text_write, exercise);
}

static void blame(FILE *report, const struct exercise *exercise, const char *what,
		  const uint64_t *counts)
{
	size_t n, shown = 0;
	const struct code_function *functions = code_module_functions(exercise->module, &n);

	for (size_t i = 0; i < n && shown < MAX_BLAMED; i++) {
		if (!counts[i])
			continue;
		fprintf(report, "%s %zu 0x%lx %s %lu\n", what, i, functions[i].range.start,
			functions[i].symbol ? functions[i].symbol : "-", counts[i]);
		shown++;
	}
}

__attribute__((destructor)) static void exercise_end(void)
{
	struct exercise *exercise = &the_exercise;
	uint64_t orphans = 0, left = 0;
	FILE *report;
	size_t n;

	if (!exercise->module || getpid() != patched_pid || !getenv("EXERCISE_REPORT"))
		return;
	frames = NULL; /* what follows is not the program's */
	report = fopen(getenv("EXERCISE_REPORT"), "w");
	if (!report)
		return;
	code_module_functions(exercise->module, &n);
	for (size_t i = 0; i < n; i++) {
		orphans += exercise->orphans[i];
		left += exercise->left_open[i];
	}
	fprintf(report,
		"planned %lu refused %lu sites %zu writes %zu entries %lu exits %lu orphans %lu "
		"left %lu open %u deep %lu\n",
		exercise->n_planned, exercise->n_refused, exercise->n_sites, exercise->n_writes,
		main_frames.entries, main_frames.exits, orphans, left, main_frames.n,
		main_frames.too_deep);
	blame(report, exercise, "orphan", exercise->orphans);
	blame(report, exercise, "left", exercise->left_open);
	fclose(report);
}
