/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who we are and what the kernel lets us do: container, capabilities, the paranoid level, ptrace.
 *
 * Sources: Documentation/admin-guide/perf-security.rst and sysctl/kernel.rst of Linux; capabilities(7);
 * Documentation/admin-guide/LSM/Yama.rst. Level 3 of perf_event_paranoid is Debian's own and forbids
 * everything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/doctor_look.h"

/* Docker, podman, and what systemd, LXC and others call themselves to their first process. */
static const char *container_name(const struct doctor_look *look)
{
	char *first = doctor_proc(look, "1/cgroup");
	const char *name = NULL;

	if (doctor_exists(look, look->proc, "self/root/.dockerenv"))
		name = "docker";
	else if (doctor_exists(look, look->proc, "self/root/run/.containerenv"))
		name = "podman";
	else if (first && (strstr(first, "/docker") || strstr(first, "/kubepods")))
		name = strstr(first, "/kubepods") ? "kubernetes" : "docker";
	else if (first && (strstr(first, "/lxc/") || strstr(first, "/lxc.payload")))
		name = "lxc";
	free(first);
	return name;
}

void doctor_check_container(struct doctor_look *look)
{
	char *seccomp = doctor_field(look, "self/status", "Seccomp");
	const char *name = container_name(look);
	const bool filtered = seccomp && !strcmp(seccomp, "2");

	free(seccomp);
	look->container = name != NULL;
	if (!name && !filtered) {
		doctor_add(look, "container", DOCTOR_OK, "", "no container, no system-call filter");
		return;
	}
	doctor_add(look, "container", filtered ? DOCTOR_LIMITED : DOCTOR_OK,
		   !filtered ? ""
			     : "start the container with --cap-add PERFMON --cap-add SYS_PTRACE "
			       "and a seccomp "
			       "profile that allows perf_event_open (docker: --security-opt "
			       "seccomp=unconfined)",
		   "%s%s%s", name ? "inside a container: " : "", name ? name : "",
		   !filtered ? ""
		   : name    ? "; a seccomp filter is active and may refuse perf_event_open"
			     : "a seccomp filter is active and may refuse perf_event_open");
}

/* The kernel asks for capabilities in the first user namespace, whose map covers every id (user_namespaces(7)). */
static bool in_user_namespace(const struct doctor_look *look)
{
	char *map = doctor_proc(look, "self/uid_map");
	unsigned long long inside, outside, length;
	bool first = true;

	if (map && sscanf(map, "%llu %llu %llu", &inside, &outside, &length) == 3)
		first = inside == 0 && outside == 0 && length == UINT32_MAX;
	free(map);
	return !first;
}

void doctor_check_capabilities(struct doctor_look *look)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} known[] = { { CAPABILITY_PERFMON, "PERFMON" },
		      { CAPABILITY_SYS_ADMIN, "SYS_ADMIN" },
		      { CAPABILITY_SYS_PTRACE, "SYS_PTRACE" },
		      { CAPABILITY_SYSLOG, "SYSLOG" },
		      { CAPABILITY_IPC_LOCK, "IPC_LOCK" } };
	char *field = doctor_field(look, "self/status", "CapEff");
	char list[128] = "";

	look->capabilities = field ? strtoull(field, NULL, 16) : 0;
	free(field);
	look->privileged =
		doctor_has(look, CAPABILITY_PERFMON) || doctor_has(look, CAPABILITY_SYS_ADMIN);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (doctor_has(look, known[i].bit))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", known[i].name);
	if (look->privileged && in_user_namespace(look)) {
		look->privileged = false;
		look->capabilities &=
			~(UINT64_C(1) << CAPABILITY_PERFMON | UINT64_C(1) << CAPABILITY_SYS_ADMIN |
			  UINT64_C(1) << CAPABILITY_SYSLOG);
		doctor_add(look, "capabilities", DOCTOR_LIMITED,
			   "run outside of the user namespace (not in a rootless container), or on "
			   "the host, as root: sysctl -w kernel.perf_event_paranoid=-1",
			   "%s, but only within a user namespace: the kernel does not accept them "
			   "for measuring",
			   list);
		return;
	}
	if (look->privileged)
		doctor_add(look, "capabilities", DOCTOR_OK, "", "%s", list);
	else
		doctor_add(look, "capabilities", DOCTOR_LIMITED,
			   look->container ? "start the container with --cap-add PERFMON"
					   : "run with sudo, or as root: setcap "
					     "cap_perfmon,cap_sys_ptrace,cap_syslog=ep "
					     "$(command -v assay)",
			   "neither CAP_PERFMON nor CAP_SYS_ADMIN%s%s: only own processes, within "
			   "what "
			   "kernel.perf_event_paranoid allows",
			   *list ? "; has " : "", list);
}

void doctor_check_paranoid(struct doctor_look *look)
{
	const int64_t level = doctor_number(look, "sys/kernel/perf_event_paranoid");
	const char *const allowed[] = { "own processes with the kernel's part, and whole CPUs",
					"own processes with the kernel's part",
					"own processes without the kernel's part", "nothing" };
	char fix[128];

	look->paranoid = level;
	if (level == INT64_MIN) {
		doctor_add(look, "paranoid", DOCTOR_BLOCKED,
			   "boot a kernel with CONFIG_PERF_EVENTS=y, or mount /proc",
			   "kernel.perf_event_paranoid cannot be read: this kernel has no "
			   "performance events");
		return;
	}
	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.perf_event_paranoid=%d", doctor_where(look),
		 level > 2 ? 1 : -1);
	if (look->privileged || level < 0)
		doctor_add(look, "paranoid", DOCTOR_OK, "",
			   "kernel.perf_event_paranoid=%" PRId64 "%s", level,
			   look->privileged && level >= 0 ? ", which does not bind this user" : "");
	else
		doctor_add(look, "paranoid", level > 2 ? DOCTOR_BLOCKED : DOCTOR_LIMITED, fix,
			   "kernel.perf_event_paranoid=%" PRId64 ": this user may measure %s",
			   level, allowed[level > 3 ? 3 : level]);
}

void doctor_check_ptrace(struct doctor_look *look)
{
	const int64_t scope = doctor_number(look, "sys/kernel/yama/ptrace_scope");
	char fix[128];

	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.yama.ptrace_scope=0", doctor_where(look));
	if (scope == 3)
		doctor_add(look, "ptrace", DOCTOR_BLOCKED,
			   "kernel.yama.ptrace_scope=3 can only be left by a reboot",
			   "kernel.yama.ptrace_scope=3: no process can be attached to, probes are "
			   "impossible");
	else if (doctor_has(look, CAPABILITY_SYS_PTRACE) || scope <= 0)
		doctor_add(look, "ptrace", DOCTOR_OK, "",
			   "processes can be attached to (for probes)");
	else
		doctor_add(look, "ptrace", DOCTOR_LIMITED, fix,
			   "kernel.yama.ptrace_scope=%" PRId64
			   ": probes work on commands that assay starts, not "
			   "on running processes",
			   scope);
}
