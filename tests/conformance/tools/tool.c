/*
 * A tool that prints what happens to it. NAME is its name; TOOL_<NAME> in the environment makes it
 * behave: "null" (does not want to run), "refuse" (initialize fails). TOOL_END is the name of a
 * function that makes it finalise itself.
 */
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    int status = 0;
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
    return behaves("null") ? NULL : &result;
}

/* The host asks the tool to end early. */
__attribute__((visibility("default"))) void TOOL_END(void);
void TOOL_END(void)
{
    finalizer(*client);
    say("ended", 0);
    finalizer(*client); /* a second time does nothing */
}
