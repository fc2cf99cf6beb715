/* crocgpu: runs a program with the software GPU in front of it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/preload_path.h"
#include "core/device.h"
#include "core/time_source.h"
#include "launch/events.h"
#include "launch/options.h"
#include "launch/pm4.h"

/* Shells end with the same statuses. */
enum { EXIT_USAGE = 2, EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127 };

static void usage_print(FILE *file)
{
    fputs("usage: crocgpu [--devices LIST] [--time WHICH] PROGRAM [ARGUMENT...]\n"
          "       crocgpu pm4 [--gfx NAME] FILE...\n"
          "       crocgpu events [GPU...]\n"
          "Runs PROGRAM on a software GPU, disassembles PM4 command buffers, or lists the events "
          "that the\n"
          "software GPU's counters know, with their class (none: not modelled, reads 0). A program "
          "that is\n"
          "named pm4 or events is started by its path, or after --.\n",
          file);
#define X(option, letter, value, help) launch_option_print(file, option, letter, value, help);
    LAUNCH_OPTIONS(X)
#undef X
}

static int devices_set(const char *list)
{
    const struct gpu_model *models[GPU_DEVICES_MAX];
    const char *bad;
    if (gpu_models_parse(list, models, &bad) < 0) {
        fprintf(stderr,
                "crocgpu: --devices %s: cannot use \"%s\"; known: gfx90a, gfx906, gfx908, gfx942, "
                "as in gfx90a*2,gfx942 (%d at most)\n",
                list, bad, GPU_DEVICES_MAX);
        return -EINVAL;
    }
    return setenv("CROCGPU_DEVICES", list, 1) == 0 ? 0 : -errno;
}

static int library_find(char *path, size_t size_bytes)
{
    static const char *const places[] = {"../lib/libcrocgpu.so", "libcrocgpu.so"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        fprintf(stderr, "crocgpu: /proc/self/exe: %s\n", strerror(errno));
        return -ENOENT;
    }
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char candidate[PATH_MAX + 32], real[PATH_MAX];
        snprintf(candidate, sizeof candidate, "%s/%s", self, places[i]);
        if (!realpath(candidate, real) || access(real, R_OK) != 0)
            continue;
        if (strlen(real) >= size_bytes)
            return -ENAMETOOLONG;
        strcpy(path, real);
        return 0;
    }
    fprintf(stderr, "crocgpu: libcrocgpu.so is neither in %s/../lib nor in %s\n", self, self);
    return -ENOENT;
}

static int preload_set(const char *found)
{
    char library[PATH_MAX], error[PATH_MAX + 400];
    int plain = preload_path(found, library, error, sizeof error);
    if (plain != 0) {
        fprintf(stderr, "crocgpu: %s\n", error);
        return plain;
    }
    const char *before = getenv("LD_PRELOAD");
    if (before && strstr(before, library))
        return 0;
    size_t size_bytes = strlen(library) + (before ? strlen(before) : 0) + 2;
    char *value = malloc(size_bytes);
    if (!value)
        return -ENOMEM;
    snprintf(value, size_bytes, "%s%s%s", library, before && *before ? ":" : "",
             before ? before : "");
    int status = setenv("LD_PRELOAD", value, 1) == 0 ? 0 : -errno;
    free(value);
    return status;
}

static int time_set(const char *which)
{
    if (time_source_parse(which) == TIME_UNKNOWN || !*which) {
        fprintf(stderr, "crocgpu: --time %s: it is wall or model\n", which);
        return -EINVAL;
    }
    return setenv("CROCGPU_TIME", which, 1) == 0 ? 0 : -errno;
}

static const struct {
    const char *name;
    int (*set)(const char *value);
} valued_options[] = {{"--devices", devices_set}, {"--time", time_set}};

/* Obeys argv[*at], `--name value` or `--name=value`, and moves on. */
static int option_obey(int argc, char **argv, int *at)
{
    const char *option = argv[(*at)++];
    for (size_t i = 0; i < sizeof valued_options / sizeof valued_options[0]; i++) {
        size_t length = strlen(valued_options[i].name);
        if (strncmp(option, valued_options[i].name, length) != 0)
            continue;
        if (option[length] == '=')
            return valued_options[i].set(option + length + 1);
        if (!option[length] && *at < argc)
            return valued_options[i].set(argv[(*at)++]);
    }
    fprintf(stderr, "crocgpu: unknown or incomplete option %s\n", option);
    usage_print(stderr);
    return -EINVAL;
}

/* Returns the index of the program in argv, or -1 - the exit status. */
static int arguments_read(int argc, char **argv)
{
    int at = 1;
    while (at < argc && argv[at][0] == '-') {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "-h") == 0 || strcmp(argv[at], "--help") == 0) {
            usage_print(stdout);
            return -EXIT_SUCCESS - 1;
        }
        if (option_obey(argc, argv, &at) != 0)
            return -EXIT_USAGE - 1;
    }
    if (at < argc)
        return at;
    usage_print(stderr);
    return -EXIT_USAGE - 1;
}

int main(int argc, char **argv)
{
    char library[PATH_MAX];
    if (argc > 1 && strcmp(argv[1], "pm4") == 0)
        return pm4_command(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "events") == 0)
        return events_command(argc - 2, argv + 2);
    int program = arguments_read(argc, argv);
    if (program < 0)
        return -program - 1;
    if (library_find(library, sizeof library) != 0 || preload_set(library) != 0)
        return EXIT_CANNOT_EXECUTE;
    execvp(argv[program], argv + program);
    fprintf(stderr, "crocgpu: %s: %s\n", argv[program], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}
