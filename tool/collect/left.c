#include "left.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "launch/reach.h"
#include "launch/run_log.h"

static bool brings_us(char *const environment[])
{
    for (; environment && *environment; environment++)
        if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
            return strstr(*environment, "crocprof-tool.so") || strstr(*environment, "sdk-tool.so");
    return false;
}

/* Where nothing is collected in the end, this may be why. */
void left_tell(const char *path, char *const environment[])
{
    enum { SENTENCE_BYTES = PATH_MAX + 256 };
    char sentence[SENTENCE_BYTES];
    enum reach reach = reach_of(path);
    if (reach == REACH_YES && brings_us(environment))
        return;
    char *at = stpncpy(sentence, path, PATH_MAX - 1);
    at = stpcpy(at, reach == REACH_YES ? ", which it became, was started without LD_PRELOAD in its "
                                         "environment; keep that variable"
                                       : ", which it became, ");
    if (reach != REACH_YES)
        stpcpy(stpcpy(stpcpy(at, reach_word(reach)), "; "), reach_advice(reach));
    run_log_put(RUN_LOG_LEFT, sentence);
}
