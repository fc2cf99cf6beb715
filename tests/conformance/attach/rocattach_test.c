/* Attaching from outside, to programs that run: librocprofiler-sdk-rocattach. */
#include <rocprofiler-sdk-rocattach/rocattach.h>

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call)         assert_int_equal((call), ROCATTACH_STATUS_SUCCESS)
#define FAILS(how, call) assert_int_equal((call), ROCATTACH_STATUS_##how)

struct host {
    pid_t pid;
    FILE *to, *from;
    char line[512];
};

static const char *answer(struct host *host)
{
    if (!fgets(host->line, sizeof host->line, host->from))
        strcpy(host->line, "(it has ended)");
    host->line[strcspn(host->line, "\n")] = 0;
    return host->line;
}

static const char *ask(struct host *host, const char *command)
{
    fprintf(host->to, "%s\n", command);
    fflush(host->to);
    return answer(host);
}

static struct host host_start(const char *mode)
{
    int to[2], from[2];
    struct host host;
    assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
    host.pid = fork();
    if (host.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        if (!strcmp(mode, "below"))
            execl("/bin/sh", "sh", "-c", "'" HOST "'; true", NULL);
        execl(HOST, HOST, mode, NULL);
        _exit(3);
    }
    close(to[0]), close(from[1]);
    host.to = fdopen(to[1], "w");
    host.from = fdopen(from[0], "r");
    assert_string_equal(answer(&host), "ready");
    return host;
}

/* It ends well, and its last line is this. */
static void host_ends(struct host *host, const char *last)
{
    int status = -1;
    fclose(host->to);
    assert_string_equal(answer(host), last);
    assert_int_equal(waitpid(host->pid, &status, 0), host->pid);
    assert_int_equal(status, 0);
    fclose(host->from);
}

static void a_tool_comes_goes_and_comes_again(void **state)
{
    (void)state;
    struct host host = host_start("");
    setenv("ROCPROF_TEST", "goes along", 1);
    assert_string_equal(ask(&host, "call 1"), "no tool");
    OK(rocattach_attach(host.pid));
    assert_string_equal(ask(&host, "call 5"),
                        "configure configure_attach initialize attach enters 5 exits 5 records 0 "
                        "value (none)");
    OK(rocattach_detach(host.pid));
    assert_string_equal(ask(&host, "call 3"),
                        "configure configure_attach initialize attach detach enters 5 exits 5 "
                        "records 5 value (none)");
    OK(rocattach_attach(host.pid));
    ask(&host, "call 2");
    OK(rocattach_detach(host.pid));
    host_ends(&host, "configure configure_attach initialize attach detach attach detach "
                     "enters 7 exits 7 records 7 value (none)");
}

static void with_a_thread_of_its_own(void **state)
{
    (void)state;
    setenv("ROCP_TOOL_ATTACH", "1", 1);
    setenv("ATTACH_VALUE", "set at its start", 1);
    struct host host = host_start("spin"); /* no other thread could be taken */
    unsetenv("ROCP_TOOL_ATTACH");
    unsetenv("ATTACH_VALUE");
    OK(rocattach_attach(host.pid));
    OK(rocattach_detach(host.pid));
    OK(rocattach_attach(host.pid));
    kill(host.pid, SIGKILL);
    waitpid(host.pid, NULL, 0);
    assert_int_not_equal(rocattach_detach(host.pid), ROCATTACH_STATUS_SUCCESS);
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(host.pid)); /* forgotten */
    fclose(host.to), fclose(host.from);
}

static void while_its_threads_work(void **state)
{
    (void)state;
    struct host host = host_start("busy");
    for (int i = 0; i < 10; i++) {
        OK(rocattach_attach(host.pid));
        OK(rocattach_detach(host.pid));
    }
    unsigned enters = 0, exits = 0;
    OK(rocattach_attach(host.pid));
    while (enters == 0 || exits == 0) { /* a busy machine may let none of them run for long */
        const char *numbers = strstr(ask(&host, "call 0"), "enters ");
        assert_non_null(numbers);
        assert_int_equal(sscanf(numbers, "enters %u exits %u", &enters, &exits), 2);
    }
    OK(rocattach_detach(host.pid));
    fclose(host.to);
    answer(&host);
    int status = -1;
    assert_int_equal(waitpid(host.pid, &status, 0), host.pid);
    assert_int_equal(status, 0);
    fclose(host.from);
}

static int maps_of(struct host *host)
{
    int count = -1;
    assert_int_equal(sscanf(ask(host, "maps"), "maps %d", &count), 1);
    return count;
}

