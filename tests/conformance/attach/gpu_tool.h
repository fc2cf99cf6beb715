/* What the tool that is attached to a GPU program tells the test. */
#ifndef CONFORMANCE_ATTACH_GPU_TOOL_H
#define CONFORMANCE_ATTACH_GPU_TOOL_H

#include <stdatomic.h>

struct gpu_diary {
    _Atomic unsigned objects;    /* code objects told of */
    _Atomic unsigned symbols;    /* kernels told of */
    _Atomic unsigned hsa_calls;  /* ENTER of core functions */
    _Atomic unsigned dispatches; /* records */
    _Atomic unsigned named;      /* of these, with the id of a kernel called store_index */
    _Atomic unsigned timed;      /* of these, with an end after the start */
};

typedef struct gpu_diary *(*gpu_diary_fn)(void);

#endif
