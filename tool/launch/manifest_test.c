#include "manifest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/manifest_test-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][200];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static void file_write(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* A run that makes files of NAME, and whether it comes to its end. */
static void run(const char *prefix, const char *file, bool ends)
{
    manifest_hold(path_of("name"));
    file_write(file, "results\n");
    manifest_add(path_of(file));
    file_write(file, "more\n");
    if (ends)
        manifest_finish(path_of(prefix));
    manifest_forget();
}

static void what_runs_have_made_goes(void **state)
{
    (void)state;
    manifest_renew(path_of("name"));
    run("name", "name_a.csv", true);
    run("name-2", "name-2_a.csv", true);
    run("name-3", "name-3_killed.db", false);
    file_write("name-3_killed.db-journal", "x");
    file_write("name_of_somebody", ""); /* NAME_..., but not of the list */
    file_write("names_a.csv", "");
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv") && is_there("name_of_somebody")); /* all of that number */
    assert_false(is_there("name-2_a.csv") || is_there("name-3_killed.db") ||
                 is_there("name-3_killed.db-journal"));
    assert_true(is_there("names_a.csv"));
    unlink(path_of("name_of_somebody"));
    manifest_renew(path_of("name"));
    assert_false(is_there("name_a.csv"));
}

static void what_was_changed_stays(void **state)
{
    (void)state;
    manifest_renew(path_of("name"));
    run("name", "name_a.csv", true);
    file_write("name_a.csv", "a line of mine\n");
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv"));
    unlink(path_of("name_a.csv"));
    file_write("name_a.csv", "results\nmore\n"); /* another file of the same content */
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv"));
    unlink(path_of("name_a.csv"));
    assert_int_equal(symlink("/etc/passwd", path_of("name_a.csv")), 0);
    manifest_renew(path_of("name"));
    assert_true(access(path_of("name_a.csv"), F_OK) == 0 && is_there("name_a.csv"));
    unlink(path_of("name_a.csv"));
}

static void nothing_goes_while_a_run_writes(void **state)
{
    (void)state;
    int go[2];
    manifest_renew(path_of("name"));
    run("name", "name_a.csv", true);
    assert_int_equal(pipe(go), 0);
    pid_t other = fork();
    if (other == 0) {
        manifest_hold(path_of("name"));
        if (write(go[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(go[0], &byte, 1), 1);
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv"));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    manifest_renew(path_of("name"));
    assert_false(is_there("name_a.csv"));
}

/* A list that another could have written says nothing; without one nothing is kept. */
static void a_list_of_others_is_not_believed(void **state)
{
    (void)state;
    manifest_renew(path_of("name"));
    run("name", "name_a.csv", true);
    chmod(path_of(".name.crocprof"), 0666);
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv"));
    unlink(path_of(".name.crocprof"));
    manifest_renew(path_of("name"));
    assert_true(is_there("name_a.csv"));
    unlink(path_of("name_a.csv"));
    unlink(path_of(".name.crocprof"));
    run("name", "name_b.csv", true);
    assert_false(is_there(".name.crocprof"));
}

static int directory_make(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void **state)
{
    char command[200];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_runs_have_made_goes),
                                       cmocka_unit_test(what_was_changed_stays),
                                       cmocka_unit_test(nothing_goes_while_a_run_writes),
                                       cmocka_unit_test(a_list_of_others_is_not_believed)};
    return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
