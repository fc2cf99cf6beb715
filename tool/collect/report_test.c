#include "report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

/* What a report of these losses says at its end. */
static const char *said(const uint64_t *totals, size_t count)
{
    static char text[1000];
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    report_resume();
    for (size_t i = 0; i < count; i++)
        report_lost(totals[i]);
    report_close();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[length > 0 ? length : 0] = 0;
    return text;
}

/* Every delivery tells of all losses since the buffer was made. */
static void a_loss_is_counted_once(void **state)
{
    (void)state;
    struct settings settings = {0};
    report_open(&settings);
    report_close();
    assert_string_equal(said((const uint64_t[]){0, 3, 3, 5, 5}, 5),
                        "crocprof: 5 records were lost\n");
    assert_string_equal(said((const uint64_t[]){5, 5}, 2), "");
    assert_string_equal(said((const uint64_t[]){6}, 1), "crocprof: 1 records were lost\n");
    report_forget(); /* a child counts for itself */
    assert_string_equal(said((const uint64_t[]){2, 2}, 2), "crocprof: 2 records were lost\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loss_is_counted_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
