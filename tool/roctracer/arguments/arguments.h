/*
 * The arguments of traced calls in ROCtracer's callback data (hsa_api_data_t, hip_api_data_t,
 * kfd_api_data_t). Nothing here allocates or locks. Memory behind a program's pointers is read with
 * process_vm_readv(2): a dangling pointer is a number, never a crash.
 */
#ifndef ROCTRACER_ARGUMENTS_ARGUMENTS_H
#define ROCTRACER_ARGUMENTS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_argument {
    const char *name;
    uint16_t offset; /* in the callback data */
    uint8_t format;  /* enum call_format, internal */
    uint8_t size_bytes;
    uint8_t behind_format; /* of what a pointer points to; its value is kept in the data, too */
    uint16_t behind_offset, behind_size_bytes; /* size 0: the data has no room for it */
};

struct call {
    const char *name;
    const struct call_argument *arguments;
    uint16_t argument_count;
    uint16_t data_size_bytes; /* of the callback data, as far as this call uses it */
    uint16_t return_format, return_offset, return_size_bytes; /* size 0: not in the data, or none */
    bool returns_nothing;
};

/* NULL for a domain without arguments, for an operation it does not have, and for HIP_API when the
 * HIP library of this process is of a release whose structures are not known. */
const struct call *call_find(uint32_t domain, uint32_t operation);

/* Largest callback data there is. */
extern const size_t call_data_size_max_bytes;

/*
 * Makes a copy of the callback data last beyond the call: reads what pointers lead to into the
 * places that the structure has for it, and copies strings to `strings`, whose addresses replace
 * the program's. Returns how many bytes of `strings` are used. A string that does not fit is cut.
 */
size_t call_keep(const struct call *call, void *data, char *strings, size_t size_bytes);

/* "hipMalloc(ptr=0x7f0000000000, size=4096)", "hsa_agent_get_info({handle=1}, 0, 0x7ffc0) = 0".
 * Cut at `size`; returns the length. Only the strings that call_keep() kept are read. */
size_t call_text(const struct call *call, uint32_t domain, const void *data, char *text,
                 size_t size);

/* The kernel that a launch names, as a function of the program (*is_symbol) or a hipFunction_t, and
 * its symbol as HIP has it. NULL for other calls. `data` must have been kept. */
const void *call_kernel(const struct call *call, const void *data, bool *is_symbol);
const char *call_kernel_name(const struct call *call, const void *data);

#endif
