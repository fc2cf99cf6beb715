/*
 * Who works on the report and its files: the delivery thread a few records at a time, the one who
 * ends the program or leaves it by exec, and a fork, in whose child nothing may be half done. A
 * lock that does not let the delivery thread take it again at once when another waits. Its owner
 * has the C locale: the program's may have commas in its numbers.
 */
#ifndef COLLECT_TURN_H
#define COLLECT_TURN_H

#include <stdbool.h>

void turn_take(void);
/* The delivery thread takes its turns by this. */
void turn_take_politely(void);
/* The delivery thread gets no turn until it is let: the process may be about to become another one.
 */
void turn_hold(bool hold);
/* Also in a forked child, by the thread that took it. */
void turn_give(void);
/* In a forked child, which has none of the threads that wait in its parent. */
void turn_forget_waiting(void);

#endif
