/*
 * Kernels of an HSA program, from their code object to their end: HSA_EVT's events and HSA_OPS'
 * records say what the runtime itself says.   kernels_test DIRECTORY (of the code objects)
 */
#include "../counting/gpu.h"
#include "common.h"

#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>

enum { LAUNCHES = 30, GROUPS = 3, KEPT = 64 };

static struct catch records;

/* What the events were, kept for when the program knows what they must be. */
static struct {
    struct {
        uint64_t base, size, delta, memory_base, memory_size;
        uint32_t storage, uri_length;
        int file;
        char uri[256];
    } objects[KEPT];
    struct {
        uint64_t object;
        char name[64];
    } kernels[KEPT];
    struct {
        hsa_kernel_dispatch_packet_t packet;
        const hsa_queue_t *queue;
        uint32_t type, device;
        char name[64];
    } submissions[KEPT];
    const void *allocated, *freed, *shared;
    unsigned object_count, objects_gone, kernel_count, kernels_gone, submission_count, allocations;
} seen;

static void on_object(const hsa_evt_data_t *event)
{
    if (event->codeobj.unload) {
        seen.objects_gone++;
        return;
    }
    assert_in_range(seen.object_count, 0, KEPT - 1);
    __typeof__(&seen.objects[0]) object = &seen.objects[seen.object_count++];
    object->base = event->codeobj.load_base;
    object->size = event->codeobj.load_size;
    object->delta = event->codeobj.load_delta;
    object->memory_base = event->codeobj.memory_base;
    object->memory_size = event->codeobj.memory_size;
    object->storage = event->codeobj.storage_type;
    object->file = event->codeobj.storage_file;
    object->uri_length = event->codeobj.uri_length;
    strncpy(object->uri, event->codeobj.uri, sizeof object->uri - 1);
}

static void on_kernel(const hsa_evt_data_t *event)
{
    assert_int_equal(event->ksymbol.name_length, strlen(event->ksymbol.name));
    if (event->ksymbol.unload) {
        seen.kernels_gone++;
        return;
    }
    assert_in_range(seen.kernel_count, 0, KEPT - 1);
    seen.kernels[seen.kernel_count].object = event->ksymbol.object;
    strncpy(seen.kernels[seen.kernel_count++].name, event->ksymbol.name, 63);
}

static void on_submission(const hsa_evt_data_t *event)
{
    if (!event->submit.kernel_name) /* a barrier */
        return;
    assert_in_range(seen.submission_count, 0, KEPT - 1);
    __typeof__(&seen.submissions[0]) submission = &seen.submissions[seen.submission_count++];
    memcpy(&submission->packet, event->submit.packet, sizeof submission->packet);
    submission->queue = event->submit.queue;
    submission->type = event->submit.device_type;
    submission->device = event->submit.device_id;
    strncpy(submission->name, event->submit.kernel_name, sizeof submission->name - 1);
}

static void on_event(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_evt_data_t *event = data;
    assert_int_equal(domain, ACTIVITY_DOMAIN_HSA_EVT);
    assert_ptr_equal(arg, &seen);
    if (op == HSA_EVT_ID_CODEOBJ)
        on_object(event);
    else if (op == HSA_EVT_ID_KSYMBOL)
        on_kernel(event);
    else if (op == HSA_EVT_ID_SUBMIT)
        on_submission(event);
    else if (op == HSA_EVT_ID_DEVICE)
        seen.shared = event->device.ptr;
    else if (op == HSA_EVT_ID_ALLOCATE && event->allocate.size)
        seen.allocations++, seen.allocated = event->allocate.ptr;
    else if (op == HSA_EVT_ID_ALLOCATE)
        seen.freed = event->allocate.ptr;
}

static void tracing_begins_before_the_runtime(void **state)
{
    catch_open(&records, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_DISPATCH,
                                         records.pool));
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT, on_event, &seen));
    gpus_open(*state);
    assert_true(gpu_count > 0);
}

