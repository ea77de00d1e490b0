/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel as a module, over a procfs and sysfs of the test's own. */
#include <fcntl.h>

#include "fixture.h"
#include "redirect.h"
#include "support/tree.h"

#define KALLSYMS                                \
	"ffffffff81000000 T _text\n"            \
	"ffffffff81000100 T do_work\n"          \
	"ffffffff81000200 T _etext\n"           \
	"ffffffffc0100000 t ext_read\t[ext4]\n" \
	"ffffffffc0100100 t ext_last\t[ext4]\n"

/* A note of another kind, then the build-id 0102..14. */
static const uint8_t notes[] = { 4,   0, 0, 0,  4,   0,   0,   0,  9,  0,  0,  0,  'G', 'N',
				 'U', 0, 1, 2,  3,   4,   4,   0,  0,  0,  20, 0,  0,   0,
				 3,   0, 0, 0,  'G', 'N', 'U', 0,  1,  2,  3,  4,  5,   6,
				 7,   8, 9, 10, 11,  12,  13,  14, 15, 16, 17, 18, 19,  20 };
static const uint8_t running[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				   11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
static const uint8_t other[20] = { 42 };

struct machine {
	struct tree tree;
	struct redirect redirect;
	struct symbolizer *symbolizer;
};

static void machine_make(struct machine *machine, const char *kallsyms,
			 const struct symbolizer_options *wanted)
{
	const struct symbolizer_options options = { .demangle = true };
	char path[600];

	tree_make(&machine->tree, NULL, 0);
	tree_write(&machine->tree, "kallsyms", kallsyms);
	tree_write_bytes(&machine->tree, "notes", notes, sizeof(notes));
	redirect_init(&machine->redirect);
	snprintf(path, sizeof(path), "%s/kallsyms", machine->tree.root);
	redirect_add(&machine->redirect, "/proc/kallsyms", path);
	snprintf(path, sizeof(path), "%s/notes", machine->tree.root);
	redirect_add(&machine->redirect, "/sys/kernel/notes", path);
	assert_int_equal(symbolizer_new(&machine->symbolizer, &machine->redirect.table,
					wanted ? wanted : &options, NULL),
			 STATUS_OK);
}

static void machine_release(struct machine *machine)
{
	symbolizer_free(machine->symbolizer);
	tree_remove(&machine->tree);
}

static struct frame frame_at(struct machine *machine, struct module *kernel, uint64_t address)
{
	struct frame frame;

	assert_int_equal(symbolizer_frames(machine->symbolizer, kernel,
					   (struct file_offset){ address }, false, &frame, 1),
			 1);
	return frame;
}

static void the_running_kernel_is_named_by_kallsyms(void **state)
{
	struct machine machine;
	struct module *kernel;
	struct frame frame;

	(void)state;
	machine_make(&machine, KALLSYMS, NULL);
	kernel = symbolizer_kernel(machine.symbolizer, running, sizeof(running), false);
	frame = frame_at(&machine, kernel, 0xffffffff81000180);
	assert_string_equal(frame.name, "do_work");
	assert_string_equal(module_name(frame.module), "[kernel.kallsyms]");
	assert_int_equal(frame.miss, SYMBOL_OK);
	frame = frame_at(&machine, kernel, 0xffffffffc0100010);
	assert_string_equal(frame.name, "ext_read");
	assert_string_equal(module_name(frame.module), "[ext4]");
	frame = frame_at(&machine, kernel, 0xffffffff90000000);
	assert_string_equal(frame.name, "[unknown]");
	assert_int_equal(frame.miss, SYMBOL_NO_COVER);
	/* read once */
	assert_int_equal(machine.redirect.opened[0], 1);
	machine_release(&machine);
}

static void another_build_of_the_kernel_is_not_named(void **state)
{
	struct machine machine;
	struct module *kernel;
	struct frame frame;

	(void)state;
	machine_make(&machine, KALLSYMS, NULL);
	kernel = symbolizer_kernel(machine.symbolizer, other, sizeof(other), false);
	frame = frame_at(&machine, kernel, 0xffffffff81000180);
	assert_string_equal(frame.name, "[unknown]");
	assert_int_equal(frame.miss, SYMBOL_BUILD_ID_MISMATCH);
	machine_release(&machine);
}

static void a_kernel_of_another_machine_is_named_only_with_proof_of_build_and_place(void **state)
{
	struct machine machine;
	struct module *kernel;

	(void)state;
	machine_make(&machine, KALLSYMS, NULL);
	kernel = symbolizer_kernel(machine.symbolizer, NULL, 0, true);
	assert_int_equal(module_miss(kernel), SYMBOL_FILE_MISSING);
	/* the same build, but loaded who knows where */
	kernel = symbolizer_kernel(machine.symbolizer, running, sizeof(running), true);
	assert_int_equal(module_miss(kernel), SYMBOL_FILE_MISSING);
	machine_release(&machine);
	machine_make(&machine, KALLSYMS, NULL);
	kernel = symbolizer_kernel(machine.symbolizer, running, sizeof(running), true);
	symbolizer_kernel_anchor(kernel, "_text", 0xffffffff9a000000);
	assert_string_equal(frame_at(&machine, kernel, 0xffffffff9a000180).name, "do_work");
	machine_release(&machine);
}

static void a_kernel_that_was_loaded_elsewhere_is_named_at_its_old_place(void **state)
{
	struct machine machine;
	struct module *kernel;

	(void)state;
	machine_make(&machine, KALLSYMS, NULL);
	kernel = symbolizer_kernel(machine.symbolizer, running, sizeof(running), false);
	symbolizer_kernel_anchor(kernel, "_text", 0xffffffff8a000000);
	assert_string_equal(frame_at(&machine, kernel, 0xffffffff8a000180).name, "do_work");
	assert_string_equal(frame_at(&machine, kernel, 0xffffffff81000180).name, "[unknown]");
	/* where its modules were, nothing tells */
	assert_string_equal(frame_at(&machine, kernel, 0xffffffffc0100010).name, "[unknown]");
	machine_release(&machine);
}

static void hidden_addresses_name_the_setting_in_the_way(void **state)
{
	struct machine machine;
	struct module *kernel;

	(void)state;
	machine_make(&machine, "0000000000000000 T _text\n0000000000000000 t f\n", NULL);
	kernel = symbolizer_kernel(machine.symbolizer, NULL, 0, false);
	assert_int_equal(frame_at(&machine, kernel, 0xffffffff81000180).miss,
			 SYMBOL_KERNEL_RESTRICTED);
	assert_non_null(strstr(module_remedy(kernel), "kernel.kptr_restrict"));
	machine_release(&machine);
}

static void a_copy_of_kallsyms_that_the_recording_kept_is_believed(void **state)
{
	struct machine machine;
	struct symbolizer_options options = { .demangle = true };
	struct module *kernel;
	struct tree kept;
	char path[600];

	(void)state;
	tree_make(&kept, NULL, 0);
	tree_write(&kept, "kallsyms", "ffff800008000000 T _stext\nffff800008000040 t kept\n");
	snprintf(path, sizeof(path), "%s/kallsyms", kept.root);
	options.kallsyms_path = path;
	machine_make(&machine, KALLSYMS, &options);
	kernel = symbolizer_kernel(machine.symbolizer, other, sizeof(other), true);
	assert_string_equal(frame_at(&machine, kernel, 0xffff800008000044).name, "kept");
	assert_int_equal(machine.redirect.opened[0], 0);
	machine_release(&machine);
	tree_remove(&kept);
}

/* A program stands in for the vmlinux: its symbols, and a kallsyms that says it lies elsewhere. */
static void a_vmlinux_is_placed_by_the_address_of_its_text(void **state)
{
	struct symbolizer_options options = { .demangle = true, .inlines = true };
	const struct function *function;
	struct fixture fixture;
	struct machine machine;
	struct module *kernel, *program;
	struct frame frames[8];
	uint64_t text;
	uint8_t id[20] = { 0 };
	size_t n;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "vmlinux");
	program = fixture_module(&fixture, "vmlinux");
	function = fixture_function(program, "main"); /* _text is its alias */
	assert_non_null(function);
	text = function->start.value;
	function = fixture_function(program, "shape_calls");
	assert_non_null(function);
	for (int i = 0; i < 20; i++)
		id[i] = (uint8_t)(0xa0 + i);
	options.vmlinux = fixture_path(&fixture, "vmlinux");
	machine_make(&machine, KALLSYMS, &options);
	kernel = symbolizer_kernel(machine.symbolizer, id, sizeof(id), true);
	symbolizer_kernel_anchor(kernel, "_text", 0xffffffff9a000000);
	n = symbolizer_frames(
		machine.symbolizer, kernel,
		(struct file_offset){ function->start.value - text + 0xffffffff9a000000 }, false,
		frames, 8);
	assert_true(n >= 1);
	assert_string_equal(frames[n - 1].name, "shape_calls");
	assert_non_null(frames[n - 1].file);
	assert_non_null(strstr(frames[n - 1].file, "shapes.c"));
	machine_release(&machine);
	/* a vmlinux of another build is not looked at */
	machine_make(&machine, KALLSYMS, &options);
	kernel = symbolizer_kernel(machine.symbolizer, other, sizeof(other), true);
	symbolizer_kernel_anchor(kernel, "_text", 0xffffffff9a000000);
	assert_int_equal(module_miss(kernel), SYMBOL_BUILD_ID_MISMATCH);
	machine_release(&machine);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_running_kernel_is_named_by_kallsyms),
		cmocka_unit_test(another_build_of_the_kernel_is_not_named),
		cmocka_unit_test(
			a_kernel_of_another_machine_is_named_only_with_proof_of_build_and_place),
		cmocka_unit_test(a_kernel_that_was_loaded_elsewhere_is_named_at_its_old_place),
		cmocka_unit_test(hidden_addresses_name_the_setting_in_the_way),
		cmocka_unit_test(a_copy_of_kallsyms_that_the_recording_kept_is_believed),
		cmocka_unit_test(a_vmlinux_is_placed_by_the_address_of_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
