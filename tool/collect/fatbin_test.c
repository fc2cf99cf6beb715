#include "fatbin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/fatbin_test-XXXXXX";

/* A bundle with entries of these ids, without code; its length. */
static size_t bundle_put(unsigned char *at, const char *const ids[], uint64_t count)
{
    unsigned char *begin = at;
    memcpy(at, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(at + 24, &count, sizeof count);
    at += 32;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t entry[3] = {4096, 0, strlen(ids[i])};
        memcpy(at, entry, sizeof entry);
        memcpy(at + sizeof entry, ids[i], entry[2]);
        at += sizeof entry + entry[2];
    }
    return (size_t)(at - begin);
}

/* An ELF file with that section. */
static void file_write(const void *section, size_t size, size_t cut)
{
    static const char names[] = "\0.shstrtab\0.hip_fatbin";
    unsigned char file[8192] = {0};
    Elf64_Ehdr head = {
        .e_ident = ELFMAG, .e_shoff = sizeof head, .e_shentsize = sizeof(Elf64_Shdr)};
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_shnum = 3;
    head.e_shstrndx = 1;
    const size_t names_at = sizeof head + 3 * sizeof(Elf64_Shdr), at = names_at + sizeof names;
    const Elf64_Shdr sections[3] = {{0},
                                    {.sh_name = 1, .sh_offset = names_at, .sh_size = sizeof names},
                                    {.sh_name = 11, .sh_offset = at, .sh_size = size}};
    memcpy(file, &head, sizeof head);
    memcpy(file + sizeof head, sections, sizeof sections);
    memcpy(file + names_at, names, sizeof names);
    memcpy(file + at, section, size);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(file, 1, at + size - cut, out);
    fclose(out);
}

static void targets_of_all_bundles(void **state)
{
    static const char *const first[] = {"host-x86_64-unknown-linux--",
                                        "hipv4-amdgcn-amd-amdhsa--gfx906",
                                        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"};
    static const char *const second[] = {"host-x86_64-unknown-linux",
                                         "hip-amdgcn-amd-amdhsa--gfx1030",
                                         "hip-amdgcn-amd-amdhsa--gfx906"};
    unsigned char section[4096] = {0};
    struct fatbin fatbin;
    char list[64];
    (void)state;
    bundle_put(section, first, 3);
    bundle_put(section + 2048, second, 3);
    file_write(section, sizeof section, 0);
    fatbin_read(path, &fatbin);
    assert_true(fatbin.is_known);
    fatbin_list(&fatbin, list, sizeof list);
    assert_string_equal(list, "gfx906, gfx90a, gfx1030");
    assert_true(fatbin_serves(&fatbin, "gfx90a") && fatbin_serves(&fatbin, "gfx1030"));
    assert_false(fatbin_serves(&fatbin, "gfx942") || fatbin_serves(&fatbin, "gfx90"));
    fatbin_list(&fatbin, list, 8);
    assert_string_equal(list, "gfx906,");
}

/* Code that is translated may serve any. */
static void generic_targets_serve(void **state)
{
    static const char *const generic[] = {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"};
    static const char *const spirv[] = {"hip-spirv64-amd-amdhsa--amdgcnspirv"};
    unsigned char section[512] = {0};
    struct fatbin fatbin;
    (void)state;
    file_write(section, bundle_put(section, generic, 1), 0);
    fatbin_read(path, &fatbin);
    assert_true(fatbin.is_known && fatbin_serves(&fatbin, "gfx90a"));
    file_write(section, bundle_put(section, spirv, 1), 0);
    fatbin_read(path, &fatbin);
    assert_true(fatbin.is_known && fatbin_serves(&fatbin, "gfx90a"));
}

/* Whatever is cut or wrong: nothing is claimed, and nothing is read that is not there. */
static void broken_files_are_not_known(void **state)
{
    static const char *const ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx906",
                                      "hipv4-amdgcn-amd-amdhsa--gfx90a"};
    unsigned char section[512] = {0}, compressed[64] = "CCOB";
    struct fatbin fatbin;
    size_t size = bundle_put(section, ids, 2);
    (void)state;
    for (size_t cut = 1; cut < size; cut++) {
        file_write(section, size, cut);
        fatbin_read(path, &fatbin);
        assert_false(fatbin.is_known);
        file_write(section, size - cut, 0);
        fatbin_read(path, &fatbin);
        assert_false(fatbin.is_known);
    }
    file_write(compressed, sizeof compressed, 0);
    fatbin_read(path, &fatbin);
    assert_false(fatbin.is_known);
    memset(section + 24, 0xff, 8); /* so many entries */
    file_write(section, size, 0);
    fatbin_read(path, &fatbin);
    assert_false(fatbin.is_known);
    fatbin_read("/etc/passwd", &fatbin);
    assert_false(fatbin.is_known);
    fatbin_read("/nonexistent", &fatbin);
    assert_false(fatbin.is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(targets_of_all_bundles),
                                       cmocka_unit_test(generic_targets_serve),
                                       cmocka_unit_test(broken_files_are_not_known)};
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
