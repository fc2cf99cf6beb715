/*
 * A runtime, as the engine knows it: a row, and what can be done with it. `runtime_rows` is made by
 * src/intercept/runtimes.c; src/runtime keeps what came into the process, src/session decides what
 * becomes of it. Adding a runtime is a row and a table of operations.
 */
#ifndef MODEL_RUNTIME_H
#define MODEL_RUNTIME_H

#include <rocprofiler-sdk/intercept_table.h>
#include <stdbool.h>
#include <stdint.h>

enum runtime_kind {
    RUNTIME_HSA,
    RUNTIME_HIP,
    RUNTIME_HIP_COMPILER,
    RUNTIME_ROCTX,
    RUNTIME_RCCL,
    RUNTIME_ROCDECODE,
    RUNTIME_ROCJPEG,
    RUNTIME_ROCSHMEM,
    RUNTIME_HIPFILE,
    RUNTIME_ROCATTACH,
    RUNTIME_THUNK,
    RUNTIME_OPENMP,
    RUNTIME_KINDS
};

enum { RUNTIME_TABLES_MAX = 3 };

struct runtime_row;
struct ompt_start_tool_result_t;

/* Any of them may be NULL: there is nothing to do. They are called with no lock held, on any
 * thread, and none waits for a tool. */
struct runtime_ops {
    /* ---- a runtime that hands over tables */
    /* It offers them, for the first time or again, wanted or not. */
    void (*offer)(void *const *tables);
    /* Puts wrappers into the slots that configured services need; again for who came meanwhile.
     * False: nothing could be intercepted. */
    bool (*install)(const struct runtime_row *row, void *const *tables, uint64_t version);
    /* More is wanted now of those that are installed; NULL: `install` once more does that. */
    void (*refresh)(void);
    /* It goes, and its tables with it; it still answers. Ends with runtime_leave(), at the moment
     * from which on it is not to be asked any more. NULL: that is all there is to do. */
    void (*forget)(void *table);
    /* The table of the runtime that goes just now; it does not say itself which one that is.
     * `caller`: the address that its call returns to. NULL: nobody can tell. */
    void *(*leaving)(const void *caller);

    /* ---- other ways in */
    /* Hooks a library of the process that hands over none, if it is there: `ready` runs at its
     * first call. May ask the library, which may offer tables on this thread meanwhile. True when
     * hooked. May be called again. */
    bool (*hook)(void (*ready)(void));
    /* Tools are configured, or one more is: hooks that nobody needs may go, and come again. True
     * when some went: `ready` will not run. */
    bool (*calls_want)(void);
    /* Libraries were loaded, or who wants their calls has changed. */
    void (*follow)(void);
    /* Who wants reports of finished work has changed. */
    void (*work_want)(void);
    /* What the runtime is answered when it asks for a tool; NULL: nothing. */
    struct ompt_start_tool_result_t *(*tool)(void);
    int (*tool_initialized)(void); /* 0, 1, -1 as the SDK reports them */
    int (*tool_finalized)(void);

    /* ---- its work; only once it was installed */
    void (*work_collect)(void); /* reports (bounded) the work that has ended already */
    bool (*work_wait)(void);  /* for the work submitted so far; false: nothing moved for seconds */
    void (*work_drain)(void); /* waits (bounded) until completions of known work were reported */
    void (*objects_unload)(void); /* reports UNLOAD for code objects that still live */
    /* Tells of every code object that is loaded and of its kernels, LOAD phase, to somebody who was
     * not there: `operation` of TRACE_CODE_OBJECT, `payload` a copy. */
    void (*objects_announce)(void (*tell)(int32_t operation, void *payload, void *data),
                             void *data);
};

struct runtime_row {
    enum runtime_kind kind; /* its own place */
    const char *name;       /* as rocprofiler-register calls it; NULL: it offers nothing */
    const char *library;    /* whose presence means that there is one; NULL: nobody asks */
    uint32_t table_count;   /* 0: what it offers is of no use to us */
    int32_t initialization; /* rocprofiler_runtime_initialization_operation_t; 0: no record */
    bool has_queues;        /* kernels on queues that were made unseen stay unseen */
    rocprofiler_intercept_table_t tables[RUNTIME_TABLES_MAX];
    const struct runtime_ops *ops; /* NULL: none */
};

extern const struct runtime_row runtime_rows[RUNTIME_KINDS] __attribute__((visibility("hidden")));

#endif
