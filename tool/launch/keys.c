#include "keys.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "rank_list.h"

enum { VALUE_BYTES = 4096, COMMAND_BYTES = 4096, NAME_BYTES = 256 };

static const struct {
    const char *rank, *size;
} jobs[] = {
#define X(rank, size) {rank, size},
    RANK_VARIABLES(X)
#undef X
};

/* What is negative or beyond an int is nobody's rank or size. */
static bool number_of(const char *text, unsigned *number)
{
    if (!text || !isdigit((unsigned char)*text))
        return false;
    unsigned long long value = strtoull(text, NULL, 10);
    *number = (unsigned)value;
    return value <= INT_MAX;
}

/* A number whose size has no name is one of unknown many. */
static bool pair_read(const char *rank_name, const char *size_name, unsigned *rank, unsigned *size)
{
    const char *rank_text = rank_name && *rank_name ? getenv(rank_name) : NULL;
    const char *size_text = size_name && *size_name ? getenv(size_name) : NULL;
    *size = 0;
    return number_of(rank_text, rank) && (!size_name || number_of(size_text, size));
}

static bool pair_find(unsigned *rank, unsigned *size)
{
    bool found =
        getenv("ROCPROF_MPI_SIZE_VAR") &&
        pair_read(getenv("ROCPROF_MPI_RANK_VAR"), getenv("ROCPROF_MPI_SIZE_VAR"), rank, size);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && !found; i++)
        found = pair_read(jobs[i].rank, jobs[i].size, rank, size);
    return found;
}

unsigned keys_rank(void)
{
    unsigned rank, size;
    return pair_find(&rank, &size) ? rank : 0;
}

static bool number_read(const char **text, unsigned *number)
{
    int length = 0;
    if (!isdigit((unsigned char)**text) || sscanf(*text, "%9u%n", number, &length) != 1)
        return false;
    *text += length;
    return true;
}

bool keys_ranks_read(const char *text, unsigned rank, bool *is_in)
{
    *is_in = false;
    while (*(text += strspn(text, ", \t"))) {
        unsigned first, last;
        if (!number_read(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !number_read(&text, &last)))
            return false;
        if (last < first || (*text && !strchr(", \t", *text)))
            return false;
        *is_in = *is_in || (rank >= first && rank <= last);
    }
    return true;
}

unsigned keys_rank_count(void)
{
    unsigned rank, size;
    return pair_find(&rank, &size) && size > 0 ? size : 1;
}

/* ---- the command */

/* The words of this process's command, each ended by a zero byte; how many bytes. */
static size_t command_read(char words[COMMAND_BYTES])
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(words, 1, COMMAND_BYTES - 1, file) : 0;
    if (file)
        fclose(file);
    words[length] = 0;
    return length;
}

/* A word as part of a file's name. */
static void word_flatten(const char *word, char *flat, size_t size)
{
    size_t used = 0;
    for (; *word == '.' || *word == '_' || *word == '/'; word++)
        ;
    for (; *word && used + 1 < size; word++)
        flat[used++] = *word == '/' || isspace((unsigned char)*word) ? '_' : *word;
    flat[used] = 0;
}

/* Words from `first` on, joined by '_'; that one alone when `only`. */
static void words_join(unsigned first, bool only, char *value)
{
    char words[COMMAND_BYTES], flat[NAME_BYTES];
    size_t length = command_read(words), at = 0, used = 0;
    *value = 0;
    for (unsigned number = 0; at < length; number++, at += strlen(words + at) + 1) {
        if (number < first || (only && number > first))
            continue;
        word_flatten(words + at, flat, sizeof flat);
        if (used + strlen(flat) + 2 > VALUE_BYTES)
            return;
        used += (size_t)sprintf(value + used, "%s%s", used ? "_" : "", flat);
    }
}

