/*
 * Attaching, by the two functions of rocprofiler-register. One mode a process:
 *   attach_test late | plain | several | ... (see main)
 */
#include "../runtimes/hip_double.h"
#include "tool.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/hip.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

rocprofiler_register_error_code_t rocprofiler_register_attach(const char *, const char *);
rocprofiler_register_error_code_t rocprofiler_register_detach(void);

#define REGISTERS(how, call) assert_int_equal((call), ROCP_REG_##how)
#define TOOL(name)           TOOL_FOLDER "/libattach_" name ".so"
#define attach               rocprofiler_register_attach
#define detach               rocprofiler_register_detach

/* ---- the runtime */

typedef hipError_t (*malloc_fn)(void **, size_t);

struct hip {
    double_hip_start_fn start;
    double_hip_function_fn function;
    double_hip_untouched_fn untouched;
};
static struct hip hip;

static void hip_load(int copy)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/copy%d/libamdhip64.so.7", DOUBLE_FOLDER, copy);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&hip.start = dlsym(library, "double_hip_start");
    *(void **)&hip.function = dlsym(library, "double_hip_function");
    *(void **)&hip.untouched = dlsym(library, "double_hip_untouched");
}

enum { SLOTS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST + 30 };

static void hip_start(void)
{
    hip_load(0);
    REGISTERS(NO_TOOLS, hip.start());
    assert_int_equal(hip.untouched(), SLOTS);
}

static void calls(unsigned count)
{
    void *pointer = NULL;
    for (unsigned i = 0; i < count; i++) {
        malloc_fn allocate = (malloc_fn)hip.function(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc);
        assert_int_equal(allocate(&pointer, 64), hipSuccess);
        assert_ptr_equal(pointer, (void *)0x1000);
    }
}

/* ---- the tools */

static struct attach_diary *diary_of(const char *tool)
{
    void *library = dlopen(tool, RTLD_NOLOAD | RTLD_LAZY);
    attach_diary_fn diary = library ? (attach_diary_fn)dlsym(library, "attach_diary") : NULL;
    return diary ? diary() : NULL;
}

#define A     diary_of(TOOL("A"))
#define B     diary_of(TOOL("B"))
#define PLAIN diary_of(TOOL("plain"))

static int library_seen(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    return strstr(info->dlpi_name, name) != NULL;
}

static bool is_mapped(const char *name)
{
    return dl_iterate_phdr(library_seen, (void *)name) != 0;
}

/* A 32-bit count, then names and values with their zeros. */
#define ENVIRONMENT(count, texts) count "\0\0\0" texts

/* ---- modes */

static void late_mode(void **state)
{
    (void)state;
    hip_start();
    assert_false(is_mapped("librocprofiler-sdk.so") || is_mapped("libcrocprof"));
    setenv("ATTACH_OWN", "kept", 1);
    REGISTERS(SUCCESS, attach(ENVIRONMENT("\2", "ATTACH_VALUE\0of the attacher\0ATTACH_EMPTY\0"),
                              TOOL("A")));
    assert_string_equal(A->calls, "configure configure_attach initialize attach ");
    assert_string_equal(A->value, "of the attacher");
    assert_string_equal(getenv("ATTACH_VALUE"), "of the attacher");
    assert_string_equal(getenv("ATTACH_EMPTY"), "");
    assert_string_equal(getenv("ATTACH_OWN"), "kept");
    assert_int_equal(A->attachment, 1);
    assert_int_equal(A->contexts, 2);
    assert_int_equal(A->active_at_attach, 0); /* what initialize started waits for tool_attach */
    assert_int_equal(A->locked, ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED);
    assert_int_equal(A->tables, 2); /* the runtime's and the compiler's */
    calls(10);
    assert_int_equal(A->enters, 10);
    assert_int_equal(A->exits, 10);
    assert_int_equal(A->records, 0); /* in the buffer still */
    REGISTERS(SUCCESS, detach());
    assert_string_equal(A->calls, "configure configure_attach initialize attach detach ");
    assert_int_equal(A->records_at_detach, 10);
    assert_int_equal(A->active_at_detach, 0);
    calls(5);
    assert_int_equal(A->enters, 10);
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    assert_string_equal(A->calls, "configure configure_attach initialize attach detach attach ");
    calls(3);
    assert_int_equal(A->enters, 13);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(A->records, 13);
    assert_int_equal(A->tables, 2);
}

