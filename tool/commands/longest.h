/* The longest rows of those that came, for pages that cannot show all of them. */
#ifndef COMMANDS_LONGEST_H
#define COMMANDS_LONGEST_H

#include <stdbool.h>

#include "out/rows.h"

struct longest_row {
    enum out_table_id table;
    union {
        struct out_api_row api;
        struct out_dispatch_row dispatch;
        struct out_copy_row copy;
        struct out_event_row event;
    };
};

/* What rows are compared by. */
struct longest_key {
    uint64_t length_ns, number; /* number: in the order of their coming */
    uint32_t row;               /* where it lies */
};

struct longest {
    struct longest_row *rows;
    struct longest_key *keys; /* the first `count` are of rows, those behind say what is free */
    uint32_t count, room;     /* room: as many are kept */
    uint32_t space;           /* of rows and keys: when all are taken, the shortest go */
    uint64_t least_ns;        /* what is not longer cannot be kept */
    bool has_least;
    uint64_t came;
};

/* 0 or -ENOMEM. */
int longest_begin(struct longest *longest, uint32_t room);
/* Texts of the row must live until longest_each(); rows without a length are not kept. */
void longest_row(struct longest *longest, enum out_table_id table, const void *row);
/* In the order of their coming; none are left then. Of equal ones those are kept that came first.
 */
void longest_each(struct longest *longest,
                  void (*take)(void *data, enum out_table_id table, const void *row), void *data);
void longest_end(struct longest *longest);

#endif
