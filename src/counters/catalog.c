#include "counters/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct catalog {
    struct counter *counters;
    uint32_t count, capacity, first_id;
    uint32_t *buckets; /* position + 1, open addressing; bucket_mask + 1 entries */
    uint32_t bucket_mask;
    struct counter_block *blocks;
    uint32_t block_count;
    uint32_t problems;
    char *architecture;
};

static uint32_t name_hash(const char *name, uint32_t length)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static struct counter *lookup(const struct catalog *c, const char *name, uint32_t length)
{
    for (uint32_t b = name_hash(name, length) & c->bucket_mask; c->buckets[b];
         b = (b + 1) & c->bucket_mask) {
        struct counter *counter = &c->counters[c->buckets[b] - 1];
        if (strncmp(counter->name, name, length) == 0 && counter->name[length] == '\0')
            return counter;
    }
    return NULL;
}

static void counter_append(struct catalog *c, const struct counter *counter)
{
    uint32_t b = name_hash(counter->name, (uint32_t)strlen(counter->name)) & c->bucket_mask;
    while (c->buckets[b])
        b = (b + 1) & c->bucket_mask;
    c->counters[c->count] = *counter;
    c->counters[c->count].catalog = c;
    c->buckets[b] = ++c->count;
}

static int block_find(const struct catalog *c, const char *name)
{
    for (uint32_t i = 0; i < c->block_count; i++) {
        if (strcmp(c->blocks[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static int texts_copy(struct counter *counter)
{
    counter->name = strdup(counter->name);
    counter->description = strdup(counter->description);
    counter->block_name = strdup(counter->block_name);
    counter->expression = strdup(counter->expression);
    return counter->name && counter->description && counter->block_name && counter->expression ? 0
                                                                                               : -1;
}

static void counter_release(struct counter *counter)
{
    free((char *)counter->name);
    free((char *)counter->description);
    free((char *)counter->block_name);
    free((char *)counter->expression);
    expr_destroy(atomic_load_explicit(&counter->compiled, memory_order_acquire));
}

static int add_constants(struct catalog *c, const struct counter_agent *agent)
{
    for (uint32_t i = 0; i < agent->property_count; i++) {
        struct counter counter = {.kind = COUNTER_CONSTANT,
                                  .name = agent->properties[i].name,
                                  .description = "Property of the agent.",
                                  .block_name = "",
                                  .expression = "",
                                  .constant = agent->properties[i].value};
        if (texts_copy(&counter)) {
            counter_release(&counter);
            return -1;
        }
        counter_append(c, &counter);
    }
    return 0;
}

/* Names that the agent's blocks cannot count are no counters of this agent. */
static int basic_fits(struct catalog *c, const struct counter_definition *d,
                      struct counter *counter)
{
    int block = block_find(c, d->block);
    if (block < 0 || d->event > c->blocks[block].event_max)
        return 0;
    counter->kind = COUNTER_BASIC;
    counter->block = (uint32_t)block;
    counter->event = d->event;
    counter->block_name = d->block;
    counter->own_shape = c->blocks[block].shape;
    return 1;
}

static int add_definitions(struct catalog *c, const struct definition_set *definitions)
{
    uint32_t count;
    const struct counter_definition *all = definitions_all(definitions, &count);
    const int shipped_are_sound = !definitions_override_shipped(definitions);
    for (uint32_t i = 0; i < count; i++) {
        const struct counter_definition *d = &all[i];
        struct counter counter = {.kind = COUNTER_DERIVED,
                                  .name = d->name,
                                  .description = d->description ? d->description : "",
                                  .block_name = "",
                                  .expression = "",
                                  .compiles_later = d->is_shipped && shipped_are_sound};
        if (!definition_applies(d, c->architecture))
            continue;
        if (d->expression)
            counter.expression = d->expression;
        else if (!basic_fits(c, d, &counter))
            continue;
        if (lookup(c, d->name, (uint32_t)strlen(d->name))) {
            log_warning("counters", "%s: defined twice for %s", d->name, c->architecture);
            c->problems++;
            continue;
        }
        if (texts_copy(&counter)) {
            counter_release(&counter);
            return -1;
        }
        counter_append(c, &counter);
    }
    return 0;
}

static void resolve(void *arg, const char *name, uint32_t length, struct expr_name *resolved)
{
    const struct catalog *c = arg;
    const struct counter *counter = lookup(c, name, length);
    *resolved = (struct expr_name){0};
    if (!counter)
        return;
    switch (counter->kind) {
    case COUNTER_CONSTANT:
        resolved->kind = NAME_CONSTANT;
        resolved->value = counter->constant;
        break;
    case COUNTER_BASIC:
        resolved->kind = NAME_INPUT;
        resolved->input = (uint32_t)(counter - c->counters);
        resolved->shape = counter->own_shape;
        resolved->may_accumulate = c->blocks[counter->block].may_accumulate;
        break;
    case COUNTER_DERIVED:
        resolved->kind = NAME_EXPRESSION;
        resolved->text = counter->expression;
        break;
    }
}

static struct expr_program *compile(const struct counter *counter)
{
    struct expr_error error;
    const struct catalog *c = counter->catalog;
    struct expr_program *program = expr_compile(counter->expression, resolve, (void *)c, &error);
    if (!program)
        log_warning("counters", "%s on %s: %s at character %u of '%.200s'", counter->name,
                    c->architecture, error.message, error.offset + 1, counter->expression);
    return program;
}

const struct expr_program *counter_program(const struct counter *counter)
{
    /* The one thing of a catalog that changes after it was built. */
    _Atomic(struct expr_program *) *compiled = &((struct counter *)counter)->compiled;
    struct expr_program *former = atomic_load_explicit(compiled, memory_order_acquire);
    if (former || counter->kind != COUNTER_DERIVED)
        return former;
    struct expr_program *program = compile(counter);
    if (!program || atomic_compare_exchange_strong_explicit(
                        compiled, &former, program, memory_order_release, memory_order_acquire))
        return program;
    expr_destroy(program); /* another thread was first */
    return former;
}

const struct counter_shape *counter_shape(const struct counter *counter)
{
    const struct expr_program *program = counter_program(counter);
    return program ? expr_shape(program) : &counter->own_shape;
}

/* Those that somebody else wrote, so that what is wrong with them is said at once. */
static void compile_now(struct catalog *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->counters[i].kind == COUNTER_DERIVED && !c->counters[i].compiles_later &&
            !counter_program(&c->counters[i]))
            c->problems++;
}

/* Takes out the computed counters that did not compile and numbers the rest. The programs refer
 * to basic counters by position; those stand before the first one that can be taken out only by
 * chance, so the positions are mapped. */
static int finish(struct catalog *c)
{
    uint32_t kept = 0;
    memset(c->buckets, 0, (c->bucket_mask + 1) * sizeof *c->buckets);
    uint32_t *position = calloc(c->count + 1, sizeof *position);
    if (!position)
        return -1;
    for (uint32_t i = 0, count = c->count; i < count; i++) {
        struct counter counter = c->counters[i];
        if (counter.kind == COUNTER_DERIVED && !counter.compiles_later && !counter.compiled) {
            counter_release(&counter);
            continue;
        }
        position[i] = kept;
        counter.id = c->first_id + kept;
        c->count = kept;
        counter_append(c, &counter);
        kept++;
    }
    c->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t inputs = 0;
        if (!c->counters[i].compiled)
            continue;
        struct expr_input *input =
            (struct expr_input *)expr_inputs(c->counters[i].compiled, &inputs);
        for (uint32_t k = 0; k < inputs; k++)
            input[k].input = position[input[k].input];
    }
    free(position);
    return 0;
}

/* The block at `at` itself, unless it shares the registers of one before it. */
static uint32_t holder_of(const struct catalog *c, uint32_t at)
{
    uint32_t file = c->blocks[at].register_file, holder = 0;
    while (holder < at && (!file || c->blocks[holder].register_file != file))
        holder++;
    return holder;
}

static int allocate(struct catalog *c, const struct definition_set *definitions,
                    const struct counter_agent *agent)
{
    uint32_t count, buckets = 256;
    definitions_all(definitions, &count);
    c->capacity = count + agent->property_count;
    while (buckets < c->capacity * 2)
        buckets *= 2;
    c->bucket_mask = buckets - 1;
    c->buckets = calloc(buckets, sizeof *c->buckets);
    c->counters = calloc(c->capacity + 1, sizeof *c->counters);
    c->architecture = strdup(agent->architecture);
    c->blocks = calloc(agent->block_count + 1, sizeof *c->blocks);
    if (!c->buckets || !c->counters || !c->architecture || !c->blocks)
        return -1;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        c->blocks[i] = agent->blocks[i];
        c->blocks[i].name = strdup(agent->blocks[i].name);
        if (!c->blocks[i].name)
            return -1;
        c->blocks[i].holder = holder_of(c, i);
        c->block_count++;
    }
    return 0;
}

struct catalog *catalog_create(const struct definition_set *definitions,
                               const struct counter_agent *agent, uint32_t first_id)
{
    struct catalog *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->first_id = first_id;
    if (allocate(c, definitions, agent) || add_constants(c, agent) ||
        add_definitions(c, definitions))
        goto fail;
    compile_now(c);
    if (finish(c))
        goto fail;
    return c;
fail:
    catalog_destroy(c);
    return NULL;
}

void catalog_destroy(struct catalog *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        counter_release(&c->counters[i]);
    for (uint32_t i = 0; i < c->block_count; i++)
        free((char *)c->blocks[i].name);
    free(c->counters);
    free(c->buckets);
    free(c->blocks);
    free(c->architecture);
    free(c);
}

const struct counter *catalog_counters(const struct catalog *c, uint32_t *count)
{
    *count = c->count;
    return c->counters;
}

const struct counter *catalog_find(const struct catalog *c, const char *name)
{
    return lookup(c, name, (uint32_t)strlen(name));
}

const struct counter *catalog_find_id(const struct catalog *c, uint32_t id)
{
    return id >= c->first_id && id - c->first_id < c->count ? &c->counters[id - c->first_id] : NULL;
}

const struct counter_block *catalog_blocks(const struct catalog *c, uint32_t *count)
{
    *count = c->block_count;
    return c->blocks;
}

const char *catalog_architecture(const struct catalog *c)
{
    return c->architecture;
}

uint32_t catalog_problem_count(const struct catalog *c)
{
    uint32_t problems = c->problems;
    for (uint32_t i = 0; i < c->count; i++)
        problems += c->counters[i].kind == COUNTER_DERIVED && !counter_program(&c->counters[i]);
    return problems;
}