static void plain_mode(void **state)
{
    (void)state;
    hip_start();
    for (unsigned round = 1; round <= 3; round++) {
        REGISTERS(SUCCESS, attach(NULL, TOOL("plain")));
        calls(2);
        REGISTERS(SUCCESS, detach());
        calls(7);
        assert_int_equal(PLAIN->enters, 2 * round);
    }
    assert_string_equal(PLAIN->calls, "configure initialize ");
}

static void several_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, ":" TOOL("A") "::" TOOL("B") ":" TOOL("A")));
    calls(4);
    assert_int_equal(A->enters, 4);
    assert_int_equal(B->enters, 4);
    REGISTERS(SUCCESS, detach());
    /* another time another one, and both know only of their own attachments */
    REGISTERS(SUCCESS, attach(NULL, TOOL("B")));
    calls(1);
    REGISTERS(SUCCESS, detach());
    REGISTERS(SUCCESS, attach(NULL, TOOL("plain")));
    calls(1);
    assert_int_equal(A->enters, 4);
    assert_int_equal(B->enters, 5);
    assert_int_equal(PLAIN->enters, 1);
    assert_string_equal(A->calls, "configure configure_attach initialize attach detach ");
    assert_string_equal(B->calls,
                        "configure configure_attach initialize attach detach attach detach ");
}

static void again_mode(void **state)
{
    (void)state;
    hip_start();
    for (int i = 1; i <= 300; i++) {
        REGISTERS(SUCCESS, attach(ENVIRONMENT("\1", "ATTACH_VALUE\0same"), TOOL("A")));
        calls(1);
        REGISTERS(SUCCESS, detach());
        assert_int_equal(A->enters, i);
        assert_int_equal(A->records, i);
    }
}

static void leave_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(1);
    ((attach_leave_fn)dlsym(dlopen(TOOL("A"), RTLD_NOLOAD | RTLD_LAZY), "attach_leave"))();
    assert_non_null(strstr(A->calls, "attach detach "));
    calls(1);
    assert_int_equal(A->enters, 1);
    REGISTERS(ROCPROFILER_ERROR, detach()); /* nobody is attached */
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(1);
    assert_int_equal(A->enters, 2);
    REGISTERS(SUCCESS, detach());
}

/* What a process of its own prints. */
static const char *child_output(const char *mode, int *status)
{
    static char text[4096];
    char command[4096];
    snprintf(command, sizeof command, "ATTACH_PRINT=1 '/proc/%d/exe' %s 2>&1", (int)getpid(), mode);
    FILE *pipe = popen(command, "r");
    text[fread(text, 1, sizeof text - 1, pipe)] = 0;
    *status = pclose(pipe);
    return text;
}

static void end_child_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(3);
}

static void end_mode(void **state)
{
    (void)state;
    int status;
    const char *text = child_output("end_child", &status);
    assert_int_equal(status, 0);
    if (!strstr(text, "A: configure configure_attach initialize attach finalize  enters 3 exits 3 "
                      "records 3\n"))
        fail_msg("%s", text);
}

static void abort_child_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(3);
    abort();
}

static void closed_child_mode(void **state)
{
    (void)state;
    hip_start();
    void *tool = dlopen(TOOL("A"), RTLD_NOW | RTLD_LOCAL);
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    for (int i = 0; i < 5; i++) /* more often than it was opened by anybody */
        dlclose(tool);
    calls(2);
    REGISTERS(SUCCESS, detach());
}

static void *attach_slowly(void *unused)
{
    attach(NULL, TOOL("A"));
    return unused;
}

/* Whose tool_attach takes its time. A busy machine may take seconds to come there. */
static bool is_attaching(void)
{
    const struct attach_diary *diary = A;
    return diary && strstr(diary->calls, "initialize attach ");
}

/* The program exits while a tool is on its way in. */
static void hurry_child_mode(void **state)
{
    (void)state;
    pthread_t thread;
    hip_start();
    setenv("TOOL_A", "slow", 1);
    pthread_create(&thread, NULL, attach_slowly, NULL);
    for (int i = 0; i < 20000 && !is_attaching(); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    exit(0);
}

static void endings_mode(void **state)
{
    (void)state;
    int status;
    const char *text = child_output("abort_child", &status);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + SIGABRT);
    if (!strstr(text, "initialize attach finalize  enters 3 exits 3 records 3\n"))
        fail_msg("%s", text);
    text = child_output("closed_child", &status);
    assert_int_equal(status, 0);
    if (!strstr(text, "initialize attach detach finalize  enters 2 exits 2 records 2\n"))
        fail_msg("%s", text);
    text = child_output("hurry_child", &status);
    assert_int_equal(status, 0);
    if (!strstr(text, "initialize attach finalize "))
        fail_msg("%s", text);
}

