#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs `log_error` with stderr on a pipe and returns what arrived. */
static size_t capture(char *out, size_t size, const char *text)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_error("test", "%s", text);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t got = read(ends[0], out, size - 1);
    close(ends[0]);
    assert_true(got >= 0);
    out[got] = 0;
    return (size_t)got;
}

/* How many of an error, a warning, an information and a debugging line a process writes. */
static int lines_written(const char *level)
{
    int ends[2], count = 0;
    char character;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (level)
            setenv("CROC_LOG_LEVEL", level, 1);
        else
            unsetenv("CROC_LOG_LEVEL");
        log_error("test", "1");
        log_warning("test", "2");
        log_info("test", "3");
        log_debug("test", "4");
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &character, 1) == 1)
        count += character == '\n';
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return count;
}

/* First of all: a process reads the level once. */
static void the_environment_says_how_much_is_written(void **state)
{
    (void)state;
    assert_int_equal(lines_written("error"), 1);
    assert_int_equal(lines_written("warning"), 2);
    assert_int_equal(lines_written("info"), 3);
    assert_int_equal(lines_written("debug"), 4);
    assert_int_equal(lines_written(NULL), 2);
    assert_int_equal(lines_written("loud"), 2);
    assert_int_equal(lines_written(""), 2);
}

static void line_has_level_module_and_text(void **state)
{
    (void)state;
    char line[2048];
    capture(line, sizeof line, "hello");
    assert_string_equal(line, "crocprof error: test: hello\n");
}

static void long_line_is_cut_and_still_ends(void **state)
{
    (void)state;
    char text[4000], line[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    size_t length = capture(line, sizeof line, text);
    assert_true(length <= 1000);
    assert_int_equal(line[length - 1], '\n');
}

static void errno_survives(void **state)
{
    (void)state;
    char line[2048];
    errno = EDOM;
    log_debug("test", "filtered");
    assert_int_equal(errno, EDOM);
    capture(line, sizeof line, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_says_how_much_is_written),
        cmocka_unit_test(line_has_level_module_and_text),
        cmocka_unit_test(long_line_is_cut_and_still_ends),
        cmocka_unit_test(errno_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
