// SPDX-License-Identifier: GPL-3.0-or-later
// Landing pads, cleanups and what compilers split off for them.
struct guard {
	~guard();
};
extern int outside(int);

int caught(int x)
{
	guard g;
	try {
		if (x > 3)
			throw x;
		return outside(x);
	} catch (int y) {
		return outside(y) + 1;
	} catch (...) {
		throw;
	}
}

int cleaned(int x)
{
	guard g;
	return outside(x) + outside(x + 1);
}
