/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/bar.h"

#include <math.h>

enum glyph {
	GLYPH_SPACE,
	GLYPH_SOLID,
	GLYPH_LOW,
	GLYPH_BETWEEN,
	GLYPH_SHARE,
	GLYPH_HIGH,
	GLYPH_POINT
};

static const char *glyph_text(enum glyph glyph, bool unicode)
{
	static const char *const texts[][2] = {
		[GLYPH_SPACE] = { " ", " " },      [GLYPH_SOLID] = { "=", "\u2501" },
		[GLYPH_LOW] = { "[", "\u2523" },   [GLYPH_BETWEEN] = { "-", "\u254c" },
		[GLYPH_SHARE] = { "|", "\u253f" }, [GLYPH_HIGH] = { "]", "\u252b" },
		[GLYPH_POINT] = { "|", "\u2503" },
	};

	return texts[glyph][unicode];
}

static int column_of(double value, double scale)
{
	const int column = scale > 0 ? (int)floor(value / scale * BAR_WIDTH) : 0;

	return column < 0 ? 0 : column >= BAR_WIDTH ? BAR_WIDTH - 1 : column;
}

void bar_draw(struct output *output, double lo, double share, double hi, double scale, bool unicode)
{
	const bool interval = lo <= hi;
	const int low = column_of(interval ? lo : share, scale);
	const int high = column_of(interval ? hi : share, scale);
	const int point = column_of(share, scale);

	for (int i = 0; i < BAR_WIDTH; i++) {
		enum glyph glyph = GLYPH_SPACE;

		if (i < low)
			glyph = GLYPH_SOLID;
		else if (!interval)
			glyph = i == low && share > 0 ? GLYPH_SOLID : GLYPH_SPACE;
		else if (low == high)
			glyph = i == low ? GLYPH_POINT : GLYPH_SPACE;
		else if (i == low)
			glyph = GLYPH_LOW;
		else if (i == high)
			glyph = GLYPH_HIGH;
		else if (i < high)
			glyph = i == point ? GLYPH_SHARE : GLYPH_BETWEEN;
		output_add(output, glyph_text(glyph, unicode));
	}
}
