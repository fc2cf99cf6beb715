#include "outcome.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/reach.h"
#include "launch/run_log.h"
#include "refuse.h"
#include "unfinished.h"

enum { PROCESSES_SHOWN = 8, FILES_SHOWN = 12 };

struct told {
    char **lines; /* "KEY\tPID\tTEXT" */
    size_t count;
    unsigned loaded, runtimes, opened, closed;
    bool has_counted, has_left_out; /* launches, because of filters */
    unsigned few;                   /* processes without files, as they recorded little */
    unsigned long long records;
    bool is_limited;              /* periods or regions say when anything is collected */
    const char *directory;        /* where those that live on will have their files; NULL: here */
    unsigned living, living_open; /* processes, and reports of theirs */
};

void outcome_foresee(const struct launch *launch)
{
    enum reach reach = reach_of(launch->program);
    if (reach != REACH_YES)
        fprintf(stderr,
                "crocprof: %s %s: the profiler cannot come into it (LD_PRELOAD), and nothing of it "
                "will be collected; %s\n",
                launch->program, reach_word(reach), reach_advice(reach));
}

static const char *text_of(const char *line)
{
    const char *tab = strchr(line + 2, '\t');
    return tab ? tab + 1 : "";
}

static void line_take(struct told *told, char *line)
{
    char **grown = realloc(told->lines, (told->count + 1) * sizeof *grown);
    if (!grown || line[0] == 0 || line[1] != '\t') {
        told->lines = grown ? grown : told->lines;
        return;
    }
    bool is_path = line[0] == RUN_LOG_FILES || line[0] == RUN_LOG_PLACE;
    for (char *at = line; (at = strchr(at, RUN_LOG_BREAK)); at++)
        *at = is_path ? '\n' : ' ';
    told->lines = grown;
    told->lines[told->count++] = line;
    told->loaded += line[0] == RUN_LOG_LOADED;
    told->runtimes += line[0] == RUN_LOG_RUNTIME;
    told->opened += line[0] == RUN_LOG_REPORT;
    told->closed += line[0] == RUN_LOG_RECORDS;
    told->has_counted |= line[0] == RUN_LOG_COUNTED;
    told->has_left_out |= line[0] == RUN_LOG_UNCOUNTED;
    told->few += line[0] == RUN_LOG_FEW;
    if (line[0] == RUN_LOG_RECORDS)
        told->records += strtoull(text_of(line), NULL, 10);
}

/* Each sentence once. */
static void sentences_tell(const struct told *told, enum run_log_key key, const char *end)
{
    for (size_t i = 0; i < told->count; i++) {
        bool said = told->lines[i][0] != (char)key;
        for (size_t j = 0; j < i && !said; j++)
            said = told->lines[j][0] == (char)key &&
                   strcmp(text_of(told->lines[i]), text_of(told->lines[j])) == 0;
        if (!said)
            fprintf(stderr, "crocprof: %s%s\n", text_of(told->lines[i]), end);
    }
}

static bool has_key(const struct told *told, enum run_log_key key)
{
    for (size_t i = 0; i < told->count; i++)
        if (told->lines[i][0] == (char)key)
            return true;
    return false;
}

/* Why there is nothing. */
static void nothing_tell(const struct launch *launch, const struct told *told, int wait_status)
{
    bool not_started = WIFEXITED(wait_status) && (WEXITSTATUS(wait_status) == EXIT_NOT_STARTED ||
                                                  WEXITSTATUS(wait_status) == EXIT_NOT_RUNNABLE);
    if (told->loaded == 0 && (not_started || reach_of(launch->program) != REACH_YES))
        return; /* that has been said */
    if (told->loaded == 0)
        fprintf(stderr,
                "crocprof: nothing was collected: the profiler's library did not come into "
                "%s (LD_PRELOAD does not reach it, or it ended at once)\n",
                launch->program);
    else if (has_key(told, RUN_LOG_NOT_ASKED))
        sentences_tell(told, RUN_LOG_NOT_ASKED, ": nothing was collected of it");
    else if (told->runtimes == 0)
        fputs("crocprof: nothing was collected: the program made no GPU call (it started neither "
              "HIP nor HSA)\n",
              stderr);
    else
        fprintf(stderr,
                "crocprof: nothing was collected: the program started the GPU's runtime, but did "
                "nothing of what is traced or counted%s\n",
                told->is_limited ? " while it was (--collection-period, --selected-regions)" : "");
    sentences_tell(told, RUN_LOG_LEFT, "");
}

static void no_code_tell(const struct launch *launch, const struct told *told)
{
    const char *gpu = NULL;
    for (size_t i = 0; i < told->count; i++)
        if (told->lines[i][0] == RUN_LOG_NO_CODE)
            gpu = text_of(told->lines[i]);
    if (gpu && launch->gpu_library[0])
        fprintf(stderr, "crocprof: 'crocgpu hipcc ...' compiles for the software GPU (%s)\n", gpu);
}

