/* Which lines of code a group reports to the instruction cache: each once, whatever order its waves
 * come to them in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wave/group.h"
#include "wave/line_log.h"

/* Stand in for line_log.c and code.c: an instruction lies where the test says. */
enum { LINES = 3000, LINE_BYTES = 64, BEGIN = 0x40000 };
static unsigned reported[LINES];
static uint64_t pc;

void line_log_add(struct workgroup *group, uint64_t line_va, uint64_t bytes,
                  enum perf_access_kind kind, uint8_t flags)
{
    (void)group, (void)flags;
    assert_int_equal(kind, ACCESS_FETCH);
    assert_true(bytes == UINT64_MAX);
    assert_int_equal(line_va % LINE_BYTES, 0);
    assert_in_range(line_va, BEGIN, BEGIN + (LINES - 1) * LINE_BYTES);
    reported[(line_va - BEGIN) / LINE_BYTES]++;
}

uint64_t wave_pc_va(const struct wave *wave, const struct inst *inst)
{
    (void)wave, (void)inst;
    return pc;
}

static void execute(struct wave *wave, uint64_t offset, uint8_t dwords)
{
    static struct inst code[2 * FETCH_WINDOW_BYTES];
    code[FETCH_WINDOW_BYTES].dwords = dwords;
    pc = BEGIN + offset;
    fetch_note(wave, &code[FETCH_WINDOW_BYTES]);
}

/* Three times through code that is larger than what is remembered of the last lines, the second
 * time from its end; a step from line to line by which some of them have the same place in the set.
 */
static void each_line_is_reported_once(void **state)
{
    struct workgroup group = {0};
    struct wave wave = {.group = &group};
    (void)state;
    for (uint32_t n = 0; n < LINES; n++)
        execute(&wave, n * 7 % LINES * (uint64_t)LINE_BYTES, 1);
    for (uint32_t n = LINES; n-- > 0;)
        execute(&wave, n * (uint64_t)LINE_BYTES + 32, 1);
    for (uint32_t n = 0; n < LINES; n++)
        execute(&wave, n * (uint64_t)LINE_BYTES, 1);
    for (uint32_t n = 0; n < LINES; n++)
        assert_int_equal(reported[n], 1);
    assert_int_equal(group.fetches.count, 3 * LINES);
    fetch_log_clear(&group.fetches);
    execute(&wave, 5 * LINE_BYTES - 4, 2); /* in two lines */
    assert_int_equal(reported[4], 2);
    assert_int_equal(reported[5], 2);
    assert_int_equal(group.fetches.count, 2);
    free(group.fetches.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_line_is_reported_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
