/*
 * part_make PREFIX RECORDS: PREFIX_results.db as crocprof writes it: half calls, half the kernels
 * that they launched.
 */
#include <stdio.h>
#include <stdlib.h>

#include "out/out.h"
#include "out/process.h"

enum { THREADS = 4, QUEUES = 4, FUNCTIONS = 16 };
static const uint64_t first_ns = 975779239309496u;

static const char *const kernels[] = {
    "vector_add(float const*, float const*, float*, unsigned long)",
    "void gemm<float, 128, 64, true>(int, int, int, float const*, float const*, float*)",
    "__amd_rocclr_copyBuffer", "reduce(float const*, float*)"};

static void call_put(const struct out_ops *ops, struct out_sink *sink, uint64_t i)
{
    static char names[FUNCTIONS][24];
    if (!names[i % FUNCTIONS][0])
        snprintf(names[i % FUNCTIONS], sizeof names[0], "hipFunction%u", (unsigned)(i % FUNCTIONS));
    const struct out_api_row row = {.domain = "HIP_RUNTIME_API_EXT",
                                    .function = names[i % FUNCTIONS],
                                    .process_id = 4242,
                                    .thread_id = 4242 + i % THREADS,
                                    .correlation_id = i + 1,
                                    .start_ns = first_ns + 1000 * i,
                                    .end_ns = first_ns + 1000 * i + 300 + i % 7};
    ops->row(sink, OUT_HIP_API, &row);
}

static void kernel_put(const struct out_ops *ops, struct out_sink *sink, uint64_t i)
{
    const struct out_dispatch_row row = {.kind = "KERNEL_DISPATCH",
                                         .agent = 1,
                                         .node = 1,
                                         .queue_id = 1 + i % QUEUES,
                                         .stream_id = i % QUEUES,
                                         .process_id = 4242,
                                         .thread_id = 4242 + i % THREADS,
                                         .dispatch_id = i + 1,
                                         .kernel_id = 17 + i % 4,
                                         .kernel_name = kernels[i % 4],
                                         .correlation_id = i + 1,
                                         .start_ns = first_ns + 1000 * i + 400,
                                         .end_ns = first_ns + 1000 * i + 1200 + i % 512,
                                         .vgprs = 32,
                                         .sgprs = 48,
                                         .workgroup = {256, 1, 1},
                                         .grid = {1048576, 1 + i % 8, 1}};
    ops->row(sink, OUT_KERNEL_TRACE, &row);
}

int main(int argc, char **argv)
{
    /* The command that parts are made of puts a rank, a guid and a clock of its own into each. */
    static const struct out_process process = {
        .pid = 4242,
        .ppid = 4241,
        .init_ns = 975779239000000,
        .fini_ns = 975879239000000,
        .command = "./app --steps 100",
        .environment = "{\"OMPI_COMM_WORLD_RANK\":\"0\"}",
        .hostname = "node0",
        .machine_id = "node0",
        .extdata = "{\"crocprof_boot\":\"boot0\",\"crocprof_clock\":[0,0,0,0]}"};
    struct out_sink *sink;
    char error[512] = "";
    uint64_t records = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (records < 2) {
        fprintf(stderr, "usage: part_make PREFIX RECORDS\n");
        return 2;
    }
    out_process_set(&process);
    int status = out_rocpd_ops.open(argv[1], &sink, error, sizeof error);
    for (uint64_t i = 0; i < records / 2 && status == 0; i++) {
        call_put(&out_rocpd_ops, sink, i);
        kernel_put(&out_rocpd_ops, sink, i);
    }
    if (status == 0)
        status = out_rocpd_ops.close(sink, error, sizeof error);
    if (status != 0)
        fprintf(stderr, "part_make: %s\n", error);
    return status != 0;
}
