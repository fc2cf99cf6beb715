/* `crocprof --internal-check`: runs with the program's environment and asks the library. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

/* Every name of ROCPROF_COUNTERS exists on some GPU; prints how many runs collect them all. Returns
 * an exit status, messages go to stderr. */
int cli_check(void);

#endif
