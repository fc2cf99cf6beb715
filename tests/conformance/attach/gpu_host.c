/*
 * A GPU program that knows nothing of tools: runs a kernel every millisecond until its input ends,
 * then says how many, and what a tool in the process has seen.
 * usage: gpu_host KERNELS_DIRECTORY
 */
#include "../counting/gpu.h"
#include "gpu_tool.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned runs = 0;
    gpus_open(argc > 1 ? argv[1] : ".");
    puts("ready");
    fflush(stdout);
    while (poll(&input, 1, 1) == 0) {
        gpu_run(&gpus[0], 4);
        runs++;
    }
    void *library = dlopen(TOOL, RTLD_NOLOAD | RTLD_LAZY);
    gpu_diary_fn find = library ? (gpu_diary_fn)dlsym(library, "gpu_diary") : NULL;
    if (find)
        printf("runs %u dispatches %u named %u timed %u objects %u\n", runs, find()->dispatches,
               find()->named, find()->timed, find()->objects);
    gpus_close();
    return 0;
}
