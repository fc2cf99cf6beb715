/* Whose rows writers get: those of the process that they run in, or of one that was recorded. */
#ifndef OUT_PROCESS_H
#define OUT_PROCESS_H

#include <stdint.h>

struct out_process {
    uint64_t pid, ppid;
    int64_t rank;             /* in its job; -1: it says none */
    int64_t init_ns, fini_ns; /* 0: not known */
    const char *command, *environment /* JSON */, *hostname, *machine_id, *extdata /* JSON */;
    /* What a thread was called, "" if nobody knows; NULL: of none. */
    const char *(*thread_name)(const void *of, uint64_t thread_id);
    const void *of;
};

/* NULL: this one. */
const struct out_process *out_process(void);
/* Before writers are opened; NULL: this one again. The pointer is kept. */
void out_process_set(const struct out_process *process);

/* The machine that the process runs, or ran, on. */
struct out_machine {
    char id[256];
    uint64_t hash, node; /* numbers made of it, as rocpd has them */
};
struct out_machine out_machine(void);

enum { THREAD_NAME_BYTES = 32 };
/* How the thread has named itself; "" of one that is gone. */
const char *out_thread_name(uint64_t thread_id, char name[THREAD_NAME_BYTES]);

#endif
