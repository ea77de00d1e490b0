/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "unit/event/machine.h"

static void events_are_separated_by_commas_and_blanks_do_not_matter(void **state)
{
	const struct event *e =
		machine_events(*state, " cycles ,\tinstructions:u,page-faults\n", 3);

	assert_string_equal(e[0].granted, "cycles");
	assert_string_equal(e[1].granted, "instructions:u");
	assert_string_equal(e[2].granted, "page-faults");
}

static void a_modifier_belongs_to_its_own_event_only(void **state)
{
	const struct event *e = machine_events(*state, "cycles,instructions:u,branches", 3);

	assert_false(e[0].attr.exclude_kernel);
	assert_true(e[1].attr.exclude_kernel);
	assert_false(e[2].attr.exclude_kernel);
}

static void each_call_appends_and_numbers_its_groups_on(void **state)
{
	struct machine *m = *state;

	machine_events(m, "cs,{cycles,instructions}", 3);
	assert_int_equal(
		event_parse(&m->list, sys_real(), &m->roots, "{branches,cs},dummy", &m->error),
		STATUS_OK);
	assert_int_equal(m->list.n, 6);
	assert_int_equal(m->list.n_groups, 2);
	assert_int_equal(m->list.events[0].group, -1);
	assert_int_equal(m->list.events[1].group, 0);
	assert_int_equal(m->list.events[2].group, 0);
	assert_int_equal(m->list.events[3].group, 1);
	assert_int_equal(m->list.events[4].group, 1);
	assert_int_equal(m->list.events[5].group, -1);
}

static void a_failure_leaves_the_list_as_it_was(void **state)
{
	struct machine *m = *state;

	machine_events(m, "{cs,faults}", 2);
	assert_int_equal(
		event_parse(&m->list, sys_real(), &m->roots, "{cycles,branches},nosuch", &m->error),
		STATUS_USAGE);
	assert_int_equal(m->list.n, 2);
	assert_int_equal(m->list.n_groups, 1);
	assert_string_equal(m->list.events[1].granted, "page-faults");
}