static void arguments_mode(void **state)
{
    (void)state;
    static char huge[200000];
    memset(huge, 'x', sizeof huge - 1);
    memcpy(huge, "\1\0\0", 4);
    hip_start();
    REGISTERS(NO_TOOLS, detach());
    REGISTERS(INVALID_ARGUMENT, attach(NULL, NULL));
    REGISTERS(INVALID_ARGUMENT, attach(NULL, ""));
    REGISTERS(INVALID_ARGUMENT, attach("\377\377\377\377", TOOL("A")));
    REGISTERS(INVALID_ARGUMENT, attach(ENVIRONMENT("\1", "\0value"), TOOL("A")));
    REGISTERS(INVALID_ARGUMENT, attach(ENVIRONMENT("\1", "A=B\0value"), TOOL("A")));
    REGISTERS(INVALID_ARGUMENT, attach(ENVIRONMENT("\2", "ATTACH_1\0x\0\0y"), TOOL("A")));
    REGISTERS(INVALID_ARGUMENT, attach(huge, TOOL("A")));
    assert_null(getenv("ATTACH_1"));
    assert_false(is_mapped("librocprofiler-sdk.so"));
    assert_int_equal(hip.untouched(), SLOTS);

    REGISTERS(ROCPROFILER_ERROR, attach(NULL, "/does/not/exist.so"));
    REGISTERS(ROCPROFILER_ERROR, attach(NULL, BYSTANDER));
    REGISTERS(ROCPROFILER_ERROR, attach(NULL, "::::"));
    REGISTERS(ROCPROFILER_ERROR,
              attach(ENVIRONMENT("\2", "ATTACH_1\0x\0HOME\0changed"), "/does/not/exist.so"));
    assert_null(getenv("ATTACH_1"));
    assert_string_not_equal(getenv("HOME"), "changed");
    assert_int_equal(hip.untouched(), SLOTS);
    REGISTERS(ROCPROFILER_ERROR, detach());
    REGISTERS(SUCCESS, attach(ENVIRONMENT("\0", ""), "/does/not/exist.so:" TOOL("A")));
    calls(1);
    assert_int_equal(A->enters, 1);
}

static void failing_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(ROCPROFILER_ERROR, attach(ENVIRONMENT("\1", "TOOL_A\0null"), TOOL("A")));
    assert_string_equal(A->calls, "configure ");
    REGISTERS(ROCPROFILER_ERROR, attach(ENVIRONMENT("\1", "TOOL_A\0refuse"), TOOL("A")));
    assert_string_equal(A->calls, "configure configure configure_attach initialize ");
    assert_int_equal(hip.untouched(), SLOTS);
    REGISTERS(ROCPROFILER_ERROR, attach(ENVIRONMENT("\1", "TOOL_B\0attach"), TOOL("B")));
    assert_string_equal(B->calls, "configure configure_attach initialize attach ");
    assert_null(getenv("TOOL_B"));
    calls(2);
    assert_int_equal(B->enters, 0); /* what it had started is stopped */
    REGISTERS(ROCPROFILER_ERROR, detach());
}

static void recovers_mode(void **state)
{
    (void)state;
    hip_start();
    /* one of two fails: the other is attached */
    REGISTERS(SUCCESS, attach(ENVIRONMENT("\1", "TOOL_B\0attach"), TOOL("B") ":" TOOL("plain")));
    calls(1);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(PLAIN->enters, 1);
    assert_string_equal(B->calls, "configure configure_attach initialize attach ");
    /* and the one that failed can be attached when it has got over it */
    unsetenv("TOOL_B");
    REGISTERS(SUCCESS, attach(NULL, TOOL("B")));
    calls(1);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(B->enters, 1);
    /* a result that is too short is not read: the tool is attached without a word to it */
    REGISTERS(SUCCESS, attach(ENVIRONMENT("\1", "TOOL_A\0old"), TOOL("A")));
    calls(1);
    assert_int_equal(A->enters, 1);
    assert_string_equal(A->calls, "configure configure_attach initialize ");
}

static void states_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    REGISTERS(ROCPROFILER_ERROR, attach(NULL, TOOL("A")));
    REGISTERS(ROCPROFILER_ERROR, attach(ENVIRONMENT("\1", "ATTACH_1\0x"), TOOL("B")));
    assert_null(getenv("ATTACH_1"));
    assert_null(B);
    calls(1);
    assert_int_equal(A->enters, 1); /* the first one goes on */
    REGISTERS(SUCCESS, detach());
    REGISTERS(ROCPROFILER_ERROR, detach());
    assert_string_equal(A->calls, "configure configure_attach initialize attach detach ");
}

