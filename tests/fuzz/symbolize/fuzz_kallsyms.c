/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as kallsyms, in two pieces; its functions hold the addresses they are found at. */
#include <assert.h>

#include "symbolize/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kallsyms kallsyms;
	const size_t cut = size ? data[0] % size : 0;

	kallsyms_init(&kallsyms);
	if (kallsyms_feed(&kallsyms, (const char *)data, cut) &&
	    kallsyms_feed(&kallsyms, (const char *)data + cut, size - cut) &&
	    kallsyms_finish(&kallsyms)) {
		const size_t n = kallsyms.n < 200 ? kallsyms.n : 200;

		for (size_t i = 0; i < n; i++) {
			const uint64_t address = kallsyms.entries[i].address;
			const char *module;
			const struct function *function =
				kallsyms_function_at(&kallsyms, address, &module);

			assert(!function ||
			       (function->start.value == address && function->end.value > address));
		}
		kallsyms_hidden(&kallsyms);
	}
	kallsyms_release(&kallsyms);
	return 0;
}
