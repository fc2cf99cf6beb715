#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal_shapes.h"

enum { ARRAYS_MAX = JOURNAL_MEMBERS_MAX };

/* Pointers by number, from 1. */
struct list {
    const void **items;
    size_t count, capacity;
};

struct reading {
    const char *at, *end;
    struct list texts, things[JOURNAL_THINGS];
    void *arrays[ARRAYS_MAX]; /* of the next row, in the order of its members */
    unsigned array_count;
    uint64_t last[OUT_TABLE_COUNT][JOURNAL_WORDS_MAX];
    const struct journal_reader *reader;
};

static bool list_add(struct list *list, const void *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        const void **grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static const void *list_get(const struct list *list, uint64_t number)
{
    return number >= 1 && number <= list->count ? list->items[number - 1] : NULL;
}

/* The next bytes; NULL: they are not all there. */
static const char *take(struct reading *reading, size_t size)
{
    const char *at = reading->at;
    if ((size_t)(reading->end - at) < size)
        return NULL;
    reading->at += size;
    return at;
}

static const char *sized_take(struct reading *reading, uint32_t *size)
{
    const char *length = take(reading, sizeof *size);
    if (!length)
        return NULL;
    memcpy(size, length, sizeof *size);
    return take(reading, *size);
}

static bool text_read(struct reading *reading)
{
    uint32_t size;
    const char *text = sized_take(reading, &size);
    return text && size > 0 && text[size - 1] == 0 && list_add(&reading->texts, text);
}

static void arrays_drop(struct reading *reading)
{
    for (unsigned i = 0; i < reading->array_count; i++)
        free(reading->arrays[i]);
    reading->array_count = 0;
}

static bool array_read(struct reading *reading)
{
    uint32_t size;
    const char *bytes = sized_take(reading, &size);
    if (!bytes || reading->array_count == ARRAYS_MAX)
        return false;
    uint64_t *array = malloc(size + sizeof size + sizeof *array);
    if (!array)
        return false;
    array[0] = size;
    memcpy(array + 1, bytes, size);
    reading->arrays[reading->array_count++] = array;
    return true;
}

/* NULL: it is not there, or not as long as the row says. */
static const void *array_get(const struct reading *reading, unsigned at, uint64_t bytes)
{
    const uint64_t *array = at < reading->array_count ? reading->arrays[at] : NULL;
    return array && array[0] == bytes ? array + 1 : NULL;
}

/* Numbers become pointers again; one of nothing is NULL, and an array without elements has none. */
static void pointers_fill(const struct reading *reading, const struct journal_shape *shape,
                          uint64_t *words)
{
    unsigned arrays = 0;
    for (int i = 0; i < shape->member_count; i++) {
        const struct journal_member *member = &shape->members[i];
        uint64_t *word = &words[member->offset / sizeof *words];
        const void *pointer;
        uint32_t count = 0;
        if (member->thing == JOURNAL_TEXT) {
            pointer = list_get(&reading->texts, *word);
        } else if (member->thing == JOURNAL_ARRAY) {
            char *counter = (char *)words + member->count;
            memcpy(&count, counter, sizeof count);
            pointer = *word ? array_get(reading, arrays++, (uint64_t)count * member->bytes) : NULL;
            count = pointer ? count : 0;
            memcpy(counter, &count, sizeof count);
        } else {
            pointer = list_get(&reading->things[member->thing], *word);
        }
        *word = (uintptr_t)pointer;
    }
}

static bool thing_read(struct reading *reading)
{
    const char *kind = take(reading, 1);
    if (!kind || (uint8_t)*kind >= JOURNAL_THINGS)
        return false;
    enum journal_thing thing = (enum journal_thing) * kind;
    const struct journal_shape *shape = &journal_things[thing];
    const char *bytes = take(reading, shape->bytes);
    uint64_t *words = bytes ? malloc(shape->bytes) : NULL;
    if (!words)
        return false;
    memcpy(words, bytes, shape->bytes);
    pointers_fill(reading, shape, words);
    if (!list_add(&reading->things[thing], words)) {
        free(words);
        return false;
    }
    if (thing == JOURNAL_PROCESS)
        reading->reader->process(reading->reader->data, (const struct out_process *)words);
    return true;
}

static bool row_read(struct reading *reading)
{
    uint64_t words[JOURNAL_WORDS_MAX], differs;
    const char *table = take(reading, 1), *mask = table ? take(reading, sizeof differs) : NULL;
    if (!mask || (uint8_t)*table >= OUT_TABLE_COUNT)
        return false;
    const struct journal_shape *shape = journal_shape_of((enum out_table_id) * table);
    memcpy(&differs, mask, sizeof differs);
    const char *changed = take(reading, (size_t)__builtin_popcountll(differs) * sizeof *words);
    if (!shape || !changed || (differs >> (shape->bytes / sizeof *words)) != 0)
        return false;
    uint64_t *last = reading->last[(uint8_t)*table];
    for (; differs; differs &= differs - 1, changed += sizeof *words)
        memcpy(&last[__builtin_ctzll(differs)], changed, sizeof *words);
    memcpy(words, last, shape->bytes);
    pointers_fill(reading, shape, words);
    reading->reader->row(reading->reader->data, (enum out_table_id) * table, words);
    arrays_drop(reading);
    return true;
}

static bool record_read(struct reading *reading)
{
    const char *record = take(reading, 1);
    switch (record ? *record : 0) {
    case JOURNAL_RECORD_TEXT:
        return text_read(reading);
    case JOURNAL_RECORD_ARRAY:
        return array_read(reading);
    case JOURNAL_RECORD_THING:
        return thing_read(reading);
    case JOURNAL_RECORD_ROW:
        return row_read(reading);
    default:
        return false;
    }
}

static bool head_matches(struct reading *reading)
{
    uint16_t sizes[OUT_TABLE_COUNT];
    const char *head = take(reading, JOURNAL_HEAD_BYTES), *found = take(reading, sizeof sizes);
    if (!head || !found || strcmp(head, journal_head) != 0)
        return false;
    memcpy(sizes, found, sizeof sizes);
    for (int i = 0; i < OUT_TABLE_COUNT; i++) {
        const struct journal_shape *shape = journal_shape_of((enum out_table_id)i);
        if (sizes[i] != (shape ? shape->bytes : 0))
            return false;
    }
    return true;
}

static int bytes_read(const char *bytes, size_t size, const struct journal_reader *reader)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return -ENOMEM;
    reading->at = bytes;
    reading->end = bytes + size;
    reading->reader = reader;
    int status = head_matches(reading) ? 0 : -EINVAL;
    while (status == 0 && record_read(reading))
        ;
    arrays_drop(reading);
    if (status == 0)
        reader->end(reader->data);
    for (int thing = 0; thing < JOURNAL_THINGS; thing++) {
        for (size_t i = 0; i < reading->things[thing].count; i++)
            free((void *)(uintptr_t)reading->things[thing].items[i]);
        free(reading->things[thing].items);
    }
    free(reading->texts.items);
    free(reading);
    return status;
}

int journal_read(const char *path, const struct journal_reader *reader, char *error,
                 size_t error_size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC), result = file < 0 ? -errno : 0;
    if (result == 0 && fstat(file, &status) != 0)
        result = -errno;
    size_t size = result == 0 ? (size_t)status.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (result == 0)
        result = bytes == MAP_FAILED ? -EINVAL : bytes_read(bytes, size, reader);
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    if (file >= 0)
        close(file);
    if (result == -EINVAL)
        snprintf(error, error_size, "%s: no rows that this version of crocprof has left", path);
    else if (result != 0)
        snprintf(error, error_size, "%s: %s", path, strerror(-result));
    return result;
}

enum journal_state journal_state(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return JOURNAL_NONE;
    bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return is_free ? JOURNAL_LEFT : JOURNAL_IN_USE;
}
