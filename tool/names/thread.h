/* Names that threads of this process have given themselves. */
#ifndef NAMES_THREAD_H
#define NAMES_THREAD_H

#include <stdint.h>

enum { THREAD_NAME_BYTES = 32 };

/* "" of a thread that is gone or of another process. */
const char *thread_name(uint64_t thread_id, char name[THREAD_NAME_BYTES]);

#endif
