#include "codeobj/codeobj.h"

#include <stdlib.h>
#include <string.h>

#include "codeobj/elf_image.h"
#include "codeobj/metadata.h"

enum { MACHINE_AMDGPU = 224, NOTE_AMDGPU_METADATA = 32 };

static bool name_equal(const struct codeobj_text *text, const struct elf_symbol *symbol)
{
    return text->size_bytes == symbol->name_size &&
           memcmp(text->bytes, symbol->name, symbol->name_size) == 0;
}

struct symbol_walk {
    const struct elf_image *image;
    struct codeobj *object;
};

static void kernel_symbol_match(struct symbol_walk *walk, struct codeobj_kernel *kernel,
                                const struct elf_symbol *symbol)
{
    if (symbol->type == STT_FUNC && name_equal(&kernel->name, symbol)) {
        kernel->code_address = symbol->address;
        kernel->code_size_bytes = symbol->size_bytes;
    }
    if (symbol->type == STT_OBJECT && name_equal(&kernel->symbol, symbol)) {
        kernel->descriptor_address = symbol->address;
        kernel->descriptor =
            elf_image_at_address(walk->image, symbol->address, sizeof(struct kernel_descriptor));
    }
}

static bool symbol_visit(const struct elf_symbol *symbol, void *data)
{
    struct symbol_walk *walk = data;
    /* A library of thousands of kernels would make this product large; only functions and objects
       count, and a name is compared only when its length agrees. */
    if (symbol->type != STT_FUNC && symbol->type != STT_OBJECT)
        return true;
    for (uint32_t i = 0; i < walk->object->kernel_count; i++)
        kernel_symbol_match(walk, &walk->object->kernels[i], symbol);
    return true;
}

static enum codeobj_status image_parse(const struct elf_image *image, struct codeobj *object)
{
    size_t note_size = 0;
    const void *note = elf_image_note(image, "AMDGPU", NOTE_AMDGPU_METADATA, &note_size);
    object->elf_flags = image->header.e_flags;
    if (!note)
        return CODEOBJ_NO_METADATA;
    enum codeobj_status status = metadata_parse(note, note_size, object);
    if (status != CODEOBJ_OK)
        return status;
    struct symbol_walk walk = {.image = image, .object = object};
    elf_image_symbols(image, symbol_visit, &walk);
    return CODEOBJ_OK;
}

enum codeobj_status codeobj_parse(const void *image_bytes, size_t size_bytes,
                                  struct codeobj *object)
{
    struct elf_image image;
    memset(object, 0, sizeof *object);
    if (!elf_image_open(&image, image_bytes, size_bytes))
        return CODEOBJ_NOT_ELF;
    if (image.header.e_machine != MACHINE_AMDGPU)
        return CODEOBJ_NOT_AMDGPU;
    enum codeobj_status status = image_parse(&image, object);
    if (status != CODEOBJ_OK)
        codeobj_free(object);
    return status;
}

void codeobj_free(struct codeobj *object)
{
    free(object->kernels);
    free(object->arguments);
    memset(object, 0, sizeof *object);
}

const char *codeobj_status_text(enum codeobj_status status)
{
    static const char *const texts[] = {
        [CODEOBJ_OK] = "no error",
        [CODEOBJ_NOT_ELF] = "not a 64-bit ELF image, or cut short",
        [CODEOBJ_NOT_AMDGPU] = "an ELF image of another machine",
        [CODEOBJ_NO_METADATA] = "no AMDGPU metadata note",
        [CODEOBJ_BAD_METADATA] = "malformed AMDGPU metadata",
        [CODEOBJ_NO_MEMORY] = "out of memory",
    };

    return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
