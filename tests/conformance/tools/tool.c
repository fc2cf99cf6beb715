/*
 * A tool that prints what happens to it. NAME is its name; TOOL_<NAME> in the environment makes it
 * behave: "null" (does not want to run), "refuse" (initialize fails), "old" (a result of another
 * size), "watch" (says which tables it sees), "slow" (finalize takes 300 ms), "exits" (finalize
 * calls exit(3)), "nothing" (no callbacks at all), "handle" (writes over its handle). TOOL_END is
 * the name of a function that makes it finalise itself, TOOL_FORCE of one that configures it.
 */
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t finalizer;
static rocprofiler_context_id_t context;

static void say(const char *what, long number)
{
    char line[200];
    int length = snprintf(line, sizeof line, "%s %s %ld\n", NAME, what, number);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        abort();
}

static int behaves(const char *how)
{
    const char *value = getenv("TOOL_" NAME);
    return value && !strcmp(value, how);
}

static void on_tables(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
                      void **tables, uint64_t table_count, void *data)
{
    (void)version, (void)instance;
    say("table", tables && table_count == 1 && data == &context ? (long)type : 99);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    int status = 0;
    if (behaves("watch"))
        rocprofiler_at_intercept_table_registration(on_tables, 0, &context);
    rocprofiler_is_initialized(&status);
    say("initialize", data == &context ? status : 99);
    finalizer = finalize;
    if (rocprofiler_create_context(&context) != ROCPROFILER_STATUS_SUCCESS)
        say("create_context failed", 0);
    return behaves("refuse") ? -1 : 0;
}

static void finalize_tool(void *data)
{
    int status = 0, valid = 0;
    rocprofiler_is_finalized(&status);
    rocprofiler_context_is_valid(context, &valid);
    say("finalize", data == &context && valid ? status : 99);
    if (behaves("exits"))
        exit(3);
    if (!behaves("slow"))
        return;
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    say("finished", 0);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result;
    say("configure", version >= 10000 && runtime_version ? (long)priority : 99);
    client = client_id;
    client_id->name = NAME;
    result =
        (rocprofiler_tool_configure_result_t){sizeof result, initialize, finalize_tool, &context};
    if (behaves("old"))
        result.size -= sizeof(void *);
    if (behaves("nothing"))
        result.initialize = NULL, result.finalize = NULL;
    if (behaves("handle"))
        memset((char *)client_id + offsetof(rocprofiler_client_id_t, handle), 7, 4);
    return behaves("null") ? NULL : &result;
}

__attribute__((visibility("default"))) int TOOL_FORCE(void);
int TOOL_FORCE(void)
{
    return (int)rocprofiler_force_configure(rocprofiler_configure);
}

/* The host asks the tool to end early. */
__attribute__((visibility("default"))) void TOOL_END(void);
void TOOL_END(void)
{
    finalizer(*client);
    say("ended", 0);
    finalizer(*client); /* a second time does nothing */
}
