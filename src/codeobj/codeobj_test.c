#include "codeobj/codeobj.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct image {
    char *bytes;
    size_t size;
};

static bool image_load(const char *gfx, struct image *image)
{
#ifdef TEST_IMAGE_DIR
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels_%s.hsaco", TEST_IMAGE_DIR, gfx);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    image->bytes = malloc(1 << 20);
    image->size = fread(image->bytes, 1, 1 << 20, file);
    fclose(file);
    /* Exactly sized, so that a sanitizer sees one byte too far. */
    image->bytes = realloc(image->bytes, image->size);
    return image->size > 0;
#else
    (void)gfx;
    (void)image;
    return false;
#endif
}

static bool text_equal(struct codeobj_text text, const char *expected)
{
    return text.size_bytes == strlen(expected) &&
           memcmp(text.bytes, expected, text.size_bytes) == 0;
}

static const struct codeobj_kernel *kernel_find(const struct codeobj *object, const char *name)
{
    for (uint32_t i = 0; i < object->kernel_count; i++)
        if (text_equal(object->kernels[i].name, name))
            return &object->kernels[i];
    return NULL;
}

static const char *const targets[] = {"gfx906", "gfx90a", "gfx1030"};

static void kernels_and_resources(void **state)
{
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct image image;
        struct codeobj object;
        if (!image_load(targets[t], &image))
            skip();
        assert_int_equal(codeobj_parse(image.bytes, image.size, &object), CODEOBJ_OK);
        assert_int_equal(object.kernel_count, 2);
        assert_int_equal(object.version_major, 1);
        const struct codeobj_kernel *reverse = kernel_find(&object, "lds_reverse");
        assert_non_null(reverse);
        assert_true(text_equal(reverse->symbol, "lds_reverse.kd"));
        assert_int_equal(reverse->group_size_bytes, 1024 * sizeof(float));
        assert_int_equal(reverse->workgroup_size_max, 64);
        assert_int_equal(reverse->workgroup_size_required[0], 64);
        assert_int_equal(reverse->workgroup_size_required[2], 1);
        assert_int_equal(reverse->wavefront_size, t == 2 ? 32 : 64);
        const struct codeobj_kernel *add = kernel_find(&object, "vector_add");
        assert_non_null(add);
        assert_in_range(add->kernarg_size_bytes, 28, 28 + 256); /* v5 appends hidden arguments */
        assert_true(add->argument_count >= 4);
        const struct codeobj_argument *arguments = object.arguments + add->argument_first;
        assert_true(text_equal(arguments[0].value_kind, "global_buffer"));
        assert_true(text_equal(arguments[3].value_kind, "by_value"));
        assert_int_equal(arguments[3].offset_bytes, 24);
        assert_int_equal(arguments[3].size_bytes, 4);
        codeobj_free(&object);
        free(image.bytes);
    }
}

/* The descriptor is found by symbol and the metadata by note: two roads to the same facts. */
static void descriptor_agrees_with_metadata(void **state)
{
    (void)state;
    struct image image;
    struct codeobj object;
    if (!image_load("gfx90a", &image))
        skip();
    assert_int_equal(codeobj_parse(image.bytes, image.size, &object), CODEOBJ_OK);
    for (uint32_t i = 0; i < object.kernel_count; i++) {
        const struct codeobj_kernel *kernel = &object.kernels[i];
        struct kernel_descriptor descriptor;
        assert_non_null(kernel->descriptor);
        memcpy(&descriptor, kernel->descriptor, sizeof descriptor);
        assert_int_equal(descriptor.group_segment_size_bytes, kernel->group_size_bytes);
        assert_int_equal(descriptor.kernarg_size_bytes, kernel->kernarg_size_bytes);
        assert_int_equal(kernel->descriptor_address + (uint64_t)descriptor.code_entry_offset_bytes,
                         kernel->code_address);
        assert_true(kernel->code_size_bytes > 0);
        struct kernel_registers registers = kernel_descriptor_registers(&descriptor, 90010);
        assert_true(registers.arch_vgpr_count + registers.accum_vgpr_count >= kernel->vgpr_count);
        assert_true(registers.sgpr_count >= kernel->sgpr_count);
    }
    codeobj_free(&object);
    free(image.bytes);
}

static void damaged_images_never_crash(void **state)
{
    (void)state;
    struct image image;
    if (!image_load("gfx90a", &image))
        skip();
    for (size_t size = 0; size < image.size; size += 1 + size / 64) {
        char *cut = malloc(size + 1);
        struct codeobj object;
        memcpy(cut, image.bytes, size);
        (void)codeobj_parse(cut, size, &object);
        codeobj_free(&object);
        free(cut);
    }
    srand(1);
    for (int round = 0; round < 3000; round++) {
        char *copy = malloc(image.size);
        struct codeobj object;
        memcpy(copy, image.bytes, image.size);
        for (int i = 0; i < 1 + round % 16; i++)
            copy[(size_t)rand() % (round % 2 ? 1024 : image.size)] = (char)rand();
        (void)codeobj_parse(copy, image.size, &object);
        codeobj_free(&object);
        free(copy);
    }
    free(image.bytes);
}

static void other_inputs_have_a_status(void **state)
{
    (void)state;
    struct codeobj object;
    char elf[64] = "\177ELF\2\1\1";
    assert_int_equal(codeobj_parse(NULL, 0, &object), CODEOBJ_NOT_ELF);
    assert_int_equal(codeobj_parse("hello", 5, &object), CODEOBJ_NOT_ELF);
    assert_int_equal(codeobj_parse(elf, sizeof elf, &object), CODEOBJ_NOT_AMDGPU);
    elf[18] = (char)224;
    assert_int_equal(codeobj_parse(elf, sizeof elf, &object), CODEOBJ_NO_METADATA);
    assert_string_equal(codeobj_status_text((enum codeobj_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_resources),
        cmocka_unit_test(descriptor_agrees_with_metadata),
        cmocka_unit_test(damaged_images_never_crash),
        cmocka_unit_test(other_inputs_have_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
