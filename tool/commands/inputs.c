#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "out/place.h"

static int path_add(struct inputs *inputs, const char *path)
{
    char **grown = realloc(inputs->paths, (inputs->count + 1) * sizeof *inputs->paths);
    char *copy = strdup(path);
    inputs->paths = grown ? grown : inputs->paths;
    if (!grown || !copy) {
        free(copy);
        return refuse(EXIT_FAILED, "%s: out of memory", path);
    }
    grown[inputs->count++] = copy;
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static int word_add(struct inputs *inputs, const char *word, bool is_named);

static int directory_add(struct inputs *inputs, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort), status = 0;
    if (count < 0)
        return refuse(EXIT_USAGE, "%s: %s", directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat found;
        bool fits =
            snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name) < (int)sizeof path;
        if (status == 0 && fits && entries[i]->d_name[0] != '.' && lstat(path, &found) == 0 &&
            (S_ISDIR(found.st_mode) || ends_with(path, ".db")))
            status = word_add(inputs, path, false);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Files of a package are listed as "- NAME", from the directory of the index. */
static int package_add(struct inputs *inputs, const char *index)
{
    char line[PATH_MAX + 16], path[2 * PATH_MAX];
    const char *slash = strrchr(index, '/');
    int status = 0;
    FILE *file = fopen(index, "re");
    if (!file)
        return refuse(EXIT_USAGE, "%s: %s", index, strerror(errno));
    while (status == 0 && fgets(line, sizeof line, file)) {
        char *name = line + strspn(line, " \t");
        if (strncmp(name, "- ", 2) != 0)
            continue;
        name += 2 + strspn(name + 2, " \"'");
        name[strcspn(name, "\"'\r\n")] = 0;
        snprintf(path, sizeof path, "%.*s%s",
                 name[0] == '/' || !slash ? 0 : (int)(slash + 1 - index), index, name);
        status = word_add(inputs, path, true);
    }
    fclose(file);
    return status;
}

static int pattern_add(struct inputs *inputs, const char *pattern)
{
    glob_t found;
    int status = 0;
    if (glob(pattern, 0, NULL, &found) != 0)
        return refuse(EXIT_USAGE, "%s: %s", pattern, strerror(ENOENT));
    for (size_t i = 0; i < found.gl_pathc && status == 0; i++)
        status = word_add(inputs, found.gl_pathv[i], true);
    globfree(&found);
    return status;
}

/* A file that is there is that file, whatever its name looks like. */
static int word_add(struct inputs *inputs, const char *word, bool is_named)
{
    struct stat found;
    if (stat(word, &found) != 0)
        return strpbrk(word, "*?[") ? pattern_add(inputs, word)
                                    : refuse(EXIT_USAGE, "%s: %s", word, strerror(errno));
    if (S_ISDIR(found.st_mode))
        return directory_add(inputs, word);
    if (is_named && ends_with(word, ".yaml"))
        return package_add(inputs, word);
    return path_add(inputs, word);
}

int inputs_find(struct inputs *inputs, char *const *words)
{
    int status = 0;
    *inputs = (struct inputs){0};
    for (; *words && status == 0; words++) {
        unsigned before = inputs->count;
        status = word_add(inputs, *words, true);
        if (status == 0 && inputs->count == before)
            status = refuse(EXIT_USAGE, "%s: there is no recording (*.db)", *words);
    }
    if (status != 0)
        inputs_free(inputs);
    return status;
}

int inputs_find_some(struct inputs *inputs, char *const *words)
{
    *inputs = (struct inputs){0};
    for (; *words; words++) {
        unsigned before = inputs->count;
        if (word_add(inputs, *words, true) != 0)
            inputs->missing++;
        else if (inputs->count == before)
            inputs->missing += refuse(1, "%s: there is no recording (*.db)", *words) == 1;
    }
    return inputs->count > 0 ? 0 : EXIT_FAILED;
}

void inputs_free(struct inputs *inputs)
{
    for (unsigned i = 0; i < inputs->count; i++)
        free(inputs->paths[i]);
    free(inputs->paths);
    *inputs = (struct inputs){0};
}

void inputs_damage_tell(const struct recording *recording)
{
    if (recording_damage(recording))
        fprintf(stderr, "crocprof: %s\n", recording_damage(recording));
}

struct recording_ask inputs_ask(const struct cli_options *line)
{
    const char *index = settings_text(&line->settings, OPTION_AGENT_INDEX);
    const char *rename = settings_text(&line->settings, OPTION_KERNEL_RENAME);
    return (struct recording_ask){
        .tables = RECORDING_ALL,
        .agents = !index                           ? RECORDING_RELATIVE
                  : strcmp(index, "absolute") == 0 ? RECORDING_ABSOLUTE
                  : strcmp(index, "relative") == 0 ? RECORDING_RELATIVE
                                                   : RECORDING_TYPE_RELATIVE,
        .names = settings_flag(&line->settings, OPTION_TRUNCATE_KERNELS)  ? RECORDING_TRUNCATED
                 : settings_flag(&line->settings, OPTION_MANGLED_KERNELS) ? RECORDING_MANGLED
                                                                          : RECORDING_AS_SHOWN,
        .by_symbol = rename && strcmp(rename, "0") == 0,
    };
}

int output_begin(struct writer *writer, const char *name)
{
    int status, file = STDOUT_FILENO;
    if (name) {
        status = place_parent_make(name);
        file = status == 0 ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
        if (file < 0)
            return refuse(EXIT_FAILED, "%s: %s", name, strerror(status ? -status : errno));
    }
    status = writer_attach(writer, file);
    if (name)
        close(file);
    return status == 0
               ? 0
               : refuse(EXIT_FAILED, "%s: %s", name ? name : "standard output", strerror(-status));
}

int output_end(struct writer *writer, const char *name)
{
    int status = writer_close(writer);
    if (status == 0 || status == -EPIPE)
        return 0;
    return refuse(EXIT_FAILED, "%s: %s", name ? name : "standard output", strerror(-status));
}
