/*
 * Elements of one to four dwords, a strip's of them behind each other in memory that others may use
 * at the same time: to a host register for each dword, and back. Memory is accessed in parts of 16
 * bytes, loads from the last one down, stores from the first one up (decision 0010).
 */
#ifndef TRANSLATE_ELEMENTS_H
#define TRANSLATE_ELEMENTS_H

#include "translate/x86.h"

enum { ELEMENT_DWORDS = 4 }; /* at most */

/* At RSI, a multiple of 16 bytes. Four registers, and a temporary for elements of four dwords. */
void elements_load(struct x86 *x, unsigned dwords, const uint8_t *hosts, unsigned temporary);
/* Four temporaries. */
void elements_store(struct x86 *x, unsigned dwords, const uint8_t *hosts,
                    const uint8_t *temporaries);

#endif