static void the_borrowed_thread_notices_nothing(void **state)
{
    (void)state;
    struct host host = host_start("");
    OK(rocattach_attach(host.pid)); /* the library is there from now on */
    assert_string_equal(ask(&host, "registers"), "waiting");
    OK(rocattach_detach(host.pid));
    assert_string_equal(answer(&host), "registers kept");
    OK(rocattach_attach(host.pid));
    OK(rocattach_detach(host.pid));
    int before = maps_of(&host);
    for (int i = 0; i < 30; i++) {
        OK(rocattach_attach(host.pid));
        OK(rocattach_detach(host.pid));
    }
    /* Two pages a call would be 120; libc keeps a stack and an arena of threads that are gone. */
    int grown = maps_of(&host) - before;
    assert_true(grown < 10);
    kill(host.pid, SIGKILL);
    waitpid(host.pid, NULL, 0);
    fclose(host.to), fclose(host.from);
}

/* Linked with nothing of ours, and asleep: it sleeps on for as long as it was told. */
static void a_program_without_a_runtime(void **state)
{
    (void)state;
    int status = -1;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sleep", "sleep", "2", NULL);
        _exit(3);
    }
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    OK(rocattach_attach(child));
    OK(rocattach_detach(child));
    assert_int_equal(waitpid(child, &status, 0), child);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_int_equal(status, 0);
    assert_true(end.tv_sec - start.tv_sec >= 1); /* 2 s, rounded down */
}

static void file_copy(const char *from, const char *to)
{
    char bytes[4096];
    ssize_t length;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    assert_true(in >= 0 && out >= 0);
    while ((length = read(in, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(out, bytes, (size_t)length), length);
    close(in), close(out);
}

/* As by an upgrade: the library that it has is at no path any more. */
static void a_program_whose_library_was_replaced(void **state)
{
    char folder[] = "/tmp/rocattach_test_XXXXXX", copy[96], preload[128];
    char path[sizeof REGISTER + 32];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(copy, sizeof copy, "%s/librocprofiler-register.so.0", folder);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", copy);
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s", REGISTER);
    *strrchr(path, '/') = 0;
    file_copy(REGISTER, copy);
    pid_t child = fork();
    if (child == 0) {
        execle("/bin/sleep", "sleep", "60", NULL, (char *[]){preload, path, NULL});
        _exit(3);
    }
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    unlink(copy);
    rmdir(folder);
    OK(rocattach_attach(child));
    OK(rocattach_detach(child));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void why_a_library_cannot_be_opened_is_said(void **state)
{
    char folder[] = "/tmp/rocattach_test_XXXXXX", path[96], said[1024] = "";
    int stderr_kept = dup(STDERR_FILENO), pipes[2];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/librocprofiler-register.so.0", folder);
    file_copy("/proc/self/comm", path);
    pid_t child = fork();
    if (child == 0) {
        mmap(NULL, 1, PROT_READ, MAP_PRIVATE, open(path, O_RDONLY), 0);
        pause();
        _exit(3);
    }
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    dup2(pipes[1], STDERR_FILENO);
    rocattach_status_t status = rocattach_attach(child);
    dup2(stderr_kept, STDERR_FILENO);
    assert_true(read(pipes[0], said, sizeof said - 1) > 0);
    close(pipes[0]), close(pipes[1]), close(stderr_kept);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    unlink(path);
    rmdir(folder);
    FAILS(ERROR, status);
    assert_non_null(strstr(said, path)); /* "PATH: file too short" */
}

/* What was read of it before belongs to another program. It never waits before. */
static void a_program_that_execs_meanwhile(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct timespec begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - begin.tv_sec) * 10 + (now.tv_nsec - begin.tv_nsec) / 100000000 < 7);
        execl("/bin/sleep", "sleep", "2", NULL);
        _exit(3);
    }
    OK(rocattach_attach(child));
    OK(rocattach_detach(child));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_process_that_never_waits_is_left_alone(void **state)
{
    (void)state;
    struct host host = host_start("spin");
    FAILS(ERROR, rocattach_attach(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(host.pid));
    assert_int_equal(kill(host.pid, 0), 0);
    kill(host.pid, SIGKILL);
    waitpid(host.pid, NULL, 0);
    fclose(host.to), fclose(host.from);
}

static void who_is_traced_already_is_refused(void **state)
{
    (void)state;
    struct host host = host_start("");
    int status;
    assert_int_equal(ptrace(PTRACE_SEIZE, host.pid, NULL, NULL), 0);
    FAILS(ERROR_PTRACE_OPERATION_NOT_PERMITTED, rocattach_attach(host.pid));
    ptrace(PTRACE_INTERRUPT, host.pid, NULL, NULL);
    waitpid(host.pid, &status, __WALL);
    ptrace(PTRACE_DETACH, host.pid, NULL, NULL);
    OK(rocattach_attach(host.pid));
    OK(rocattach_detach(host.pid));
    host_ends(&host, "configure configure_attach initialize attach detach enters 0 exits 0 "
                     "records 0 value (none)");
}

/* It was not asked, so it still has the tool: that is taken away when the debugger has gone. */
static void detaching_can_be_tried_again(void **state)
{
    (void)state;
    struct host host = host_start(""), gone = host_start("");
    int status;
    OK(rocattach_attach(host.pid));
    OK(rocattach_attach(gone.pid));
    assert_int_equal(ptrace(PTRACE_SEIZE, host.pid, NULL, NULL), 0);
    FAILS(ERROR_PTRACE_OPERATION_NOT_PERMITTED, rocattach_detach(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(host.pid)); /* there is one */
    ptrace(PTRACE_INTERRUPT, host.pid, NULL, NULL);
    waitpid(host.pid, &status, __WALL);
    ptrace(PTRACE_DETACH, host.pid, NULL, NULL);
    kill(gone.pid, SIGKILL);
    waitpid(gone.pid, NULL, 0);
    FAILS(ERROR_PTRACE_PROCESS_NOT_FOUND, rocattach_detach(gone.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(gone.pid)); /* nobody is there */
    fclose(gone.to), fclose(gone.from);
    OK(rocattach_detach(host.pid));
    host_ends(&host, "configure configure_attach initialize attach detach enters 0 exits 0 "
                     "records 0 value (none)");
}

static void arguments_are_checked(void **state)
{
    (void)state;
    struct host host = host_start("");
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(0));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(-1));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(getpid()));
    FAILS(ERROR_PTRACE_PROCESS_NOT_FOUND, rocattach_attach(0x7ffffff0));
    FAILS(ERROR_PTRACE_PROCESS_NOT_FOUND, rocattach_attach_tree(0x7ffffff0));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(-5));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach_tree(host.pid));
    OK(rocattach_detach(0)); /* nobody */
    setenv("ROCPROF_ATTACH_TOOL_LIBRARY", "/does/not/exist.so", 1);
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(host.pid));
    setenv("ROCPROF_ATTACH_TOOL_LIBRARY", "does_not_exist.so", 1);
    FAILS(ERROR, rocattach_attach(host.pid)); /* only the process knows where it looks */
    unsetenv("ROCPROF_ATTACH_TOOL_LIBRARY");
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(host.pid));
    setenv("ROCPROF_ATTACH_TOOL_LIBRARY", TOOL, 1);
    OK(rocattach_attach(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach(host.pid));
    OK(rocattach_detach(0)); /* everybody */
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach(host.pid));
    host_ends(&host, "configure configure_attach initialize attach detach enters 0 exits 0 "
                     "records 0 value (none)");
}

