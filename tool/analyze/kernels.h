/* What recordings say of each kernel of each GPU: sums of counters, what a launch needs. */
#ifndef ANALYZE_KERNELS_H
#define ANALYZE_KERNELS_H

#include "counters.h"
#include "machine.h"
#include "names/numbered.h"
#include "names/texts.h"
#include "occupancy.h"
#include "out/rows.h"

enum { ANALYZE_MACHINES_MAX = 64 };

struct analyze_kernel {
    const char *name;
    uint32_t node;
    uint64_t launches;
    double sum[COUNT_COUNT];
    uint64_t count[COUNT_COUNT]; /* launches that the sum is of; 0: not counted */
    double items, duration_ns;   /* sums */
    double modelled_ns;          /* by the device's own model; 0: it has none */
    uint64_t traced;             /* launches that these times are of */
    struct kernel_needs needs;   /* of the first launch */
};

struct analyze_kernels {
    struct texts names;
    struct numbered by_key;
    struct analyze_kernel **list;
    uint32_t count, capacity;
    struct machine machines[ANALYZE_MACHINES_MAX];
    uint32_t machine_count;
    /* What the device says of its counters, if it says anything: "modelled", "exact" ... */
    const char *class[COUNT_COUNT];
    bool has_classes;
};

/* Rows of OUT_KERNEL_TRACE and OUT_COUNTER_COLLECTION; others are nothing to it. */
void analyze_kernels_row(struct analyze_kernels *kernels, enum out_table_id table, const void *row);
void analyze_kernels_machine(struct analyze_kernels *kernels, const struct machine *machine);
/* The GPU that the kernel ran on; NULL: unknown. */
const struct machine *analyze_kernels_machine_of(const struct analyze_kernels *kernels,
                                                 const struct analyze_kernel *kernel);
/* The busiest first: by active cycles where they were counted, else by modelled time, else by time.
 */
void analyze_kernels_sort(struct analyze_kernels *kernels);
void analyze_kernels_free(struct analyze_kernels *kernels);

/* Mean of a launch; NaN where it was not counted. */
double analyze_mean(const struct analyze_kernel *kernel, enum analyze_counter counter);

#endif
