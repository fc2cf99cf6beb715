/* Lines of the crocprof command about itself, and its exit statuses. */
#ifndef CLI_REFUSE_H
#define CLI_REFUSE_H

/* As a shell: 126 and 127 for programs that cannot be run, 128 and a signal's number. */
enum { EXIT_USAGE = 2, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_STARTED = 127, EXIT_SIGNAL = 128 };

/* Prints "crocprof: ..." to stderr and returns `status`. */
__attribute__((format(printf, 2, 3))) int refuse(int status, const char *format, ...);

#endif
