/* The plugin's four functions, and which file a record belongs to. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_plugin.h>

#include "base/log.h"
#include "lines.h"
#include "out/place.h"

enum output {
    OUTPUT_HIP_CALLS,
    OUTPUT_HSA_CALLS,
    OUTPUT_KFD_CALLS,
    OUTPUT_MARKERS,
    OUTPUT_HIP_OPERATIONS,
    OUTPUT_COPIES,
    OUTPUT_AGENTS,
    OUTPUT_BEGIN,
    OUTPUT_COUNT,
    OUTPUT_NONE = OUTPUT_COUNT,
};
static const char *const file_names[OUTPUT_COUNT] = {
    "hip_api_trace.txt", "hsa_api_trace.txt",    "kfd_api_trace.txt", "roctx_trace.txt",
    "hcc_ops_trace.txt", "async_copy_trace.txt", "hsa_handles.txt",   "begin_ts_file.txt",
};

/* The tool calls one function at a time, so nothing here is shared between threads. */
static struct {
    bool is_open, has_agents;
    bool short_names;
    uint32_t process_id;
    char folder_path[PATH_MAX];
    const char *folder;                   /* NULL: standard output */
    struct writer *outputs[OUTPUT_COUNT]; /* NULL until something is written */
    bool failed[OUTPUT_COUNT];            /* cannot be opened; said once */
    struct demangled names;
    unsigned number;       /* of place.h */
    uint64_t uncorrelated; /* operations that no call is known for */
} plugin;

/* ---- files ------------------------------------------------------------------------------------
 */

static int output_open(struct writer *writer, enum output output, char *path, size_t size)
{
    if (!plugin.folder) {
        snprintf(path, size, "standard output");
        return writer_attach(writer, STDOUT_FILENO);
    }
    char stem[PATH_MAX + 32], prefix[PATH_MAX];
    place_stem(plugin.folder, plugin.process_id, stem);
    if (place_prefix(stem, plugin.number, prefix) != 0)
        return -ENAMETOOLONG;
    int length = snprintf(path, size, "%s_%s", prefix, file_names[output]);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : writer_open(writer, path);
}

/* The first file claims the number for the others. */
static int output_claim(struct writer *writer, enum output output, char *path, size_t size)
{
    char stem[PATH_MAX + 32];
    int status;
    if (plugin.number || !plugin.folder)
        return output_open(writer, output, path, size);
    place_stem(plugin.folder, plugin.process_id, stem);
    plugin.number = place_number(stem);
    while ((status = output_open(writer, output, path, size)) == -EEXIST &&
           plugin.number < PLACE_NUMBER_MAX)
        plugin.number++;
    return status;
}

/* NULL: it cannot be opened. */
static struct writer *output_get(enum output output)
{
    char path[PATH_MAX];
    if (plugin.outputs[output] || plugin.failed[output])
        return plugin.outputs[output];
    struct writer *writer = malloc(sizeof *writer);
    int status = writer ? output_claim(writer, output, path, sizeof path) : -ENOMEM;
    if (status != 0) {
        log_warning("file plugin", "%s: %s", writer ? path : file_names[output], strerror(-status));
        free(writer);
        plugin.failed[output] = true;
        return NULL;
    }
    return plugin.outputs[output] = writer;
}

/* Standard output is the program's too: lines should not come long after the program's own. */
static int output_end_line(struct writer *writer)
{
    int status = plugin.folder ? writer->status : writer_flush(writer);
    return status == 0 ? 0 : -1;
}

static void outputs_close(void)
{
    for (int i = 0; i < OUTPUT_COUNT; i++) {
        int status = plugin.outputs[i] ? writer_close(plugin.outputs[i]) : 0;
        if (status != 0)
            log_warning("file plugin", "%s is not complete: %s", file_names[i], strerror(-status));
        free(plugin.outputs[i]);
        plugin.outputs[i] = NULL;
        plugin.failed[i] = false;
    }
}

/* ---- the two small files ----------------------------------------------------------------------
 */

static struct {
    hsa_status_t (*iterate_agents)(hsa_status_t (*)(hsa_agent_t, void *), void *);
    hsa_status_t (*agent_get_info)(hsa_agent_t, hsa_agent_info_t, void *);
} hsa;

static hsa_status_t agent_write(hsa_agent_t agent, void *unused)
{
    (void)unused;
    hsa_device_type_t type;
    hsa_status_t status = hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    struct writer *writer = status == HSA_STATUS_SUCCESS ? output_get(OUTPUT_AGENTS) : NULL;
    if (writer)
        line_agent(writer, agent.handle, type == HSA_DEVICE_TYPE_CPU);
    return status;
}

/* HSA may not run yet when the plugin starts; then it is asked again when something came. */
static void agents_write(void)
{
    void *library =
        plugin.has_agents ? NULL : dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    *(void **)&hsa.iterate_agents = dlsym(library, "hsa_iterate_agents");
    *(void **)&hsa.agent_get_info = dlsym(library, "hsa_agent_get_info");
    plugin.has_agents = !hsa.iterate_agents || !hsa.agent_get_info ||
                        hsa.iterate_agents(agent_write, NULL) != HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (plugin.outputs[OUTPUT_AGENTS])
        writer_flush(plugin.outputs[OUTPUT_AGENTS]);
    dlclose(library);
}

