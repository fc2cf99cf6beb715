#include "passes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "out/out.h"
#include "refuse.h"
#include "runs.h"

struct pass {
    const struct launch *launch;
    struct settings settings;
    char *const *arguments;
    unsigned number; /* 0: the last run */
};

/* What a run that only counts has. Kernels have their names there, too: launches are matched by
 * them. */
static void settings_reduce(struct settings *settings)
{
    static const enum option_id kept[] = {OPTION_COUNTERS,
                                          OPTION_COUNTER_COLLECTION,
                                          OPTION_EXTRA_COUNTERS_TEXT,
                                          OPTION_CHECKED,
                                          OPTION_PASS,
                                          OPTION_PASS_COUNT,
                                          OPTION_PASS_DIRECTORY,
                                          OPTION_KERNEL_INCLUDE_REGEX,
                                          OPTION_KERNEL_EXCLUDE_REGEX,
                                          OPTION_KERNEL_ITERATION_RANGE,
                                          OPTION_PERIODS_NS,
                                          OPTION_SELECTED_REGIONS,
                                          OPTION_SIGNAL_HANDLERS,
                                          OPTION_DEMANGLE,
                                          OPTION_TRUNCATE_KERNELS,
                                          OPTION_KERNEL_RENAME};
    struct settings counting = {0};
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].kind == OPTION_FLAG && options_table[id].variable &&
            (options_table[id].group == OPTION_GROUP_BASIC ||
             options_table[id].group == OPTION_GROUP_SUMMARY ||
             options_table[id].group == OPTION_GROUP_FILES))
            counting.value[id] = "0";
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        counting.value[kept[i]] = settings->value[kept[i]];
    counting.value[OPTION_OUTPUT_FORMAT] = OUT_NO_FORMAT;
    *settings = counting;
}

/* Each run reads its input from where this one's is; what is not a file is left to the last. */
static void input_rewind(void)
{
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int file = at < 0 ? open("/dev/null", O_RDONLY) : open("/proc/self/fd/0", O_RDONLY);
    if (file < 0)
        return;
    if (at > 0)
        lseek(file, at, SEEK_SET);
    dup2(file, STDIN_FILENO);
    close(file);
}

static void output_hide(void)
{
    int file = open("/dev/null", O_WRONLY);
    if (file < 0)
        return;
    dup2(file, STDOUT_FILENO);
    close(file);
}

/* In the child; returns only on failure. */
static int program_become(void *data)
{
    struct pass *pass = data;
    char number[16];
    snprintf(number, sizeof number, "%u", pass->number);
    pass->settings.value[OPTION_PASS] = number;
    if (pass->number > 0) {
        settings_reduce(&pass->settings);
        input_rewind();
        output_hide();
    }
    int status = launch_environment(pass->launch, &pass->settings);
    if (status == 0)
        status = launch_program(pass->launch, pass->arguments);
    return refuse(EXIT_NOT_STARTED, "%s: %s", pass->arguments[0], strerror(-status));
}

static void directory_remove(const char *directory)
{
    DIR *files = opendir(directory);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
    rmdir(directory);
}

/* The runs, until one is the last: the wait status of that one, or as if the signal had killed it.
 */
static int all_run(struct pass *pass, unsigned count)
{
    for (unsigned number = 1;; number++) {
        int status;
        pass->number = number % count;
        fprintf(stderr, "crocprof: run %u of %u\n", number, count);
        bool ran = runs_once(program_become, pass, &status);
        if (status < 0 || (ran && number == count))
            return status;
        int killer = WIFSIGNALED(status) ? WTERMSIG(status) : runs_end_asked();
        if (killer == 0)
            continue;
        fprintf(stderr, "crocprof: ended in run %u of %u (%s): there are no results\n", number,
                count, strsignal(killer));
        return status;
    }
}

int passes_run(const struct launch *launch, const struct settings *settings,
               char *const arguments[], unsigned count)
{
    const char *temporary = getenv("TMPDIR");
    char directory[PATH_MAX], total[16];
    struct pass pass = {launch, *settings, arguments, 0};
    snprintf(directory, sizeof directory, "%s/crocprof-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return refuse(EXIT_NOT_STARTED, "%s: %s", directory, strerror(errno));
    snprintf(total, sizeof total, "%u", count);
    pass.settings.value[OPTION_PASS_COUNT] = total;
    pass.settings.value[OPTION_PASS_DIRECTORY] = directory;
    fprintf(
        stderr,
        "crocprof: these counters take %u runs of the program; the last one's output is shown\n",
        count);
    runs_begin();
    int status = all_run(&pass, count);
    runs_end();
    directory_remove(directory);
    return runs_end_like(status);
}
