/* Reads lines "OBJECT IN OUT BYTES" from stdin: runs the kernel `cases` of the code object OBJECT
 * in one wave with the bytes of the file IN and writes the BYTES that it wrote to the file OUT. */
#include <stdio.h>
#include <stdlib.h>

#include "hsa_kernel.h"

enum { ITEMS = 64 };

static void *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        return NULL;
    const long bytes = ftell(file);
    void *memory = bytes > 0 ? hsa_kernel_memory_new((size_t)bytes) : NULL;
    rewind(file);
    if (memory && fread(memory, 1, (size_t)bytes, file) != (size_t)bytes) {
        hsa_kernel_memory_free(memory);
        memory = NULL;
    }
    fclose(file);
    return memory;
}

static bool file_write(const char *path, const void *memory, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool ok = fwrite(memory, 1, bytes, file) == bytes;
    return fclose(file) == 0 && ok;
}

static bool line_run(const char *object, const char *in_path, const char *out_path, size_t bytes)
{
    void *in = file_read(in_path), *out = hsa_kernel_memory_new(bytes);
    const void *const arguments[] = {in, out};
    const struct hsa_kernel_work work = {object, "cases", arguments, sizeof arguments, 1, ITEMS};
    bool ok = in && out && hsa_kernel_run(&work);
    if (!ok)
        printf("%s: %s\n", object, hsa_kernel_error());
    else if (!(ok = file_write(out_path, out, bytes)))
        perror(out_path);
    hsa_kernel_memory_free(in);
    hsa_kernel_memory_free(out);
    return ok;
}

int main(void)
{
    char object[1024], in[1024], out[1024];
    size_t bytes;
    bool ok = hsa_kernel_open();
    if (!ok)
        printf("%s\n", hsa_kernel_error());
    while (ok && scanf("%1023s %1023s %1023s %zu", object, in, out, &bytes) == 4)
        ok = line_run(object, in, out, bytes);
    hsa_kernel_close();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
