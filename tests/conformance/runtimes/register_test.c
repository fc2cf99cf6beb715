/*
 * rocprofiler-register. One mode a process:
 *   register_test early | errors | identifiers | limit | secure | disabled | concurrent
 */
#include "recorder.h"

static int unused(void)
{
    return 0;
}

static void early_mode(void **state)
{
    (void)state;
    struct hip hip = hip_load(0);
    static uint64_t rccl[38] = {sizeof rccl};
    rccl[1] = (uintptr_t)unused;
    REGISTERS(NO_TOOLS, hip.start());
    REGISTERS(NO_TOOLS, offer("rccl", rccl));
    assert_int_equal(hip.untouched(), HIP_SLOTS + HIP_UNKNOWN_SLOTS);
    assert_int_equal(rccl[1], (uintptr_t)unused);
    recorder_start();
    assert_int_equal(hip.untouched(), HIP_UNKNOWN_SLOTS);
    assert_int_not_equal(rccl[1], (uintptr_t)unused);
    call_find(ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION,
              ROCPROFILER_RUNTIME_INITIALIZATION_RCCL, ROCPROFILER_CALLBACK_PHASE_NONE, 0);
    hip_is_traced(&hip, 0);
}

/* The numbers of AMD's library: eight to a library, in its order. */
static void identifiers_mode(void **state)
{
    (void)state;
    static const char *const names[] = {"hsa",  "hip",       "roctx",  "hip_compiler",
                                        "rccl", "rocdecode", "rocjpeg"};
    static uint64_t tables[7][17][4];
    for (uint64_t i = 0; i < 7 * 17; i++) {
        uint64_t library = i % 7, instance = i / 7;
        tables[library][instance][0] = sizeof tables[library][instance];
        void *list[] = {tables[library][instance]};
        rocprofiler_register_library_indentifier_t id;
        REGISTERS(NO_TOOLS,
                  rocprofiler_register_library_api_table(names[library], import, 1, list, 1, &id));
        assert_int_equal(id.handle & UINT32_MAX, library * 8 + instance % 8);
        assert_int_equal(id.handle >> 32, instance / 8); /* those that AMD's refuses are others */
    }
}

static int on_registration(rocprofiler_register_registration_info_t *info, void *data)
{
    assert_int_equal(info->size, sizeof *info);
    (*(unsigned *)data)++;
    return strcmp(info->common_name, "rocjpeg") == 0; /* ends the iteration */
}

static void errors_mode(void **state)
{
    (void)state;
    static uint64_t table[4] = {sizeof table};
    void *tables[] = {table};
    rocprofiler_register_library_indentifier_t id;
    REGISTERS(UNSUPPORTED_API, offer("hip ", table));
    REGISTERS(UNSUPPORTED_API, offer("", table));
    REGISTERS(UNSUPPORTED_API,
              rocprofiler_register_library_api_table(NULL, import, 1, tables, 1, &id));
    REGISTERS(BAD_API_TABLE_LENGTH,
              rocprofiler_register_library_api_table("rccl", import, 1, tables, 0, &id));
    REGISTERS(BAD_API_TABLE_LENGTH, rocprofiler_register_library_api_table(
                                        "rccl", import, 1, tables, UINT64_MAX / 8, &id));
    unsigned count = 0;
    rocprofiler_register_iterate_registration_info(on_registration, &count);
    assert_int_equal(count, 0); /* none of these was kept */
    REGISTERS(NO_TOOLS, offer("rocjpeg", table));
    REGISTERS(NO_TOOLS, offer("rccl", table));
    rocprofiler_register_iterate_registration_info(on_registration, &count);
    assert_int_equal(count, 1);
    for (int code = 0; code < ROCP_REG_ERROR_CODE_END; code++)
        assert_true(
            strlen(rocprofiler_register_error_string((rocprofiler_register_error_code_t)code)) > 5);
    assert_non_null(rocprofiler_register_error_string((rocprofiler_register_error_code_t)99));

    /* what the profiler refuses is an error of the profiler, and the runtime goes on */
    recorder_start();
    REGISTERS(ROCPROFILER_ERROR, offer("rccl", NULL));
    REGISTERS(ROCPROFILER_ERROR, offer("roctx", table)); /* roctx has three tables */
    static uint64_t nonsense[2] = {UINT64_MAX};
    REGISTERS(SUCCESS, offer("rccl", nonsense)); /* not traced, with a message */
}

