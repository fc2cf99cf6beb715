#include "codeobj/metadata.h"

#include <stddef.h>
#include <stdlib.h>

#include "codeobj/msgpack.h"

/* What a key's value becomes in the structure it belongs to. */
enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_NUMBERS3 };

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
};

#define KERNEL(key, kind, member)                                                                  \
    {                                                                                              \
        key, kind, offsetof(struct codeobj_kernel, member)                                         \
    }
#define ARGUMENT(key, kind, member)                                                                \
    {                                                                                              \
        key, kind, offsetof(struct codeobj_argument, member)                                       \
    }

static const struct field kernel_fields[] = {
    KERNEL(".name", FIELD_TEXT, name),
    KERNEL(".symbol", FIELD_TEXT, symbol),
    KERNEL(".kernarg_segment_size", FIELD_NUMBER, kernarg_size_bytes),
    KERNEL(".kernarg_segment_align", FIELD_NUMBER, kernarg_align_bytes),
    KERNEL(".group_segment_fixed_size", FIELD_NUMBER, group_size_bytes),
    KERNEL(".private_segment_fixed_size", FIELD_NUMBER, private_size_bytes),
    KERNEL(".wavefront_size", FIELD_NUMBER, wavefront_size),
    KERNEL(".sgpr_count", FIELD_NUMBER, sgpr_count),
    KERNEL(".vgpr_count", FIELD_NUMBER, vgpr_count),
    KERNEL(".agpr_count", FIELD_NUMBER, agpr_count),
    KERNEL(".sgpr_spill_count", FIELD_NUMBER, sgpr_spill_count),
    KERNEL(".vgpr_spill_count", FIELD_NUMBER, vgpr_spill_count),
    KERNEL(".max_flat_workgroup_size", FIELD_NUMBER, workgroup_size_max),
    KERNEL(".reqd_workgroup_size", FIELD_NUMBERS3, workgroup_size_required),
};

static const struct field argument_fields[] = {
    ARGUMENT(".name", FIELD_TEXT, name),
    ARGUMENT(".type_name", FIELD_TEXT, type_name),
    ARGUMENT(".value_kind", FIELD_TEXT, value_kind),
    ARGUMENT(".address_space", FIELD_TEXT, address_space),
    ARGUMENT(".offset", FIELD_NUMBER, offset_bytes),
    ARGUMENT(".size", FIELD_NUMBER, size_bytes),
};

enum { ROOM_FIRST = 16 };

struct parser {
    struct msgpack_reader reader;
    struct codeobj *object;
    uint32_t kernel_room;
    uint32_t argument_room;
    bool out_of_memory;
};

/* Adds one more zeroed element at the end of a growing array; NULL when memory is out. */
static void *array_extend(struct parser *parser, void **array, uint32_t *count, uint32_t *room,
                          size_t element_size)
{
    if (*count == *room) {
        uint32_t wider = *room ? *room * 2 : ROOM_FIRST;
        char *moved = reallocarray(*array, wider, element_size);
        if (!moved) {
            parser->out_of_memory = true;
            return NULL;
        }
        *array = moved;
        *room = wider;
    }
    char *element = (char *)*array + (*count)++ * element_size;
    __builtin_memset(element, 0, element_size);
    return element;
}

static bool numbers_read(struct parser *parser, const struct msgpack_token *value, uint32_t *out,
                         uint32_t out_count)
{
    if (value->type != MSGPACK_ARRAY)
        return msgpack_skip(&parser->reader, value);
    for (uint64_t i = 0; i < value->count; i++) {
        struct msgpack_token element;
        if (!msgpack_next(&parser->reader, &element) || !msgpack_skip(&parser->reader, &element))
            return false;
        if (i < out_count && element.type == MSGPACK_UNSIGNED)
            out[i] = (uint32_t)element.number;
    }
    return true;
}

/* Stores a value of the expected type; a value of another type is passed over, so that newer
   metadata stays readable. */
static bool field_store(struct parser *parser, const struct field *field,
                        const struct msgpack_token *value, char *base)
{
    char *member = base + field->offset;
    if (field->kind == FIELD_NUMBERS3)
        return numbers_read(parser, value, (uint32_t *)(void *)member, 3);
    if (field->kind == FIELD_TEXT && value->type == MSGPACK_STRING)
        *(struct codeobj_text *)(void *)member =
            (struct codeobj_text){.bytes = value->bytes, .size_bytes = value->count};
    else if (field->kind == FIELD_NUMBER && value->type == MSGPACK_UNSIGNED)
        *(uint32_t *)(void *)member = (uint32_t)value->number;
    return msgpack_skip(&parser->reader, value);
}

