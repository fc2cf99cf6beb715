/*
 * In a process that the profiler was attached to: it may come again, with other settings of files
 * and tables, but what is collected was configured when it came first.
 */
#ifndef COLLECT_ATTACHED_H
#define COLLECT_ATTACHED_H

#include "launch/settings.h"

/* The attacher has said that it is one. */
bool attached_is(void);

/* Copies what the environment says now to `settings`, whose texts stay valid. False after a line:
 * something else is to be collected. */
bool attached_again(struct settings *settings);

/* The first time: the settings are kept as they are, whatever becomes of the environment. */
void attached_first(struct settings *settings);

#endif
