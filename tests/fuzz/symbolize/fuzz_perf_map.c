/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as the map of a runtime: parsed, and each function found at its own start. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct function_model model;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (perf_map_parse(text, size, &model)) {
		for (size_t i = 0; i < model.n; i++) {
			const struct function *function = &model.functions[i];
			const uint32_t at = function_model_at(&model, function->start.value);

			assert(strlen(function->symbol) <= PERF_MAP_MAX_NAME);
			assert(at == FUNCTION_NONE || at < model.n);
		}
		function_model_release(&model);
	}
	free(text);
	return 0;
}
