/*
 * The runtimes of this process: one instance for each that handed over tables. Any thread. The room
 * has one lock, which each function takes and under which nothing is called.
 */
#ifndef RUNTIME_INSTANCES_H
#define RUNTIME_INSTANCES_H

#include "model/runtime.h"

#include <pthread.h>

enum runtime_state {
    RUNTIME_ABSENT,    /* a place that was never taken */
    RUNTIME_OFFERED,   /* there is nothing of ours in its tables */
    RUNTIME_KEPT,      /* the same, and nobody has decided: it waits for tools */
    RUNTIME_INSTALLED, /* there are wrappers in its tables */
    RUNTIME_GONE,      /* it ended, or its library was closed; the same table may come again */
    RUNTIME_STATES
};

/* A copy of what is known: it stands for the instance in the calls below, which do nothing when
 * that has gone meanwhile. */
struct runtime_instance {
    const struct runtime_row *row;
    void *tables[RUNTIME_TABLES_MAX];
    uint64_t version;
    uint64_t number;     /* among the copies of that runtime in the process */
    const void *library; /* its first byte in memory; NULL: the tables are in no library */
    enum runtime_state state;
    uint64_t arrival;       /* the number of its coming among all of the process, from 1 on */
    uint32_t watchers_told; /* the first so many of watchers.h */
    bool is_announced;      /* its initialization was reported */
    bool kernels_missed;    /* when it was installed, nobody wanted kernels */
};

/* Which changes of state there are. */
bool runtime_state_may_follow(enum runtime_state from, enum runtime_state to);

/* `arrival` has row, tables, version and number; the number is made up when it is
 * RUNTIME_UNNUMBERED: a table that was here before gets its own again. Becomes the instance: a new
 * one, OFFERED, or the one that was known by that table. False: there are too many. */
#define RUNTIME_UNNUMBERED UINT64_MAX
bool runtime_arrive(struct runtime_instance *arrival);

/* Copies. False: past the last, for `at`; what was found there may be GONE. */
bool runtime_at(uint32_t index, struct runtime_instance *instance);

/* Makes the state `to`, if that may follow the present one. */
bool runtime_move(struct runtime_instance *instance, enum runtime_state to);

/* The first one that is KEPT becomes OFFERED. False: there is none. */
bool runtime_kept_take(struct runtime_instance *instance);
uint32_t runtime_kept_count(void);

/* True for one caller: its initialization is to be reported. */
bool runtime_announce(struct runtime_instance *instance);
/* One is announced and has not gone. */
bool runtime_is_known(enum runtime_kind kind);

/* How many watchers had been told before; from now on `count` have. */
uint32_t runtime_watchers_tell(struct runtime_instance *instance, uint32_t count);

void runtime_kernels_missed_set(const struct runtime_instance *instance, bool missed);
bool runtime_kernels_missed(void); /* of any that is there */

/* The instance of this table goes. */
void runtime_leave(enum runtime_kind kind, const void *table);
/* The only one of its kind that is there; NULL: none is, or several are. */
void *runtime_only_table(enum runtime_kind kind);

extern pthread_mutex_t runtime_lock __attribute__((visibility("hidden"))); /* for watchers.c */

/* A library was hooked that hands over no tables. */
void runtime_hooked_set(void);
bool runtime_is_hooked(void);

void runtimes_on_fork_prepare(void);
void runtimes_on_fork_parent(void);
void runtimes_on_fork_child(void);

#endif
