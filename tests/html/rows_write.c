/* html_rows PREFIX ROWS: the same rows as HTML and as CSV, half of them calls and half kernels, and
 * some with names that a page, a script or a table could stumble over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/out.h"

enum { SINKS = 2, THREADS = 8, QUEUES = 4 };

static const struct out_ops *const ops[SINKS] = {&out_html_ops, &out_csv_ops};
static struct out_sink *sinks[SINKS];

static const char *const names[] = {
    "vector_add(float const*, float const*, float*, unsigned long)",
    "void gemm<float, 128, 64, true>(int, int, int, float const*, float const*, float*)",
    "__amd_rocclr_copyBuffer",
    "reduce(float const*, float*)",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "<!-- <script> \"quotes\" 'and' `these` ${window.hacked = 3} \\",
    "two\nlines\r\nand\ttabs",
    "not UTF-8: \xff\xfe\xc3(",
    "line separators \xe2\x80\xa8 and \xe2\x80\xa9, \xf0\x9f\x90\x8a",
    "__proto__",
};
enum { NAMES = sizeof names / sizeof names[0] };

static void row_put(enum out_table_id table, const void *row)
{
    for (int i = 0; i < SINKS; i++)
        ops[i]->row(sinks[i], table, row);
}

static void call_put(uint64_t i, uint64_t start_ns)
{
    char name[32];
    snprintf(name, sizeof name, "hipFunction%u", (unsigned)(i % 64));
    const struct out_api_row row = {.domain = "HIP_RUNTIME_API_EXT",
                                    .function = name,
                                    .process_id = 4242,
                                    .thread_id = 4242 + i % THREADS,
                                    .correlation_id = i + 1,
                                    .start_ns = start_ns,
                                    .end_ns = start_ns + 300 + i % 7};
    row_put(OUT_HIP_API, &row);
}

static void kernel_put(uint64_t i, uint64_t start_ns)
{
    const struct out_dispatch_row row = {.kind = "KERNEL_DISPATCH",
                                         .agent = 1,
                                         .queue_id = 1 + i % QUEUES,
                                         .process_id = 4242,
                                         .thread_id = 4242 + i % THREADS,
                                         .dispatch_id = i + 1,
                                         .kernel_id = i % NAMES,
                                         .kernel_name = names[i % NAMES],
                                         .correlation_id = i + 1,
                                         .start_ns = start_ns + 400,
                                         .end_ns = start_ns + 1200 + i % 512,
                                         .lds_bytes = i % 2 * 16384,
                                         .vgprs = 32,
                                         .sgprs = 48,
                                         .workgroup = {256, 1, 1},
                                         .grid = {1048576, 1 + i % 8, 1}};
    row_put(OUT_KERNEL_TRACE, &row);
    if (i >= NAMES)
        return;
    const struct out_counter_row waves = {.dispatch = row,
                                          .counter_name = "SQ_WAVES",
                                          .counter_value = (double)(16384 * (1 + i % 8))};
    const struct out_counter_row part = {
        .dispatch = row, .counter_name = names[4], .counter_value = (double)i / 4};
    row_put(OUT_COUNTER_COLLECTION, &waves);
    row_put(OUT_COUNTER_COLLECTION, &part);
}

/* 1 MiB at each address, given back in the order of allocation but for the last. */
static void memory_put(uint64_t start_ns)
{
    for (uint64_t i = 0; i < 9; i++) {
        struct out_allocation_row row = {.kind = "MEMORY_ALLOCATION",
                                         .operation = i < 5 ? "MEMORY_ALLOCATION_ALLOCATE"
                                                            : "MEMORY_ALLOCATION_FREE",
                                         .agent = i < 5 ? 1 : OUT_NO_AGENT,
                                         .bytes = i < 5 ? 1 << 20 : 0,
                                         .address = 0x7f0000000000u + (i % 5 << 20),
                                         .start_ns = start_ns + 1000 * i,
                                         .end_ns = start_ns + 1000 * i + 10,
                                         .thread_id = 4242};
        row_put(OUT_MEMORY_ALLOCATION, &row);
    }
}

/* More names than are remembered at a time, and most of them once. */
static void steps_put(uint64_t count, uint64_t first_ns)
{
    for (uint64_t i = 0; i < count; i++) {
        char name[40];
        snprintf(name, sizeof name, "step %llu", (unsigned long long)(i % 40000));
        const struct out_api_row marker = {.domain = "MARKER_CORE_API",
                                           .function = name,
                                           .message = name,
                                           .process_id = 4242,
                                           .thread_id = 4243,
                                           .start_ns = first_ns + 100 * i,
                                           .end_ns = first_ns + 100 * i + 50};
        row_put(OUT_MARKER_API, &marker);
    }
}

static void rows_put(uint64_t count)
{
    static char longest[40000];
    uint64_t first_ns = 9007199254740993u; /* no double can say it: 2^53 + 1 */
    for (uint64_t i = 0; i < count / 2; i++) {
        call_put(i, first_ns + 1000 * i);
        kernel_put(i, first_ns + 1000 * i);
    }
    memset(longest, 'x', sizeof longest - 1);
    for (uint64_t i = 0; i <= NAMES; i++) {
        const char *name = i < NAMES ? names[i] : longest;
        const struct out_api_row marker = {.domain = "MARKER_CORE_API",
                                           .function = name,
                                           .message = name,
                                           .process_id = 4242,
                                           .thread_id = 4242,
                                           .start_ns = first_ns + 10 * i,
                                           .end_ns = first_ns + 5000 - 10 * i};
        row_put(OUT_MARKER_API, &marker);
    }
    steps_put(count / 2, first_ns);
    memory_put(first_ns);
}

int main(int argc, char **argv)
{
    char error[400] = "";
    int status = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: html_rows PREFIX ROWS\n");
        return 2;
    }
    for (int i = 0; i < SINKS && status == 0; i++)
        status = ops[i]->open(argv[1], &sinks[i], error, sizeof error);
    if (status == 0)
        rows_put(strtoull(argv[2], NULL, 10));
    for (int i = 0; i < SINKS && sinks[i]; i++)
        if (ops[i]->close(sinks[i], error, sizeof error) != 0)
            status = -1;
    if (status != 0)
        fprintf(stderr, "html_rows: %s\n", error);
    return status != 0;
}
