/* `crocprof --internal-check`: runs with the program's environment and asks the library. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

/* CROCPROF_CHECK_MODE "counters": every name of CROCPROF_COUNTERS exists on every GPU and the set
 * can be collected at once; "list": prints the counters. Returns an exit status, messages are
 * printed. */
int cli_check(void);

#endif