static void nested_mode(void **state)
{
    (void)state;
    hip_start();
    REGISTERS(SUCCESS, attach(ENVIRONMENT("\1", "TOOL_A\0nest"), TOOL("A")));
    assert_int_equal(A->nested, ROCP_REG_DEADLOCK);
}

/* ---- threads */

static atomic_bool stop;
static atomic_uint made;

static void *caller(void *unused)
{
    while (!stop) {
        calls(1);
        made++;
    }
    return unused;
}

static void threads_mode(void **state)
{
    (void)state;
    pthread_t threads[4];
    hip_start();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, caller, NULL);
    for (int i = 0; i < 100; i++) {
        unsigned before = made;
        REGISTERS(SUCCESS, attach(ENVIRONMENT("\1", "ATTACH_VALUE\0x"), TOOL("A")));
        while (made < before + 50)
            sched_yield();
        REGISTERS(SUCCESS, detach());
    }
    stop = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(A->enters > 0);
    assert_int_equal(A->enters, A->exits); /* a call in progress at a detachment is told its end */
    assert_true(A->records > 0);
}

static atomic_uint attached, refused;
static pthread_barrier_t barrier;

static void *racer(void *tool)
{
    pthread_barrier_wait(&barrier);
    int status = attach(NULL, tool);
    attached += status == ROCP_REG_SUCCESS;
    refused += status == ROCP_REG_ROCPROFILER_ERROR;
    return NULL;
}

/* A tool is attached by another thread, from its begin to its end, while a runtime registers: when
 * the library has looked for tools and has not yet noted the runtime. What it asks between the two
 * is whether it is enabled; the program's getenv() comes before libc's. */
static __thread bool attaches_here;
static bool attach_meanwhile;

static void *attach_one(void *tool)
{
    attaches_here = true;
    attached += attach(NULL, tool) == ROCP_REG_SUCCESS;
    return NULL;
}

__attribute__((visibility("default"))) char *getenv(const char *name)
{
    static char *(*libc_getenv)(const char *);
    pthread_t thread;
    if (!libc_getenv)
        *(void **)&libc_getenv = dlsym(RTLD_NEXT, "getenv");
    if (attach_meanwhile && !attaches_here && !strcmp(name, "ROCPROFILER_REGISTER_ENABLED")) {
        attach_meanwhile = false;
        pthread_create(&thread, NULL, attach_one, TOOL("A"));
        pthread_join(thread, NULL);
    }
    return libc_getenv(name);
}

static void crossing_mode(void **state)
{
    (void)state;
    hip_load(0);
    attach_meanwhile = true;
    REGISTERS(SUCCESS, hip.start());
    assert_false(attach_meanwhile);
    assert_int_equal(attached, 1);
    calls(2);
    assert_int_equal(A->enters, 2);
    assert_int_equal(A->tables, 2);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(A->records, 2);
}

