#include "model/describe/arguments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "base/number.h"

/* GCC's and clang's number for a pointer and for an integer or enum, from __builtin_classify_type
 * (typeclass.h of GCC): the only way to tell a pointer of unknown type in a constant. */
enum { CLASS_INTEGER = 1, CLASS_ENUMERAL = 3, CLASS_POINTER = 5 };

#define CLASS_FORMAT(value, size)                                                                  \
    (__builtin_classify_type(value) == CLASS_POINTER ? ARGUMENT_POINTER                            \
     : __builtin_classify_type(value) == CLASS_INTEGER ||                                          \
             __builtin_classify_type(value) == CLASS_ENUMERAL                                      \
         ? ARGUMENT_UNSIGNED                                                                       \
     : (size) == 8 ? ARGUMENT_HANDLE                                                               \
                   : ARGUMENT_STRUCT)

/* clang-format off */
#define FORMAT(value) _Generic((value),                                                            \
    char: ARGUMENT_SIGNED, signed char: ARGUMENT_SIGNED, short: ARGUMENT_SIGNED,                   \
    int: ARGUMENT_SIGNED, long: ARGUMENT_SIGNED, long long: ARGUMENT_SIGNED,                       \
    float: ARGUMENT_FLOAT, double: ARGUMENT_FLOAT, const char *: ARGUMENT_STRING,                  \
    rocprofiler_dim3_t: ARGUMENT_DIM3, default: CLASS_FORMAT(value, sizeof(value)))

/* X(type, format): what is shown behind one pointer. */
#define POINTEES(X)                                                                                \
    X(int, ARGUMENT_SIGNED) X(unsigned int, ARGUMENT_UNSIGNED)                                     \
    X(long, ARGUMENT_SIGNED) X(unsigned long, ARGUMENT_UNSIGNED)                                   \
    X(unsigned short, ARGUMENT_UNSIGNED) X(bool, ARGUMENT_UNSIGNED)                                \
    X(float, ARGUMENT_FLOAT) X(void *, ARGUMENT_POINTER)                                           \
    X(hipStream_t, ARGUMENT_POINTER) X(hipEvent_t, ARGUMENT_POINTER)                               \
    X(hipModule_t, ARGUMENT_POINTER) X(hipFunction_t, ARGUMENT_POINTER)                            \
    X(hipGraph_t, ARGUMENT_POINTER) X(hipGraphExec_t, ARGUMENT_POINTER)                            \
    X(hipGraphNode_t, ARGUMENT_POINTER) X(hsa_queue_t *, ARGUMENT_POINTER)                         \
    X(hsa_signal_t, ARGUMENT_HANDLE) X(hsa_agent_t, ARGUMENT_HANDLE)                               \
    X(hsa_executable_t, ARGUMENT_HANDLE) X(hsa_executable_symbol_t, ARGUMENT_HANDLE)
#define POINTEE_FORMAT(type, format) type *: format, const type *: format,
#define POINTEE_SIZE(type, format) type *: sizeof(type), const type *: sizeof(type),
#define FORMAT_BEHIND(value) _Generic((value), POINTEES(POINTEE_FORMAT) default: ARGUMENT_STRUCT)
#define SIZE_BEHIND(value) _Generic((value), POINTEES(POINTEE_SIZE) default: 0)
/* clang-format on */

#define MEMBER(prefix, function, argument) (((rocprofiler_##prefix##_args_t *)0)->function.argument)
/* What all arguments of one name and type have in common. */
struct kind {
    uint16_t name, type; /* places in `texts` */
    uint16_t size_bytes;
    uint8_t indirections, format, pointee_format, pointee_size_bytes;
};
#define KIND(prefix, function, argument, name, type, indirections)                                 \
    {                                                                                              \
        name, type, sizeof(MEMBER(prefix, function, argument)), indirections,                      \
            FORMAT(MEMBER(prefix, function, argument)),                                            \
            FORMAT_BEHIND(MEMBER(prefix, function, argument)),                                     \
            SIZE_BEHIND(MEMBER(prefix, function, argument))                                        \
    }

struct place {
    uint16_t kind, offset;
};
/* `like` is the function whose argument stands for the kind; another type does not compile. */
#define SAME_TYPE(a, b)                                                                            \
    sizeof(char[__builtin_types_compatible_p(__typeof__(a), __typeof__(b)) ? 1 : -1])
