/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/kernel.h"

static int nothing_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	(void)attr;
	return EACCES;
}

struct expectation {
	const char *text;
	int os_errno;
	const char *paranoid;
	enum status status;
	const char *words[3];
};

static const struct expectation expectations[] = {
	{ "cycles",
	  EACCES,
	  "2\n",
	  STATUS_PERMISSION,
	  { "perf_event_paranoid is 2", "add :u", "CAP_PERFMON" } },
	{ "cycles:k", EACCES, "2\n", STATUS_PERMISSION, { "kernel code needs 1", "=1" } },
	{ "cycles:u", EACCES, "2\n", STATUS_PERMISSION, { "should allow it", "seccomp" } },
	{ "cycles:u", EACCES, "3\n", STATUS_PERMISSION, { "users may measure nothing", "=2" } },
	{ "cycles:u",
	  EACCES,
	  "4\n",
	  STATUS_PERMISSION,
	  { "is 4", "users may measure nothing", "=2" } },
	{ "cycles", EPERM, "-1\n", STATUS_PERMISSION, { "everybody may measure", "seccomp" } },
	{ "cycles",
	  EPERM,
	  NULL,
	  STATUS_PERMISSION,
	  { "cannot be read", "seccomp", "CAP_PERFMON" } },
	{ "sched:sched_switch",
	  EACCES,
	  "2\n",
	  STATUS_PERMISSION,
	  { "tracepoint needs -1", "=-1" } },
	{ "cycles",
	  ENOENT,
	  "2\n",
	  STATUS_UNSUPPORTED,
	  { "cannot open cycles", "no PMU", "-e cpu-clock" } },
	{ "cycles", ENODEV, "2\n", STATUS_UNSUPPORTED, { "no PMU", "-e cpu-clock" } },
	{ "cycles",
	  EOPNOTSUPP,
	  "2\n",
	  STATUS_UNSUPPORTED,
	  { "none can interrupt", "-e cpu-clock" } },
	{ "cycles:pp",
	  EOPNOTSUPP,
	  "2\n",
	  STATUS_UNSUPPORTED,
	  { "cycles:pp", "precise_ip 2", "fewer p" } },
	{ "sched:sched_switch", ENOENT, "2\n", STATUS_NOT_FOUND, { "no tracepoint of id 316" } },
	{ "mem:0x10:r", ENOENT, "2\n", STATUS_UNSUPPORTED, { "breakpoint" } },
	{ "cgroup-switches",
	  ENOENT,
	  "2\n",
	  STATUS_UNSUPPORTED,
	  { "running kernel does not have it" } },
	{ "cpu/event=1/", EINVAL, "2\n", STATUS_UNSUPPORTED, { "encoding" } },
	{ "cpu/event=1/u", EINVAL, "2\n", STATUS_UNSUPPORTED, { "user from kernel" } },
	{ "cycles:pp", EINVAL, "2\n", STATUS_UNSUPPORTED, { "fewer p" } },
	{ "cycles:G", EINVAL, "2\n", STATUS_UNSUPPORTED, { "exclude" } },
	{ "{cycles}", EINVAL, "2\n", STATUS_UNSUPPORTED, { "group", "braces" } },
	{ "mem:0x11:rw", EINVAL, "2\n", STATUS_UNSUPPORTED, { "multiple of the length" } },
	{ "cycles", EMFILE, "2\n", STATUS_LIMIT, { "ulimit -n" } },
	{ "cycles", ENFILE, "2\n", STATUS_LIMIT, { "fs.file-max" } },
	{ "cycles", EBUSY, "2\n", STATUS_UNSUPPORTED, { "nmi_watchdog" } },
	{ "mem:0x10", ENOSPC, "2\n", STATUS_LIMIT, { "breakpoint registers" } },
	{ "cycles", E2BIG, "2\n", STATUS_UNSUPPORTED, { "older than the kernel headers" } },
	{ "cycles", ENOMEM, "2\n", STATUS_NO_MEMORY, { "no memory" } },
	{ "cycles", ESRCH, "2\n", STATUS_NOT_FOUND, { "has ended" } },
	{ "cycles", ENOSYS, "2\n", STATUS_UNSUPPORTED, { "CONFIG_PERF_EVENTS" } },
	{ "cycles", EOVERFLOW, "2\n", STATUS_UNSUPPORTED, { "perf_event_max_stack" } },
	{ "cycles", EIO, "2\n", STATUS_IO, { "cannot open cycles: Input/output error" } },
};

