/* Runtimes that know nothing of rocprofiler-register: HSA loads what HSA_TOOLS_LIB names, libraries
 * of HIP are hooked. */
#include "base/environment.h"
#include "runtime/instances.h"
#include "session/discover.h"
#include "session/expect.h"
#include "session/lifecycle.h"
#include "session/runtimes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hooks */

/* Hooking asks HIP for the names of its functions. The first question makes a HIP that registers
 * its tables do so, on this thread and inside of the question. If they were wrapped there and then,
 * the further questions would be traced. */
static __thread bool hooking;

bool runtimes_hooking_here(void)
{
    return hooking;
}

static bool hook_all(void)
{
    bool hooked = false;
    hooking = true;
    for (int kind = 0; kind < RUNTIME_KINDS; kind++) {
        const struct runtime_ops *ops = runtime_ops_of(&runtime_rows[kind]);
        hooked |= ops->hook && ops->hook(runtime_hook_ready);
    }
    hooking = false;
    return hooked;
}

/* Tables that came while the libraries were asked are decided about afterwards, together with those
 * that wait for a tool anyhow. */
void runtimes_hook(void)
{
    if (hooking)
        return;
    if (hook_all())
        runtime_hooked_set();
    runtimes_kept_decide();
}

/* ---- HSA_TOOLS_LIB */

/* HSA splits its list at spaces and takes what is behind a backslash as it is. */
static char *list_entry(const char *path)
{
    char *entry = path ? malloc(2 * strlen(path) + 1) : NULL, *to = entry;
    for (const char *from = path; entry && *from; *to++ = *from++)
        if (strchr(" \"\\", *from))
            *to++ = '\\';
    if (entry)
        *to = 0;
    return entry;
}

static bool list_has(const char *list, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

void runtime_arm(void)
{
    Dl_info self;
    /* Not the address of OnLoad: a program may have a function of that name. */
    if (!dladdr((const void *)&runtime_arm, &self) || !self.dli_fname)
        return;
    char *path = realpath(self.dli_fname, NULL);
    /* dlopen() replaces $LIB and its like, and there is no way to quote them. */
    char *entry = list_entry(path && strchr(path, '$') ? self.dli_fname : path);
    const char *list = getenv("HSA_TOOLS_LIB");
    char *extended = NULL;
    if (entry && (!list || !list_has(list, entry)) &&
        asprintf(&extended, "%s%s%s", list ? list : "", list && *list ? " " : "", entry) > 0)
        environment_change(&(struct environment_variable){"HSA_TOOLS_LIB", extended}, 1);
    free(extended);
    free(entry);
    free(path);
    runtimes_hook();
}

/* Runs before the program's own constructors when a tool was linked or preloaded. */
__attribute__((constructor)) static void arm_when_wanted(void)
{
    if (discover_any() || attach_is_asked_for())
        runtime_arm();
    const char *now = getenv("ROCPROFILER_LIBRARY_CTOR");
    if (now && !strcmp(now, "1"))
        session_initialize();
}
