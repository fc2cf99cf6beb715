/* KFD_API and libraries that come and go. The program is not linked with HSA or libhsakmt.
 * IMPORTER_NOW, IMPORTER_LAZY: kfd_importer.c, bound at once with read-only pointers, and lazily.
 */
#include "common.h"

#include <dlfcn.h>
#include <pthread.h>
#include <roctracer/roctracer_kfd.h>

#define KFD ACTIVITY_DOMAIN_KFD_API

static _Atomic unsigned exits[KFD_API_ID_NUMBER];

static void on_kfd(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const kfd_api_data_t *call = data;
    (void)domain, (void)arg;
    if (call->phase == ACTIVITY_API_PHASE_EXIT)
        exits[op]++;
}

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    assert_non_null(function);
    return function;
}

static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(library);
    return library;
}

static void *slot(void *importer, const char *name)
{
    void *(*get)(void);
    *(void **)&get = find(importer, name);
    return get();
}

static int release(void *importer)
{
    int (*call)(void);
    *(void **)&call = find(importer, "importer_release");
    return call();
}

enum { RELEASE = KFD_API_ID_hsaKmtReleaseSystemProperties };

static void an_importer_is_rerouted(const char *path)
{
    void *importer = open_library(path);
    void *thunk = open_library("libhsakmt.so.1");
    void *version = find(thunk, "hsaKmtGetVersion"), *xnack = find(thunk, "hsaKmtGetXNACKMode");
    assert_ptr_equal(slot(importer, "importer_xnack_slot"), xnack);
    OK(roctracer_enable_op_callback(KFD, KFD_API_ID_hsaKmtGetVersion, on_kfd, NULL));
    OK(roctracer_enable_op_callback(KFD, RELEASE, on_kfd, NULL));
    assert_ptr_not_equal(slot(importer, "importer_version_slot"), version);
    assert_ptr_equal(slot(importer, "importer_xnack_slot"), xnack); /* nobody asked for it */
    unsigned before = exits[RELEASE];
    int status = release(importer);
    assert_int_equal(exits[RELEASE], before + 1);
    OK(roctracer_disable_domain_callback(KFD));
    assert_int_equal(release(importer), status);
    assert_int_equal(exits[RELEASE], before + 1);
    dlclose(thunk);
    dlclose(importer);
}

static void bound_at_once(void **state)
{
    void *importer = open_library(IMPORTER_NOW);
    void *thunk = open_library("libhsakmt.so.1");
    (void)state;
    assert_ptr_equal(slot(importer, "importer_version_slot"), find(thunk, "hsaKmtGetVersion"));
    an_importer_is_rerouted(IMPORTER_NOW);
}

static void bound_lazily(void **state)
{
    (void)state;
    an_importer_is_rerouted(IMPORTER_LAZY);
}

/* It is seen from the next look on, and when it is opened again. */
static void opened_later(void **state)
{
    (void)state;
    OK(roctracer_enable_op_callback(KFD, RELEASE, on_kfd, NULL));
    for (int i = 0; i < 3; i++) {
        void *importer = open_library(IMPORTER_LAZY);
        OK(roctracer_enable_op_callback(KFD, RELEASE, on_kfd, NULL));
        unsigned before = exits[RELEASE];
        release(importer);
        assert_int_equal(exits[RELEASE], before + 1);
        dlclose(importer);
    }
    OK(roctracer_disable_domain_callback(KFD));
}

static _Atomic bool is_over;

static void *opener(void *path)
{
    while (!is_over) {
        void *importer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!importer)
            return path;
        release(importer);
        dlclose(importer);
    }
    return NULL;
}

static void libraries_come_and_go_meanwhile(void **state)
{
    pthread_t threads[2];
    static const char *const paths[2] = {IMPORTER_NOW, IMPORTER_LAZY};
    void *failed;
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, opener, (void *)(uintptr_t)paths[i]), 0);
    for (int i = 0; i < 500; i++) {
        OK(roctracer_enable_domain_callback(KFD, on_kfd, NULL));
        OK(roctracer_disable_domain_callback(KFD));
    }
    is_over = true;
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

/* From the runtime's OnLoad on. */
static void the_runtime_is_opened_later(void **state)
{
    hsa_status_t (*init)(void), (*shut_down)(void);
    (void)state;
    OK(roctracer_enable_domain_callback(KFD, on_kfd, NULL));
    void *runtime = open_library("libhsa-runtime64.so.1");
    *(void **)&init = find(runtime, "hsa_init");
    *(void **)&shut_down = find(runtime, "hsa_shut_down");
    assert_int_equal(init(), HSA_STATUS_SUCCESS);
    assert_int_equal(shut_down(), HSA_STATUS_SUCCESS);
    assert_true(exits[KFD_API_ID_hsaKmtCloseKFD] >= 1);
    assert_true(exits[KFD_API_ID_hsaKmtFreeMemory] >= 1);
    unsigned before = exits[KFD_API_ID_hsaKmtOpenKFD];
    assert_int_equal(init(), HSA_STATUS_SUCCESS); /* the second time from its beginning */
    assert_int_equal(shut_down(), HSA_STATUS_SUCCESS);
    assert_int_equal(exits[KFD_API_ID_hsaKmtOpenKFD], before + 1);
    OK(roctracer_disable_domain_callback(KFD));
}

/* ROCm 6.3 and later: enabling succeeds, and nothing comes of it. */
static void the_runtime_has_the_library_inside(void **state)
{
    hsa_status_t (*init)(void), (*shut_down)(void);
    (void)state;
    OK(roctracer_enable_domain_callback(KFD, on_kfd, NULL));
    void *runtime = open_library("libhsa-runtime64.so.1");
    *(void **)&init = find(runtime, "hsa_init");
    *(void **)&shut_down = find(runtime, "hsa_shut_down");
    assert_int_equal(init(), HSA_STATUS_SUCCESS);
    OK(roctracer_enable_domain_callback(KFD, on_kfd, NULL));
    assert_int_equal(shut_down(), HSA_STATUS_SUCCESS);
    for (unsigned op = 0; op < KFD_API_ID_NUMBER; op++)
        assert_int_equal(exits[op], 0);
    OK(roctracer_disable_domain_callback(KFD));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest inside[] = {
        cmocka_unit_test(the_runtime_has_the_library_inside),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_at_once),
        cmocka_unit_test(bound_lazily),
        cmocka_unit_test(opened_later),
        cmocka_unit_test(libraries_come_and_go_meanwhile),
        cmocka_unit_test(the_runtime_is_opened_later),
    };
    return argc > 1 && !strcmp(argv[1], "inside") ? cmocka_run_group_tests(inside, NULL, NULL)
                                                  : cmocka_run_group_tests(tests, NULL, NULL);
}