static void limit_mode(void **state)
{
    (void)state;
    static uint64_t tables[65][2];
    for (int i = 0; i < 64; i++)
        REGISTERS(NO_TOOLS, offer("rccl", tables[i]));
    REGISTERS(EXCESS_API_INSTANCES, offer("rccl", tables[64]));
    /* a library that starts anew is no further one */
    for (int i = 0; i < 64; i++)
        REGISTERS(NO_TOOLS, offer("rccl", tables[i]));
    REGISTERS(NO_TOOLS, offer("hip", tables[0]));
    unsigned count = 0;
    rocprofiler_register_iterate_registration_info(on_registration, &count);
    assert_int_equal(count, 65);
}

static void secure_mode(void **state)
{
    (void)state;
    static uint64_t table[2] = {sizeof table};
    void *tables[] = {table};
    rocprofiler_register_library_indentifier_t id;
    struct hip hip = hip_load(0);
    setenv("ROCPROFILER_REGISTER_SECURE", "1", 1);
    REGISTERS(INVALID_API_ADDRESS, offer("hip", table)); /* we are not libamdhip64 */
    REGISTERS(INVALID_API_ADDRESS,
              rocprofiler_register_library_api_table("hip", NULL, 1, tables, 1, &id));
    REGISTERS(NO_TOOLS, hip.start());
    setenv("ROCPROFILER_REGISTER_SECURE", "0", 1);
    REGISTERS(NO_TOOLS, offer("hip", table));
}

static void disabled_mode(void **state)
{
    (void)state;
    static uint64_t rccl[38] = {sizeof rccl};
    rccl[1] = (uintptr_t)unused;
    setenv("ROCPROFILER_REGISTER_ENABLED", "0", 1);
    recorder_start();
    REGISTERS(NO_TOOLS, offer("rccl", rccl));
    assert_int_equal(rccl[1], (uintptr_t)unused);
}

/* ---- many runtimes that start at the same time: whoever returns has its wrappers */

enum { STARTERS = 12 };
static const struct {
    const char *library;
    unsigned functions;
} starters[6] = {{"hip", HIP_SLOTS}, {"hip_compiler", ROCPROFILER_HIP_COMPILER_API_ID_LAST},
                 {"rccl", 37},       {"rocdecode", 16},
                 {"rocjpeg", 9},     {"rccl", 0}};

static uint64_t starter_tables[STARTERS][600];
static pthread_barrier_t barrier;
static _Atomic unsigned starter_failures;

static void *runtime_start(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    unsigned functions = starters[number % 6].functions;
    uint64_t *table = starter_tables[number];
    table[0] = (functions + 1) * sizeof(uint64_t);
    for (unsigned i = 1; i <= functions; i++)
        table[i] = (uintptr_t)import;
    pthread_barrier_wait(&barrier);
    starter_failures += offer(starters[number % 6].library, table) != ROCP_REG_SUCCESS;
    for (unsigned i = 1; i <= functions; i++)
        starter_failures += table[i] == (uintptr_t)import;
    return NULL;
}

static void concurrent_mode(void **state)
{
    (void)state;
    pthread_t threads[STARTERS];
    recorder_start();
    pthread_barrier_init(&barrier, NULL, STARTERS);
    for (uintptr_t i = 0; i < STARTERS; i++)
        pthread_create(&threads[i], NULL, runtime_start, (void *)i);
    for (int i = 0; i < STARTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(starter_failures, 0);
    uint64_t instances = 0;
    for (unsigned i = 0; i < call_count; i++)
        if (calls[i].record.operation == ROCPROFILER_RUNTIME_INITIALIZATION_RCCL)
            instances |= UINT64_C(1) << calls[i].data.initialization.instance;
    assert_int_equal(instances, 15); /* four tables of rccl, each with a number of its own */
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest modes[] = {MODE(early),     MODE(errors), MODE(identifiers),
                                              MODE(limit),     MODE(secure), MODE(disabled),
                                              MODE(concurrent)};
    return modes_run(argc, argv, modes, COUNT(modes));
}