/* ---- what the runtime's loader says itself */

static hsa_ven_amd_loader_1_03_pfn_t loader;
static hsa_executable_t own; /* that our code object was loaded into */

static struct {
    char uri[256];
    uint64_t base, size, memory_base, memory_size;
    int64_t delta;
    uint32_t uri_length, storage;
} own_object;

static void info(hsa_loaded_code_object_t object, hsa_ven_amd_loader_loaded_code_object_info_t what,
                 void *value)
{
    assert_int_equal(loader.hsa_ven_amd_loader_loaded_code_object_get_info(object, what, value), 0);
}

static hsa_status_t object_visit(hsa_executable_t executable, hsa_loaded_code_object_t object,
                                 void *data)
{
    char path[200];
    uint32_t length = 0;
    char uri[256] = "";
    (void)data;
    snprintf(path, sizeof path, "/kernels_%s.co", gpus[0].name);
    info(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length);
    assert_in_range(length, 0, sizeof uri - 1);
    info(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
    if (!strstr(uri, path))
        return HSA_STATUS_SUCCESS;
    own = executable;
    memcpy(own_object.uri, uri, sizeof uri);
    own_object.uri_length = length;
#define INFO(name, member)                                                                         \
    info(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##name, &own_object.member)
    INFO(LOAD_BASE, base);
    INFO(LOAD_SIZE, size);
    INFO(LOAD_DELTA, delta);
    INFO(CODE_OBJECT_STORAGE_TYPE, storage);
    INFO(CODE_OBJECT_STORAGE_MEMORY_BASE, memory_base);
    INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE, memory_size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t executable_visit(hsa_executable_t executable, void *data)
{
    return loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable,
                                                                            object_visit, data);
}

static void a_code_object_is_told_with_its_place(void **state)
{
    unsigned found = 0;
    (void)state;
    assert_int_equal(
        hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader),
        HSA_STATUS_SUCCESS);
    loader.hsa_ven_amd_loader_iterate_executables(executable_visit, NULL);
    assert_int_not_equal(own.handle, 0);
    for (unsigned i = 0; i < seen.object_count; i++) {
        __typeof__(&seen.objects[0]) object = &seen.objects[i];
        assert_int_equal(object->uri_length, strlen(object->uri));
        if (object->base != own_object.base)
            continue;
        found++;
        assert_string_equal(object->uri, own_object.uri);
        assert_int_equal(object->uri_length, own_object.uri_length);
        assert_int_equal(object->size, own_object.size);
        assert_int_equal(object->delta, own_object.delta);
        assert_int_equal(object->storage, own_object.storage);
        if (own_object.storage != HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY)
            continue;
        assert_int_equal(object->memory_base, own_object.memory_base);
        assert_int_equal(object->memory_size, own_object.memory_size);
        assert_int_equal(object->file, -1);
    }
    assert_int_equal(found, 1);
    assert_in_range(gpus[0].store_index, own_object.base, own_object.base + own_object.size - 1);
}

static void kernels_are_told_with_their_objects(void **state)
{
    unsigned found = 0;
    (void)state;
    for (unsigned i = 0; i < seen.kernel_count; i++) {
        if (!strncmp(seen.kernels[i].name, "store_index", 11)) {
            assert_int_equal(seen.kernels[i].object, gpus[0].store_index);
            found |= 1;
        } else if (!strncmp(seen.kernels[i].name, "wait_for", 8)) {
            assert_int_equal(seen.kernels[i].object, gpus[0].wait_for);
            found |= 2;
        }
    }
    assert_int_equal(found, 3);
}

static void launches_are_told_and_recorded(void **state)
{
    roctracer_timestamp_t before, after;
    (void)state;
    OK(roctracer_get_timestamp(&before));
    for (uint32_t i = 0; i < LAUNCHES; i++)
        gpu_run(&gpus[0], GROUPS + i);
    OK(roctracer_get_timestamp(&after));
    OK(roctracer_flush_activity_expl(records.pool));
    assert_int_equal(seen.submission_count, LAUNCHES);
    assert_int_equal(records.count, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        assert_int_equal(seen.submissions[i].packet.kernel_object, gpus[0].store_index);
        assert_int_equal(seen.submissions[i].packet.grid_size_x, (GROUPS + i) * GROUP_ITEMS);
        assert_ptr_equal(seen.submissions[i].queue, gpus[0].queue);
        assert_int_equal(seen.submissions[i].type, HSA_DEVICE_TYPE_GPU);
        assert_int_equal(seen.submissions[i].device, gpus[0].node);
        assert_int_equal(strncmp(seen.submissions[i].name, "store_index", 11), 0);
        const roctracer_record_t *record = &records.records[i];
        assert_int_equal(record->domain, ACTIVITY_DOMAIN_HSA_OPS);
        assert_int_equal(record->op, HSA_OP_ID_DISPATCH);
        assert_int_equal(record->device_id, gpus[0].node);
        assert_int_equal(record->queue_id, gpus[0].queue->id);
        assert_in_range(record->begin_ns, before, after);
        assert_in_range(record->end_ns, record->begin_ns, after);
        before = record->end_ns; /* one after the other */
    }
}

/* Valid during the callback only. */
static char name_of_record[64];
static void keep_name(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    (void)end, (void)arg;
    strncpy(name_of_record, record->kernel_name, sizeof name_of_record - 1);
}

static void a_record_names_its_kernel(void **state)
{
    const roctracer_properties_t properties = {.buffer_size = 256,
                                               .buffer_callback_fun = keep_name};
    roctracer_pool_t *pool;
    (void)state;
    OK(roctracer_open_pool_expl(&properties, &pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_DISPATCH, pool));
    gpu_run(&gpus[0], 1);
    OK(roctracer_close_pool_expl(pool));
    assert_int_equal(strncmp(name_of_record, "store_index", 11), 0);
}

static hsa_status_t pool_visit(hsa_amd_memory_pool_t pool, void *data)
{
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static void memory_is_told_with_its_address(void **state)
{
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    (void)state;
    hsa_amd_agent_iterate_memory_pools(gpus[0].agent, pool_visit, &pool);
    assert_int_equal(hsa_amd_memory_pool_allocate(pool, 8192, 0, &memory), HSA_STATUS_SUCCESS);
    assert_ptr_equal(seen.allocated, memory);
    assert_ptr_equal(seen.shared, memory); /* with the GPU that it is of */
    unsigned before = seen.allocations;
    void *none = memory;
    assert_int_not_equal(hsa_amd_memory_pool_allocate(pool, SIZE_MAX / 4, 0, &none), 0);
    assert_int_equal(seen.allocations, before); /* nothing has happened */
    hsa_amd_memory_pool_free(memory);
    assert_ptr_equal(seen.freed, memory);
}

static void what_is_destroyed_is_told(void **state)
{
    (void)state;
    assert_int_equal(seen.objects_gone + seen.kernels_gone, 0);
    assert_int_equal(hsa_executable_destroy(own), HSA_STATUS_SUCCESS);
    assert_int_equal(seen.objects_gone, 1);
    assert_int_equal(seen.kernels_gone, 3);
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT));
    OK(roctracer_close_pool_expl(records.pool));
    gpus_close();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(tracing_begins_before_the_runtime, argv[1]),
        cmocka_unit_test(a_code_object_is_told_with_its_place),
        cmocka_unit_test(kernels_are_told_with_their_objects),
        cmocka_unit_test(launches_are_told_and_recorded),
        cmocka_unit_test(a_record_names_its_kernel),
        cmocka_unit_test(memory_is_told_with_its_address),
        cmocka_unit_test(what_is_destroyed_is_told),
    };
    return argc == 2 ? cmocka_run_group_tests_name("roctracer/kernels", tests, NULL, NULL) : 2;
}
