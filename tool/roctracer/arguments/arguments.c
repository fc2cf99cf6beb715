#include "roctracer/arguments/arguments.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_kfd.h>

#include "base/number.h"

enum call_format {
    FORMAT_UNSIGNED, /* also enumerations */
    FORMAT_SIGNED,
    FORMAT_FLOAT,
    FORMAT_STRING, /* const char *; a plain char * may be a buffer without an end */
    FORMAT_POINTER,
    FORMAT_DIM3,
    FORMAT_HANDLE, /* a structure around one 64-bit number */
    FORMAT_STRUCT,
};

/* GCC's and clang's number for a pointer and for an integer, from __builtin_classify_type. */
enum { CLASS_INTEGER = 1, CLASS_ENUMERAL = 3, CLASS_BOOL = 4, CLASS_POINTER = 5 };

/* clang-format off */
#define CLASS_FORMAT(value)                                                                        \
    (__builtin_classify_type(value) == CLASS_POINTER ? FORMAT_POINTER                              \
     : __builtin_classify_type(value) == CLASS_INTEGER ||                                          \
             __builtin_classify_type(value) == CLASS_ENUMERAL ||                                   \
             __builtin_classify_type(value) == CLASS_BOOL                                          \
         ? FORMAT_UNSIGNED                                                                         \
     : sizeof(value) == 8 ? FORMAT_HANDLE                                                          \
                          : FORMAT_STRUCT)
#define FORMAT(value) _Generic((value),                                                            \
    signed char: FORMAT_SIGNED, short: FORMAT_SIGNED, int: FORMAT_SIGNED, long: FORMAT_SIGNED,     \
    long long: FORMAT_SIGNED, float: FORMAT_FLOAT, double: FORMAT_FLOAT,                           \
    const char *: FORMAT_STRING, dim3: FORMAT_DIM3, default: CLASS_FORMAT(value))
/* clang-format on */

#define MEMBER(family, call, argument) (((family##_api_data_t *)0)->args.call.argument)
#define PLAIN(family, call, argument)                                                              \
    {                                                                                              \
        .name = #argument, .offset = offsetof(family##_api_data_t, args.call.argument),            \
        .format = FORMAT(MEMBER(family, call, argument)),                                          \
        .size_bytes = sizeof(MEMBER(family, call, argument)),                                      \
    }
