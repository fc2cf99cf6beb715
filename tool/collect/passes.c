#include "passes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/writer.h"
#include "pass_merge.h"

enum { PROCESSES_MAX = 4096 };

static struct {
    const struct settings *settings; /* NULL: one run only */
    char stem[PATH_MAX];
    struct writer *out;       /* runs before the last */
    struct pass_merge *merge; /* the last run of several */
    bool is_open;
} passes;

uint32_t passes_number(const struct settings *settings)
{
    return (uint32_t)settings_number(settings, OPTION_PASS);
}

static const char *directory_of(const struct settings *settings)
{
    const char *directory = settings_text(settings, OPTION_PASS_DIRECTORY);
    return directory ? directory : ".";
}

/* The processes of a run are numbered in the order in which they begin to count: the first free
 * number is ours. */
static int process_file(const struct settings *settings, uint32_t *process)
{
    char path[PATH_MAX];
    for (*process = 0; *process < PROCESSES_MAX; (*process)++) {
        pass_file_path(directory_of(settings), passes_number(settings), *process, path);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
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
        if (passes.out)
            pass_file_begin(passes.out, passes.stem);
        return;
    }
    close(file);
    passes.merge = pass_merge_create(directory_of(settings), process, 1,
                                     (uint32_t)settings_number(settings, OPTION_PASS_COUNT));
}

void passes_open(const struct settings *settings, const char *stem)
{
    passes.settings = settings_text(settings, OPTION_PASS) ? settings : NULL;
    snprintf(passes.stem, sizeof passes.stem, "%s", stem);
    files_open();
}

void passes_forget(void)
{
    if (passes.out)
        writer_abandon(passes.out);
    free(passes.out);
    if (passes.merge)
        pass_merge_abandon(passes.merge);
    passes.out = NULL;
    passes.merge = NULL;
    passes.is_open = false;
}

void passes_write(const struct passes_launch *launch)
{
    files_open();
    if (passes.out)
        pass_file_launch(passes.out, launch);
}

void passes_write_value(const struct passes_value *value)
{
    if (passes.out)
        pass_file_value(passes.out, value);
}

void passes_read(const struct passes_launch *launch,
                 void (*add)(const struct passes_value *value, void *data), void *data)
{
    files_open();
    if (passes.merge)
        pass_merge_read(passes.merge, launch, add, data);
}

void passes_flush(void)
{
    if (passes.out)
        writer_flush(passes.out);
}

static void out_close(void)
{
    int status = passes.out ? writer_close(passes.out) : 0;
    if (status != 0)
        fprintf(stderr, "crocprof: %s: %s\n", directory_of(passes.settings), strerror(-status));
    free(passes.out);
    passes.out = NULL;
}

static void differences_tell(const struct pass_merge_differences *found)
{
    if (found->missing)
        fprintf(stderr, "crocprof: pass %u had no such process: its counters are missing\n",
                found->missing_pass);
    if (found->unused || found->unmatched || found->reshaped)
        fprintf(stderr,
                "crocprof: the passes differ, some values are missing: %llu values of earlier "
                "passes have no launch in the last one, %llu launches were in no earlier pass, "
                "%llu had another size\n",
                (unsigned long long)found->unused, (unsigned long long)found->unmatched,
                (unsigned long long)found->reshaped);
}

void passes_close(void)
{
    out_close();
    if (passes.merge) {
        struct pass_merge_differences differences;
        pass_merge_destroy(passes.merge, &differences);
        differences_tell(&differences);
    }
    passes.merge = NULL;
    passes.is_open = false;
}
