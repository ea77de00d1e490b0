/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/workload.h"

#include <math.h>
#include <stdlib.h>

#define CORRELATION_MAX  0.95
#define STRETCHES_NEEDED 12.0
#define PI               3.14159265358979323846

bool cosines_init(struct cosines *cosines, size_t n_epochs)
{
	const double n = (double)n_epochs;
	double q = fmax(2, round(0.4 * pow(n, 2.0 / 3)));

	q = fmin(q, COSINES_MAX);
	*cosines = (struct cosines){ .n_epochs = n_epochs, .q = (size_t)q };
	if (n_epochs < 2)
		return true;
	cosines->weight = calloc(cosines->q * n_epochs, sizeof(*cosines->weight));
	if (!cosines->weight)
		return false;
	for (size_t j = 0; j < cosines->q; j++)
		for (size_t e = 0; e < n_epochs; e++)
			cosines->weight[j * n_epochs + e] =
				sqrt(2 / n) * cos(PI * (double)(j + 1) * ((double)e + 0.5) / n);
	return true;
}

void cosines_release(struct cosines *cosines)
{
	free(cosines->weight);
	cosines->weight = NULL;
}

double cosines_variance(const struct cosines *cosines, const double *u)
{
	double sum = 0;

	if (!cosines->weight)
		return 0;
	for (size_t j = 0; j < cosines->q; j++) {
		const double *weight = cosines->weight + j * cosines->n_epochs;
		double transform = 0;

		for (size_t e = 0; e < cosines->n_epochs; e++)
			transform += weight[e] * u[e];
		sum += transform * transform;
	}
	return sum * (double)cosines->n_epochs / (double)cosines->q;
}

struct serial serial_detect(double own, double pooled, size_t n_epochs)
{
	const double root = sqrt((double)n_epochs);
	struct serial serial = { .detected = pooled > 1 / root || own > 1.28 / root };

	serial.correlation = fmin(fmax(fmax(own, pooled), 0), CORRELATION_MAX);
	return serial;
}

double serial_changes(double correlation, size_t n_epochs)
{
	return (double)n_epochs * (1 - correlation) / (1 + correlation);
}

bool serial_supported(const struct serial *serial, size_t n_epochs)
{
	return !serial->detected ||
	       serial_changes(serial->correlation, n_epochs) >= STRETCHES_NEEDED;
}

double serial_epochs_needed(double correlation)
{
	return ceil(STRETCHES_NEEDED * (1 + correlation) / (1 - correlation));
}
