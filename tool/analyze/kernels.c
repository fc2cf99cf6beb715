#include "kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <crocprof/quality.h>

static bool list_add(struct analyze_kernels *kernels, struct analyze_kernel *kernel)
{
    if (kernels->count == kernels->capacity) {
        uint32_t capacity = kernels->capacity ? 2 * kernels->capacity : 64;
        void *grown = realloc(kernels->list, capacity * sizeof(struct analyze_kernel *));
        if (!grown)
            return false;
        kernels->list = grown;
        kernels->capacity = capacity;
    }
    kernels->list[kernels->count++] = kernel;
    return true;
}

static void needs_take(struct analyze_kernel *kernel, const struct out_dispatch_row *row)
{
    uint64_t items = row->workgroup[0] * row->workgroup[1] * row->workgroup[2];
    kernel->needs = (struct kernel_needs){.vgprs = (uint32_t)row->vgprs,
                                          .acc_vgprs = (uint32_t)row->acc_vgprs,
                                          .sgprs = (uint32_t)row->sgprs,
                                          .lds_bytes = (uint32_t)row->lds_bytes,
                                          .group_items = (uint32_t)items,
                                          .wave_items = 64};
}

/* NULL: no memory. */
static struct analyze_kernel *kernel_get(struct analyze_kernels *kernels,
                                         const struct out_dispatch_row *row)
{
    bool is_new;
    const char *name = row->kernel_name ? row->kernel_name : "unknown";
    uint32_t id = texts_id(&kernels->names, name, &is_new);
    kernels->by_key.element_bytes = sizeof(struct analyze_kernel);
    struct analyze_kernel *kernel =
        id ? numbered_get(&kernels->by_key, row->node << 32 | id, &is_new) : NULL;
    if (!kernel || !is_new)
        return kernel;
    kernel->name = texts_keep(&kernels->names, name);
    kernel->node = (uint32_t)row->node;
    needs_take(kernel, row);
    return list_add(kernels, kernel) ? kernel : NULL;
}

/* What the device says of the counter; where it says so only in the description, that ends with
 * "(this device: WORDS)" unless it is to its credit. False: by its own word it does not count it.
 */
static bool class_take(struct analyze_kernels *kernels, enum analyze_counter counter,
                       const struct out_counter *of)
{
    static const char *const classes[] = {"approximate", "modelled", "not counted"};
    static const char *const stated[] = {[CROCPROF_QUALITY_EXACT] = "exact",
                                         [CROCPROF_QUALITY_MODELLED] = "modelled",
                                         [CROCPROF_QUALITY_APPROXIMATE] = "approximate",
                                         [CROCPROF_QUALITY_NOT_COUNTED] = "not counted"};
    const char *said = of && of->description ? strstr(of->description, "(this device: ") : NULL;
    if (!kernels->class[counter])
        kernels->class[counter] = "exact";
    if (of && of->quality && of->quality < sizeof stated / sizeof stated[0]) {
        kernels->has_classes = true;
        kernels->class[counter] = stated[of->quality];
        return of->quality != CROCPROF_QUALITY_NOT_COUNTED;
    }
    if (!said)
        return true;
    said += strlen("(this device: ");
    kernels->has_classes = true;
    for (int i = 0; i < 3; i++)
        if (strncmp(said, classes[i], strlen(classes[i])) == 0)
            kernels->class[counter] = classes[i];
    return kernels->class[counter] != classes[2];
}

static void counter_add(struct analyze_kernels *kernels, const struct out_counter_row *row)
{
    enum analyze_counter counter = analyze_counter_find(row->counter_name ? row->counter_name : "");
    struct analyze_kernel *kernel = kernel_get(kernels, &row->dispatch);
    if (!kernel || counter == COUNT_COUNT || !class_take(kernels, counter, row->counter))
        return;
    kernel->sum[counter] += row->counter_value;
    if (++kernel->count[counter] > kernel->launches)
        kernel->launches = kernel->count[counter];
}

static void dispatch_add(struct analyze_kernels *kernels, const struct out_dispatch_row *row)
{
    struct analyze_kernel *kernel = kernel_get(kernels, row);
    if (!kernel)
        return;
    kernel->duration_ns += (double)(row->end_ns - row->start_ns);
    kernel->modelled_ns += (double)row->modelled_ns;
    kernel->items += (double)(row->grid[0] * row->grid[1] * row->grid[2]);
    if (++kernel->traced > kernel->launches)
        kernel->launches = kernel->traced;
}

void analyze_kernels_row(struct analyze_kernels *kernels, enum out_table_id table, const void *row)
{
    if (table == OUT_KERNEL_TRACE)
        dispatch_add(kernels, row);
    else if (table == OUT_COUNTER_COLLECTION)
        counter_add(kernels, row);
}

void analyze_kernels_machine(struct analyze_kernels *kernels, const struct machine *machine)
{
    for (uint32_t i = 0; i < kernels->machine_count; i++)
        if (kernels->machines[i].node == machine->node)
            return;
    if (kernels->machine_count < ANALYZE_MACHINES_MAX)
        kernels->machines[kernels->machine_count++] = *machine;
}

const struct machine *analyze_kernels_machine_of(const struct analyze_kernels *kernels,
                                                 const struct analyze_kernel *kernel)
{
    for (uint32_t i = 0; i < kernels->machine_count; i++)
        if (kernels->machines[i].node == kernel->node)
            return &kernels->machines[i];
    return NULL;
}

static int busier(const void *left, const void *right)
{
    const struct analyze_kernel *a = *(struct analyze_kernel *const *)left;
    const struct analyze_kernel *b = *(struct analyze_kernel *const *)right;
    double of_a = a->sum[COUNT_GRBM_GUI_ACTIVE], of_b = b->sum[COUNT_GRBM_GUI_ACTIVE];
    if (of_a == 0 && of_b == 0) {
        of_a = a->modelled_ns;
        of_b = b->modelled_ns;
    }
    if (of_a == 0 && of_b == 0) {
        of_a = a->duration_ns;
        of_b = b->duration_ns;
    }
    return (of_a < of_b) - (of_a > of_b);
}

void analyze_kernels_sort(struct analyze_kernels *kernels)
{
    if (kernels->count)
        qsort(kernels->list, kernels->count, sizeof *kernels->list, busier);
}

void analyze_kernels_free(struct analyze_kernels *kernels)
{
    texts_free(&kernels->names);
    numbered_free(&kernels->by_key);
    free(kernels->list);
}

double analyze_mean(const struct analyze_kernel *kernel, enum analyze_counter counter)
{
    return kernel->count[counter] ? kernel->sum[counter] / (double)kernel->count[counter] : NAN;
}