static void tag(char *value)
{
    char words[COMMAND_BYTES];
    command_read(words);
    const char *slash = strrchr(words, '/');
    word_flatten(slash ? slash + 1 : words, value, NAME_BYTES);
}

static void tag_and_arguments(char *value)
{
    char arguments[VALUE_BYTES];
    tag(value);
    words_join(1, false, arguments);
    size_t used = strlen(value);
    if (*arguments)
        snprintf(value + used, VALUE_BYTES - used, "_%s", arguments);
}

static void all_words(char *value)
{
    words_join(0, false, value);
}

static void arguments(char *value)
{
    words_join(1, false, value);
}

/* ---- the process */

static void number_put(char *value, long number)
{
    snprintf(value, VALUE_BYTES, "%ld", number);
}

static void pid(char *value)
{
    number_put(value, getpid());
}

static void ppid(char *value)
{
    number_put(value, getppid());
}

static void pgid(char *value)
{
    number_put(value, getpgrp());
}

static void psid(char *value)
{
    number_put(value, getsid(0));
}

static pid_t parent_of(const char *process)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    const char *state = proc_stat_read(path, line, sizeof line);
    return state ? (pid_t)strtol(state + 1, NULL, 10) : -1;
}

/* Counts the processes that have this one's parent, this one too. */
static void psize(char *value)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    long count = 0;
    while (processes && (entry = readdir(processes)))
        count += isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getppid();
    if (processes)
        closedir(processes);
    number_put(value, count ? count : 1);
}

static void hostname(char *value)
{
    if (gethostname(value, NAME_BYTES) != 0)
        *value = 0;
    value[NAME_BYTES - 1] = 0;
}

static void job(char *value)
{
    const char *text = getenv("SLURM_JOB_ID");
    snprintf(value, VALUE_BYTES, "%s", text && *text ? text : "0");
}

static void rank(char *value)
{
    number_put(value, keys_rank());
}

static void size(char *value)
{
    number_put(value, keys_rank_count());
}

static void node(char *value)
{
    unsigned here, all;
    number_put(value, pair_find(&here, &all) ? (long)here : (long)getpid());
}

static void directory(char *value)
{
    if (!getcwd(value, VALUE_BYTES))
        strcpy(value, ".");
}

/* When the library started in this process; all names take this one time. */
static time_t launched;

__attribute__((constructor)) static void launch_note(void)
{
    launched = time(NULL);
}

static void time_put(char *value, const char *variable, const char *otherwise)
{
    const char *format = getenv(variable);
    struct tm parts;
    *value = 0;
    if (localtime_r(&launched, &parts))
        strftime(value, NAME_BYTES, format && *format ? format : otherwise, &parts);
}

static void launch_date(char *value)
{
    time_put(value, "ROCPROF_DATE_FORMAT", "%F");
}

static void launch_time(char *value)
{
    time_put(value, "ROCPROF_TIME_FORMAT", "%F_%H.%M");
}

static const struct {
    const char *name;
    char letter; /* "%p" is "%pid%" */
    void (*value)(char *value);
} keys[] = {
    {"pid", 'p', pid},
    {"hostname", 'h', hostname},
    {"rank", 'r', rank},
    {"size", 's', size},
    {"job", 'j', job},
    {"ppid", 0, ppid},
    {"pgid", 0, pgid},
    {"psid", 0, psid},
    {"psize", 0, psize},
    {"nid", 0, node},
    {"cwd", 0, directory},
    {"tag", 0, tag},
    {"argv", 0, all_words},
    {"argt", 0, tag_and_arguments},
    {"args", 0, arguments},
    {"launch_date", 0, launch_date},
    {"launch_time", 0, launch_time},
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

/* ---- names */

static void variable_put(const char *text, size_t length, char *value)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    const char *found = secure_getenv(name);
    snprintf(value, VALUE_BYTES, "%s", found ? found : "");
}