#define PLACE(prefix, function, argument, kind, like)                                              \
    {                                                                                              \
        (kind) * SAME_TYPE(MEMBER(prefix, function, argument), MEMBER(prefix, like, argument)),    \
            offsetof(rocprofiler_##prefix##_args_t, function.argument)                             \
    }

#include "api_args.inc"

static const struct {
    const struct place *arguments;
    const uint16_t *starts;
    int32_t count;
} tables[TRACE_DOMAIN_COUNT] = {
#define X(domain, stem)                                                                            \
    [TRACE_##domain] = {arguments_##stem, starts_##stem,                                           \
                        (int32_t)(sizeof(starts_##stem) / sizeof(starts_##stem[0])) - 1},
    ARGUMENT_TABLES(X)
#undef X
};

uint32_t operation_argument_count(enum trace_domain domain, int32_t operation)
{
    if ((unsigned)domain >= TRACE_DOMAIN_COUNT || operation < 0 ||
        operation >= tables[domain].count)
        return 0;
    const uint16_t *start = &tables[domain].starts[operation];
    return (uint32_t)start[1] - start[0];
}

struct argument operation_argument(enum trace_domain domain, int32_t operation, uint32_t index)
{
    const struct place *place = &tables[domain].arguments[tables[domain].starts[operation] + index];
    const struct kind *kind = &kinds[place->kind];
    return (struct argument){
        .name = texts + kind->name,
        .type = texts + kind->type,
        .offset = place->offset,
        .size_bytes = kind->size_bytes,
        .indirections = kind->indirections,
        .format = kind->format,
        .pointee_format = kind->pointee_format,
        .pointee_size_bytes = kind->pointee_size_bytes,
    };
}

static bool memory_read(const void *address, void *buffer, size_t size_bytes)
{
    struct iovec local = {buffer, size_bytes}, remote = {(void *)(uintptr_t)address, size_bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size_bytes;
}

/* Reads a string up to its end, page by page, because the next page may not be mapped. */
static bool string_read(const char *address, char *text, size_t size)
{
    size_t done = 0;
    while (done + 1 < size) {
        size_t piece = 4096 - ((uintptr_t)(address + done) & 4095);
        if (piece > size - 1 - done)
            piece = size - 1 - done;
        if (!memory_read(address + done, text + done, piece))
            break;
        if (memchr(text + done, 0, piece))
            return true;
        done += piece;
    }
    if (size)
        text[done] = 0;
    return done > 0;
}

static void string_text(const char *string, char *text, size_t size)
{
    if (!string)
        snprintf(text, size, "(null)");
    else if (!string_read(string, text, size))
        snprintf(text, size, "%p", (const void *)string);
}

static void value_text(enum argument_format format, const void *value, size_t size_bytes,
                       char *text, size_t size)
{
    rocprofiler_dim3_t dim;
    switch (format) {
    case ARGUMENT_UNSIGNED:
    case ARGUMENT_HANDLE:
        snprintf(text, size, "%" PRIu64, number_unsigned(value, size_bytes));
        return;
    case ARGUMENT_SIGNED:
        snprintf(text, size, "%" PRId64, number_signed(value, size_bytes));
        return;
    case ARGUMENT_FLOAT:
        snprintf(text, size, "%.9g", number_float(value, size_bytes));
        return;
    case ARGUMENT_STRING:
        string_text((const char *)(uintptr_t)number_unsigned(value, size_bytes), text, size);
        return;
    case ARGUMENT_POINTER:
        if (number_unsigned(value, size_bytes))
            snprintf(text, size, "0x%" PRIx64, number_unsigned(value, size_bytes));
        else
            snprintf(text, size, "(null)");
        return;
    case ARGUMENT_DIM3:
        memcpy(&dim, value, sizeof(dim));
        snprintf(text, size, "{x=%u, y=%u, z=%u}", dim.x, dim.y, dim.z);
        return;
    case ARGUMENT_STRUCT:
        snprintf(text, size, "{%zu bytes}", size_bytes);
        return;
    }
}

int argument_text(const struct argument *argument, const void *args, int dereferences_max,
                  char *text, size_t size)
{
    const char *value = (const char *)args + argument->offset;
    char behind[16]; /* the largest pointee is 8 bytes; a dim3, whose format shares the path, 12 */
    if (dereferences_max > 0 && argument->format == ARGUMENT_POINTER &&
        argument->pointee_size_bytes != 0) {
        const void *pointer = (const void *)(uintptr_t)number_unsigned(value, sizeof(pointer));
        if (pointer && memory_read(pointer, behind, argument->pointee_size_bytes)) {
            value_text(argument->pointee_format, behind, argument->pointee_size_bytes, text, size);
            return 1;
        }
    }
    value_text(argument->format, value, argument->size_bytes, text, size);
    return 0;
}
