/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The subcommands. Each gets its own name as argv[0] and returns the program's exit code.
 */
#ifndef ASSAY_CLI_COMMANDS_H
#define ASSAY_CLI_COMMANDS_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_probe(int argc, char **argv);

#endif