/* Finds "PREFIX{NAME}SUFFIX" at `text`. Returns its length, 0 when it is not there. */
static size_t variable_find(const char *text, const char *prefix, const char *suffix, char *value)
{
    size_t before = strlen(prefix), length;
    if (strncmp(text, prefix, before) != 0 || text[before] != '{')
        return 0;
    length = strcspn(text + before + 1, "}");
    const char *behind = text + before + 1 + length;
    if (!*behind || strncmp(behind + 1, suffix, strlen(suffix)) != 0)
        return 0;
    variable_put(text + before + 1, length, value);
    return before + length + 2 + strlen(suffix);
}

/* Finds "OPENnameCLOSE" at `text`. Returns its length, 0 when it is not there. */
static size_t named_find(const char *text, char open, char close, char *value)
{
    if (text[0] != open)
        return 0;
    for (int i = 0; i < KEY_COUNT; i++) {
        size_t length = strlen(keys[i].name);
        if (strncmp(text + 1, keys[i].name, length) != 0 || text[length + 1] != close)
            continue;
        keys[i].value(value);
        return length + 2;
    }
    char *end;
    if (strncmp(text + 1, "arg", 3) != 0 || !isdigit((unsigned char)text[4]))
        return 0;
    unsigned long number = strtoul(text + 4, &end, 10);
    if (*end != close)
        return 0;
    words_join((unsigned)number, true, value);
    return (size_t)(end + 1 - text);
}

static size_t letter_find(const char *text, char *value)
{
    if (text[0] != '%' || !text[1] || isalnum((unsigned char)text[2]) || text[2] == '%')
        return 0;
    for (int i = 0; i < KEY_COUNT; i++)
        if (keys[i].letter && keys[i].letter == text[1]) {
            keys[i].value(value);
            return 2;
        }
    return 0;
}

static size_t key_find(const char *text, char *value)
{
    size_t length = named_find(text, '%', '%', value);
    if (length == 0)
        length = named_find(text, '{', '}', value);
    if (length == 0)
        length = variable_find(text, "%env", "%", value);
    if (length == 0)
        length = variable_find(text, "$ENV", "", value);
    if (length == 0)
        length = variable_find(text, "%q", "", value);
    return length ? length : letter_find(text, value);
}

int keys_expand(const char *name, char *expanded, size_t size_bytes)
{
    char value[VALUE_BYTES];
    size_t used = 0;
    if (size_bytes == 0)
        return -EINVAL;
    while (*name) {
        size_t length = key_find(name, value);
        const char *part = length ? value : name;
        size_t part_length = length ? strlen(value) : 1;
        if (used + part_length >= size_bytes)
            return -ENAMETOOLONG;
        memcpy(expanded + used, part, part_length);
        used += part_length;
        name += length ? length : 1;
    }
    expanded[used] = 0;
    return 0;
}

size_t keys_fixed_length(const char *name)
{
    char value[VALUE_BYTES];
    size_t at = 0;
    while (name[at] && key_find(name + at, value) == 0)
        at++;
    return at;
}

bool keys_tell_processes_apart(const char *name)
{
    static const char *const same[] = {"hostname", "rank", "size", "job", "cwd", "pgid", "psid"};
    char value[VALUE_BYTES], key[16];
    while (*name) {
        size_t length = key_find(name, value);
        bool is_variable =
            length && (strncmp(name, "%env", 4) == 0 || strncmp(name, "$ENV", 4) == 0 ||
                       strncmp(name, "%q{", 3) == 0);
        bool is_same = length == 0 || is_variable || (length == 2 && strchr("hrsj", name[1]));
        for (size_t i = 0; i < sizeof same / sizeof same[0] && !is_same; i++) {
            int size = snprintf(key, sizeof key, "%s", same[i]);
            is_same = length == (size_t)size + 2 && strncmp(name + 1, key, (size_t)size) == 0;
        }
        if (!is_same)
            return true;
        name += length ? length : 1;
    }
    return false;
}
