/*
 * Whose process this is. Children of fork() have run the handlers that make them processes of their
 * own. Those of vfork(), clone() and _Fork() have not: whatever of ours is in them, threads, files
 * and records, is their parent's, whose memory it may even be. They leave it alone.
 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* False in such a child. A system call; any thread, signal handlers too. */
bool process_is_own(void);

/* getpid() without a system call; any thread. In children that fork() has not made: the parent's.
 */
uint32_t process_id(void);

#endif
