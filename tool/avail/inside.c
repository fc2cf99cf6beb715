#include "inside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"

/* "1" or "0": whether the software GPU is here; then what LD_PRELOAD was. */
#define INSIDE_VARIABLE "CROCPROF_INSIDE"

static bool environment_restore(void)
{
    const char *inside = getenv(INSIDE_VARIABLE);
    if (!inside || (inside[0] != '0' && inside[0] != '1'))
        return false;
    if (inside[0] == '1' && inside[1])
        setenv("LD_PRELOAD", inside + 1, 1);
    else if (inside[0] == '1')
        unsetenv("LD_PRELOAD");
    unsetenv(INSIDE_VARIABLE);
    return true;
}

static int environment_put(const struct launch *launch)
{
    const char *before = getenv("LD_PRELOAD");
    char preload[2 * PATH_MAX], note[PATH_MAX];
    bool has_before = before && *before;
    if (!launch->gpu_library[0])
        return setenv(INSIDE_VARIABLE, "0", 1);
    int length = snprintf(preload, sizeof preload, "%s%s%s", launch->gpu_library,
                          has_before ? ":" : "", has_before ? before : "");
    int noted = snprintf(note, sizeof note, "1%s", has_before ? before : "");
    if (length >= (int)sizeof preload || noted >= (int)sizeof note) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return setenv("LD_PRELOAD", preload, 1) != 0 ? -1 : setenv(INSIDE_VARIABLE, note, 1);
}

static char **arguments; /* NULL: memory was out */

void inside_note(int count, char **words)
{
    arguments = calloc((size_t)count + 1, sizeof *arguments);
    for (int i = 0; arguments && i < count; i++)
        arguments[i] = words[i];
}

bool inside_enter(void)
{
    struct launch launch;
    char error[PATH_MAX + 512], self[PATH_MAX];
    if (environment_restore())
        return true;
    if (launch_prepare(&launch, NULL, error, sizeof error) != 0) {
        fprintf(stderr, "crocprof: %s\n", error);
        return false;
    }
    /* Resolved: under valgrind the link itself is valgrind's own program. */
    errno = ENOMEM;
    if (arguments && environment_put(&launch) == 0 && realpath("/proc/self/exe", self)) {
        launch_signals_restore();
        execv(self, arguments);
    }
    fprintf(stderr, "crocprof: the command cannot begin again: %s\n", strerror(errno));
    return false;
}