/* "crocprof: DIR/NAME_*: agent_info.csv, results.db". False: there are none. */
static bool files_list(const char *prefix)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(prefix, '/'), *name = slash ? slash + 1 : prefix;
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - prefix) : 1,
             slash ? prefix : ".");
    struct dirent **files;
    int count = scandir(*directory ? directory : "/", &files, NULL, alphasort);
    unsigned found = 0;
    for (int i = 0; i < count; i++) {
        const char *file = files[i]->d_name;
        if (strncmp(file, name, strlen(name)) == 0 && file[strlen(name)] == '_' &&
            found++ < FILES_SHOWN) {
            if (found == 1)
                fprintf(stderr, "crocprof: files: %s_*:", prefix);
            fprintf(stderr, "%s %s", found > 1 ? "," : "", file + strlen(name) + 1);
        }
        free(files[i]);
    }
    if (count >= 0)
        free(files);
    if (found > FILES_SHOWN)
        fprintf(stderr, " and %u more", found - FILES_SHOWN);
    if (found > 0)
        fputc('\n', stderr);
    return found > 0;
}

static bool files_hidden;

void outcome_files_hide(void)
{
    files_hidden = true;
}

static void files_tell(const struct told *told)
{
    if (files_hidden)
        return;
    unsigned shown = 0, more = 0;
    const char *last = "";
    for (size_t i = 0; i < told->count; i++) {
        if (told->lines[i][0] != RUN_LOG_FILES)
            continue;
        last = text_of(told->lines[i]);
        if (shown == PROCESSES_SHOWN)
            more++;
        else
            shown += files_list(last);
    }
    if (more > 0)
        fprintf(stderr, "crocprof: files: and those of %u more processes, the last one's %s_*\n",
                more, last);
}

/* The lines are parts of the text, which is the caller's to free. */
static char *told_read(struct told *told, int log)
{
    char *text = run_log_read(log), *rest = text, *line;
    *told = (struct told){0};
    while (text && (line = strsep(&rest, "\n")))
        line_take(told, line);
    return text;
}

void outcome_files(int log)
{
    struct told told;
    char *text = told_read(&told, log);
    files_tell(&told);
    free(told.lines);
    free(text);
}

/* The process of a line has closed its report since. */
static bool is_closed(const struct told *told, size_t line)
{
    for (size_t i = line + 1; i < told->count; i++)
        if (told->lines[i][0] == RUN_LOG_RECORDS &&
            atol(told->lines[i] + 2) == atol(told->lines[line] + 2))
            return true;
    return false;
}

void outcome_complete(int log, const char *formats)
{
    struct told told;
    char *text = told_read(&told, log);
    for (size_t i = 0; i < told.count; i++)
        if (told.lines[i][0] == RUN_LOG_PLACE && !is_closed(&told, i))
            unfinished_complete(text_of(told.lines[i]), atol(told.lines[i] + 2), formats);
    free(told.lines);
    free(text);
}

static void name_read(long pid, char *name, int size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = fopen(path, "re");
    *name = 0;
    if (file && fgets(name, size, file))
        name[strcspn(name, "\n")] = 0;
    if (file)
        fclose(file);
}

/* A daemon, say. */
static void living_tell(long pid, void *data)
{
    struct told *told = data;
    char name[32];
    unsigned open_count = 0, closed_count = 0;
    for (size_t i = 0; i < told->count; i++) {
        bool is_its = atol(told->lines[i] + 2) == pid;
        open_count += is_its && told->lines[i][0] == RUN_LOG_REPORT;
        closed_count += is_its && told->lines[i][0] == RUN_LOG_RECORDS;
    }
    told->living_open += open_count > closed_count ? open_count - closed_count : 0;
    if (told->living++ >= PROCESSES_SHOWN)
        return;
    name_read(pid, name, sizeof name);
    fprintf(stderr,
            "crocprof: process %ld (%s) goes on; what its GPU does will be in files in %s when it "
            "ends\n",
            pid, name, told->directory ? told->directory : ".");
}

void outcome_tell(const struct launch *launch, const struct settings *settings, int log,
                  int wait_status)
{
    struct told told;
    char *text = told_read(&told, log);
    if (!text)
        return;
    told.directory = settings_text(settings, OPTION_OUTPUT_DIRECTORY);
    told.is_limited = settings_text(settings, OPTION_PERIODS_NS) ||
                      settings_flag(settings, OPTION_SELECTED_REGIONS);
    no_code_tell(launch, &told);
    run_log_living(living_tell, &told);
    bool is_said = told.has_left_out && !told.has_counted;
    if (told.records == 0 && told.opened <= told.closed && told.living == 0 && !is_said)
        nothing_tell(launch, &told, wait_status);
    if (is_said)
        fputs("crocprof: no counters: no kernel that was launched is one of those that "
              "--kernel-include-regex, --kernel-exclude-regex and --kernel-iteration-range leave\n",
              stderr);
    if (told.opened > told.closed + told.living_open)
        fputs("crocprof: a process ended before it could complete its report: its files have what "
              "was streamed until then\n",
              stderr);
    if (told.few > 0)
        fprintf(
            stderr,
            "crocprof: no files of %u process%s that recorded less than --minimum-output-data\n",
            told.few, told.few == 1 ? "" : "es");
    files_tell(&told);
    free(told.lines);
    free(text);
}
