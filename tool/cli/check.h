/* `crocprof --internal-check`: runs with the program's environment and asks the library. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

/* CROCPROF_CHECK_MODE "counters": every name of ROCPROF_COUNTERS exists on some GPU; prints how
 * many runs collect them all; "list": prints the counters. Returns an exit status, messages go to
 * stderr.
 */
int cli_check(void);

#endif