static void racing_mode(void **state)
{
    (void)state;
    pthread_t threads[4];
    static char *const tools[4] = {TOOL("A"), TOOL("B"), TOOL("plain"), TOOL("A")};
    hip_start();
    setenv("TOOL_A", "slow", 1);
    setenv("TOOL_B", "slow", 1);
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, racer, tools[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(attached, 1);
    assert_int_equal(refused, 3);
    REGISTERS(SUCCESS, detach());
}

/* ---- company */

/* A library that happens to be a tool (as libtorch is) and that nobody asked for. */
static void stranger_mode(void **state)
{
    (void)state;
    assert_non_null(dlopen(TOOL("B"), RTLD_NOW | RTLD_LOCAL));
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(1);
    assert_int_equal(A->enters, 1);
    assert_string_equal(B->calls, "");
}

static void startup_mode(void **state)
{
    (void)state;
    setenv("ROCP_TOOL_LIBRARIES", TOOL("B"), 1);
    hip_load(0);
    REGISTERS(SUCCESS, hip.start());
    calls(1);
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(1);
    REGISTERS(SUCCESS, detach());
    calls(1);
    assert_string_equal(B->calls, "configure initialize "); /* not its affair */
    assert_int_equal(B->attachment, 0);
    assert_int_equal(B->enters, 3);
    assert_int_equal(B->tables, 2);
    assert_int_equal(A->enters, 1);
    assert_int_equal(A->tables, 2);
}

static void after_mode(void **state)
{
    (void)state;
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    hip_load(0);
    REGISTERS(SUCCESS, hip.start()); /* a runtime that starts later is traced at once */
    calls(2);
    assert_int_equal(A->enters, 2);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(A->records, 2);
}

static void fork_mode(void **state)
{
    (void)state;
    int status = 0;
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    calls(1);
    pid_t child = fork();
    if (child == 0) {
        int detached = detach();
        calls(1);
        int again = attach(NULL, TOOL("B"));
        calls(1);
        _exit(detached == 0 && again == 0 && A->enters == 1 && B->enters == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    calls(1);
    assert_int_equal(A->enters, 2);
    REGISTERS(SUCCESS, detach());
    assert_int_equal(A->records, 2);
}

static void disabled_mode(void **state)
{
    (void)state;
    setenv("ROCPROFILER_REGISTER_ENABLED", "0", 1);
    hip_start();
    REGISTERS(ATTACHMENT_NOT_AVAILABLE, attach(NULL, TOOL("A")));
    assert_null(A);
}

/* A rocprofiler-register of another maker: it names the tool in the environment, hands over all
 * tables, its helper's too, and then calls the profiler. */
static void older_mode(void **state)
{
    (void)state;
    static uint64_t helper[2] = {sizeof helper};
    void *tables[] = {helper};
    setenv("ROCPROFILER_REGISTER_TOOL_ATTACHED", "1", 1);
    setenv("ROCP_TOOL_LIBRARIES", TOOL("A"), 1);
    hip_load(0);
    REGISTERS(SUCCESS, hip.start());
    int (*set_table)(const char *, uint64_t, uint64_t, void **, uint64_t);
    int (*begin)(void), (*end)(void);
    *(void **)&set_table = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
    *(void **)&begin = dlsym(RTLD_DEFAULT, "rocprofiler_attach");
    *(void **)&end = dlsym(RTLD_DEFAULT, "rocprofiler_detach");
    assert_int_equal(set_table("rocattach", 10000, 0, tables, 1), 0);
    assert_int_equal(begin(), 0);
    calls(1);
    assert_int_equal(end(), 0);
    calls(1);
    assert_string_equal(A->calls, "configure configure_attach initialize attach detach ");
    assert_int_equal(A->enters, 1);
    assert_int_not_equal(end(), 0);
}

static int on_runtime(rocprofiler_runtime_registration_info_t *info, void *data)
{
    assert_int_equal(info->size, sizeof *info);
    assert_int_equal(info->api_table_length, 1);
    assert_int_equal(info->lib_version, DOUBLE_HIP_VERSION);
    strcat(data, info->common_name);
    strcat(data, " ");
    return !strcmp(info->common_name, "hip_compiler");
}

static void information_mode(void **state)
{
    (void)state;
    char names[64] = "";
    hip_start();
    REGISTERS(SUCCESS, attach(NULL, TOOL("A")));
    hip_load(1);
    hip.start();
    __typeof__(&rocprofiler_iterate_runtime_registration_info) iterate;
    *(void **)&iterate = dlsym(RTLD_DEFAULT, "rocprofiler_iterate_runtime_registration_info");
    assert_int_equal(iterate(on_runtime, names), 0);
    assert_string_equal(names, "hip hip_compiler ");
    rocprofiler_runtime_registration_info_cb_t volatile none = NULL; /* a broken promise */
    assert_int_equal(iterate(none, NULL), ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
}

#define MODE(name)                                                                                 \
    {                                                                                              \
#name, name##_mode, NULL, NULL, NULL                                                       \
    }

int main(int argc, char **argv)
{
    static const struct CMUnitTest modes[] = {
        MODE(late),         MODE(plain),       MODE(several),   MODE(again),
        MODE(leave),        MODE(end),         MODE(end_child), MODE(arguments),
        MODE(failing),      MODE(recovers),    MODE(states),    MODE(nested),
        MODE(threads),      MODE(racing),      MODE(crossing),  MODE(stranger),
        MODE(startup),      MODE(after),       MODE(fork),      MODE(disabled),
        MODE(older),        MODE(information), MODE(endings),   MODE(abort_child),
        MODE(closed_child), MODE(hurry_child),
    };
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            const struct CMUnitTest tests[] = {modes[i]};
            return cmocka_run_group_tests(tests, NULL, NULL);
        }
    fprintf(stderr, "usage: %s MODE\n", argv[0]);
    return 2;
}