#define HSA_ARGUMENT(call, argument) PLAIN(hsa, call, argument)
#define HIP_ARGUMENT(call, argument) PLAIN(hip, call, argument)
#define BEHIND(call, argument)                                                                     \
    {                                                                                              \
        .name = #argument, .offset = offsetof(hip_api_data_t, args.call.argument),                 \
        .format = FORMAT(MEMBER(hip, call, argument)),                                             \
        .size_bytes = sizeof(MEMBER(hip, call, argument)),                                         \
        .behind_format = FORMAT(MEMBER(hip, call, argument##__val)),                               \
        .behind_offset = offsetof(hip_api_data_t, args.call.argument##__val),                      \
        .behind_size_bytes = sizeof(MEMBER(hip, call, argument##__val)),                           \
    }

/* Up to the end of the function's own arguments: most functions have few, some structures many. */
#define HIP_ROW(function, count)                                                                   \
    [HIP_API_ID_##function] = {                                                                    \
        .name = #function,                                                                         \
        .arguments = hip_##function,                                                               \
        .argument_count = count,                                                                   \
        .data_size_bytes = offsetof(hip_api_data_t, args.function) +                               \
                           sizeof(((hip_api_data_t *)0)->args.function),                           \
    }
#define HIP_ROW_PLAIN(function)                                                                    \
    [HIP_API_ID_##function] = {.name = #function, .data_size_bytes = offsetof(hip_api_data_t, args)}
#define HSA_ROW_VOID(function, rows, count)                                                        \
    [HSA_API_ID_##function] = {                                                                    \
        .name = #function,                                                                         \
        .arguments = rows,                                                                         \
        .argument_count = count,                                                                   \
        .data_size_bytes = sizeof(hsa_api_data_t),                                                 \
        .returns_nothing = true,                                                                   \
    }
#define HSA_ROW(function, rows, count, type)                                                       \
    [HSA_API_ID_##function] = {                                                                    \
        .name = #function,                                                                         \
        .arguments = rows,                                                                         \
        .argument_count = count,                                                                   \
        .data_size_bytes = sizeof(hsa_api_data_t),                                                 \
        .return_format = FORMAT(((hsa_api_data_t *)0)->type##_retval),                             \
        .return_offset = offsetof(hsa_api_data_t, type##_retval),                                  \
        .return_size_bytes = sizeof(type),                                                         \
    }
/* `place` is the argument, or the number inside of it. */
#define KFD_ARGUMENT(call, argument, place)                                                        \
    {                                                                                              \
        .name = #argument, .offset = offsetof(kfd_api_data_t, args.call.place),                    \
        .format = FORMAT(MEMBER(kfd, call, place)),                                                \
        .size_bytes = sizeof(MEMBER(kfd, call, place)),                                            \
    }
#define KFD_ROW(function, rows, count)                                                             \
    [KFD_API_ID_##function] = {                                                                    \
        .name = #function,                                                                         \
        .arguments = rows,                                                                         \
        .argument_count = count,                                                                   \
        .data_size_bytes = sizeof(kfd_api_data_t),                                                 \
        .return_format = FORMAT_UNSIGNED,                                                          \
        .return_offset = offsetof(kfd_api_data_t, HSAKMT_STATUS_retval),                           \
        .return_size_bytes = sizeof(HSAKMT_STATUS),                                                \
    }

/* A release of HIP that was not the one this was compiled with. */
struct hip_release {
    int major, minor;
    const struct call *calls;
    uint32_t count;
};

#include "roctracer_args.inc"

enum { HSA_CALL_COUNT = sizeof hsa_calls / sizeof hsa_calls[0] };

const size_t call_data_size_max_bytes = 2048; /* HIP 6: 1520, and its arguments do not grow */
_Static_assert(sizeof(hip_api_data_t) <= 2048 && sizeof(hsa_api_data_t) <= 2048,
               "the largest callback data");

enum { HIP_IDS_MAX = 4096 };

/* ---- finding ----------------------------------------------------------------------------------
 */

/* Asks whichever HIP library the process has; it may have been opened locally. */
static void *hip_function(const char *name)
{
    static const char *const libraries[] = {"libamdhip64.so.5", "libamdhip64.so.6",
                                            "libamdhip64.so.7"};
    void *function = dlsym(RTLD_DEFAULT, name);
    for (size_t i = 0; !function && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        function = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library); /* the program keeps it */
    }
    return function;
}

/* The table of the HIP library in this process; NULL: of no release that is known. Written once,
 * under the pthread_once_t that every reader goes through. */
static const struct call *hip_table;
static uint32_t hip_count;

static bool names_match(const struct call *calls, uint32_t count)
{
    bool match = count > 0;
    for (uint32_t id = 1; id < count && match; id++) {
        const char *theirs = roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, id, 0);
        match = !calls[id].name || !theirs || strcmp(theirs, "unknown") == 0 ||
                strncmp(calls[id].name, "RESERVED_", 9) == 0 || strcmp(calls[id].name, theirs) == 0;
    }
    return match;
}

/* Takes the version from the library's file name, libamdhip64.so.6.4.43484, because functions that
 * say it are traced, too, and may start the runtime. False: there is no such library. */
static bool hip_version(int *major, int *minor)
{
    Dl_info info;
    char path[PATH_MAX];
    void *function = hip_function("hipApiName");
    if (!function || !dladdr(function, &info) || !info.dli_fname || !realpath(info.dli_fname, path))
        return false;
    const char *suffix = strstr(path, ".so.");
    return suffix && sscanf(suffix, ".so.%d.%d", major, minor) == 2;
}

static void hip_choose(void)
{
    int major = HIP_VERSION_MAJOR, minor = HIP_VERSION_MINOR;
    bool is_known = hip_version(&major, &minor);
    for (size_t i = 0; is_known && i < sizeof hip_releases / sizeof hip_releases[0]; i++)
        if (hip_releases[i].major == major && hip_releases[i].minor == minor) {
            hip_table = hip_releases[i].calls;
            hip_count = hip_releases[i].count;
        }
#ifdef HAS_HIP_CALLS
    if (!hip_table && major == HIP_VERSION_MAJOR && minor == HIP_VERSION_MINOR) {
        hip_table = hip_calls;
        hip_count = sizeof hip_calls / sizeof hip_calls[0];
    }
#endif
    if (!names_match(hip_table, hip_count))
        hip_table = NULL;
}

const struct call *call_find(uint32_t domain, uint32_t operation)
{
    static pthread_once_t chosen = PTHREAD_ONCE_INIT;
    const struct call *call = NULL;
    if (domain == ACTIVITY_DOMAIN_HSA_API && operation < HSA_CALL_COUNT)
        call = &hsa_calls[operation];
    if (domain == ACTIVITY_DOMAIN_KFD_API && operation < KFD_API_ID_NUMBER)
        call = &kfd_calls[operation];
    if (domain == ACTIVITY_DOMAIN_HIP_API && operation < HIP_IDS_MAX) {
        pthread_once(&chosen, hip_choose);
        call = hip_table && operation < hip_count ? &hip_table[operation] : NULL;
    }
    return call && call->name ? call : NULL;
}

/* ---- keeping ----------------------------------------------------------------------------------
 */

static const void *pointer_at(const void *data, size_t offset)
{
    const void *pointer;
    memcpy(&pointer, (const char *)data + offset, sizeof pointer);
    return pointer;
}

static ssize_t memory_read(const struct iovec *to, const struct iovec *from, unsigned count)
{
    int saved_errno = errno; /* the program's: it looks at it after the call */
    ssize_t read_bytes = process_vm_readv(getpid(), to, count, from, count, 0);
    errno = saved_errno;
    return read_bytes;
}

enum { POINTERS_MAX = 16, PAGE_BYTES = 4096 };

/* All pointers of a call in one system call; it stops at the first that leads nowhere, and what
 * comes after that one is read one by one. */
static void values_keep(const struct call *call, void *data)
{
    struct iovec to[POINTERS_MAX], from[POINTERS_MAX];
    unsigned count = 0;
    ssize_t wanted = 0;
    for (uint16_t i = 0; i < call->argument_count && count < POINTERS_MAX; i++) {
        const struct call_argument *argument = &call->arguments[i];
        const void *pointer =
            argument->behind_size_bytes ? pointer_at(data, argument->offset) : NULL;
        if (!pointer)
            continue;
        to[count] =
            (struct iovec){(char *)data + argument->behind_offset, argument->behind_size_bytes};
        from[count++] = (struct iovec){(void *)(uintptr_t)pointer, argument->behind_size_bytes};
        wanted += argument->behind_size_bytes;
    }
    if (count == 0 || memory_read(to, from, count) == wanted)
        return;
    for (unsigned i = 0; i < count; i++)
        if (memory_read(&to[i], &from[i], 1) != (ssize_t)to[i].iov_len)
            memset(to[i].iov_base, 0, to[i].iov_len);
}

/* Reads page by page, because the next page may not be mapped. Returns the bytes used with the end,
 * 0 when there is nothing to read or no room. */
static size_t string_keep(const char *string, char *to, size_t size)
{
    size_t done = 0;
    while (done + 1 < size) {
        size_t piece = PAGE_BYTES - ((uintptr_t)(string + done) & (PAGE_BYTES - 1));
        if (piece > size - 1 - done)
            piece = size - 1 - done;
        struct iovec here = {to + done, piece}, there = {(void *)(uintptr_t)(string + done), piece};
        if (memory_read(&here, &there, 1) != (ssize_t)piece)
            break;
        char *end = memchr(to + done, 0, piece);
        if (end)
            return (size_t)(end - to) + 1;
        done += piece;
    }
    if (done == 0)
        return 0;
    to[done] = 0;
    return done + 1;
}

size_t call_keep(const struct call *call, void *data, char *strings, size_t size_bytes)
{
    enum { STRING_BYTES_MAX = 1024 };
    size_t used = 0;
    values_keep(call, data);
    for (uint16_t i = 0; i < call->argument_count; i++) {
        const struct call_argument *argument = &call->arguments[i];
        const char *string =
            argument->format == FORMAT_STRING ? pointer_at(data, argument->offset) : NULL;
        if (!string)
            continue;
        size_t room = size_bytes - used < STRING_BYTES_MAX ? size_bytes - used : STRING_BYTES_MAX;
        size_t length = string_keep(string, strings + used, room);
        const char *kept = length ? strings + used : NULL;
        memcpy((char *)data + argument->offset, &kept, sizeof kept);
        used += length;
    }
    return used;
}

/* ---- text -------------------------------------------------------------------------------------
 */

struct text {
    char *bytes;
    size_t used, size; /* used < size; one byte is for the end */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->bytes + text->used, text->size - text->used, format, list);
    va_end(list);
    if (length > 0)
        text->used += (size_t)length;
    if (text->used >= text->size)
        text->used = text->size - 1;
}

static void put_string(struct text *text, const char *string)
{
    put(text, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            put(text, "\\%c", c);
        else if (c < ' ' || c == 127)
            put(text, "\\x%02x", c);
        else
            put(text, "%c", c);
    }
    put(text, "\"");
}

static void put_value(struct text *text, unsigned format, const void *value, size_t size_bytes)
{
    dim3 dim;
    switch ((enum call_format)format) {
    case FORMAT_UNSIGNED:
        put(text, "%" PRIu64, number_unsigned(value, size_bytes));
        return;
    case FORMAT_SIGNED:
        put(text, "%" PRId64, number_signed(value, size_bytes));
        return;
    case FORMAT_FLOAT:
        put(text, "%.9g", number_float(value, size_bytes));
        return;
    case FORMAT_STRING: {
        const char *string = pointer_at(value, 0);
        if (string)
            put_string(text, string);
        else
            put(text, "NULL");
        return;
    }
    case FORMAT_POINTER:
        put(text, number_unsigned(value, 8) ? "0x%" PRIx64 : "%" PRIu64, number_unsigned(value, 8));
        return;
    case FORMAT_DIM3:
        memcpy(&dim, value, sizeof dim);
        put(text, "{x=%u, y=%u, z=%u}", dim.x, dim.y, dim.z);
        return;
    case FORMAT_HANDLE:
        put(text, "{handle=%" PRIu64 "}", number_unsigned(value, 8));
        return;
    case FORMAT_STRUCT:
        put(text, "{%zu bytes}", size_bytes);
        return;
    }
}

static void put_argument(struct text *text, const struct call_argument *argument, const void *data,
                         bool named)
{
    const char *value = (const char *)data + argument->offset;
    if (named)
        put(text, "%s=", argument->name);
    bool is_behind = argument->behind_size_bytes && argument->format == FORMAT_POINTER &&
                     argument->behind_format != FORMAT_STRUCT;
    if (is_behind && !pointer_at(data, argument->offset))
        put(text, "NULL");
    else if (is_behind)
        put_value(text, argument->behind_format, (const char *)data + argument->behind_offset,
                  argument->behind_size_bytes);
    else
        put_value(text, argument->format, value, argument->size_bytes);
}

size_t call_text(const struct call *call, uint32_t domain, const void *data, char *bytes,
                 size_t size)
{
    struct text text = {bytes, 0, size};
    bool is_hip = domain == ACTIVITY_DOMAIN_HIP_API;
    put(&text, "%s(", call->name);
    for (uint16_t i = 0; i < call->argument_count; i++) {
        if (i)
            put(&text, ", ");
        put_argument(&text, &call->arguments[i], data, is_hip);
    }
    put(&text, ")");
    if (call->returns_nothing)
        put(&text, " = void");
    if (call->return_size_bytes) {
        put(&text, " = ");
        put_value(&text, call->return_format, (const char *)data + call->return_offset,
                  call->return_size_bytes);
    }
    return text.used;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

/* Which argument names the kernel; for the graph's functions it is behind that argument. */
static const struct launch_function {
    const char *name, *argument;
    bool is_symbol, is_graph;
} launch_functions[] = {
    {"hipLaunchKernel", "function_address", true, false},
    {"hipModuleLaunchKernel", "f", false, false},
    {"hipExtLaunchKernel", "function_address", true, false},
    {"hipExtModuleLaunchKernel", "f", false, false},
    {"hipHccModuleLaunchKernel", "f", false, false},
    {"hipLaunchCooperativeKernel", "f", true, false},
    {"hipLaunchByPtr", "hostFunction", true, false},
    {"hipGraphAddKernelNode", "pNodeParams", true, true},
    {"hipGraphKernelNodeSetParams", "pNodeParams", true, true},
    {"hipGraphExecKernelNodeSetParams", "pNodeParams", true, true},
};

static const void *kernel_argument(const struct call *call, const struct launch_function *launch,
                                   const void *data)
{
    for (uint16_t i = 0; i < call->argument_count; i++) {
        const struct call_argument *argument = &call->arguments[i];
        if (strcmp(argument->name, launch->argument) != 0)
            continue;
        if (!launch->is_graph)
            return pointer_at(data, argument->offset);
        return argument->behind_size_bytes
                   ? pointer_at(data, argument->behind_offset + offsetof(hipKernelNodeParams, func))
                   : NULL;
    }
    return NULL;
}

/* hipKernelNameRefByPtr(const void *, hipStream_t) and hipKernelNameRef(hipFunction_t). */
static const char *name_ask(const void *kernel, bool is_symbol)
{
    static _Atomic(void *) by_symbol, by_function; /* the same value from every writer */
    _Atomic(void *) *function = is_symbol ? &by_symbol : &by_function;
    void *found = atomic_load_explicit(function, memory_order_relaxed);
    if (!found) {
        found = hip_function(is_symbol ? "hipKernelNameRefByPtr" : "hipKernelNameRef");
        if (!found)
            return NULL;
        atomic_store_explicit(function, found, memory_order_relaxed);
    }
    const char *(*of_symbol)(const void *, void *stream);
    const char *(*of_function)(const void *);
    memcpy(&of_symbol, &found, sizeof found);
    memcpy(&of_function, &found, sizeof found);
    return is_symbol ? of_symbol(kernel, NULL) : of_function(kernel);
}

const void *call_kernel(const struct call *call, const void *data, bool *is_symbol)
{
    for (size_t i = 0; i < sizeof launch_functions / sizeof launch_functions[0]; i++)
        if (strcmp(launch_functions[i].name, call->name) == 0) {
            *is_symbol = launch_functions[i].is_symbol;
            return kernel_argument(call, &launch_functions[i], data);
        }
    return NULL;
}

const char *call_kernel_name(const struct call *call, const void *data)
{
    bool is_symbol = false;
    const void *kernel = call_kernel(call, data, &is_symbol);
    return kernel ? name_ask(kernel, is_symbol) : NULL;
}
