/*
 * A program that knows nothing of tools. Its main thread waits in poll() for commands:
 *   call N     N HIP calls, then a line of what a tool in the process has seen
 *   registers  waits 300 ms in a system call and says whether its registers are as they were
 *   maps       how many mappings it has
 * usage: host [busy | spin]   busy: four threads call all the time; spin: nobody ever waits
 */
#include "../runtimes/hip_double.h"
#include "tool.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <rocprofiler-sdk/hip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double_hip_function_fn function;
static _Atomic int stop;

static void call(void)
{
    void *pointer;
    ((hipError_t(*)(void **, size_t))function(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc))(&pointer,
                                                                                         64);
}

static void *caller(void *unused)
{
    while (!stop)
        call();
    return unused;
}

static void report(void)
{
    void *library = dlopen(TOOL, RTLD_NOLOAD | RTLD_LAZY);
    attach_diary_fn find = library ? (attach_diary_fn)dlsym(library, "attach_diary") : NULL;
    if (find)
        printf("%senters %u exits %u records %u value %s\n", find()->calls, find()->enters,
               find()->exits, find()->records, find()->value);
    else
        puts("no tool");
}

/* A raw system call, with every register that it must keep full. The number is loaded just before
 * it, as libc's wrappers do: that tells which call a wait was that has been interrupted once
 * already. */
static void registers_check(void)
{
    struct timespec wait = {0, 300000000};
    unsigned char before[16], after[16];
    unsigned long kept = 0x123456789abcdef0, result;
    memset(before, 0x5a, sizeof before);
    __asm__ volatile("movdqu %3, %%xmm7\n mov %4, %%r12\n mov %5, %%eax\n syscall\n"
                     "movdqu %%xmm7, %1\n mov %%r12, %2"
                     : "=&a"(result), "=m"(after), "=m"(kept)
                     : "m"(before), "m"(kept), "i"(SYS_nanosleep), "D"(&wait), "S"(NULL)
                     : "rcx", "r11", "r12", "xmm7", "memory");
    bool same = kept == 0x123456789abcdef0 && !memcmp(before, after, 16);
    if (same && result == 0)
        puts("registers kept");
    else
        printf("registers %s, result %ld\n", same ? "kept" : "lost", (long)result);
}

static void maps_count(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count++;
    if (maps)
        fclose(maps);
    printf("maps %d\n", count);
}

static void commands_run(void)
{
    char line[64];
    int count;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    setvbuf(stdin, NULL, _IONBF, 0);
    while (poll(&input, 1, -1) == 1 && fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "call %d", &count) == 1) {
            while (count-- > 0)
                call();
            report();
        } else if (!strcmp(line, "registers\n")) {
            puts("waiting");
            fflush(stdout);
            registers_check();
        } else if (!strcmp(line, "maps\n")) {
            maps_count();
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    const char *mode = argc > 1 ? argv[1] : "";
    void *hip = dlopen(DOUBLE_FOLDER "/copy0/libamdhip64.so.7", RTLD_NOW);
    if (!hip)
        return 2;
    *(void **)&function = dlsym(hip, "double_hip_function");
    ((double_hip_start_fn)dlsym(hip, "double_hip_start"))();
    for (int i = 0; !strcmp(mode, "busy") && i < 4; i++)
        pthread_create(&threads[i], NULL, caller, NULL);
    puts("ready");
    fflush(stdout);
    if (!strcmp(mode, "spin"))
        caller(NULL);
    commands_run();
    stop = 1;
    for (int i = 0; !strcmp(mode, "busy") && i < 4; i++)
        pthread_join(threads[i], NULL);
    report();
    return 0;
}
