#include "lines.h"

#include <stdio.h>
#include <string.h>

#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_roctx.h>

#include "roctracer/arguments/arguments.h"

static void put_text(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

static void put_pair(struct writer *writer, uint64_t first, uint64_t second, char end)
{
    writer_u64(writer, first);
    writer_char(writer, ':');
    writer_u64(writer, second);
    writer_char(writer, end);
}

static void put_call(struct writer *writer, const roctracer_record_t *record, const void *data)
{
    char text[8192];
    const struct call *call = call_find(record->domain, record->op);
    if (call) {
        writer_bytes(writer, text, call_text(call, record->domain, data, text, sizeof text));
        return;
    }
    const char *name = roctracer_op_string(record->domain, record->op, record->kind);
    put_text(writer, name ? name : "unknown");
    put_text(writer, "()");
}

void line_call(struct writer *writer, const roctracer_record_t *record, const void *data,
               struct demangled *names, bool short_names)
{
    put_pair(writer, record->begin_ns, record->end_ns, ' ');
    put_pair(writer, record->process_id, record->thread_id, ' ');
    put_call(writer, record, data);
    if (record->domain == ACTIVITY_DOMAIN_HIP_API && record->kernel_name) {
        const char *name = demangled_name(names, record->kernel_name);
        size_t length = strlen(name);
        if (short_names)
            name = name_short(name, &length);
        put_text(writer, " kernel=");
        writer_bytes(writer, name, length);
    }
    put_text(writer, " :");
    writer_u64(writer, record->correlation_id);
    writer_char(writer, '\n');
}

void line_marker(struct writer *writer, const roctracer_record_t *record, const void *data)
{
    const roctx_api_data_t *marker = data;
    writer_u64(writer, record->begin_ns);
    writer_char(writer, ' ');
    put_pair(writer, record->process_id, record->thread_id, ' ');
    put_pair(writer, record->op, marker->args.id, ':');
    writer_char(writer, '"');
    put_text(writer, marker->args.message ? marker->args.message : "");
    put_text(writer, "\"\n");
}

void line_hip_operation(struct writer *writer, const roctracer_record_t *record,
                        struct demangled *names, uint32_t process_id)
{
    char device[16];
    snprintf(device, sizeof device, "%d:", record->device_id);
    put_pair(writer, record->begin_ns, record->end_ns, ' ');
    put_text(writer, device);
    writer_u64(writer, record->queue_id);
    writer_char(writer, ' ');
    if (record->op == HIP_OP_ID_DISPATCH && record->kernel_name) {
        size_t length;
        const char *kernel = name_short(demangled_name(names, record->kernel_name), &length);
        writer_bytes(writer, kernel, length);
    } else {
        const char *name = roctracer_op_string(record->domain, record->op, record->kind);
        put_text(writer, name ? name : "unknown");
    }
    writer_char(writer, ':');
    put_pair(writer, record->correlation_id, process_id, '\n');
}

void line_copy(struct writer *writer, const roctracer_record_t *record, uint32_t process_id)
{
    put_pair(writer, record->begin_ns, record->end_ns, ' ');
    put_text(writer, "async-copy:");
    put_pair(writer, record->correlation_id, process_id, '\n');
}

void line_agent(struct writer *writer, uint64_t handle, bool is_cpu)
{
    char text[64];
    snprintf(text, sizeof text, "0x%llx agent %s\n", (unsigned long long)handle,
             is_cpu ? "cpu" : "gpu");
    put_text(writer, text);
}
