#include "pass_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names/texts.h"
#include "out/writer.h"

enum { NUMBERS = 22, NUMBER_BYTES = 24 };

/* The numbers of a launch's line, in its order. */
#define NUMBERS_OF(X, launch)                                                                      \
    X((launch)->number)                                                                            \
    X((launch)->row.agent)                                                                         \
    X((launch)->row.node)                                                                          \
    X((launch)->row.process_id)                                                                    \
    X((launch)->row.thread_id)                                                                     \
    X((launch)->row.queue_id)                                                                      \
    X((launch)->row.dispatch_id)                                                                   \
    X((launch)->row.kernel_id)                                                                     \
    X((launch)->row.correlation_id)                                                                \
    X((launch)->row.start_ns)                                                                      \
    X((launch)->row.end_ns)                                                                        \
    X((launch)->row.lds_bytes)                                                                     \
    X((launch)->row.scratch_bytes)                                                                 \
    X((launch)->row.vgprs)                                                                         \
    X((launch)->row.acc_vgprs)                                                                     \
    X((launch)->row.sgprs)                                                                         \
    X((launch)->row.grid[0])                                                                       \
    X((launch)->row.grid[1])                                                                       \
    X((launch)->row.grid[2])                                                                       \
    X((launch)->row.workgroup[0])                                                                  \
    X((launch)->row.workgroup[1])                                                                  \
    X((launch)->row.workgroup[2])

void pass_file_path(const char *directory, uint32_t pass, uint32_t process, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%u.%u", directory, pass, process);
}

/* ---- writing */

/* A text that ends the line: a kernel may be named after a range of the program's. */
static void text_put(struct writer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n' || *text == '\\') {
            writer_char(out, '\\');
            writer_char(out, *text == '\n' ? 'n' : '\\');
        } else {
            writer_char(out, *text);
        }
    }
    writer_char(out, '\n');
}

static void text_restore(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && text[1]) {
            text++;
            *to++ = *text == 'n' ? '\n' : *text;
        } else {
            *to++ = *text;
        }
    }
    *to = 0;
}

void pass_file_begin(struct writer *out, const char *stem)
{
    writer_bytes(out, "S\t", 2);
    text_put(out, stem);
}

void pass_file_launch(struct writer *out, const struct passes_launch *launch)
{
#define X(value) (uint64_t)(value),
    const uint64_t numbers[NUMBERS] = {NUMBERS_OF(X, launch)};
#undef X
    writer_bytes(out, "L\t", 2);
    for (int i = 0; i < NUMBERS; i++) {
        writer_u64(out, numbers[i]);
        writer_char(out, '\t');
    }
    text_put(out, launch->row.kernel_name);
}

void pass_file_value(struct writer *out, const struct passes_value *value)
{
    char number[64];
    int length = snprintf(number, sizeof number, "C\t%.17g\t%d\t", value->value, value->adds_up);
    writer_bytes(out, number, (size_t)length);
    text_put(out, value->counter);
}

/* ---- reading */

int pass_reader_open(struct pass_reader *reader, const char *directory, uint32_t pass,
                     uint32_t process)
{
    char path[PATH_MAX];
    *reader = (struct pass_reader){0};
    pass_file_path(directory, pass, process, path);
    reader->file = fopen(path, "re");
    return reader->file ? 0 : -errno;
}

void pass_reader_close(struct pass_reader *reader)
{
    if (reader->file)
        fclose(reader->file);
    free(reader->line);
    *reader = (struct pass_reader){0};
}

/* A whole line without its end stays in `line` until it is taken. */
static bool line_look(struct pass_reader *reader)
{
    if (reader->has_line)
        return true;
    ssize_t length = getline(&reader->line, &reader->line_bytes, reader->file);
    if (length <= 0 || reader->line[length - 1] != '\n')
        return false; /* cut when its process was killed */
    reader->line[length - 1] = 0;
    reader->has_line = true;
    return true;
}

/* One copy of each text, which the summary may compare by address. */
static const char *text_keep(char *text)
{
    static struct texts known;
    text_restore(text);
    const char *kept = texts_keep(&known, text);
    return kept ? kept : "(out of memory)";
}

static bool launch_take(char *line, struct passes_launch *launch)
{
    uint64_t numbers[NUMBERS];
    char *at = line + 2;
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = strtoull(at, &at, 10);
        if (*at++ != '\t')
            return false;
    }
    int next = 0;
    struct out_dispatch_row *row = &launch->row;
    memset(launch, 0, sizeof *launch);
    launch->number = (uint32_t)numbers[next++];
    uint64_t *const fields[] = {
        &row->agent,        &row->node,        &row->process_id,   &row->thread_id,
        &row->queue_id,     &row->dispatch_id, &row->kernel_id,    &row->correlation_id,
        &row->start_ns,     &row->end_ns,      &row->lds_bytes,    &row->scratch_bytes,
        &row->vgprs,        &row->acc_vgprs,   &row->sgprs,        &row->grid[0],
        &row->grid[1],      &row->grid[2],     &row->workgroup[0], &row->workgroup[1],
        &row->workgroup[2],
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = numbers[next++];
    row->kind = "KERNEL_DISPATCH";
    row->kernel_name = text_keep(at);
    row->grid_size = row->grid[0] * row->grid[1] * row->grid[2];
    row->workgroup_size = row->workgroup[0] * row->workgroup[1] * row->workgroup[2];
    return true;
}

static bool value_take(char *line, struct passes_value *value)
{
    char *at = line + 2;
    value->id = 0;
    value->value = strtod(at, &at);
    if (*at++ != '\t')
        return false;
    value->adds_up = strtol(at, &at, 10) != 0;
    if (*at++ != '\t')
        return false;
    value->counter = text_keep(at);
    return true;
}

static struct pass_entry *entry_grow(struct pass_entry *entry, unsigned room)
{
    return realloc(entry, sizeof *entry + room * sizeof entry->values[0]);
}

/* The values that follow the launch. */
static struct pass_entry *values_take(struct pass_reader *reader, struct pass_entry *entry)
{
    unsigned room = 0;
    while (line_look(reader) && reader->line[0] == 'C') {
        if (entry->count == room) {
            struct pass_entry *grown = entry_grow(entry, room = room ? 2 * room : 8);
            if (!grown)
                break;
            entry = grown;
        }
        reader->has_line = false;
        entry->count += value_take(reader->line, &entry->values[entry->count]);
    }
    return entry;
}

struct pass_entry *pass_reader_next(struct pass_reader *reader)
{
    while (line_look(reader)) {
        struct passes_launch launch;
        reader->has_line = false;
        if (reader->line[0] == 'S') {
            text_restore(reader->line + 2);
            snprintf(reader->stem, sizeof reader->stem, "%s", reader->line + 2);
        }
        if (reader->line[0] != 'L' || !launch_take(reader->line, &launch))
            continue;
        struct pass_entry *entry = entry_grow(NULL, 0);
        if (!entry)
            return NULL;
        entry->launch = launch;
        entry->next = NULL;
        entry->count = 0;
        return values_take(reader, entry);
    }
    return NULL;
}