static bool pair_store(struct parser *parser, const struct msgpack_token *key,
                       const struct msgpack_token *value, const struct field *fields,
                       size_t field_count, void *base)
{
    for (size_t i = 0; i < field_count; i++)
        if (msgpack_text_equal(key, fields[i].key))
            return field_store(parser, &fields[i], value, base);
    return msgpack_skip(&parser->reader, value);
}

static bool pair_read(struct parser *parser, struct msgpack_token *key, struct msgpack_token *value)
{
    return msgpack_next(&parser->reader, key) && msgpack_skip(&parser->reader, key) &&
           msgpack_next(&parser->reader, value);
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool argument_read(struct parser *parser, const struct msgpack_token *map)
{
    struct codeobj_argument *argument =
        array_extend(parser, (void **)&parser->object->arguments, &parser->object->argument_count,
                     &parser->argument_room, sizeof *argument);

    if (!argument || map->type != MSGPACK_MAP)
        return false;
    for (uint64_t i = 0; i < map->count; i++) {
        struct msgpack_token key, value;
        if (!pair_read(parser, &key, &value) ||
            !pair_store(parser, &key, &value, argument_fields, COUNT(argument_fields), argument))
            return false;
    }
    return true;
}

static bool arguments_read(struct parser *parser, const struct msgpack_token *array,
                           struct codeobj_kernel *kernel)
{
    if (array->type != MSGPACK_ARRAY)
        return false;
    kernel->argument_first = parser->object->argument_count;
    for (uint64_t i = 0; i < array->count; i++) {
        struct msgpack_token map;
        if (!msgpack_next(&parser->reader, &map) || !argument_read(parser, &map))
            return false;
    }
    kernel->argument_count = parser->object->argument_count - kernel->argument_first;
    return true;
}

static bool kernel_read(struct parser *parser, const struct msgpack_token *map)
{
    struct codeobj_kernel *kernel =
        array_extend(parser, (void **)&parser->object->kernels, &parser->object->kernel_count,
                     &parser->kernel_room, sizeof *kernel);

    if (!kernel || map->type != MSGPACK_MAP)
        return false;
    for (uint64_t i = 0; i < map->count; i++) {
        struct msgpack_token key, value;
        if (!pair_read(parser, &key, &value))
            return false;
        bool stored =
            msgpack_text_equal(&key, ".args")
                ? arguments_read(parser, &value, kernel)
                : pair_store(parser, &key, &value, kernel_fields, COUNT(kernel_fields), kernel);
        if (!stored)
            return false;
    }
    return true;
}

static bool kernels_read(struct parser *parser, const struct msgpack_token *array)
{
    if (array->type != MSGPACK_ARRAY)
        return false;
    for (uint64_t i = 0; i < array->count; i++) {
        struct msgpack_token map;
        if (!msgpack_next(&parser->reader, &map) || !kernel_read(parser, &map))
            return false;
    }
    return true;
}

static bool root_pair_read(struct parser *parser)
{
    struct msgpack_token key, value;
    uint32_t version[2] = {0, 0};
    if (!pair_read(parser, &key, &value))
        return false;
    if (msgpack_text_equal(&key, "amdhsa.kernels"))
        return kernels_read(parser, &value);
    if (msgpack_text_equal(&key, "amdhsa.version")) {
        bool read = numbers_read(parser, &value, version, 2);
        parser->object->version_major = version[0];
        parser->object->version_minor = version[1];
        return read;
    }
    if (msgpack_text_equal(&key, "amdhsa.target") && value.type == MSGPACK_STRING)
        parser->object->target = (struct codeobj_text){value.bytes, value.count};
    return msgpack_skip(&parser->reader, &value);
}

enum codeobj_status metadata_parse(const void *note, size_t size_bytes, struct codeobj *object)
{
    struct parser parser = {.reader = msgpack_reader_make(note, size_bytes), .object = object};
    struct msgpack_token root;
    if (!msgpack_next(&parser.reader, &root) || root.type != MSGPACK_MAP)
        return CODEOBJ_BAD_METADATA;
    for (uint64_t i = 0; i < root.count; i++)
        if (!root_pair_read(&parser))
            return parser.out_of_memory ? CODEOBJ_NO_MEMORY : CODEOBJ_BAD_METADATA;
    return CODEOBJ_OK;
}
