/*
 * What can be counted on one kind of GPU: constants, hardware counters and computed counters, with
 * ids, dimensions and compiled expressions. Built once, then read by any thread.
 *
 * Expressions that are shipped are known to compile (tests/gpu/definitions_test.c) and are compiled
 * when somebody first asks for them: most programs ask for few of a GPU's two hundred.
 */
#ifndef COUNTERS_CATALOG_H
#define COUNTERS_CATALOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "counters/definition.h"
#include "counters/expression.h"

/* A hardware block of the GPU, as the packet builders know it. */
struct counter_block {
    const char *name;
    uint32_t registers;     /* counters that each instance holds at a time */
    uint16_t register_file; /* blocks with equal numbers share their registers; 0: alone */
    uint32_t holder;        /* the catalog's: position of the first block with its registers */
    uint32_t event_max;
    int may_accumulate; /* has an event that integrates its neighbour's level */
    struct counter_shape shape;
};

/* A topology property that expressions may name. */
struct counter_property {
    const char *name;
    double value;
};

struct counter_agent {
    const char *architecture; /* "gfx90a" */
    const struct counter_block *blocks;
    uint32_t block_count;
    const struct counter_property *properties;
    uint32_t property_count;
};

enum counter_kind { COUNTER_CONSTANT, COUNTER_BASIC, COUNTER_DERIVED };

struct catalog;

struct counter {
    uint32_t id; /* first_id + position */
    enum counter_kind kind;
    const char *name, *description;
    const char *block_name; /* "" unless basic */
    const char *expression; /* "" unless derived */
    uint32_t block, event;  /* basic: position in the agent's blocks */
    double constant;
    struct counter_shape own_shape; /* unless derived; ask counter_shape() */
    const struct catalog *catalog;
    int compiles_later; /* derived: it is known to compile */
    /* Derived; ask counter_program(). NULL: not compiled yet. Writers: whoever asks first
     * (compare-exchange, release). Readers: whoever asks (acquire). */
    _Atomic(struct expr_program *) compiled;
};

/* A derived counter's program. NULL, with a message each time: it does not compile on this GPU,
 * which only those can be of which catalog_create() was not to know better. */
const struct expr_program *counter_program(const struct counter *counter);
/* Of a derived one: of its program. */
const struct counter_shape *counter_shape(const struct counter *counter);

/* Keeps pointers into neither argument. `first_id` is at least 1: 0 is nobody's id. Definitions
 * that do not compile are reported and left out. NULL: out of memory. */
struct catalog *catalog_create(const struct definition_set *definitions,
                               const struct counter_agent *agent, uint32_t first_id);
void catalog_destroy(struct catalog *catalog);

const struct counter *catalog_counters(const struct catalog *catalog, uint32_t *count);
const struct counter *catalog_find(const struct catalog *catalog, const char *name);
const struct counter *catalog_find_id(const struct catalog *catalog, uint32_t id);
const struct counter_block *catalog_blocks(const struct catalog *catalog, uint32_t *count);
const char *catalog_architecture(const struct catalog *catalog);
/* Definitions that were left out, and those that should have been. Compiles all. */
uint32_t catalog_problem_count(const struct catalog *catalog);

#endif
