#include "arguments.h"

#include <stdbool.h>
#include <string.h>

enum { TEXT_BYTES = 512 }; /* longer texts are cut */
static const char cut[] = "...";

/* Length of what is taken of a text: whole UTF-8 characters. */
static size_t text_length(const char *text, bool *is_cut)
{
    size_t length = strnlen(text, TEXT_BYTES + 1);
    *is_cut = length > TEXT_BYTES;
    if (!*is_cut)
        return length;
    for (length = TEXT_BYTES; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--;
    return length;
}

static int argument_take(rocprofiler_buffer_tracing_kind_t kind,
                         rocprofiler_tracing_operation_t operation, uint32_t number,
                         const void *const address, int32_t indirections, const char *type,
                         const char *name, const char *value, void *data)
{
    (void)kind;
    (void)operation;
    (void)number;
    (void)address;
    (void)indirections;
    struct arguments *arguments = data;
    const char *const texts[] = {type, name, value};
    size_t lengths[3], bytes = 0;
    bool is_cut[3];
    for (int i = 0; i < 3; i++) {
        lengths[i] = text_length(texts[i], &is_cut[i]);
        bytes += lengths[i] + (is_cut[i] ? strlen(cut) : 0) + 1;
    }
    if (bytes > sizeof arguments->bytes - arguments->used) {
        arguments->calls_cut++;
        return 1; /* no further ones */
    }
    char *at = arguments->bytes + arguments->used;
    for (int i = 0; i < 3; i++)
        at = stpcpy(mempcpy(at, texts[i], lengths[i]), is_cut[i] ? cut : "") + 1;
    arguments->used += (uint32_t)bytes;
    return 0;
}

static void result_take(const rocprofiler_record_header_t *header, struct out_api_row *row)
{
    row->has_result = 1;
    if (header->kind == ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT) {
        row->has_result = 0; /* none of them has one */
    } else if (header->kind == ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT) {
        const rocprofiler_buffer_tracing_hipfile_api_ext_record_t *record = header->payload;
        row->result = (uint64_t)record->retval.int64_t_retval;
    } else if (header->kind == ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT) {
        const rocprofiler_buffer_tracing_rocdecode_api_ext_record_t *record = header->payload;
        row->result = record->retval.uint64_t_retval;
    } else {
        const rocprofiler_buffer_tracing_hip_api_ext_record_t *record = header->payload;
        row->result = record->retval.uint64_t_retval;
    }
}

void arguments_take(const rocprofiler_record_header_t *header, struct arguments *arguments,
                    struct out_api_row *row)
{
    arguments->used = 0;
    if (rocprofiler_iterate_buffer_tracing_record_args(*header, argument_take, arguments) !=
        ROCPROFILER_STATUS_SUCCESS)
        return;
    row->arguments = arguments->bytes;
    row->arguments_bytes = arguments->used;
    result_take(header, row);
}
