#include "journal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal_shapes.h"
#include "names/numbered.h"
#include "names/texts.h"
#include "writer.h"

struct journal {
    struct texts texts;
    struct numbered things[JOURNAL_THINGS]; /* uint32_t by address */
    uint64_t last[OUT_TABLE_COUNT][JOURNAL_WORDS_MAX];
    char path[PATH_MAX + 32];
    struct writer file; /* large, therefore last */
};

static void head_put(struct journal *journal)
{
    char head[JOURNAL_HEAD_BYTES] = "";
    uint16_t sizes[OUT_TABLE_COUNT] = {0};
    memcpy(head, journal_head, strlen(journal_head));
    for (int i = 0; i < OUT_TABLE_COUNT; i++) {
        const struct journal_shape *shape = journal_shape_of((enum out_table_id)i);
        sizes[i] = shape ? shape->bytes : 0;
    }
    writer_bytes(&journal->file, head, sizeof head);
    writer_bytes(&journal->file, (const char *)sizes, sizeof sizes);
}

static void bytes_put(struct journal *journal, char record, const void *bytes, size_t size)
{
    uint32_t length = (uint32_t)size;
    writer_char(&journal->file, record);
    writer_bytes(&journal->file, (const char *)&length, sizeof length);
    writer_bytes(&journal->file, bytes, size);
}

static uint64_t text_number(struct journal *journal, const char *text)
{
    bool is_new;
    if (!text)
        return 0;
    uint32_t id = texts_id(&journal->texts, text, &is_new);
    if (is_new)
        bytes_put(journal, JOURNAL_RECORD_TEXT, text, strlen(text) + 1);
    return id;
}

static uint64_t thing_number(struct journal *journal, enum journal_thing thing,
                             const void *address);

/* Copies the struct; what its pointers point to is written before it, and they become numbers. */
static void numbers_fill(struct journal *journal, const struct journal_shape *shape,
                         const void *from, uint64_t *words)
{
    memcpy(words, from, shape->bytes);
    for (int i = 0; i < shape->member_count; i++) {
        const struct journal_member *member = &shape->members[i];
        uint64_t *word = &words[member->offset / sizeof *words];
        const void *pointer = (const void *)(uintptr_t)*word;
        uint32_t count;
        if (member->thing == JOURNAL_TEXT) {
            *word = text_number(journal, pointer);
        } else if (member->thing == JOURNAL_ARRAY) {
            memcpy(&count, (const char *)from + member->count, sizeof count);
            *word = pointer != NULL;
            if (pointer)
                bytes_put(journal, JOURNAL_RECORD_ARRAY, pointer, (size_t)count * member->bytes);
        } else {
            *word = thing_number(journal, (enum journal_thing)member->thing, pointer);
        }
    }
}

/* At most as many levels as there are kinds of things. */
static uint64_t thing_number(struct journal *journal, enum journal_thing thing, const void *address)
{
    bool is_new = false;
    struct numbered *known = &journal->things[thing];
    uint32_t *number = address ? numbered_get(known, (uintptr_t)address, &is_new) : NULL;
    if (!number)
        return 0;
    if (!is_new)
        return *number;
    uint64_t words[JOURNAL_WORDS_MAX];
    const struct journal_shape *shape = &journal_things[thing];
    *number = known->used;
    numbers_fill(journal, shape, address, words);
    writer_char(&journal->file, JOURNAL_RECORD_THING);
    writer_char(&journal->file, (char)thing);
    writer_bytes(&journal->file, (const char *)words, shape->bytes);
    return *number;
}

/* The first bytes of a file of /proc. */
static size_t proc_read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return length;
}

static void process_put(struct journal *journal)
{
    char command[4096], host[256] = "", machine[64];
    size_t length = proc_read("/proc/self/cmdline", command, sizeof command);
    for (size_t i = 0; i + 1 < length; i++)
        command[i] = command[i] ? command[i] : ' ';
    gethostname(host, sizeof host - 1);
    proc_read("/etc/machine-id", machine, sizeof machine);
    machine[strcspn(machine, "\n")] = 0;
    const struct out_process process = {.pid = (uint64_t)getpid(),
                                        .ppid = (uint64_t)getppid(),
                                        .rank = -1,
                                        .init_ns = (int64_t)clock_now_ns(),
                                        .command = command,
                                        .environment = "{}",
                                        .hostname = host,
                                        .machine_id = *machine ? machine : host,
                                        .extdata = "{}"};
    thing_number(journal, JOURNAL_PROCESS, &process);
}

int journal_create(const char *prefix, struct journal **result)
{
    struct journal *journal = malloc(sizeof *journal);
    if (!journal)
        return -ENOMEM;
    memset(journal, 0, offsetof(struct journal, file));
    for (int i = 0; i < JOURNAL_THINGS; i++)
        journal->things[i].element_bytes = sizeof(uint32_t);
    snprintf(journal->path, sizeof journal->path, "%s" JOURNAL_END, prefix);
    int status = writer_open(&journal->file, journal->path);
    if (status != 0) {
        free(journal);
        return status;
    }
    flock(journal->file.file, LOCK_EX | LOCK_NB); /* as long as this process lives */
    head_put(journal);
    process_put(journal);
    journal_flush(journal);
    *result = journal;
    return 0;
}

void journal_row(struct journal *journal, enum out_table_id table, const void *row)
{
    const struct journal_shape *shape = journal_shape_of(table);
    uint64_t words[JOURNAL_WORDS_MAX], differs = 0;
    if (!shape || journal->file.status != 0)
        return;
    numbers_fill(journal, shape, row, words);
    uint64_t *last = journal->last[table];
    char *at = writer_room(&journal->file, 2 + sizeof differs + shape->bytes), *mask = at + 2;
    at[0] = JOURNAL_RECORD_ROW;
    at[1] = (char)table;
    at = mask + sizeof differs;
    for (unsigned i = 0; i < shape->bytes / sizeof *words; i++) {
        bool is_other = words[i] != last[i];
        memcpy(at, &words[i], sizeof words[i]); /* stays if it differs */
        at += is_other ? sizeof words[i] : 0;
        differs |= (uint64_t)is_other << i;
        last[i] = words[i];
    }
    memcpy(mask, &differs, sizeof differs);
    writer_advance(&journal->file, at);
}

void journal_flush(struct journal *journal)
{
    if (journal)
        writer_flush(&journal->file);
}

static void journal_free(struct journal *journal)
{
    writer_abandon(&journal->file);
    for (int i = 0; i < JOURNAL_THINGS; i++)
        numbered_free(&journal->things[i]);
    texts_free(&journal->texts);
    free(journal);
}

void journal_remove(struct journal *journal)
{
    if (!journal)
        return;
    unlink(journal->path);
    journal_free(journal);
}

void journal_forget(struct journal *journal)
{
    if (journal)
        journal_free(journal);
}
