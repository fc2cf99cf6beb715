/* A command that asks the library begins again as a process in which the software GPU is there from
 * the first instruction. */
#ifndef AVAIL_INSIDE_H
#define AVAIL_INSIDE_H

#include <stdbool.h>

/* First of all: keeps the words of this process's command, whose order others may change. */
void inside_note(int count, char **words);

/* True in that process, whose variables are those of the caller again. Otherwise becomes it, with
 * the same words, or returns false after a line to stderr. */
bool inside_enter(void);

#endif
