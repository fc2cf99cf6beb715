#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/preload_path.h"

/* Installed: PREFIX/bin/crocprof and PREFIX/lib*; built: build/bin and build/lib. */
int launch_library_find(const char *name, char path[PATH_MAX])
{
    static const char *const places[] = {"../lib", "../lib/x86_64-linux-gnu", "../lib64", "."};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return -errno;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s/%s/%s", self, places[i], name);
        if (realpath(candidate, path))
            return 0;
    }
    return -ENOENT;
}

static bool runnable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Searches as execvp would: a name with a slash is taken as it is. */
static int program_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return runnable(path) ? 0 : access(path, F_OK) ? -ENOENT : -EACCES;
    }
    const char *search = getenv("PATH");
    for (const char *at = search ? search : "/usr/local/bin:/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, length ? at : ".", name);
        if (runnable(path))
            return 0;
        at += length + (at[length] == ':');
    }
    return -ENOENT;
}

static int preload_find(const char *name, char path[PATH_MAX], const char *missing, char *error,
                        unsigned error_size)
{
    char found[PATH_MAX];
    int status = launch_library_find(name, found);
    if (status == 0)
        return preload_path(found, path, error, error_size);
    snprintf(error, error_size, "%s", missing);
    return status;
}

int launch_prepare(struct launch *launch, const char *program, char *error, unsigned error_size)
{
    *launch = (struct launch){0};
    int status =
        preload_find("libcrocprof-tool.so", launch->tool_library,
                     "libcrocprof-tool.so is not where crocprof was installed", error, error_size);
    if (status == 0 && access("/dev/kfd", F_OK) != 0)
        status = preload_find("libcrocgpu.so", launch->gpu_library,
                              "no GPU (/dev/kfd), and libcrocgpu.so is not installed", error,
                              error_size);
    if (status != 0)
        return status;
    status = program ? program_find(program, launch->program) : 0;
    if (status != 0)
        snprintf(error, error_size, "%s: %s", program, strerror(-status));
    return status;
}

void launch_preload(struct launch *launch, const struct settings *settings)
{
    launch->preload = settings_text(settings, OPTION_PRELOAD);
    if (!launch->preload)
        launch->preload = getenv("ROCPROF_PRELOAD");
}

/* Kokkos takes the first of a list. */
int launch_kokkos(const struct settings *settings, char *error, unsigned error_size)
{
    static const char name[] = "rocprofiler-sdk/librocprofiler-sdk-tool-kokkosp.so";
    const char *before = getenv("KOKKOS_TOOLS_LIBS");
    char path[PATH_MAX];
    if (!settings_flag(settings, OPTION_KOKKOS_TRACE))
        return 0;
    int status = launch_library_find(name, path);
    if (status != 0) {
        snprintf(error, error_size, "--kokkos-trace: %s is not where crocprof was installed", name);
        return status;
    }
    if (before && *before && strcmp(before, path) != 0)
        fprintf(stderr, "crocprof: --kokkos-trace takes the place of KOKKOS_TOOLS_LIBS=%s\n",
                before);
    return setenv("KOKKOS_TOOLS_LIBS", path, 1) == 0 ? 0 : -errno;
}

/* Libraries that are there, joined by ':'. 0 or -E2BIG. */
static int path_join(char *path, size_t size, const char *const libraries[], size_t count)
{
    size_t used = 0;
    *path = 0;
    for (size_t i = 0; i < count; i++) {
        if (!libraries[i] || !*libraries[i])
            continue;
        used += (size_t)snprintf(path + used, size - used, "%s%s", used ? ":" : "", libraries[i]);
        if (used >= size)
            return -E2BIG;
    }
    return 0;
}

static pid_t launcher, launcher_parent; /* of the command, which may stay above the program */

int launch_environment(const struct launch *launch, const struct settings *settings)
{
    const char *const libraries[] = {launch->preload, launch->gpu_library, launch->tool_library,
                                     getenv("LD_PRELOAD")};
    char path[4 * PATH_MAX], parent[64];
    snprintf(parent, sizeof parent, "%ld %ld", (long)launcher, (long)launcher_parent);
    if (setenv(LAUNCH_PARENT_VARIABLE, parent, 1) != 0)
        return -errno;
    int status = path_join(path, sizeof path, libraries, sizeof libraries / sizeof libraries[0]);
    if (status != 0)
        return status;
    return setenv("LD_PRELOAD", path, 1) == 0 ? settings_to_environment(settings) : -errno;
}

static struct sigaction children, pipes; /* the caller's */

void launch_signals_take(void)
{
    launcher = getpid();
    launcher_parent = getppid();
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &children);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &pipes);
}

void launch_signals_restore(void)
{
    sigaction(SIGCHLD, &children, NULL);
    sigaction(SIGPIPE, &pipes, NULL);
}

int launch_program(const struct launch *launch, char *const arguments[])
{
    launch_signals_restore();
    execv(launch->program, arguments);
    return -errno;
}
