/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names as a reader wants them: C++ (Itanium ABI) and Rust (legacy and v0) through libiberty.
 *
 * A mangled name is hostile input: a few hundred bytes of back references can stand for gigabytes of
 * text. Input and output are bounded, and the demangler is left as soon as the bound is reached.
 */
#ifndef ASSAY_SYMBOLIZE_DEMANGLE_H
#define ASSAY_SYMBOLIZE_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_MAX_INPUT  (32u * 1024)
#define DEMANGLE_MAX_OUTPUT (64u * 1024)

/* The readable form of a symbol (a symbol version "@@VER" is dropped) in memory that the caller
 * frees; NULL when the name is not mangled, not understood, or out of bounds: show it as it is. */
char *demangle(const char *symbol);

/* Length of the symbol without its version suffix. */
size_t demangle_unversioned_length(const char *symbol);

#endif
