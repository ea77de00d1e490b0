/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/origin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FACT_MAX_BYTES     4096
#define KALLSYMS_MAX_BYTES (64 * 1024) /* _text is among the first symbols */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

/* Whether a recorded fact contradicts the one in a file of /proc. */
static bool fact_differs(const struct sys *sys, const char *recorded, const char *path)
{
	char *here;
	bool differs;

	if (!recorded || !*recorded ||
	    sys_read_file(sys, AT_FDCWD, path, FACT_MAX_BYTES, &here, NULL, NULL) != STATUS_OK)
		return false;
	here[strcspn(here, "\n")] = '\0';
	differs = strcmp(here, recorded) != 0;
	free(here);
	return differs;
}

static uint16_t machine_of(const char *arch)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} known[] = {
		{ "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 }, { "arm64", EM_AARCH64 },
		{ "i386", EM_386 },      { "i486", EM_386 },        { "i586", EM_386 },
		{ "i686", EM_386 },      { "armv7l", EM_ARM },      { "armv8l", EM_ARM },
		{ "ppc64le", EM_PPC64 }, { "s390x", EM_S390 },      { "riscv64", EM_RISCV },
	};

	if (!arch || !*arch)
		return EM_NONE;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(arch, known[i].name))
			return known[i].machine;
	return EM_NONE;
}

/* The address of _text now, 0 when it is hidden. */
static uint64_t kernel_start_now(const struct sys *sys)
{
	static const char mark[] = " T _text\n";
	uint64_t start = 0;
	char *head = malloc(KALLSYMS_MAX_BYTES + 1);
	const int fd = sys->openat(sys->state, AT_FDCWD, "/proc/kallsyms", O_RDONLY | O_CLOEXEC, 0);
	ssize_t size;
	char *found;

	if (head && fd >= 0) {
		size = sys_read_full(sys, fd, head, KALLSYMS_MAX_BYTES);
		head[size > 0 ? size : 0] = '\0';
		found = strstr(head, mark);
		while (found && found > head && found[-1] != '\n')
			found--;
		start = found ? strtoull(found, NULL, 16) : 0;
	}
	if (fd >= 0)
		sys->close(sys->state, fd);
	free(head);
	return start;
}

struct origin origin_of(const struct bundle *bundle, const struct sys *sys, uint64_t kernel_start)
{
	const struct manifest_machine *machine =
		bundle->has_manifest ? &bundle->manifest.machine : NULL;
	const struct perfdata_header *header = perfdata_reader_header(bundle->reader);
	const char *arch = machine ? machine->arch : header->arch;
	const char *hostname = machine ? machine->hostname : header->hostname;
	const char *release = machine ? machine->kernel : header->os_release;
	const char *boot_id = machine ? machine->boot_id : NULL;
	struct origin origin = { .machine = machine_of(arch) };
	uint64_t start_now;

	origin.foreign = fact_differs(sys, hostname, "/proc/sys/kernel/hostname") ||
			 (arch && *arch && origin.machine != OWN_MACHINE);
	origin.kernel_foreign = origin.foreign ||
				fact_differs(sys, release, "/proc/sys/kernel/osrelease") ||
				fact_differs(sys, boot_id, "/proc/sys/kernel/random/boot_id");
	if (!origin.kernel_foreign && kernel_start) {
		start_now = kernel_start_now(sys);
		origin.kernel_foreign = start_now && start_now != kernel_start;
	}
	if (origin.machine == EM_NONE && !(arch && *arch))
		origin.machine = OWN_MACHINE;
	return origin;
}
