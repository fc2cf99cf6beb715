/*
 * A HIP library with a tracer callback, for tests; its release is in its file name, or not. It
 * numbers its functions as the list does that DOUBLE_TRACER_LIST names, except the one of
 * DOUBLE_TRACER_WRONG, has the one of DOUBLE_TRACER_MORE after the last, and
 * dies of being asked for their names when there is DOUBLE_TRACER_SILENT.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { IDS_MAX = 1024, NAME_BYTES = 96 };

typedef int (*tracer_fn)(uint32_t domain, uint32_t id, void *data);
typedef void (*phase_fn)(uint32_t id, void *data);

static tracer_fn tracer;
static __thread int error;
static __thread uint64_t correlation; /* what the work of the latest call would be reported with */

EXPORTED const char *hipApiName(uint32_t id);
EXPORTED void hipRegisterTracerCallback(tracer_fn callback);
EXPORTED int hipPeekAtLastError(void);
EXPORTED int hipExtGetLastError(void);
EXPORTED int double_tracer_armed(void);
EXPORTED int double_tracer_call(uint32_t id, uint32_t data_bytes, const void *arguments,
                                uint32_t arguments_bytes, int result);
EXPORTED uint64_t double_tracer_correlation(void);
EXPORTED int double_tracer_command(uint32_t operation, const void *record);

static char names[IDS_MAX][NAME_BYTES];

__attribute__((constructor)) static void names_read(void)
{
    const char *path = getenv("DOUBLE_TRACER_LIST"), *wrong = getenv("DOUBLE_TRACER_WRONG");
    FILE *list = path ? fopen(path, "r") : NULL;
    char line[1000];
    while (list && fgets(line, sizeof line, list)) {
        unsigned id;
        char name[NAME_BYTES - 8];
        if (sscanf(line, "%u %79s", &id, name) == 2 && id < IDS_MAX)
            snprintf(names[id], NAME_BYTES, "%s%s", name, wrong && !strcmp(wrong, name) ? "X" : "");
    }
    if (list)
        fclose(list);
    unsigned last = IDS_MAX - 2;
    while (last > 0 && !names[last][0])
        last--;
    if (getenv("DOUBLE_TRACER_MORE"))
        snprintf(names[last + 1], NAME_BYTES, "%s", getenv("DOUBLE_TRACER_MORE"));
}

const char *hipApiName(uint32_t id)
{
    if (getenv("DOUBLE_TRACER_SILENT"))
        abort(); /* nobody may ask */
    return id < IDS_MAX && names[id][0] ? names[id] : "unknown";
}

void hipRegisterTracerCallback(tracer_fn callback)
{
    tracer = callback;
}

int hipPeekAtLastError(void)
{
    return error;
}

int hipExtGetLastError(void)
{
    return error;
}

int double_tracer_armed(void)
{
    return tracer != NULL;
}

/* A call as the library makes it: asks, fills the arguments, tells of entry and exit. Everything
 * behind the structure must stay as it was. */
int double_tracer_call(uint32_t id, uint32_t data_bytes, const void *arguments,
                       uint32_t arguments_bytes, int result)
{
    enum { ROOM = 4096, TIME_AND_WORD = 16, GUARD = 0x5a };
    union {
        char bytes[ROOM];
        uint64_t aligned;
    } room;
    phase_fn phases[2];
    memset(room.bytes, GUARD, ROOM);
    uint32_t end = data_bytes + TIME_AND_WORD + sizeof phases;
    correlation = 0;
    if (tracer(3, id, room.bytes) == 0) {
        memcpy(phases, room.bytes + data_bytes + TIME_AND_WORD, sizeof phases);
        memcpy(&correlation, room.bytes, sizeof correlation);
        if (phases[0])
            memcpy(room.bytes + 16, arguments, arguments_bytes);
        if (phases[0])
            phases[0](id, room.bytes);
        error = result;
        if (phases[1])
            phases[1](id, room.bytes);
    }
    for (uint32_t i = end; i < ROOM; i++)
        if (room.bytes[i] != GUARD)
            return 0;
    return 1;
}

uint64_t double_tracer_correlation(void)
{
    return correlation;
}

/* A command that is over as soon as it began: asks, tells of its begin as ROCm 7 does, reports it.
 * 0: nobody wants it. */
int double_tracer_command(uint32_t operation, const void *record)
{
    enum { DOMAIN_OPERATIONS = 2, BEGUN = 1 };
    if (!tracer || tracer(DOMAIN_OPERATIONS, operation, NULL) != 0)
        return 0;
    tracer(DOMAIN_OPERATIONS, operation, (void *)(uintptr_t)BEGUN);
    tracer(DOMAIN_OPERATIONS, operation, (void *)(uintptr_t)record);
    return 1;
}