static void descendants_that_use_a_gpu_come_along(void **state)
{
    (void)state;
    struct host host = host_start("below"); /* a shell's child; the shell is the root */
    struct host other = host_start("");
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_attach_tree(getpid()));
    OK(rocattach_attach_tree(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach_tree(other.pid));
    ask(&host, "call 4");
    assert_non_null(strstr(host.line, "enters 4 "));
    OK(rocattach_detach_tree(host.pid));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_detach_tree(host.pid));
    host_ends(&host, "configure configure_attach initialize attach detach enters 4 exits 4 "
                     "records 4 value (none)");
    host_ends(&other, "no tool");
}

static void information(void **state)
{
    (void)state;
    uint32_t major = 7;
    rocattach_version_triplet_t version = {7, 7, 7};
    rocattach_version_triplet_t *volatile none = NULL;
    OK(rocattach_get_version(&major, NULL, NULL));
    OK(rocattach_get_version_triplet(&version));
    FAILS(ERROR_INVALID_ARGUMENT, rocattach_get_version_triplet(none));
    assert_int_equal(major, ROCATTACH_VERSION_MAJOR);
    assert_int_equal(version.minor, ROCATTACH_VERSION_MINOR);
    for (int i = 0; i < ROCATTACH_STATUS_LAST; i++) {
        assert_memory_equal(rocattach_get_status_name((rocattach_status_t)i), "ROCATTACH_STATUS_",
                            17);
        assert_true(strlen(rocattach_get_status_string((rocattach_status_t)i)) > 3);
    }
    assert_null(rocattach_get_status_name(ROCATTACH_STATUS_LAST));
    assert_null(rocattach_get_status_string((rocattach_status_t)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(a_tool_comes_goes_and_comes_again),
        cmocka_unit_test(with_a_thread_of_its_own),
        cmocka_unit_test(while_its_threads_work),
        cmocka_unit_test(the_borrowed_thread_notices_nothing),
        cmocka_unit_test(a_program_without_a_runtime),
        cmocka_unit_test(a_program_whose_library_was_replaced),
        cmocka_unit_test(why_a_library_cannot_be_opened_is_said),
        cmocka_unit_test(a_program_that_execs_meanwhile),
        cmocka_unit_test(a_process_that_never_waits_is_left_alone),
        cmocka_unit_test(who_is_traced_already_is_refused),
        cmocka_unit_test(detaching_can_be_tried_again),
        cmocka_unit_test(descendants_that_use_a_gpu_come_along),
    };
    /* a sandbox may forbid what all of this is made of */
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    bool allowed = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, __WALL);
    if (!allowed) {
        puts("ptrace is not allowed here");
        return 77;
    }
    setenv("ROCPROF_ATTACH_TOOL_LIBRARY", TOOL, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
