/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a symbol: a bounded name, or none. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *symbol = malloc(size + 1), *name;

	if (!symbol)
		return 0;
	memcpy(symbol, data, size);
	symbol[size] = '\0';
	name = demangle(symbol);
	assert(!name || strlen(name) <= DEMANGLE_MAX_OUTPUT + 8);
	free(name);
	free(symbol);
	return 0;
}
