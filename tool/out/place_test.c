#include "out/place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "out/writer.h"

static char folder[] = "/tmp/crocprof-place-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void put(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_CREAT | O_WRONLY, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, "old", 3), 3);
    close(file);
}

static void the_next_number_is_behind_all(void **state)
{
    (void)state;
    char stem[128];
    snprintf(stem, sizeof stem, "%s/42", folder);
    assert_int_equal(place_number("/nonexistent/42"), 1);
    assert_int_equal(place_number("42"), 1);
    assert_int_equal(place_number(stem), 1);
    put("421_kernel_trace.csv");
    put("42-_x");
    put("42-7x_y");
    put("42-99999999999999999999_x");
    assert_int_equal(place_number(stem), 1);
    put("42_results.db");
    assert_int_equal(place_number(stem), 2);
    put("42-7_hip_api_trace.csv");
    assert_int_equal(place_number(stem), 8);
}

static void prefixes(void **state)
{
    (void)state;
    char prefix[PATH_MAX];
    static char far[2 * PATH_MAX];
    assert_int_equal(place_prefix("d/42", 1, prefix), 0);
    assert_string_equal(prefix, "d/42");
    assert_int_equal(place_prefix("d/42", 3, prefix), 0);
    assert_string_equal(prefix, "d/42-3");
    memset(far, 'a', sizeof far - 1);
    assert_int_equal(place_prefix(far, 1, prefix), -ENAMETOOLONG);
}

static void directories(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/a/b//c", folder);
    assert_int_equal(place_directory_make(path), 0);
    assert_int_equal(place_directory_make(path), 0);
    assert_int_equal(access(path, W_OK), 0);
    put("file");
    snprintf(path, sizeof path, "%s/file/d", folder);
    assert_int_equal(place_directory_make(path), -ENOTDIR);
    assert_int_equal(place_directory_make("/"), 0);
}

static void only_a_prefix_goes(void **state)
{
    (void)state;
    char prefix[128], path[160];
    put("77_a.csv");
    put("77-2_a.csv");
    put("777_a.csv");
    snprintf(prefix, sizeof prefix, "%s/77", folder);
    place_remove(prefix);
    assert_int_equal(place_number(prefix), 3);
    snprintf(path, sizeof path, "%s_a.csv", prefix);
    assert_int_equal(access(path, F_OK), -1);
}

/* Neither a file nor a link to one is written to. */
static void what_is_there_stays(void **state)
{
    (void)state;
    static struct writer writer;
    char path[128], target[128], content[8] = "";
    put("target");
    snprintf(path, sizeof path, "%s/link", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(writer_open(&writer, path), -EEXIST);
    assert_int_equal(writer_open(&writer, target), -EEXIST);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(writer_open(&writer, path), -EEXIST); /* a link to nothing */
    assert_int_equal(access(target, F_OK), -1);
    put("target");
    int file = open(target, O_RDONLY);
    assert_int_equal(read(file, content, sizeof content), 3);
    close(file);
}

static void tidied(const char *path, const char *wanted)
{
    char text[64];
    snprintf(text, sizeof text, "%s", path);
    place_tidy(text);
    assert_string_equal(text, wanted);
}

static void detours_go(void **state)
{
    (void)state;
    tidied("/tmp/try/./red", "/tmp/try/red");
    tidied("/tmp/././/./red", "/tmp/red");
    tidied("//red", "/red");
    tidied("/./red", "/red");
    tidied("./red", "./red");
    tidied("/a/../b/.c/d./e", "/a/../b/.c/d./e");
    tidied("/a/.", "/a/.");
    tidied("", "");
}

static void what_is_abandoned_writes_nothing(void **state)
{
    (void)state;
    static struct writer writer;
    char path[128];
    snprintf(path, sizeof path, "%s/abandoned", folder);
    assert_int_equal(writer_open(&writer, path), 0);
    writer_u64(&writer, 123);
    writer_abandon(&writer);
    assert_int_equal(writer_close(&writer), 0);
    int file = open(path, O_RDONLY);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_number_is_behind_all),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(directories),
        cmocka_unit_test(only_a_prefix_goes),
        cmocka_unit_test(what_is_there_stays),
        cmocka_unit_test(detours_go),
        cmocka_unit_test(what_is_abandoned_writes_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
