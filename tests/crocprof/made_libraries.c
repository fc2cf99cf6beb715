/* Plays rocSHMEM and hipFile: offers a table for each, then calls through them as their programs
 * do. */
#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk/hipfile.h>
#include <rocprofiler-sdk/rocshmem.h>

#include <stdint.h>

enum {
    PUT = ROCPROFILER_ROCSHMEM_API_ID_putmem_on_stream,
    READ = ROCPROFILER_HIPFILE_API_ID_hipFileRead,
    USES = ROCPROFILER_HIPFILE_API_ID_hipFileUseCount,
    CALLS = 3,
};

static int puts_seen;

static void put(void *dest, const void *source, size_t bytes, int pe, hipStream_t stream)
{
    (void)dest, (void)source, (void)stream;
    puts_seen += bytes == 4096 && pe == 1;
}

static ssize_t file_read(hipFileHandle_t file, void *buffer, size_t bytes, hoff_t file_offset,
                         hoff_t buffer_offset)
{
    (void)file, (void)buffer, (void)file_offset, (void)buffer_offset;
    return (ssize_t)bytes;
}

static int64_t use_count(void)
{
    return 4;
}

static uint32_t version(void)
{
    return 10000;
}

static int offer(const char *library, void *table)
{
    void *tables[] = {table};
    rocprofiler_register_library_indentifier_t id;
    return rocprofiler_register_library_api_table(library, version, 10000, tables, 1, &id);
}

int main(void)
{
    static uint64_t shmem[10] = {sizeof shmem}, files[32] = {sizeof files};
    shmem[1 + PUT] = (uintptr_t)put;
    files[1 + READ] = (uintptr_t)file_read;
    files[1 + USES] = (uintptr_t)use_count;
    int shmem_status = offer("rocshmem", shmem), files_status = offer("hipFile", files);
    if ((shmem_status != ROCP_REG_SUCCESS && shmem_status != ROCP_REG_NO_TOOLS) ||
        files_status != shmem_status)
        return 2;
    for (int i = 0; i < CALLS; i++)
        ((__typeof__(&put))(uintptr_t)shmem[1 + PUT])(NULL, NULL, 4096, 1, NULL);
    if (((__typeof__(&file_read))(uintptr_t)files[1 + READ])(NULL, NULL, 512, -5, 0) != 512 ||
        ((__typeof__(&use_count))(uintptr_t)files[1 + USES])() != 4)
        return 3;
    return puts_seen != CALLS;
}
