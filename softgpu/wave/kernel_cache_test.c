/* What is kept is found by the same CPU and text, whole, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wave/kernel_cache.h"

static char folder[] = "/tmp/croc_cache_XXXXXX";
static const uint8_t code[] = {1, 2, 3, 0, 5, 6, 7, 8};

static ssize_t find(const char *cpu, const char *text)
{
    uint8_t found[64] = {0};
    const ssize_t bytes = kernel_cache_find(cpu, text, found, sizeof found);
    if (bytes > 0)
        assert_memory_equal(found, code, (size_t)bytes);
    return bytes;
}

/* The only file that is there. */
static void file_path(char path[300])
{
    DIR *entries = opendir(folder);
    unsigned count = 0;
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, 300, "%s/%s", folder, entry->d_name);
        count++;
    }
    closedir(entries);
    assert_int_equal(count, 1);
}

static void kept_and_found(void **state)
{
    (void)state;
    uint8_t small[sizeof code - 1];
    char path[300];
    unsetenv("CROC_KERNEL_CACHE");
    kernel_cache_keep("gfx90a", "s_endpgm", code, sizeof code);
    assert_int_equal(find("gfx90a", "s_endpgm"), -1);
    setenv("CROC_KERNEL_CACHE", folder, 1);
    assert_int_equal(find("gfx90a", "s_endpgm"), -1);
    kernel_cache_keep("gfx90a", "s_endpgm", code, sizeof code);
    assert_int_equal(find("gfx90a", "s_endpgm"), sizeof code);
    assert_int_equal(find("gfx906", "s_endpgm"), -1);
    assert_int_equal(find("gfx90a", "s_endpgm "), -1);
    assert_int_equal(kernel_cache_find("gfx90a", "s_endpgm", small, sizeof small), -1);
    file_path(path);
    /* Another text of the same number, and a file that ends before its code. */
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 9, SEEK_SET);
    fputc('x', file);
    fclose(file);
    assert_int_equal(find("gfx90a", "s_endpgm"), -1);
    assert_int_equal(truncate(path, 16), 0);
    assert_int_equal(find("gfx90a", "s_endpgm"), -1);
    unlink(path);
    /* A folder that is none. */
    setenv("CROC_KERNEL_CACHE", "/nowhere/at/all", 1);
    kernel_cache_keep("gfx90a", "s_endpgm", code, sizeof code);
    assert_int_equal(find("gfx90a", "s_endpgm"), -1);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_and_found)};
    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
