#include "base/preload_path.h"

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

#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/crocprof-preload-XXXXXX";
static char library[PATH_MAX], runtime[PATH_MAX], path[PATH_MAX], message[PATH_MAX + 400];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(top))
        return -1;
    snprintf(library, sizeof library, "%s/a b:c$LIB", top);
    snprintf(runtime, sizeof runtime, "%s/runtime", top);
    if (mkdir(library, 0755) != 0 || mkdir(runtime, 0700) != 0)
        return -1;
    strcat(library, "/libx.so");
    close(open(library, O_CREAT | O_WRONLY, 0644));
    return setenv("XDG_RUNTIME_DIR", runtime, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static int make(const char *of)
{
    return preload_path(of, path, message, sizeof message);
}

static void plain_paths_stay(void **state)
{
    (void)state;
    assert_int_equal(make("/usr/lib/libx.so"), 0);
    assert_string_equal(path, "/usr/lib/libx.so");
}

static void others_get_a_link_that_is_found_again(void **state)
{
    (void)state;
    struct stat direct, linked;
    char first[PATH_MAX];
    assert_int_equal(make(library), 0);
    assert_null(strpbrk(path, " :$"));
    assert_int_equal(stat(library, &direct), 0);
    assert_int_equal(stat(path, &linked), 0);
    assert_int_equal(direct.st_ino, linked.st_ino);
    strcpy(first, path);
    assert_int_equal(make(library), 0);
    assert_string_equal(path, first);
}

/* A link of the same name to another place, and a file. */
static void links_of_others_are_left_alone(void **state)
{
    (void)state;
    struct stat direct, linked;
    char link[PATH_MAX], target[PATH_MAX] = "";
    assert_int_equal(make(library), 0);
    snprintf(link, sizeof link, "%.*s", (int)(strrchr(path, '/') - path), path);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/nonexistent", link), 0);
    assert_int_equal(make(library), 0);
    assert_int_equal(stat(library, &direct), 0);
    assert_int_equal(stat(path, &linked), 0);
    assert_int_equal(direct.st_ino, linked.st_ino);
    assert_true(readlink(link, target, sizeof target - 1) > 0);
    assert_string_equal(target, "/nonexistent");
    unlink(link);
    close(open(link, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(make(library), 0);
    assert_int_equal(stat(path, &linked), 0);
    assert_int_equal(direct.st_ino, linked.st_ino);
}

/* Where anybody may write, anybody may change what the program loads. */
static void directories_of_others_are_not_used(void **state)
{
    (void)state;
    char directory[PATH_MAX + 64];
    snprintf(directory, sizeof directory, "%s/crocprof-%u", runtime, (unsigned)geteuid());
    assert_int_equal(chmod(directory, 0777), 0);
    setenv("TMPDIR", "relative", 1);
    assert_int_equal(make(library), 0);
    assert_null(strstr(path, runtime));
    assert_int_equal(chmod(directory, 0755), 0);
}

static void what_cannot_be_done_is_said(void **state)
{
    (void)state;
    char odd[PATH_MAX];
    snprintf(odd, sizeof odd, "%s/lib x.so", top);
    assert_int_equal(make(odd), -ENOENT);
    assert_non_null(strstr(message, odd));
    assert_null(strchr(message, '\n'));
    assert_int_equal(make("libx y.so"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_paths_stay),
        cmocka_unit_test(others_get_a_link_that_is_found_again),
        cmocka_unit_test(links_of_others_are_left_alone),
        cmocka_unit_test(directories_of_others_are_not_used),
        cmocka_unit_test(what_cannot_be_done_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
