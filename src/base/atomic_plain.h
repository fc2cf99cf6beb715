/*
 * Atomic objects read as what they are on x86-64: an aligned word, whose relaxed load is a load.
 * Compilers compare with memory and call by way of memory, but not of an atomic, which they bring
 * to a register first; on the hot path that is an instruction each. The read is one of the value
 * that is compared or called, and of nothing else.
 */
#ifndef BASE_ATOMIC_PLAIN_H
#define BASE_ATOMIC_PLAIN_H

#include <stdatomic.h>

/* ThreadSanitizer knows atomics only. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define ATOMIC_PLAIN(type, object) (*(type const *)(const void *)&(object))
#else
#define ATOMIC_PLAIN(type, object) atomic_load_explicit(&(object), memory_order_relaxed)
#endif

#endif
