#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out/out.h"
#include "plugin.h"

static void row_fill(struct out_dispatch_row *row, uint64_t i)
{
    static const char *const names[] = {
        "vector_add(float const*, float const*, float*, unsigned long)",
        "void gemm<float, 128, 64, true>(int, int, int, float const*, float const*, float*)",
        "__amd_rocclr_copyBuffer", "reduce(float const*, float*)"};
    uint64_t begin = 975779239309496u + 1000 * i;

    *row = (struct out_dispatch_row){.kind = "KERNEL_DISPATCH",
                                     .agent = 1,
                                     .queue_id = 1 + i % 4,
                                     .stream_id = i % 4,
                                     .node = 1,
                                     .process_id = 4242,
                                     .thread_id = 4242 + i % 8,
                                     .dispatch_id = i + 1,
                                     .kernel_id = 17 + i % 4,
                                     .kernel_name = names[i % 4],
                                     .correlation_id = 3 * i + 1,
                                     .start_ns = begin,
                                     .end_ns = begin + 700 + i % 512,
                                     .lds_bytes = i % 2 * 16384,
                                     .vgprs = 32,
                                     .sgprs = 48,
                                     .workgroup = {256, 1, 1},
                                     .grid = {1048576, 1 + i % 8, 1}};
}

static int rows_write(const struct out_ops *ops, const char *prefix, uint32_t records)
{
    char error[300] = "";
    struct out_sink *sink;
    int status = ops->open(prefix, &sink, error, sizeof error);
    if (status == 0) {
        for (uint64_t i = 0; i < records; i++) {
            struct out_dispatch_row row;
            row_fill(&row, i);
            ops->row(sink, OUT_KERNEL_TRACE, &row);
        }
        status = ops->close(sink, error, sizeof error);
    }
    if (status != 0)
        fprintf(stderr, "out_bench: %s\n", error);
    return status;
}

double table_seconds(const char *what, uint32_t records, uint64_t *bytes)
{
    const char *file = strchr(what, ' ') + 1;
    char format[16] = "";
    snprintf(format, sizeof format, "%.*s", (int)(file - 1 - what), what);
    const struct out_ops *ops = out_find(format);
    char folder[] = "/dev/shm/crocprof-out-XXXXXX", prefix[64], path[128];
    struct stat info = {0};
    if (!ops || !mkdtemp(folder))
        return -1;
    snprintf(prefix, sizeof prefix, "%s/1", folder);
    snprintf(path, sizeof path, "%s_%s", prefix, file);
    double begin = now_s();
    int status = rows_write(ops, prefix, records);
    double seconds = now_s() - begin;
    stat(path, &info);
    *bytes = (uint64_t)info.st_size;
    snprintf(path, sizeof path, "rm -rf %s", folder);
    return system(path) == 0 && status == 0 && info.st_size > 0 ? seconds : -1;
}
