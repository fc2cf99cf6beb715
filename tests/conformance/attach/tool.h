/* What the attached tool tells the test, which finds `attach_diary` in it with dlsym. */
#ifndef CONFORMANCE_ATTACH_TOOL_H
#define CONFORMANCE_ATTACH_TOOL_H

#include <stdatomic.h>
#include <stdint.h>

struct attach_diary {
    char calls[4096];        /* "configure configure_attach initialize attach detach " ... */
    _Atomic unsigned enters; /* HIP calls seen as callbacks */
    _Atomic unsigned exits;
    _Atomic unsigned records;                    /* HIP calls seen as records */
    unsigned records_at_detach;                  /* delivered before the tool was told */
    unsigned contexts;                           /* that tool_attach was given */
    unsigned active_at_attach, active_at_detach; /* of these */
    unsigned tables;                             /* that watchers were told of */
    int attachment;                              /* said while it initialises */
    int locked;                                  /* what create_context answers from tool_attach */
    int nested;     /* what rocprofiler_register_attach answers from tool_attach */
    char value[64]; /* of ATTACH_VALUE while it initialises */
};

typedef struct attach_diary *(*attach_diary_fn)(void);
/* The tool detaches itself. */
typedef void (*attach_leave_fn)(void);

#endif
