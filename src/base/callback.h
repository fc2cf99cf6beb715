/*
 * Calls of functions that are not ours. They may be C++ and throw: the exception must neither pass
 * through our frames, which would leave a call half reported, nor reach the program, which has
 * nothing to do with it. So it ends where it was thrown, with the C++ runtime's own message, as in
 * a function that is noexcept. Ending the thread (pthread_exit, cancellation) stays possible.
 */
#ifndef BASE_CALLBACK_H
#define BASE_CALLBACK_H

#include <stdbool.h>

/* What the unwinder asks whether a frame lets an exception pass. It costs nothing until then. */
#if defined(__x86_64__) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define CALLBACK_IS_NOEXCEPT() __asm__ volatile(".cfi_personality 0x1b, callback_personality")
#else
#define CALLBACK_IS_NOEXCEPT() ((void)0)
#endif

/* This thread is ending in a callback. Who made it call one takes that back. */
extern __thread bool callback_left __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The statement stands between two marks: the call is no tail call, and both are in one part of the
 * function. */
#define CALLBACK(call)                                                                             \
    do {                                                                                           \
        call;                                                                                      \
        CALLBACK_IS_NOEXCEPT();                                                                    \
    } while (0)

#endif
