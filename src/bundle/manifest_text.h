/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes as JSON strings, reversibly. Paths and names may hold any byte but NUL; JSON holds UTF-8.
 *
 * A byte b that is not part of valid UTF-8 becomes the character U+10F700 + b, which lies in a
 * private-use plane (U+10F780 to U+10F7FF). Bytes that are themselves the UTF-8 of one of those 128
 * characters are treated as invalid and escaped one by one, so that decoding is the exact inverse.
 */
#ifndef ASSAY_BUNDLE_MANIFEST_TEXT_H
#define ASSAY_BUNDLE_MANIFEST_TEXT_H

/* Allocated; NULL when memory is short. */
char *manifest_text_encode(const char *bytes);
char *manifest_text_decode(const char *utf8);

#endif
