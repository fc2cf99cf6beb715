/*
 * What the HIP library of this process knows of its functions and their arguments, for front ends
 * that show it in the library's own terms. Made by src/intercept/hip, handed to front ends by
 * session: neither knows the other.
 */
#ifndef MODEL_HIP_FACTS_H
#define MODEL_HIP_FACTS_H

#include "model/trace.h"

#include <rocprofiler-sdk/hip.h>

struct hip_function {
    const char *name; /* the library's */
    enum trace_domain domain;
    int32_t operation; /* -1: nobody knows this function, it cannot be traced */
};

enum { HIP_DATA_BYTES_MAX = 1536 };

/* trace_frame's `native` of calls that the library itself reports. */
struct hip_native {
    void *data;          /* its hip_api_data_t */
    uint32_t id;         /* its number of the function */
    uint32_t phase_data; /* where in it a tool's word is pointed to; 0: nowhere */
};

/* Any thread, no lock held. */
struct hip_facts {
    /* `hook` runs with no lock held when the library was hooked, and when it has offered its
     * tables. One for the process. */
    void (*on_armed)(void (*hook)(void));

    /* Calls are seen in tables, so that frames carry no struct hip_native. */
    bool (*in_tables)(void);

    /* Makes a hip_api_data_t, as the header of the library's release lays it out: zeroes but for
     * the arguments. Returns where in it a tool's word is to be pointed to; 0: no release is known
     * to have the function, or no tables came, and nothing was written. */
    uint32_t (*data_write)(enum trace_domain domain, int32_t operation,
                           const rocprofiler_hip_api_args_t *args, void *data);

    /* The library's own numbers of its functions, 1 and up, known when it is hooked; those of its
     * release when it has only offered tables. */
    uint32_t (*function_end)(void); /* one more than the largest; 0: not hooked */
    bool (*function)(uint32_t id, struct hip_function *function); /* false: no such */

    /* These work without a library. A function has the number of the newest release that has one of
     * this name; its name is returned, and stays; NULL: no release has it. Sixteen functions have
     * other numbers in other releases. */
    const char *(*listed_function)(const char *name, uint32_t *id);
    uint32_t (*listed_end)(void); /* one more than the largest of any release */

    /* What the `kind` of a TRACE_HIP_OPERATION report means; NULL: unknown, or no library. */
    const char *(*command_name)(uint32_t kind);

    /* Returns when every command is reported, or about 50 ms after the last report: commands may
     * still run, and HIP 6 asks about a command more than once, so that nobody can tell. */
    void (*operations_settle)(void);
};

extern const struct hip_facts hip_facts __attribute__((visibility("hidden")));

#endif
