#include "machine.h"

#include "intercept/hip/tracer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the kernel's topology: files of our own where the library looks for sysfs' */

#define SYSFS_NODES "/sys/class/kfd/kfd/topology/nodes"

enum { PATH_BYTES = 512 };
static char folder[] = "/tmp/croc_machine_XXXXXX";
static const char *const nodes[] = {
    "cpu_cores_count 8\nsimd_count 0\n",
    "cpu_cores_count 0\nsimd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\narray_count 8\n"
    "simd_arrays_per_engine 1\ncu_per_simd_array 14\nnum_xcc 1\nwave_front_size 64\n",
};
enum { NODES = sizeof nodes / sizeof nodes[0] };

/* The path, or its place in `folder` (then in `room`). */
static const char *path_of(const char *path, char *room)
{
    size_t length = strlen(SYSFS_NODES);
    if (strncmp(path, SYSFS_NODES, length))
        return path;
    snprintf(room, PATH_BYTES, "%s%s", folder, path + length);
    return room;
}

__attribute__((visibility("default"))) FILE *fopen(const char *restrict path,
                                                   const char *restrict mode)
{
    static FILE *(*next)(const char *, const char *);
    char room[PATH_BYTES];
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    return next(path_of(path, room), mode);
}

__attribute__((visibility("default"))) DIR *opendir(const char *path)
{
    static DIR *(*next)(const char *);
    char room[PATH_BYTES];
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "opendir");
    return next(path_of(path, room));
}

static void node_path(char *path, int node, const char *file)
{
    snprintf(path, PATH_BYTES, "%s/%d%s", folder, node, file);
}

static void topology_remove(void)
{
    char path[PATH_BYTES];
    for (int node = 0; node < NODES; node++) {
        node_path(path, node, "/properties");
        unlink(path);
        node_path(path, node, "");
        rmdir(path);
    }
    rmdir(folder);
}

static bool topology_make(void)
{
    char path[PATH_BYTES];
    if (!mkdtemp(folder))
        return false;
    atexit(topology_remove);
    for (int node = 0; node < NODES; node++) {
        node_path(path, node, "");
        if (mkdir(path, 0700))
            return false;
        node_path(path, node, "/properties");
        FILE *file = fopen(path, "w");
        if (!file)
            return false;
        fputs(nodes[node], file);
        fclose(file);
    }
    return true;
}

/* ---- HIP */

static int (*hip_call)(uint32_t id, uint32_t data_bytes, const void *arguments,
                       uint32_t arguments_bytes, int result);
static int (*hip_command)(uint32_t operation, const void *record);
static uint32_t hip_data_bytes;

static bool hip_open(void)
{
    setenv("DOUBLE_TRACER_LIST", HIP_LIST, 1);
    void *library = dlopen(HIP_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    *(void **)&hip_call = dlsym(library, "double_tracer_call");
    *(void **)&hip_command = dlsym(library, "double_tracer_command");
    for (uint32_t i = 0; i < hip_tracer_release_count; i++)
        if (hip_tracer_releases[i].major == 5 && hip_tracer_releases[i].minor == 7)
            hip_data_bytes = hip_tracer_releases[i].data_size_bytes;
    return hip_call && hip_command && hip_data_bytes;
}

void machine_hip_call(uint32_t id)
{
    if (!hip_call(id, hip_data_bytes, "", 0, 0))
        abort(); /* it wrote behind the library's structure */
}

static bool command(uint32_t operation, uint64_t correlation, const char *name)
{
    roctracer_timestamp_t now;
    roctracer_get_timestamp(&now);
    const roctracer_record_t record = {.domain = ACTIVITY_DOMAIN_HIP_OPS,
                                       .op = operation,
                                       .correlation_id = correlation,
                                       .begin_ns = now,
                                       .end_ns = now,
                                       .kernel_name = name};
    return hip_command(operation, &record);
}

bool machine_hip_command(uint32_t operation, uint64_t correlation)
{
    return command(operation, correlation, operation ? NULL : "kernel");
}

bool machine_hip_kernel(uint64_t correlation, const char *name)
{
    return command(0 /* HIP_OP_ID_DISPATCH */, correlation, name);
}

/* ---- */

extern bool OnLoad(void *table, uint64_t version, uint64_t failed_count, const char *const *failed);

bool machine_start(void)
{
    roctracer_timestamp_t now;
    roctracer_get_timestamp(&now);
    double_clock_begin(now + 1000000000); /* later than the pool that device work goes to */
    return topology_make() && hip_open() && OnLoad(double_table_make(1), 0, 0, NULL);
}