static int begin_write(void)
{
    roctracer_timestamp_t now = 0;
    struct writer *writer = output_get(OUTPUT_BEGIN);
    if (!writer || roctracer_get_timestamp(&now) != ROCTRACER_STATUS_SUCCESS)
        return -1;
    writer_u64(writer, now);
    writer_char(writer, '\n');
    return writer_flush(writer) == 0 ? 0 : -1;
}

/* ---- the plugin -------------------------------------------------------------------------------
 */

/* The program may change its working folder before a file is opened. */
static bool folder_find(const char *folder)
{
    struct stat info;
    if (!folder)
        return true;
    if (!realpath(folder, plugin.folder_path) || stat(plugin.folder_path, &info) != 0 ||
        !S_ISDIR(info.st_mode)) {
        log_warning("file plugin", "ROCP_OUTPUT_DIR=%s is not a folder", folder);
        return false;
    }
    plugin.folder = plugin.folder_path;
    return true;
}

/* A forked child has its parent's state; its parent completes those files. */
static void forget_parent(void)
{
    if (!plugin.is_open || plugin.process_id == (uint32_t)getpid())
        return;
    for (int i = 0; i < OUTPUT_COUNT; i++)
        if (plugin.outputs[i])
            writer_abandon(plugin.outputs[i]);
    plugin.is_open = false;
}

ROCTRACER_EXPORT int roctracer_plugin_initialize(uint32_t major, uint32_t minor)
{
    forget_parent();
    if (major != ROCTRACER_VERSION_MAJOR || minor > ROCTRACER_VERSION_MINOR || plugin.is_open)
        return -1;
    const char *truncate = getenv("ROCP_TRUNCATE_NAMES");
    memset(&plugin, 0, sizeof plugin);
    plugin.process_id = (uint32_t)getpid();
    plugin.short_names = truncate && atoi(truncate) != 0;
    if (!folder_find(secure_getenv("ROCP_OUTPUT_DIR")))
        return -1;
    if (begin_write() != 0) {
        outputs_close();
        return -1;
    }
    agents_write();
    plugin.is_open = true;
    return 0;
}

ROCTRACER_EXPORT void roctracer_plugin_finalize(void)
{
    if (!plugin.is_open)
        return;
    plugin.is_open = false;
    outputs_close();
    demangled_free(&plugin.names);
    if (plugin.uncorrelated)
        log_warning("file plugin", "%llu device operations without a call are in no file",
                    (unsigned long long)plugin.uncorrelated);
}

static void ignore(uint32_t domain)
{
    static uint32_t said; /* bit per domain */
    uint32_t bit = domain < 32 ? 1u << domain : 0;
    if (!(said & bit))
        log_warning("file plugin", "records of domain %u have no file", domain);
    said |= bit;
}

ROCTRACER_EXPORT int roctracer_plugin_write_callback_record(const roctracer_record_t *record,
                                                            const void *callback_data)
{
    if (!plugin.is_open || !record || !callback_data)
        return -1;
    enum output output = record->domain == ACTIVITY_DOMAIN_HIP_API   ? OUTPUT_HIP_CALLS
                         : record->domain == ACTIVITY_DOMAIN_HSA_API ? OUTPUT_HSA_CALLS
                         : record->domain == ACTIVITY_DOMAIN_KFD_API ? OUTPUT_KFD_CALLS
                         : record->domain == ACTIVITY_DOMAIN_ROCTX   ? OUTPUT_MARKERS
                                                                     : OUTPUT_NONE;
    if (output == OUTPUT_NONE) {
        ignore(record->domain);
        return 0;
    }
    if (output != OUTPUT_MARKERS)
        agents_write();
    struct writer *writer = output_get(output);
    if (!writer)
        return -1;
    if (output == OUTPUT_MARKERS)
        line_marker(writer, record, callback_data);
    else
        line_call(writer, record, callback_data, &plugin.names, plugin.short_names);
    return output_end_line(writer);
}

/* The scripts that read hcc_ops_trace.txt need a call for every operation. */
static enum output activity_output(const roctracer_record_t *record)
{
    if (record->domain == ACTIVITY_DOMAIN_HIP_OPS && record->correlation_id != 0)
        return OUTPUT_HIP_OPERATIONS;
    if (record->domain == ACTIVITY_DOMAIN_HSA_OPS && record->op == HSA_OP_ID_COPY)
        return OUTPUT_COPIES;
    if (record->domain == ACTIVITY_DOMAIN_HIP_OPS)
        plugin.uncorrelated++;
    else
        ignore(record->domain);
    return OUTPUT_NONE;
}

static int activity_write(const roctracer_record_t *record)
{
    enum output output = activity_output(record);
    if (output == OUTPUT_NONE)
        return 0;
    struct writer *writer = output_get(output);
    if (!writer)
        return -1;
    if (output == OUTPUT_COPIES)
        line_copy(writer, record, plugin.process_id);
    else
        line_hip_operation(writer, record, &plugin.names, plugin.process_id);
    return output_end_line(writer);
}

ROCTRACER_EXPORT int roctracer_plugin_write_activity_records(const roctracer_record_t *begin,
                                                             const roctracer_record_t *end)
{
    if (!plugin.is_open || !begin || !end)
        return -1;
    int status = 0;
    while (begin < end) {
        if (activity_write(begin) != 0)
            status = -1;
        if (roctracer_next_record(begin, &begin) != ROCTRACER_STATUS_SUCCESS)
            return -1;
    }
    return status;
}
