#include "salvage.h"

#include <stdio.h>
#include <stdlib.h>

#include "collect/pass_merge.h"
#include "collect/sinks.h"
#include "summary/stats.h"

struct salvaged {
    const struct settings *settings;
    struct sinks sinks;
    struct stats *counters;
    const struct passes_launch *launch; /* the one whose values come */
    unsigned long long launches;
};

static void value_put(const struct passes_value *value, void *data)
{
    struct salvaged *salvaged = data;
    const struct out_counter_row row = {.dispatch = salvaged->launch->row,
                                        .counter_name = value->counter,
                                        .counter_value = value->value};
    sinks_row(&salvaged->sinks, OUT_COUNTER_COLLECTION, &row);
    if (salvaged->counters)
        stats_counter_add(salvaged->counters, row.dispatch.kernel_name, value->counter,
                          value->value, value->adds_up);
}

/* Launches of the first run that has the process, with what the later ones add. */
static void process_write(struct salvaged *salvaged, struct pass_reader *first,
                          struct pass_merge *others)
{
    struct pass_entry *entry = pass_reader_next(first);
    if (!entry)
        return;
    sinks_open(&salvaged->sinks, salvaged->settings, first->stem);
    for (; entry; entry = pass_reader_next(first)) {
        salvaged->launch = &entry->launch;
        salvaged->launches++;
        for (unsigned i = 0; i < entry->count; i++)
            value_put(&entry->values[i], salvaged);
        if (others)
            pass_merge_read(others, &entry->launch, value_put, salvaged);
        free(entry);
    }
    sinks_close(&salvaged->sinks);
}

/* False: no run had so many processes. */
static bool process_salvage(struct salvaged *salvaged, const char *directory, uint32_t process,
                            unsigned passes)
{
    struct pass_merge_differences differences;
    struct pass_reader first;
    uint32_t pass = 1;
    while (pass <= passes && pass_reader_open(&first, directory, pass, process) != 0)
        pass++;
    if (pass > passes)
        return false;
    struct pass_merge *others = pass_merge_create(directory, process, pass + 1, passes + 1);
    process_write(salvaged, &first, others);
    if (others)
        pass_merge_destroy(others, &differences);
    pass_reader_close(&first);
    return true;
}

unsigned long long salvage(const struct settings *settings, const char *directory, unsigned passes)
{
    struct salvaged salvaged = {.settings = settings, .counters = stats_create("kernel")};
    for (uint32_t process = 0; process_salvage(&salvaged, directory, process, passes);)
        process++;
    if (salvaged.counters && (settings_flag(settings, OPTION_SUMMARY_PER_DOMAIN) ||
                              settings_flag(settings, OPTION_SUMMARY)))
        stats_counters_print(salvaged.counters, stderr);
    stats_destroy(salvaged.counters);
    return salvaged.launches;
}
