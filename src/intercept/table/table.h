/*
 * API tables that begin with their size, one slot a function: HIP, roctx, RCCL, rocDecode, rocJPEG,
 * rocSHMEM, hipFile.
 *
 * Several copies of a library may be in one process; each offers a table with functions of its own.
 * Up to TABLE_COPIES_MAX of them are traced, the others run untraced.
 */
#ifndef INTERCEPT_TABLE_TABLE_H
#define INTERCEPT_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

enum { TABLE_COPIES_MAX = 2 };

struct table_function {
    uint16_t slot;
    int16_t operation;
};

/* One table's wrappers, made by gen/table_wrappers.py or written by hand. */
struct table_wrappers {
    const char *name;
    enum trace_domain domain;
    const struct table_function *functions;
    void *(*wrapper)(uint32_t function, int copy);
    uint32_t function_count;
    void **next;   /* [function * TABLE_COPIES_MAX + copy]: what a wrapper calls */
    void **tables; /* [copy]: the tables known so far; NULL: room */
    /* Somebody wants the operation for another reason than the domain's; NULL: there is none. */
    bool (*also_configured)(int32_t operation);
};

/*
 * Puts wrappers into the slots that the table has, that are not empty and that somebody configured;
 * all others keep the library's pointer, and nothing behind the table's stated size is touched.
 * A table that comes again gets its wrappers back where the library has put its own function back.
 * Returns the number of slots written, or -1, with a message, when it is no table or one copy too
 * many. Any thread.
 */
int table_wrap(const struct table_wrappers *wrappers, void *table);

#endif
