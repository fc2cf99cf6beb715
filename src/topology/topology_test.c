#include "topology/topology.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/croc_topology_XXXXXX";

static void parents_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

static void file_write(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    parents_make(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int entry_remove(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

#define NODES "sys/class/kfd/kfd/topology/nodes/"

/* A machine with one CPU, two GPUs (nodes 1 and 3) and, between them, a node that may not be read:
   an MI210's numbers as the kernel of that machine prints them. */
static int machine_make(void **state)
{
    static const char gpu[] =
        "cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ncaches_count 2\nio_links_count 1\n"
        "simd_id_base 2147487744\nmax_waves_per_simd 8\nlds_size_in_kb 64\nwave_front_size 64\n"
        "array_count 8\nsimd_arrays_per_engine 1\ncu_per_simd_array 14\nsimd_per_cu 4\n"
        "gfx_target_version 90010\nvendor_id 4098\ndevice_id 29711\nlocation_id 768\n"
        "drm_render_minor 128\nnum_sdma_engines 5\nfw_version 1099\nsdma_fw_version 8\n"
        "capability 745177728\nunique_id 18349277166046838437\nmax_engine_clk_fcompute 1700\n"
        "local_mem_size 68702699520\n";
    (void)state;
    assert_non_null(mkdtemp(root));
    file_write(NODES "0/properties", "cpu_cores_count 8\nsimd_count 0\ncpu_core_id_base 2\n"
                                     "mem_banks_count 1\ncaches_count 0\nio_links_count 0\n");
    file_write(NODES "0/gpu_id", "0\n");
    file_write(NODES "0/mem_banks/0/properties", "heap_type 0\nsize_in_bytes 25276510208\n");
    file_write(NODES "1/properties", gpu);
    file_write(NODES "1/gpu_id", "51542\n");
    file_write(NODES "1/name", "aldebaran\n");
    file_write(NODES "1/caches/0/properties", "level 1\nsize 16\ncache_line_size 64\ntype 9\n");
    file_write(NODES "1/caches/1/properties", "level 2\nsize 8192\ncache_line_size 128\ntype 9\n");
    file_write(NODES "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 68702699520\n"
                                                 "width 4096\nmem_clk_max 1600\n");
    file_write(NODES "1/io_links/0/properties", "type 2\nnode_from 1\nnode_to 0\nweight 20\n");
    file_write(NODES "2/properties", "");
    file_write(NODES "3/properties", gpu);
    file_write(NODES "3/gpu_id", "51543");
    file_write("usr/share/libdrm/amdgpu.ids", "# list\n1.0.0\n740F,\t00,\tOther name\n"
                                              "740F,\t02,\tAMD Instinct MI210\n");
    file_write("sys/class/drm/renderD128/device/revision", "0x02\n");
    file_write("proc/cpuinfo", "processor\t: 0\nmodel name\t: First\napicid\t\t: 0\n\n"
                               "processor\t: 1\ncpu family\t: 25\nmodel name\t: EPYC : 100-000\n"
                               "apicid\t\t: 2\n\n");
    return 0;
}

static int machine_remove(void **state)
{
    (void)state;
    return nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static void agents_in_node_order(void **state)
{
    struct topology topology;
    (void)state;
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    assert_int_equal(topology.agent_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(topology.agents[i]->logical_node_id, i);
        assert_int_equal(topology.agents[i]->size, sizeof(rocprofiler_agent_v0_t));
    }
    assert_int_equal(topology.agents[0]->type, ROCPROFILER_AGENT_TYPE_CPU);
    assert_int_equal(topology.agents[2]->type, ROCPROFILER_AGENT_TYPE_GPU);
    assert_int_equal(topology.agents[2]->node_id, 3);
    assert_int_equal(topology.agents[2]->logical_node_type_id, 1);
    assert_ptr_equal(topology_agent_by_node(&topology, 3), topology.agents[2]);
    assert_null(topology_agent_by_node(&topology, 2));
    assert_ptr_equal(topology_agent_by_id(&topology, topology.agents[1]->id), topology.agents[1]);
    topology_free(&topology);
    assert_int_equal(topology.agent_count, 0);
}

static void gpu_properties_and_what_follows_from_them(void **state)
{
    struct topology topology;
    (void)state;
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    const rocprofiler_agent_v0_t *gpu = topology.agents[1];
    assert_string_equal(gpu->name, "gfx90a");
    assert_string_equal(gpu->model_name, "aldebaran");
    assert_string_equal(gpu->product_name, "AMD Instinct MI210");
    assert_int_equal(gpu->gpu_id, 51542);
    assert_int_equal(gpu->cu_count, 104);
    assert_int_equal(gpu->num_shader_banks, 8);
    assert_int_equal(gpu->cu_per_engine, 13);
    assert_int_equal(gpu->max_waves_per_cu, 32);
    assert_int_equal(gpu->num_xcc, 1);
    assert_int_equal(gpu->family_id, 141);
    assert_int_equal(gpu->device_id, 0x740f);
    assert_int_equal(gpu->simd_id_base, 2147487744u);
    assert_int_equal(gpu->fw_version.Value, 1099 & 0x3ff);
    assert_true(gpu->local_mem_size == 68702699520ull);
    uint64_t unique_id;
    memcpy(&unique_id, &gpu->uuid, sizeof unique_id);
    assert_true(unique_id == 18349277166046838437ull);
    assert_int_equal(gpu->caches_count, 2);
    assert_int_equal(gpu->caches[1].size, 8192);
    assert_int_equal(gpu->caches[1].cache_line_size, 128);
    assert_int_equal(gpu->mem_banks[0].width, 4096);
    assert_int_equal(gpu->io_links[0].weight, 20);
    topology_free(&topology);
}

static void cpu_is_named_after_its_processor(void **state)
{
    struct topology topology;
    (void)state;
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    assert_string_equal(topology.agents[0]->name, "EPYC : 100-000");
    assert_int_equal(topology.agents[0]->family_id, 25);
    assert_int_equal(topology.agents[0]->cu_count, 8);
    assert_true(topology.agents[0]->mem_banks[0].size_in_bytes == 25276510208ull);
    topology_free(&topology);
}

static void missing_parts_are_not_counted(void **state)
{
    struct topology topology;
    (void)state;
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    const rocprofiler_agent_v0_t *gpu = topology.agents[2]; /* claims 2 caches, has no files */
    assert_int_equal(gpu->caches_count, 0);
    assert_null(gpu->caches);
    topology_free(&topology);
}

static void visibility_follows_the_environment(void **state)
{
    struct topology topology;
    (void)state;
    setenv("ROCR_VISIBLE_DEVICES", "1", 1);
    setenv("HIP_VISIBLE_DEVICES", "0", 1);
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    assert_int_equal(topology.agents[0]->runtime_visibility.hip, 1);
    assert_int_equal(topology.agents[1]->runtime_visibility.hsa, 0);
    assert_int_equal(topology.agents[2]->runtime_visibility.hsa, 1);
    assert_int_equal(topology.agents[2]->runtime_visibility.hip, 1);
    topology_free(&topology);
    unsetenv("ROCR_VISIBLE_DEVICES");
    unsetenv("HIP_VISIBLE_DEVICES");
}

static void odd_files_do_no_harm(void **state)
{
    struct topology topology;
    (void)state;
    assert_int_equal(topology_read("/nonexistent", &topology), TOPOLOGY_NONE);
    assert_int_equal(topology.agent_count, 0);
    file_write(NODES "4/properties", "cpu_cores_count\nsimd_count x\nsimd_count 8\n"
                                     "caches_count 4294967295\nmem_banks_count -1\n\n \n");
    file_write(NODES "4/gpu_id", "");
    file_write(NODES "5/properties", "simd_count 18446744073709551616000\nsimd_per_cu 0\n");
    file_write(NODES "README", "not a node");
    assert_int_equal(topology_read(root, &topology), TOPOLOGY_OK);
    assert_int_equal(topology.agent_count, 5);
    assert_int_equal(topology.agents[3]->caches_count, 0);
    assert_int_equal(topology.agents[4]->simd_count, 0);
    topology_free(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_in_node_order),
        cmocka_unit_test(gpu_properties_and_what_follows_from_them),
        cmocka_unit_test(cpu_is_named_after_its_processor),
        cmocka_unit_test(missing_parts_are_not_counted),
        cmocka_unit_test(visibility_follows_the_environment),
        cmocka_unit_test(odd_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, machine_make, machine_remove);
}
