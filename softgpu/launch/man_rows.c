/* The options of crocgpu as rows of gen/man_page.py, which makes the manual page of them. */
#include "launch/options.h"

int main(void)
{
#define X(option, letter, value, help)                                                             \
    printf("%s\t%s\t%.*s\t%s\t\t\t%s%c", SECTION, option, letter ? 1 : 0, (const char[]){letter},  \
           value ? value : "", help, 0);
#define SECTION "OPTIONS"
    LAUNCH_OPTIONS(X)
#undef SECTION
#define SECTION "PM4"
    PM4_OPTIONS(X)
#undef SECTION
#undef X
    return ferror(stdout) != 0;
}