static void each_errno_names_the_cause_the_knob_and_what_to_try(void **state)
{
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *x = &expectations[i];
		struct kernel kernel;
		struct error error = { 0 };

		kernel_init(&kernel, nothing_opens, x->paranoid);
		assert_int_equal(event_open_error(&error, &kernel.sys,
						  machine_event(*state, x->text), x->os_errno),
				 x->status);
		assert_int_equal(error.status, x->status);
		assert_int_equal(error.os_errno, x->os_errno);
		assert_int_equal(kernel.n_open, 0);
		for (size_t k = 0; k < 3 && x->words[k]; k++)
			if (!strstr(error.text, x->words[k]))
				fail_msg("%s, errno %d: '%s' lacks '%s'", x->text, x->os_errno,
					 error.text, x->words[k]);
	}
}

/* The rules of perf_allow_cpu() and perf_check_permission(): whole CPUs need 0 whatever is counted; a
 * process of another user is no matter of the level, unless the level forbids the event besides. */
static void the_knob_that_is_named_is_the_one_that_would_help(void **state)
{
	static const struct {
		const char *text, *paranoid;
		enum event_target target;
		const char *has, *lacks;
	} cases[] = {
		{ "cycles:u", "2\n", EVENT_ON_CPU, "perf_event_paranoid=0", "=1" },
		{ "cycles:u", "3\n", EVENT_ON_CPU, "perf_event_paranoid=0", "=2" },
		{ "cycles", "1\n", EVENT_ON_CPU, "perf_event_paranoid=0", ":u" },
		{ "cycles", "2\n", EVENT_ON_CPU, "perf_event_paranoid=0", ":u" },
		{ "cycles", "0\n", EVENT_ON_CPU, "seccomp", "sysctl" },
		{ "sched:sched_switch", "0\n", EVENT_ON_CPU, "perf_event_paranoid=-1", "=0" },
		{ "cycles:u", "2\n", EVENT_ON_TASK, "another user", "sysctl" },
		{ "cycles", "-1\n", EVENT_ON_TASK, "another user", "sysctl" },
		{ "cycles", "2\n", EVENT_ON_TASK, "perf_event_paranoid=1", "another user" },
		{ "cycles:u", "3\n", EVENT_ON_TASK, "perf_event_paranoid=2", "another user" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel kernel;
		struct error error = { 0 };

		kernel_init(&kernel, nothing_opens, cases[i].paranoid);
		assert_int_equal(event_open_error_on(&error, &kernel.sys,
						     machine_event(*state, cases[i].text), EACCES,
						     cases[i].target),
				 STATUS_PERMISSION);
		if (!strstr(error.text, cases[i].has) || strstr(error.text, cases[i].lacks))
			fail_msg("%zu: '%s' lacks '%s' or has '%s'", i, error.text, cases[i].has,
				 cases[i].lacks);
		assert_non_null(strstr(error.text, "CAP_PERFMON"));
	}
}

/* A message that is cut loses what to try, which stands at its end. */
static void every_message_ends_with_the_kernels_own_words(void **state)
{
	for (int os_errno = 1; os_errno < 134; os_errno++)
		for (int level = -1; level < 5; level++) {
			struct kernel kernel;
			struct error error = { 0 };
			char text[16];
			const char *reason = strerror(os_errno), *end;

			snprintf(text, sizeof(text), "%d\n", level);
			kernel_init(&kernel, nothing_opens, text);
			event_open_error(&error, &kernel.sys,
					 machine_event(*state, "sched:sched_switch:k"), os_errno);
			end = error.text + strlen(error.text) - strlen(reason);
			assert_string_equal(end, reason);
		}
}

static void the_error_object_may_be_absent(void **state)
{
	struct kernel kernel;

	kernel_init(&kernel, nothing_opens, "2\n");
	assert_int_equal(
		event_open_error(NULL, &kernel.sys, machine_event(*state, "cycles"), EACCES),
		STATUS_PERMISSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, each_errno_names_the_cause_the_knob_and_what_to_try),
		ON(skylake, the_knob_that_is_named_is_the_one_that_would_help),
		ON(skylake, every_message_ends_with_the_kernels_own_words),
		ON(skylake, the_error_object_may_be_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
