#include "results_json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/counters.h>

#include "base/clock.h"
#include "json.h"
#include "process.h"

/* What is known of a kernel; names are `texts`'. */
struct kernel {
    struct out_kernel of;
    uint64_t code_object_id;
};

static const char *kept(struct results_info *info, const char *text)
{
    const char *copy = texts_keep(&info->texts, text ? text : "");
    return copy ? copy : "";
}

void results_info_begin(struct results_info *info, const char *directory)
{
    *info = (struct results_info){.begin_ns = clock_now_ns()};
    struct spool *spools[] = {&info->agents, &info->counters, &info->region_texts, &info->messages};
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        spools[i]->directory = directory;
    info->counters_known.element_bytes = 1;
    info->dimensions.element_bytes = sizeof(struct out_dimension);
    info->kernels.element_bytes = sizeof(struct kernel);
    info->code_objects.element_bytes = sizeof(struct out_code_object);
    kinds_load(&info->kinds);
    info->machine = out_machine();
    info->is_recorded = out_process() != NULL;
    if (info->is_recorded) {
        info->process = *out_process();
        info->process.command = kept(info, out_process()->command);
        info->process.hostname = kept(info, out_process()->hostname);
    }
}

/* ---- agents ---------------------------------------------------------------------------------- */

void results_agent(struct results_info *info, const struct out_agent_row *row)
{
    const rocprofiler_agent_v0_t *agent = &row->agent;
    if (agent->node_id < RESULTS_AGENTS)
        info->agent_handles[agent->node_id] = agent->id.handle;
    struct writer *writer = results_element(&info->agents);
    if (!writer)
        return;
    results_agent_put(writer, row, results_agent_handle(info, agent->node_id));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* {"key": number, "value": text}, as maps are written. */
static void pair_put(struct spool *list, uint64_t key, const char *value)
{
    struct writer *writer = results_element(list);
    if (!writer)
        return;
    json_raw(writer, "{\"key\":");
    writer_u64(writer, key);
    json_raw(writer, ",\"value\":");
    json_text(writer, value);
    json_raw(writer, "}");
}

uint64_t results_region(struct results_info *info, const char *name)
{
    bool is_new;
    uint32_t id = texts_id(&info->regions, name, &is_new);
    if (is_new)
        pair_put(&info->region_texts, id, name);
    return id;
}

void results_message(struct results_info *info, uint64_t correlation_id, const char *message)
{
    pair_put(&info->messages, correlation_id, message);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static uint64_t code_object_keep(struct results_info *info, const struct out_code_object *object)
{
    bool is_new = false;
    struct out_code_object *known =
        object ? numbered_get(&info->code_objects, object->id, &is_new) : NULL;
    if (known && is_new) {
        *known = *object;
        known->uri = kept(info, object->uri);
        known->storage = kept(info, object->storage);
    }
    return object ? object->id : 0;
}

void results_kernel(struct results_info *info, const struct out_dispatch_row *row)
{
    bool is_new = false;
    struct kernel *kernel = numbered_find(&info->kernels, row->kernel_id);
    if (kernel || !(kernel = numbered_get(&info->kernels, row->kernel_id, &is_new)))
        return;
    const struct out_kernel of_row = {.name = row->kernel_name,
                                      .symbol = row->kernel_name,
                                      .demangled = row->kernel_name,
                                      .truncated = row->kernel_name,
                                      .lds_bytes = (uint32_t)row->lds_bytes,
                                      .scratch_bytes = (uint32_t)row->scratch_bytes,
                                      .vgprs = (uint32_t)row->vgprs,
                                      .acc_vgprs = (uint32_t)row->acc_vgprs,
                                      .sgprs = (uint32_t)row->sgprs};
    kernel->of = row->kernel ? *row->kernel : of_row;
    kernel->of.id = row->kernel_id;
    const char **names[] = {&kernel->of.symbol, &kernel->of.name, &kernel->of.demangled,
                            &kernel->of.truncated};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i] = kept(info, *names[i]);
    kernel->code_object_id = code_object_keep(info, kernel->of.code_object);
}

static void code_object_put(struct results_info *info, struct writer *writer,
                            const struct out_code_object *object)
{
    char delta[32];
    snprintf(delta, sizeof delta, "\"load_delta\":%lld,", (long long)object->load_delta);
    bool is_file = strcmp(object->storage, "FILE") == 0;
    json_raw(writer, "{");
    json_member_u64(writer, "size", sizeof(rocprofiler_callback_tracing_code_object_load_data_t));
    json_member_u64(writer, "code_object_id", object->id);
    json_member_handle(writer, "agent_id", results_agent_handle(info, object->node));
    json_member_text(writer, "uri", object->uri);
    json_member_u64(writer, "load_base", object->load_base);
    json_member_u64(writer, "load_size", object->load_bytes);
    json_raw(writer, delta);
    json_member_u64(writer, "memory_base", object->memory_base);
    json_member_u64(writer, "memory_size", object->memory_bytes);
    json_member(writer, "storage_type");
    writer_u64(writer, is_file ? ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE
                               : ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
    json_raw(writer, "}");
}

static void kernel_put(struct writer *writer, const struct kernel *kernel)
{
    const struct out_kernel *of = &kernel->of;
    char offset[64];
    snprintf(offset, sizeof offset, "\"kernel_code_entry_byte_offset\":%lld,",
             (long long)of->entry_offset_bytes);
    json_raw(writer, "{");
    json_member_u64(writer, "size",
                    sizeof(rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t));
    json_member_u64(writer, "kernel_id", of->id);
    json_member_u64(writer, "code_object_id", kernel->code_object_id);
    json_member_text(writer, "kernel_name", of->symbol);
    json_member_u64(writer, "kernel_object", of->object);
    json_member_u64(writer, "kernarg_segment_size", of->kernarg_bytes);
    json_member_u64(writer, "kernarg_segment_alignment", of->kernarg_alignment_bytes);
    json_member_u64(writer, "group_segment_size", of->lds_bytes);
    json_member_u64(writer, "private_segment_size", of->scratch_bytes);
    json_member_u64(writer, "sgpr_count", of->sgprs);
    json_member_u64(writer, "arch_vgpr_count", of->vgprs);
    json_member_u64(writer, "accum_vgpr_count", of->acc_vgprs);
    json_raw(writer, offset);
    json_member_handle(writer, "kernel_address", of->address);
    json_member_text(writer, "formatted_kernel_name", of->name);
    json_member_text(writer, "demangled_kernel_name", of->demangled);
    json_member(writer, "truncated_kernel_name");
    json_text(writer, of->truncated);
    json_raw(writer, "}");
}

/* Readers use a kernel's or a code object's number as its place in the list: numbers of which
 * nothing is known have an empty element, as long as the list is not mostly those. */
static uint64_t list_end(const struct numbered *known)
{
    enum { GAPS_MAX = 1 << 16 };
    uint64_t end = 0;
    for (uint32_t i = 0; i < known->capacity; i++)
        if (known->slots[i].element && known->slots[i].key >= end &&
            known->slots[i].key < known->used + GAPS_MAX)
            end = known->slots[i].key + 1;
    return end;
}

static void code_objects_put(struct results_info *info, struct writer *writer)
{
    uint64_t end = list_end(&info->code_objects);
    json_raw(writer, ",\"code_objects\":[");
    for (uint64_t id = 0; id < end; id++) {
        const struct out_code_object nothing = {
            .id = id, .node = OUT_NO_AGENT, .uri = "", .storage = ""};
        const struct out_code_object *object = numbered_find(&info->code_objects, id);
        json_raw(writer, id ? "," : "");
        code_object_put(info, writer, object ? object : &nothing);
    }
    json_raw(writer, "]");
}

static void kernels_put(struct results_info *info, struct writer *writer)
{
    uint64_t end = list_end(&info->kernels);
    json_raw(writer, ",\"kernel_symbols\":[");
    for (uint64_t id = 0; id < end; id++) {
        const struct kernel nothing = {
            .of = {.id = id, .symbol = "", .name = "", .demangled = "", .truncated = ""}};
        const struct kernel *kernel = numbered_find(&info->kernels, id);
        json_raw(writer, id ? "," : "");
        kernel_put(writer, kernel ? kernel : &nothing);
    }
    json_raw(writer, "],\"host_functions\":[]");
}

/* ---- the end --------------------------------------------------------------------------------- */

static void node_put(const struct results_info *info, struct writer *writer)
{
    struct utsname name = {0};
    uname(&name);
    json_raw(writer, "\"node\":{");
    json_member_u64(writer, "id", info->machine.node);
    json_member_u64(writer, "hash", info->machine.hash);
    json_member_text(writer, "machine_id", info->machine.id);
    json_member_text(writer, "system_name", name.sysname);
    json_member_text(writer, "hostname",
                     info->is_recorded ? info->process.hostname : name.nodename);
    json_member_text(writer, "release", name.release);
    json_member_text(writer, "version", name.version);
    json_member_text(writer, "hardware_name", name.machine);
    json_member(writer, "domain_name");
    json_text(writer, name.domainname);
    json_raw(writer, "},");
}

/* A recorded process's words are known as one line only. */
static void recorded_command_put(struct writer *writer, const char *command)
{
    json_raw(writer, "\"command\":[");
    for (bool is_first = true; *command; is_first = false) {
        char *word = strndup(command, strcspn(command, " "));
        json_raw(writer, is_first ? "" : ",");
        json_text(writer, word ? word : "");
        free(word);
        command += strcspn(command, " ");
        command += strspn(command, " ");
    }
    json_raw(writer, "],");
}

static void command_put(const struct results_info *info, struct writer *writer)
{
    if (info->is_recorded) {
        recorded_command_put(writer, info->process.command);
        return;
    }
    FILE *file = fopen("/proc/self/cmdline", "re");
    char *argument = NULL;
    size_t size = 0;
    json_raw(writer, "\"command\":[");
    for (bool is_first = true; file && getdelim(&argument, &size, 0, file) > 0; is_first = false) {
        json_raw(writer, is_first ? "" : ",");
        json_text(writer, argument);
    }
    json_raw(writer, "],");
    free(argument);
    if (file)
        fclose(file);
}

/* What steers the tool library: variables without their prefix, in small letters. */
static void config_put(const struct results_info *info, struct writer *writer)
{
    static const char prefix[] = "ROCPROF_";
    bool is_first = true;
    json_raw(writer, "\"config\":{");
    for (char **at = info->is_recorded ? NULL : environ; at && *at; at++) {
        const char *value = strchr(*at, '=');
        char name[128] = "";
        if (strncmp(*at, prefix, sizeof prefix - 1) != 0 || !value)
            continue;
        const char *from = *at + sizeof prefix - 1;
        for (size_t i = 0; from + i < value && i < sizeof name - 1; i++)
            name[i] = (char)tolower(from[i]);
        json_raw(writer, is_first ? "" : ",");
        json_text(writer, name);
        json_raw(writer, ":");
        json_text(writer, value + 1);
        is_first = false;
    }
    json_raw(writer, "}");
}

static void strings_put(struct results_info *info, struct writer *writer)
{
    struct kinds *callbacks = malloc(sizeof *callbacks);
    json_raw(writer, ",\"strings\":{\"buffer_records\":");
    kinds_write(&info->kinds, writer);
    json_raw(writer, ",\"callback_records\":");
    if (callbacks) {
        kinds_load_callbacks(callbacks);
        kinds_write(callbacks, writer);
        kinds_free(callbacks);
        free(callbacks);
    } else {
        json_raw(writer, "[]");
    }
    json_raw(writer, ",\"marker_api\":[");
    spool_join(&info->messages, writer);
    json_raw(writer, "],\"correlation_id\":{\"external\":[");
    spool_join(&info->region_texts, writer);
    json_raw(writer, "]},\"counters\":{\"dimension_ids\":[");
    results_dimensions(info, writer);
    json_raw(writer, "]},\"pc_sample_instructions\":[],"
                     "\"pc_sample_comments\":[],\"att_filenames\":[],"
                     "\"code_object_snapshot_filenames\":[]}");
}

void results_info_end(struct results_info *info, struct writer *writer)
{
    json_raw(writer, ",\"metadata\":{");
    node_put(info, writer);
    const struct out_process *recorded = info->is_recorded ? &info->process : NULL;
    json_member_u64(writer, "pid", recorded ? recorded->pid : (uint64_t)getpid());
    json_member_u64(writer, "init_time", recorded ? (uint64_t)recorded->init_ns : info->begin_ns);
    json_member_u64(writer, "fini_time", recorded ? (uint64_t)recorded->fini_ns : clock_now_ns());
    command_put(info, writer);
    config_put(info, writer);
    json_raw(writer, "},\"agents\":[");
    spool_join(&info->agents, writer);
    json_raw(writer, "],\"counters\":[");
    spool_join(&info->counters, writer);
    json_raw(writer, "]");
    strings_put(info, writer);
    code_objects_put(info, writer);
    kernels_put(info, writer);
}

void results_info_drop(struct results_info *info)
{
    struct spool *spools[] = {&info->agents, &info->counters, &info->region_texts, &info->messages};
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        spool_drop(spools[i]);
    numbered_free(&info->counters_known);
    numbered_free(&info->dimensions);
    numbered_free(&info->kernels);
    numbered_free(&info->code_objects);
    texts_free(&info->texts);
    texts_free(&info->counter_names);
    texts_free(&info->regions);
    kinds_free(&info->kinds);
}
