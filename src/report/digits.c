/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/digits.h"

#include <math.h>
#include <stdio.h>

int digits_decimals(double half_width)
{
	int exponent, decimals;
	double lead;

	if (!(half_width > 0) || !isfinite(half_width))
		return 1;
	exponent = (int)floor(log10(half_width));
	lead = half_width / pow(10, exponent); /* 1 .. 10 */
	if (lead >= 9.495)
		exponent++;
	decimals = lead < 3.545 || lead >= 9.495 ? 1 - exponent : -exponent;
	if (decimals < 0)
		return 0;
	return decimals > DIGITS_MAX_DECIMALS ? DIGITS_MAX_DECIMALS : decimals;
}

double digits_fallback_half_width(double share, double samples)
{
	double half_width;

	if (!(samples > 0))
		return 100;
	half_width = 196 * sqrt(fmax(0, share * (1 - share)) / samples);
	return fmax(half_width, 100 / samples);
}

const char *digits_duration(double ns, char *text, size_t size)
{
	const double seconds = ns / 1e9;

	if (ns < 999.5)
		snprintf(text, size, "%.0f ns", ns);
	else if (ns < 999.5e3)
		snprintf(text, size, "%.3g us", ns / 1e3);
	else if (ns < 999.5e6)
		snprintf(text, size, "%.3g ms", ns / 1e6);
	else if (seconds < 119.5)
		snprintf(text, size, "%.3g s", seconds);
	else if (seconds < 2 * 3600 - 30)
		snprintf(text, size, "%d min %d s", (int)(seconds + 0.5) / 60,
			 (int)(seconds + 0.5) % 60);
	else if (seconds < 1e9)
		snprintf(text, size, "%d h %d min", (int)((seconds + 30) / 3600),
			 (int)(seconds + 30) % 3600 / 60);
	else
		snprintf(text, size, "%.3g years", seconds / (365.25 * 86400));
	return text;
}

const char *digits_about(double ns, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {
		{ 365.25 * 86400e9, "years" },
		{ 86400e9, "days" },
		{ 3600e9, "h" },
		{ 60e9, "min" },
		{ 1e9, "s" },
		{ 1e6, "ms" },
	};
	const size_t n = sizeof(units) / sizeof(units[0]);
	size_t i = 0;
	double amount;

	/* a unit from 1.45 on ("1.5 h", not "87 min"), the last one for all that is less */
	while (i + 1 < n && ns < 1.45 * units[i].ns)
		i++;
	amount = ns / units[i].ns;
	snprintf(text, size, amount < 9.95 ? "%.1f %s" : "%.0f %s", amount, units[i].unit);
	return text;
}

const char *digits_short(double number, char *text, size_t size)
{
	if (!isfinite(number))
		snprintf(text, size, "?");
	else if (fabs(number) >= 999.5)
		snprintf(text, size, "%.0f", number);
	else
		snprintf(text, size, "%.3g", number);
	return text;
}

const char *digits_points(double part, char *text, size_t size)
{
	const double points = 100 * part;

	if (!isfinite(points))
		snprintf(text, size, "?");
	else
		snprintf(text, size, fabs(points) >= 9.95 ? "%.0f" : "%.2g", points);
	return text;
}
