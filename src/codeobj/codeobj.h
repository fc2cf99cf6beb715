/*
 * What a profiler wants to know of an AMDGPU code object (version 3 and later): its kernels, the
 * resources they ask for and their arguments.
 *
 * Texts are not NUL-terminated and point into the image, which must outlive the codeobj.
 */
#ifndef CODEOBJ_CODEOBJ_H
#define CODEOBJ_CODEOBJ_H

#include <stddef.h>
#include <stdint.h>

#include "codeobj/kernel_descriptor.h"

enum codeobj_status {
    CODEOBJ_OK,
    CODEOBJ_NOT_ELF,      /* not a 64-bit little-endian ELF image, or cut short */
    CODEOBJ_NOT_AMDGPU,   /* an ELF image of another machine */
    CODEOBJ_NO_METADATA,  /* no AMDGPU metadata note (code object v2, or stripped) */
    CODEOBJ_BAD_METADATA, /* the note is there but does not parse */
    CODEOBJ_NO_MEMORY,
};

struct codeobj_text {
    const char *bytes;
    size_t size_bytes;
};

struct codeobj_argument {
    struct codeobj_text name;
    struct codeobj_text type_name;
    struct codeobj_text value_kind; /* "by_value", "global_buffer", "hidden_global_offset_x" ... */
    struct codeobj_text address_space;
    uint32_t offset_bytes;
    uint32_t size_bytes;
};

struct codeobj_kernel {
    struct codeobj_text name;
    struct codeobj_text symbol; /* the descriptor's symbol: "<name>.kd" */
    uint32_t kernarg_size_bytes;
    uint32_t kernarg_align_bytes;
    uint32_t group_size_bytes;
    uint32_t private_size_bytes;
    uint32_t wavefront_size;
    uint32_t sgpr_count; /* as the compiler used them; the hardware rounds up */
    uint32_t vgpr_count;
    uint32_t agpr_count;
    uint32_t sgpr_spill_count;
    uint32_t vgpr_spill_count;
    uint32_t workgroup_size_max;
    uint32_t workgroup_size_required[3]; /* 0: not fixed */
    uint32_t argument_first;             /* into codeobj.arguments */
    uint32_t argument_count;

    /* From the symbols; 0 when the image has none. Addresses are the ELF's own. */
    uint64_t descriptor_address;
    uint64_t code_address;
    uint64_t code_size_bytes;
    const struct kernel_descriptor
        *descriptor; /* may be unaligned: copy before use, NULL if absent */
};

struct codeobj {
    struct codeobj_text target; /* "amdgcn-amd-amdhsa--gfx90a:sramecc+"; empty before v4 */
    uint32_t version_major;     /* of the metadata: 1.0 is code object v3 */
    uint32_t version_minor;
    uint32_t elf_flags; /* EF_AMDGPU_MACH in the low byte */
    struct codeobj_kernel *kernels;
    uint32_t kernel_count;
    struct codeobj_argument *arguments;
    uint32_t argument_count;
};

/* On anything but CODEOBJ_OK `object` is empty; codeobj_free is safe either way. */
enum codeobj_status codeobj_parse(const void *image, size_t size_bytes, struct codeobj *object);
void codeobj_free(struct codeobj *object);
const char *codeobj_status_text(enum codeobj_status status);

#endif
