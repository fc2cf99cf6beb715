/* How far the process has come: one way, and everybody may look or wait. Private to session. */
#ifndef SESSION_STAGE_H
#define SESSION_STAGE_H

#include "session/session.h"

/* Which changes there are; session.h has the stages. */
bool stage_may_follow(enum session_stage from, enum session_stage to);

/* Wakes who waits. False, and nothing changes, when that may not follow. */
bool stage_reach(enum session_stage to);
void stage_wait_ready(void);

/* The state of a tool also moves step by step: it is changed and waited for in the same way. */
void stage_state_reach(_Atomic int *state, int value);
/* False: it took longer than the limit. */
bool stage_state_wait(const _Atomic int *state, int wanted, unsigned limit_seconds);
bool stage_wait_done(unsigned limit_seconds);

/* This thread configures a tool that was attached: nobody else's configuration is unlocked. */
void stage_configure_here(bool configuring);
/* The tool that is being configured or initialised, by its handle; 0: none. */
void stage_client_set(uint32_t handle);

void stage_on_fork_child(void);

#endif
