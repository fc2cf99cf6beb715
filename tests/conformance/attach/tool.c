/*
 * A tool that can be attached. PLAIN: without rocprofiler_configure_attach. TOOL_<NAME> in the
 * environment makes it behave: "null" (takes no part), "refuse" (initialize fails), "attach"
 * (tool_attach fails), "old" (attach result of another size), "nest" (attaches from tool_attach),
 * "slow" (tool_attach takes 200 ms).
 */
#include "tool.h"

#include <dlfcn.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

int rocprofiler_is_current_client_attachment(void);

static struct attach_diary diary;
static rocprofiler_client_id_t *client;
static rocprofiler_context_id_t contexts[2]; /* the first is started in initialize */
static rocprofiler_buffer_id_t buffer;
#ifndef PLAIN
static rocprofiler_client_detach_t detach_self;
#endif

EXPORTED struct attach_diary *attach_diary(void);
struct attach_diary *attach_diary(void)
{
    return &diary;
}

static void note(const char *what)
{
    strncat(diary.calls, what, sizeof diary.calls - strlen(diary.calls) - 1);
    strncat(diary.calls, " ", sizeof diary.calls - strlen(diary.calls) - 1);
}

static int behaves(const char *how)
{
    const char *value = getenv("TOOL_" NAME);
    return value && !strcmp(value, how);
}

static void require(rocprofiler_status_t status, const char *what)
{
    if (status != ROCPROFILER_STATUS_SUCCESS)
        note(what);
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)user, (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        diary.enters++;
    else
        diary.exits++;
}

static void on_records(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t dropped)
{
    (void)id, (void)from, (void)headers, (void)data, (void)dropped;
    diary.records += (unsigned)count;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
                     void **tables, uint64_t count, void *data)
{
    (void)type, (void)version, (void)instance, (void)tables, (void)count, (void)data;
    diary.tables++;
}

static void services_configure(void)
{
    require(rocprofiler_create_context(&contexts[0]), "!create_context");
    require(rocprofiler_create_context(&contexts[1]), "!create_context");
    require(rocprofiler_create_buffer(contexts[1], 1 << 20, 1 << 20,
                                      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, NULL,
                                      &buffer),
            "!create_buffer");
    require(rocprofiler_configure_callback_tracing_service(
                contexts[0], ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL),
            "!callbacks");
    require(rocprofiler_configure_buffer_tracing_service(
                contexts[1], ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0, buffer),
            "!records");
    require(rocprofiler_at_intercept_table_registration(on_table, 0, NULL), "!watch");
    require(rocprofiler_start_context(contexts[0]), "!start_context");
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    int status = 0;
    note("initialize");
    rocprofiler_is_initialized(&status);
    if (status != -1)
        note("!is_initialized");
    diary.attachment = rocprofiler_is_current_client_attachment();
    const char *value = getenv("ATTACH_VALUE");
    snprintf(diary.value, sizeof diary.value, "%s", value ? value : "(none)");
    services_configure();
    return behaves("refuse") ? -1 : 0;
}

static void finalize_tool(void *data)
{
    (void)data;
    note("finalize");
    if (getenv("ATTACH_PRINT"))
        printf("%s: %s enters %u exits %u records %u\n", NAME, diary.calls, diary.enters,
               diary.exits, diary.records);
    fflush(stdout);
}

EXPORTED rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                                    const char *name,
                                                                    uint32_t priority,
                                                                    rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result;
    (void)name, (void)priority;
    note("configure");
    client = id;
    id->name = NAME;
    result = (rocprofiler_tool_configure_result_t){sizeof result, initialize, finalize_tool, NULL};
    return behaves("null") || version == 0 ? NULL : &result;
}

#ifndef PLAIN
static unsigned active(const rocprofiler_context_id_t *ids, uint64_t count)
{
    unsigned found = 0;
    for (uint64_t i = 0; i < count; i++) {
        int status = -1;
        if (rocprofiler_context_is_active(ids[i], &status) != ROCPROFILER_STATUS_SUCCESS)
            note("!context");
        found += status == 1;
    }
    return found;
}

static int nested_attach(void)
{
    int (*attach)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "rocprofiler_register_attach");
    return attach ? attach(NULL, "anything.so") : -1;
}

static int tool_attach(rocprofiler_client_detach_t detach, rocprofiler_context_id_t *ids,
                       uint64_t count, void *data)
{
    rocprofiler_context_id_t new = {0};
    note(data == &diary ? "attach" : "!data");
    detach_self = detach;
    diary.contexts = (unsigned)count;
    diary.active_at_attach = active(ids, count);
    diary.locked = (int)rocprofiler_create_context(&new);
    if (behaves("slow"))
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    if (behaves("nest"))
        diary.nested = nested_attach();
    require(rocprofiler_start_context(contexts[1]), "!start_context");
    return behaves("attach") ? 5 : 0;
}

static void tool_detach(void *data)
{
    note(data == &diary ? "detach" : "!data");
    diary.active_at_detach = active(contexts, 2);
    diary.records_at_detach = diary.records;
}

EXPORTED rocprofiler_tool_configure_attach_result_t *
rocprofiler_configure_attach(uint32_t version, const char *name, uint32_t priority,
                             rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_attach_result_t result;
    (void)version, (void)name, (void)priority;
    note(id == client ? "configure_attach" : "!client");
    result = (rocprofiler_tool_configure_attach_result_t){sizeof result, tool_attach, tool_detach,
                                                          &diary};
    if (behaves("old"))
        result.size -= sizeof(void *);
    return &result;
}

EXPORTED void attach_leave(void);
void attach_leave(void)
{
    detach_self(*client);
    detach_self(*client); /* ignored */
}
#endif
