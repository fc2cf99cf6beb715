/* The arguments of traced API calls: where they are in the SDK's union, and their value as text. */
#ifndef MODEL_DESCRIBE_ARGUMENTS_H
#define MODEL_DESCRIBE_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

enum argument_format {
    ARGUMENT_UNSIGNED, /* also enums, whose C type is unsigned */
    ARGUMENT_SIGNED,
    ARGUMENT_FLOAT,
    ARGUMENT_STRING, /* const char *; a plain char * may be a buffer without an end */
    ARGUMENT_POINTER,
    ARGUMENT_DIM3,
    ARGUMENT_HANDLE, /* a struct around one 64-bit number */
    ARGUMENT_STRUCT,
};

struct argument {
    const char *name;
    const char *type; /* as C spells it */
    uint16_t offset;  /* in rocprofiler_<api>_api_args_t */
    uint16_t size_bytes;
    uint8_t indirections;
    uint8_t format;             /* enum argument_format */
    uint8_t pointee_format;     /* of a pointer to a known scalar; else ARGUMENT_STRUCT */
    uint8_t pointee_size_bytes; /* 0: not known */
};

/* 0 for a domain or an operation without arguments. */
uint32_t operation_argument_count(enum trace_domain domain, int32_t operation);

/* `index` must be below the count; the texts are constant. */
struct argument operation_argument(enum trace_domain domain, int32_t operation, uint32_t index);

/*
 * Writes the value as text, cut at `size`, and returns the number of pointers it followed, at most
 * `dereferences_max`. `args` is the union. Memory behind pointers is read with
 * process_vm_readv(2): a dangling pointer of the program is shown as a number, never followed into
 * a crash. The text of a string argument is always shown.
 */
int argument_text(const struct argument *argument, const void *args, int dereferences_max,
                  char *text, size_t size);

#endif