static void an_error_names_the_word_and_its_position(void **state)
{
	static const struct {
		const char *text;
		size_t offset;
		const char *words;
	} bad[] = {
		{ "", 0, "the text ends where an event is expected" },
		{ "cycles,", 7, "the text ends where an event is expected" },
		{ ",cycles", 0, "',' where an event is expected" },
		{ "cycles,,cs", 7, "',' where an event is expected (character 8 of 'cycles,,cs')" },
		{ "cycles cs", 7, "'c' where ',' is expected" },
		{ "cs,cyclse", 3, "unknown event 'cyclse' (character 4 of 'cs,cyclse')" },
		{ "cycles:", 7, "nothing follows the ':'" },
		{ "cycles:ux", 8, "unknown modifier 'x'" },
		{ "cycles/period=5", 6, "no closing '/'" },
		{ "cycles/period=5/u/", 17, "'/' where ',' is expected" },
		{ "cycles:u/period=5/", 7, "modifiers stand behind the second '/'" },
		{ "{cycles,cs", 0, "no closing '}'" },
		{ "cs,g{cycles,cs", 4, "no closing '}'" },
		{ "{cycles,}", 8, "'}' where an event is expected" },
		{ "{}", 1, "'}' where an event is expected" },
		{ "{cycles{cs}}", 7, "'{' where ',' or '}' is expected" },
		{ "{cycles}:", 9, "the text ends where a modifier is expected" },
		{ "{cycles}u", 8, "'u' where ',' is expected" },
		{ "{cycles}:q", 9, "unknown modifier 'q'" },
		{ "cycles}", 6, "'}' where ',' is expected" },
		{ "a{b", 2, "unknown event 'b'" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		machine_refuses(*state, bad[i].text, STATUS_USAGE, bad[i].offset, bad[i].words);
}

static void a_group_may_have_a_name(void **state)
{
	const struct event *e = machine_events(*state, "mine{cycles,cs}:u", 2);

	assert_int_equal(e[0].group, 0);
	assert_int_equal(e[1].group, 0);
	assert_true(e[0].attr.exclude_kernel && e[1].attr.exclude_kernel);
}

static void group_modifiers_add_to_those_of_the_events(void **state)
{
	const struct event *e = machine_events(*state, "{cycles:u,instructions:p}:kpS", 2);

	assert_string_equal(e[0].granted, "cycles:ukpS");
	assert_string_equal(e[1].granted, "instructions:kppS");
	assert_true(e[0].group_read && e[1].group_read);
}

static void group_modifiers_take_nothing_from_the_events(void **state)
{
	const struct event *e =
		machine_events(*state, "{cycles:IDe,cs:SW,branches:P,faults:H}:u", 4);

	assert_string_equal(e[0].granted, "cycles:uDIe");
	assert_string_equal(e[1].granted, "context-switches:uSW");
	assert_string_equal(e[2].granted, "branches:uP");
	assert_string_equal(e[3].granted, "page-faults:uH");
}

static void pinned_and_exclusive_go_to_the_leader_only(void **state)
{
	const struct event *e = machine_events(*state, "{cycles,instructions:De}:De", 2);

	assert_true(e[0].attr.pinned && e[0].attr.exclusive);
	assert_false(e[1].attr.pinned || e[1].attr.exclusive);
	e = machine_events(*state, "cycles:D,instructions:e", 2);
	assert_true(e[0].attr.pinned && e[1].attr.exclusive);
}

static void a_text_of_more_than_64_kib_is_refused(void **state)
{
	struct machine *m = *state;
	char *text = malloc(70000);

	assert_non_null(text);
	memset(text, 'a', 69999);
	text[69999] = '\0';
	assert_int_equal(machine_try(m, text), STATUS_LIMIT);
	text[60000] = '\0';
	assert_int_equal(machine_try(m, text), STATUS_USAGE);
	assert_int_equal(m->error.offset, 0);
	free(text);
}

static void more_than_1024_events_are_refused_and_none_is_added(void **state)
{
	struct machine *m = *state;
	char text[3 * (EVENT_MAX + 1) + 1] = "";

	for (size_t i = 0; i < EVENT_MAX; i++)
		memcpy(text + 3 * i, "cs,", 3);
	text[3 * EVENT_MAX - 1] = '\0';
	machine_events(m, text, EVENT_MAX);
	assert_int_equal(event_parse(&m->list, sys_real(), &m->roots, "cs", &m->error),
			 STATUS_LIMIT);
	assert_int_equal(m->list.n, EVENT_MAX);
	memcpy(text + 3 * EVENT_MAX - 1, ",cs", 4);
	assert_int_equal(machine_try(m, text), STATUS_LIMIT);
	assert_int_equal(m->list.n, 0);
}

static void the_error_object_may_be_absent(void **state)
{
	struct machine *m = *state;

	assert_int_equal(event_parse(&m->list, sys_real(), &m->roots, "cyclse,cpu/x=1/", NULL),
			 STATUS_USAGE);
	assert_int_equal(event_parse(&m->list, sys_real(), &m->roots, "sched:x", NULL),
			 STATUS_NOT_FOUND);
	assert_int_equal(event_parse(&m->list, sys_real(), &m->roots, "imc/x=1/", NULL),
			 STATUS_NOT_FOUND);
}

/* Fails the Nth call that reads, and every one after it when `for_good`. */
struct failing {
	unsigned int calls, fails_at;
	bool for_good;
	int os_errno;
};

static bool fails(struct failing *f)
{
	f->calls++;
	return f->calls == f->fails_at || (f->for_good && f->calls > f->fails_at);
}

static int failing_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	return fails(state) ? -((struct failing *)state)->os_errno
			    : sys_real()->openat(NULL, dir_fd, path, flags, mode);
}

static ssize_t failing_read(void *state, int fd, void *buffer, size_t size)
{
	return fails(state) ? -((struct failing *)state)->os_errno
			    : sys_real()->read(NULL, fd, buffer, size);
}

static ssize_t failing_getdents(void *state, int fd, void *buffer, size_t size)
{
	return fails(state) ? -((struct failing *)state)->os_errno
			    : sys_real()->getdents(NULL, fd, buffer, size);
}

static int failing_fstatat(void *state, int dir_fd, const char *path, struct stat *stat, int flags)
{
	return fails(state) ? -((struct failing *)state)->os_errno
			    : sys_real()->fstatat(NULL, dir_fd, path, stat, flags);
}

static unsigned int open_descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A sweep over every call of a scenario that touches each part of sysfs and tracefs. What comes out is
 * either all of the events or none, no descriptor stays open, and the sanitizer sees no leak. */
static void when_any_read_fails_there_are_all_events_or_none(void **state)
{
	static const char text[] =
		"cycles,cpu/mem-loads,ldlat=30/u,{tsc,sched:sched_wak*},sched:sched_switch";
	static const int errnos[] = { EIO, EACCES, ENOENT, EMFILE };
	struct machine *m = *state;
	const unsigned int open_before = open_descriptors();
	unsigned int n_calls = 0, failed = 0;

	for (size_t which = 0; which < 2 * sizeof(errnos) / sizeof(errnos[0]); which++) {
		for (unsigned int at = 1; at < 1000; at++) {
			struct failing f = { 0, at, which % 2, errnos[which / 2] };
			struct sys sys = *sys_real();
			enum status status;

			sys.state = &f;
			sys.openat = failing_openat;
			sys.read = failing_read;
			sys.getdents = failing_getdents;
			sys.fstatat = failing_fstatat;
			event_list_release(&m->list);
			status = event_parse(&m->list, &sys, &m->roots, text, &m->error);
			/* A tracepoint that has just gone away is not matched by a glob. */
			if (status == STATUS_OK && f.os_errno == ENOENT)
				assert_in_range(m->list.n, 5, 6);
			else
				assert_int_equal(m->list.n, status == STATUS_OK ? 6 : 0);
			failed += status != STATUS_OK;
			n_calls = f.calls;
			if (f.calls < at)
				break;
		}
		assert_true(n_calls < 999);
	}
	assert_true(n_calls > 30 && failed > 30);
	assert_int_equal(open_descriptors(), open_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, events_are_separated_by_commas_and_blanks_do_not_matter),
		ON(skylake, a_modifier_belongs_to_its_own_event_only),
		ON(skylake, each_call_appends_and_numbers_its_groups_on),
		ON(skylake, a_failure_leaves_the_list_as_it_was),
		ON(skylake, an_error_names_the_word_and_its_position),
		ON(skylake, a_group_may_have_a_name),
		ON(skylake, group_modifiers_add_to_those_of_the_events),
		ON(skylake, group_modifiers_take_nothing_from_the_events),
		ON(skylake, pinned_and_exclusive_go_to_the_leader_only),
		ON(skylake, a_text_of_more_than_64_kib_is_refused),
		ON(skylake, more_than_1024_events_are_refused_and_none_is_added),
		ON(skylake, the_error_object_may_be_absent),
		ON(skylake, when_any_read_fails_there_are_all_events_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
