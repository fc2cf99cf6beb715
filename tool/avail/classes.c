#include "classes.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_BYTES = 64, DEPTH_MAX = 16 /* of counters that are computed from computed ones */ };

struct event {
    char name[NAME_BYTES];
    enum class class;
};

struct classes {
    struct event *events;
    size_t count, room;
};

/* As crocgpu spells it, and as people read it. */
static const struct {
    const char *word, *name;
} words[] = {
    [CLASS_UNKNOWN] = {"", "-"},
    [CLASS_EXACT] = {"exact", "exact"},
    [CLASS_MODELLED] = {"modelled", "modelled"},
    [CLASS_APPROXIMATE] = {"approximate", "approximate"},
    [CLASS_NONE] = {"none", "not modelled"},
};
enum { CLASS_COUNT = sizeof words / sizeof words[0] };

const char *class_name(enum class class)
{
    return words[class].name;
}

static enum class class_find(const char *word) {
    for (int i = 1; i < CLASS_COUNT;
         i++) if (strcmp(words[i].word, word) == 0) return (enum class)i;
    return CLASS_UNKNOWN;
}

static bool event_add(struct classes *classes, const char *name, enum class class)
{
    if (classes->count == classes->room) {
        size_t room = classes->room ? 2 * classes->room : 512;
        struct event *more = realloc(classes->events, room * sizeof *more);
        if (!more)
            return false;
        classes->events = more;
        classes->room = room;
    }
    struct event *event = &classes->events[classes->count++];
    snprintf(event->name, sizeof event->name, "%s", name);
    event->class = class;
    return true;
}

/* Lines of architecture, block, number, class, name. */
static void events_read(struct classes *classes, FILE *lines)
{
    char line[256], class[32], name[NAME_BYTES];
    while (fgets(line, sizeof line, lines))
        if (sscanf(line, "%*s %*s %*s %31s %63s", class, name) == 2 &&
            !event_add(classes, name, class_find(class)))
            return;
}

/* Becomes `crocgpu events GPU`, whose command stands beside this one. */
static void command_become(int output, const char *gpu)
{
    char path[PATH_MAX + 16], self[PATH_MAX];
    if (!realpath("/proc/self/exe", self))
        _exit(1);
    *strrchr(self, '/') = 0;
    snprintf(path, sizeof path, "%s/crocgpu", self);
    unsetenv("LD_PRELOAD");
    dup2(output, STDOUT_FILENO);
    close(STDERR_FILENO);
    execl(path, "crocgpu", "events", gpu, (char *)NULL);
    _exit(1);
}

static void child_wait(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void command_read(struct classes *classes, const char *gpu)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0)
        command_become(ends[1], gpu);
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    if (lines && child > 0)
        events_read(classes, lines);
    if (lines)
        fclose(lines);
    else
        close(ends[0]);
    if (child > 0)
        child_wait(child);
}

struct classes *classes_read(const char *gpu)
{
    struct classes *classes = calloc(1, sizeof *classes);
    if (!classes)
        return NULL;
    command_read(classes, gpu);
    if (classes->count > 0)
        return classes;
    classes_free(classes);
    return NULL;
}

void classes_free(struct classes *classes)
{
    if (classes)
        free(classes->events);
    free(classes);
}

static enum class worse(enum class a, enum class b) { return a > b ? a : b; }

static enum class event_class(const struct classes *classes, const char *name) {
    for (size_t i = 0; i < classes->count;
         i++) if (strcmp(classes->events[i].name, name) == 0) return classes->events[i]
        .class;
    return CLASS_UNKNOWN;
}

static enum class counter_class(const struct classes *classes, const struct avail_agent *agent,
                                const rocprofiler_counter_info_v1_t *counter, unsigned depth);

/* Every word of the expression that is a counter's name; numbers and functions are none. */
static enum class expression_class(const struct classes *classes, const struct avail_agent *agent,
                                   const char *at, unsigned depth) {
    enum class worst = CLASS_UNKNOWN; while (*at){
        char name[NAME_BYTES]; size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        if (length > 0 && length < sizeof name){
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            const rocprofiler_counter_info_v1_t *operand = avail_counter_named(agent, name);
            if (operand) worst = worse(worst, counter_class(classes, agent, operand, depth + 1));}
at += length ? length : 1;
}
return worst;
}

static enum class counter_class(const struct classes *classes, const struct avail_agent *agent,
                                const rocprofiler_counter_info_v1_t *counter, unsigned depth) {
    if (counter->is_constant) return CLASS_EXACT;
    if (!counter->is_derived) return event_class(classes, counter->name);
    return depth < DEPTH_MAX ? expression_class(classes, agent, counter->expression, depth)
                             : CLASS_UNKNOWN;
}

enum class classes_of(const struct classes *classes, const struct avail_agent *agent,
                      const rocprofiler_counter_info_v1_t *counter) {
    return classes ? counter_class(classes, agent, counter, 0) : CLASS_UNKNOWN;
}
