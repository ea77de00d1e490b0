/* SPDX-License-Identifier: GPL-3.0-or-later */
int layout_second(int x);

int main(int argc, char **argv)
{
	(void)argv;
	return layout_second(argc) == 0;
}
