#include "passes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/writer.h"

enum { GEOMETRY_BYTES = 160, PROCESSES_MAX = 4096, COUNTERS_MAX = 1024 };

/* One value of an earlier run; texts point into the file's content. */
struct entry {
    const char *kernel, *geometry;
    uint32_t node, number;
    uint32_t order; /* in the file, so that equal launches keep the order of their counters */
    bool used;
    struct passes_value value;
};

static struct {
    const struct settings *settings; /* NULL: one run only */
    struct writer *out;              /* runs before the last */
    bool is_open;
    struct entry *entries;
    size_t count, capacity;
    bool merges;        /* the last run of several */
    uint64_t unmatched; /* launches of this run that no earlier run had */
    uint64_t reshaped;  /* launches whose geometry was another one */
} passes;

uint32_t passes_number(const struct settings *settings)
{
    return (uint32_t)settings_number(settings, OPTION_PASS);
}

static uint32_t number_of(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static const char *directory_of(const struct settings *settings)
{
    const char *directory = settings_text(settings, OPTION_PASS_DIRECTORY);
    return directory ? directory : ".";
}

/* ---- files */

/* The processes of a run are numbered in the order in which they begin to count: the first free
 * number is ours. */
static int process_file(const struct settings *settings, uint32_t *process)
{
    char path[PATH_MAX];
    for (*process = 0; *process < PROCESSES_MAX; (*process)++) {
        snprintf(path, sizeof path, "%s/%u.%u", directory_of(settings), passes_number(settings),
                 *process);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

static char *content_of(const char *path)
{
    FILE *file = fopen(path, "re");
    char *content = NULL;
    size_t size = 0;
    if (!file)
        return NULL;
    if (getdelim(&content, &size, '\0', file) < 0) { /* no zero in it: the whole file */
        free(content);
        content = strdup("");
    }
    fclose(file);
    return content;
}

/* ---- lines: node, number, geometry, counter, value, adds up, kernel; tabs between. */

enum { FIELDS = 7 };

static bool line_split(char *line, char *field[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        field[i] = line;
        char *end = i == FIELDS - 1 ? NULL : strchr(line, '\t');
        if (!end)
            return i == FIELDS - 1;
        *end = '\0';
        line = end + 1;
    }
    return true;
}

/* One text for each counter, which the summary may compare by address. */
static const char *counter_name(const char *name)
{
    static const char *names[COUNTERS_MAX];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    if (count < COUNTERS_MAX)
        names[count++] = name;
    return name;
}

static void line_take(char *line)
{
    char *field[FIELDS];
    if (!line_split(line, field))
        return; /* cut when its process was killed */
    if (passes.count == passes.capacity) {
        size_t capacity = passes.capacity ? passes.capacity * 2 : 1024;
        struct entry *grown = realloc(passes.entries, capacity * sizeof *grown);
        if (!grown)
            return;
        passes.entries = grown;
        passes.capacity = capacity;
    }
    passes.entries[passes.count] = (struct entry){
        .node = number_of(field[0]),
        .number = number_of(field[1]),
        .geometry = field[2],
        .kernel = field[6],
        .order = (uint32_t)passes.count,
        .value = {counter_name(field[3]), strtod(field[4], NULL), number_of(field[5]) != 0}};
    passes.count++;
}

static void geometry_text(const struct passes_launch *launch, char text[GEOMETRY_BYTES])
{
    const unsigned long long *g = (const unsigned long long *)launch->grid;
    const unsigned long long *w = (const unsigned long long *)launch->workgroup;
    snprintf(text, GEOMETRY_BYTES, "%llux%llux%llu/%llux%llux%llu", g[0], g[1], g[2], w[0], w[1],
             w[2]);
}

/* ---- merging */

static int launch_compare(const struct entry *entry, const struct passes_launch *launch)
{
    int order = strcmp(entry->kernel, launch->kernel);
    if (order == 0)
        order = (entry->node > launch->node) - (entry->node < launch->node);
    return order ? order : (entry->number > launch->number) - (entry->number < launch->number);
}

static int entry_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const struct passes_launch launch = {.kernel = b->kernel, .node = b->node, .number = b->number};
    int order = launch_compare(a, &launch);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static void pass_load(const struct settings *settings, uint32_t pass, uint32_t process)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%u.%u", directory_of(settings), pass, process);
    char *content = content_of(path), *rest = content, *line; /* entries point into it */
    if (!content)
        fprintf(stderr, "crocprof: run %u had no such process: its counters are missing\n", pass);
    while ((line = strsep(&rest, "\n")))
        if (*line)
            line_take(line);
}

static struct writer *writer_make(int file)
{
    struct writer *out = calloc(1, sizeof *out);
    if (!out) {
        fprintf(stderr, "crocprof: out of memory\n");
        close(file);
        return NULL;
    }
    out->file = file;
    return out;
}

static void files_open(void)
{
    const struct settings *settings = passes.settings;
    uint32_t process;
    if (!settings || passes.is_open)
        return;
    passes.is_open = true;
    int file = process_file(settings, &process);
    if (file < 0) {
        fprintf(stderr, "crocprof: %s: %s\n", directory_of(settings), strerror(errno));
        return;
    }
    if (passes_number(settings) > 0) {
        passes.out = writer_make(file);
        return;
    }
    close(file);
    passes.merges = true;
    for (uint32_t pass = 1; pass < (uint32_t)settings_number(settings, OPTION_PASS_COUNT); pass++)
        pass_load(settings, pass, process);
    if (passes.count)
        qsort(passes.entries, passes.count, sizeof *passes.entries, entry_compare);
}

void passes_open(const struct settings *settings)
{
    passes.settings = settings_text(settings, OPTION_PASS) ? settings : NULL;
    files_open();
}

/* Names of counters stay: they point into what earlier runs wrote. */
static void entries_forget(void)
{
    passes.count = 0;
    passes.unmatched = passes.reshaped = 0;
    passes.merges = passes.is_open = false;
}

void passes_forget(void)
{
    if (passes.out)
        writer_abandon(passes.out);
    free(passes.out);
    passes.out = NULL;
    entries_forget();
}

void passes_write(const struct passes_launch *launch, const struct passes_value *value)
{
    char geometry[GEOMETRY_BYTES], numbers[GEOMETRY_BYTES + 100];
    files_open();
    if (!passes.out)
        return;
    geometry_text(launch, geometry);
    int length =
        snprintf(numbers, sizeof numbers, "%u\t%u\t%s\t", launch->node, launch->number, geometry);
    writer_bytes(passes.out, numbers, (size_t)length);
    writer_bytes(passes.out, value->counter, strlen(value->counter));
    length = snprintf(numbers, sizeof numbers, "\t%.17g\t%d\t", value->value, value->adds_up);
    writer_bytes(passes.out, numbers, (size_t)length);
    writer_bytes(passes.out, launch->kernel, strlen(launch->kernel));
    writer_char(passes.out, '\n');
}

/* The first entry that is not before the launch. */
static size_t lower_bound(const struct passes_launch *launch)
{
    size_t low = 0, high = passes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (launch_compare(&passes.entries[middle], launch) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void passes_read(const struct passes_launch *launch,
                 void (*add)(const struct passes_value *value, void *data), void *data)
{
    char geometry[GEOMETRY_BYTES];
    bool found = false, other_shape = false;
    files_open();
    if (!passes.merges)
        return;
    geometry_text(launch, geometry);
    for (size_t i = lower_bound(launch); i < passes.count; i++) {
        struct entry *entry = &passes.entries[i];
        if (launch_compare(entry, launch) != 0)
            break;
        found = entry->used = true;
        if (strcmp(entry->geometry, geometry) == 0)
            add(&entry->value, data);
        else
            other_shape = true;
    }
    passes.unmatched += !found;
    passes.reshaped += other_shape;
}

static void out_close(void)
{
    int status = passes.out ? writer_close(passes.out) : 0;
    if (status != 0)
        fprintf(stderr, "crocprof: %s: %s\n", directory_of(passes.settings), strerror(-status));
    free(passes.out);
    passes.out = NULL;
}

void passes_close(void)
{
    size_t unused = 0;
    out_close();
    for (size_t i = 0; i < passes.count; i++)
        unused += !passes.entries[i].used;
    if (passes.merges && (unused || passes.unmatched || passes.reshaped))
        fprintf(stderr,
                "crocprof: the runs differ, some values are missing: %zu values of earlier runs "
                "have no launch in the last one, %llu launches were in no earlier run, %llu had "
                "another size\n",
                unused, (unsigned long long)passes.unmatched, (unsigned long long)passes.reshaped);
    entries_forget();
}
