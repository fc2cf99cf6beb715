/* ROCTX: the marker library calls one function at every marker, which passes it on. */
#include "api/roctracer/internal.h"

#include "base/callback.h"
#include "base/log.h"

#include <dlfcn.h>

typedef int (*tracer_fn)(uint32_t domain, uint32_t operation, void *data);

/* Returns 0 when somebody listens. A call without data only asks that. */
static int on_marker(uint32_t domain, uint32_t operation, void *data)
{
    if (domain != ACTIVITY_DOMAIN_ROCTX || operation >= ROCTX_API_ID_NUMBER)
        return -1;
    const struct registration *registration = registration_of(ACTIVITY_DOMAIN_ROCTX, operation);
    if (!registration)
        return -1;
    if (data)
        CALLBACK(registration->callback(ACTIVITY_DOMAIN_ROCTX, operation, data, registration->arg));
    return 0;
}

static bool anybody_listens(void)
{
    for (uint32_t op = 0; op < ROCTX_API_ID_NUMBER; op++)
        if (registration_of(ACTIVITY_DOMAIN_ROCTX, op))
            return true;
    return false;
}

/* The library may have been opened locally. NULL: it is not there. */
static void *hook_find(void)
{
    static const char *const names[] = {"libroctx64.so.4", "libroctx64.so"};
    void *hook = dlsym(RTLD_DEFAULT, "roctxRegisterTracerCallback");
    for (size_t i = 0; !hook && i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        hook = library ? dlsym(library, "roctxRegisterTracerCallback") : NULL;
        if (library && !hook)
            dlclose(library);
    }
    return hook;
}

void markers_follow(void)
{
    void (*hook)(tracer_fn callback);
    *(void **)&hook = hook_find();
    bool listens = anybody_listens();
    if (!hook && listens)
        log_info("roctracer", "no marker library in the process: its markers are not seen");
    if (!hook)
        return;
    /* Another thread may switch meanwhile: whoever hooks last looks again at what is true then. */
    do {
        listens = anybody_listens();
        hook(listens ? on_marker : NULL);
    } while (listens != anybody_listens());
}

/* While nobody listens here, the hook is left alone: it may be another tracer's. */
void markers_found(void)
{
    if (anybody_listens())
        markers_follow();
}
