#include "wave/two_engines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "perf/all_counted.h"

static void side_begin(struct side *side, uint64_t hot, const char *text)
{
    *side = (struct side){.runner = NULL};
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &side->runner), 0);
    kernel_runner_engine(side->runner)->hot_instructions = hot;
    assert_int_equal(kernel_runner_load(side->runner, 0, text), 0);
}

void sides_begin(struct side sides[2], const char *text)
{
    side_begin(&sides[0], 1, text);
    side_begin(&sides[1], UINT64_MAX, text);
}

void sides_end(struct side sides[2])
{
    for (unsigned n = 0; n < 2; n++)
        kernel_runner_destroy(sides[n].runner);
}

void side_fill(struct side *side, const struct trial *trial)
{
    uint8_t *buffer = kernel_runner_buffer(side->runner);
    uint32_t *words = (uint32_t *)(void *)(buffer + DATA_AT);
    struct arguments a = trial->arguments;
    const uint64_t self = (uint64_t)(uintptr_t)buffer;
    for (uint32_t n = 0; n < (BUFFER_BYTES - DATA_AT - 8) / 4; n++)
        words[n] = n % (THIRD / 4) * 2654435761u; /* all thirds are the same */
    for (uint32_t n = 0; n < TABLE_ITEMS; n++)    /* 0 for those that are tried */
        ((uint32_t *)(void *)(buffer + TABLE_AT))[n] =
            n > FIRST_TRIED + 1 && n < GROUPS + FIRST_TRIED - 1 ? 64 : 0;
    a.from += self;
    a.to += self;
    a.table += self;
    a.other += self;
    memcpy(buffer + ARGUMENTS_AT, &a, sizeof a);
}

void side_run(struct side *side, const struct trial *trial)
{
    const uint32_t items = trial->waves * WAVE;
    const struct kernel_geometry geometry = {trial->groups * items, items, 0, 0};
    assert_int_equal(kernel_runner_start(side->runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(side->runner, &side->result));
}

void sides_compare(const struct side sides[2], const char *name, unsigned launch)
{
    const uint8_t *a = kernel_runner_buffer(sides[0].runner);
    const uint8_t *b = kernel_runner_buffer(sides[1].runner);
    const struct dispatch_result *x = &sides[0].result, *y = &sides[1].result;
    const uint64_t at = x->fault_va - (uint64_t)(uintptr_t)a,
                   expected = y->fault_va - (uint64_t)(uintptr_t)b;
    const bool same_data = !memcmp(a + DATA_AT, b + DATA_AT, BUFFER_BYTES - DATA_AT - 8);
    const bool same_fault = x->fault == y->fault && (!x->fault || at == expected);
    const bool same_counts = x->fault || all_counted_same(kernel_runner_perf(sides[0].runner),
                                                          kernel_runner_perf(sides[1].runner));
    if (!same_data || !same_fault || !same_counts ||
        (!x->fault && x->model_cycles != y->model_cycles))
        fail_msg(
            "%s, launch %u: data %d, counts %d, fault %d at %lx and %d at %lx, cycles %lu and %lu",
            name, launch, same_data, same_counts, x->fault, (unsigned long)at, y->fault,
            (unsigned long)expected, (unsigned long)x->model_cycles,
            (unsigned long)y->model_cycles);
}

void text_try(const char *name, const char *text, const struct trial *trial)
{
    struct side sides[2];
    sides_begin(sides, text);
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        for (unsigned n = 0; n < 2; n++) {
            kernel_runner_set_timed(sides[n].runner, launch != LAUNCH_UNTIMED);
            if (launch == LAUNCH_COUNTED)
                all_counted_begin(kernel_runner_perf(sides[n].runner), PERF_WANT_L2);
            side_fill(&sides[n], trial);
            side_run(&sides[n], trial);
        }
        sides_compare(sides, name, launch);
    }
    sides_end(sides);
}
