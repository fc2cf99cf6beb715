/*
 * A program with a "runtime": registers a table with rocprofiler-register, makes no GPU call.
 *   host [wait | end | end_thread | quick | thread | fork | libraries N DIR | closed TOOL | late
 * TOOL]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <rocprofiler-register/rocprofiler-register.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint32_t import(void)
{
    return 10000;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void runtime_start(void)
{
    static uint64_t table[4] = {sizeof table};
    void *tables[] = {table};
    rocprofiler_register_library_indentifier_t id = {0};
    double begin = now_ms();
    int status = rocprofiler_register_library_api_table("rccl", import, 22000, tables, 1, &id);
    printf("register %s %.3f ms\n",
           rocprofiler_register_error_string((rocprofiler_register_error_code_t)status),
           now_ms() - begin);
    fflush(stdout);
}

static void *exit_here(void *arg)
{
    (void)arg;
    exit(7);
}

static void run_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    fflush(stdout);
}

static void libraries_load(int count, const char *folder)
{
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/lib%d.so", folder, i);
        if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
            puts(dlerror());
    }
}

static void *end_here(void *arg)
{
    void (*end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "conformance_end_A");
    end();
    return arg;
}

/* The tool ends on a thread of its own while the process exits. */
static void end_on_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end_here, NULL);
    pthread_detach(thread);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
}

static void *tool_open(const char *path)
{
    void *tool = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!tool)
        puts(dlerror());
    return tool;
}

/* The first tool comes after the runtime. */
static void tool_late(const char *path)
{
    void *tool = tool_open(path);
    int (*force)(void) = tool ? (int (*)(void))dlsym(tool, "conformance_force_A") : NULL;
    printf("forced %d\n", force ? force() : -1);
    printf("again %d\n", force ? force() : -1);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    void *tool = !strcmp(mode, "closed") ? tool_open(argv[2]) : NULL;
    if (!strcmp(mode, "libraries") && argc == 4)
        libraries_load(atoi(argv[2]), argv[3]);
    runtime_start();
    if (tool)
        dlclose(tool);
    if (!strcmp(mode, "wait"))
        nanosleep(&(struct timespec){1, 0}, NULL);
    if (!strcmp(mode, "late"))
        tool_late(argv[2]);
    if (!strcmp(mode, "end_thread"))
        end_on_thread();
    if (!strcmp(mode, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, exit_here, NULL);
        pthread_join(thread, NULL);
    }
    if (!strcmp(mode, "fork"))
        run_fork();
    if (!strcmp(mode, "end"))
        end_here(NULL);
    if (!strcmp(mode, "signal"))
        raise(atoi(argv[2]));
    if (!strcmp(mode, "abort"))
        abort();
    if (!strcmp(mode, "crash"))
        *(int *volatile)argv[argc] = 1; /* NULL */
    if (!strcmp(mode, "quick"))
        quick_exit(0);
    if (!strcmp(mode, "_exit"))
        _exit(4);
    return 0;
}
