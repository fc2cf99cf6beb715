/* Files of one test program: each test has a prefix of its own in a folder that goes in the end. */
#ifndef OUT_TEST_FILES_H
#define OUT_TEST_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char folder[] = "/tmp/crocprof-out-XXXXXX";
static char prefix[64], message[400];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    return 0;
}

/* Files that are there already are somebody else's. */
static int prefix_next(void **state)
{
    static unsigned number;
    (void)state;
    snprintf(prefix, sizeof prefix, "%s/%u", folder, ++number);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline const char *content(const char *name)
{
    static char text[4096];
    char path[128];
    snprintf(path, sizeof path, "%s_%s", prefix, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

#endif
