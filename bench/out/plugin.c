/* A million activity records through an output plugin, in batches as large as the tool's pool. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <roctracer/roctracer_plugin.h>

enum { BATCH = (2 << 20) / sizeof(roctracer_record_t), KERNELS = 16 };

struct plugin {
    int (*initialize)(uint32_t, uint32_t);
    void (*finalize)(void);
    int (*write)(const roctracer_record_t *, const roctracer_record_t *);
};

static int plugin_load(struct plugin *plugin, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "out_bench: %s\n", dlerror());
        return -1;
    }
    *(void **)&plugin->initialize = dlsym(library, "roctracer_plugin_initialize");
    *(void **)&plugin->finalize = dlsym(library, "roctracer_plugin_finalize");
    *(void **)&plugin->write = dlsym(library, "roctracer_plugin_write_activity_records");
    return plugin->initialize && plugin->finalize && plugin->write ? 0 : -1;
}

static void batch_fill(roctracer_record_t *records, uint32_t first)
{
    static char names[KERNELS][32];
    for (uint32_t i = 0; i < BATCH; i++) {
        uint32_t n = first + i;
        char *name = names[n % KERNELS];
        if (!name[0])
            snprintf(name, sizeof names[0], "_Z8kernel%02uPfi", n % KERNELS);
        records[i] = (roctracer_record_t){.domain = ACTIVITY_DOMAIN_HIP_OPS};
        records[i].correlation_id = n + 1;
        records[i].begin_ns = 975779239309496u + 1000 * (uint64_t)n;
        records[i].end_ns = records[i].begin_ns + 700;
        records[i].queue_id = n % 4;
        records[i].kernel_name = name;
    }
}

static int records_write(const struct plugin *plugin, uint32_t count)
{
    static roctracer_record_t records[BATCH];
    int status = 0;
    for (uint32_t done = 0; done < count && status == 0; done += BATCH) {
        uint32_t size = count - done < BATCH ? count - done : BATCH;
        batch_fill(records, done);
        status = plugin->write(records, records + size);
    }
    return status;
}

double plugin_seconds(const char *path, uint32_t records, uint64_t *bytes)
{
    char folder[] = "/dev/shm/crocprof-plugin-XXXXXX", command[64];
    struct plugin plugin;
    *bytes = 0;
    if (!mkdtemp(folder) || setenv("ROCP_OUTPUT_DIR", folder, 1) != 0 ||
        plugin_load(&plugin, path) != 0)
        return -1;
    double begin = now_s();
    int status = plugin.initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR);
    if (status == 0)
        status = records_write(&plugin, records);
    plugin.finalize();
    double seconds = now_s() - begin;
    const char *const names[] = {"hcc_ops_trace.txt", "trace.pftrace"};
    for (int i = 0; i < 2; i++) {
        char file[128];
        struct stat info;
        snprintf(file, sizeof file, "%s/%d_%s", folder, (int)getpid(), names[i]);
        if (stat(file, &info) == 0)
            *bytes += (uint64_t)info.st_size;
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && status == 0 ? seconds : -1;
}
