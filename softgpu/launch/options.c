#include "launch/options.h"

#include <string.h>

enum { NAME_COLUMNS = 16 };

void launch_option_print(FILE *file, const char *option, char letter, const char *value,
                         const char *help)
{
    char name[80];
    char short_form[] = {'-', letter, ',', ' ', 0};
    snprintf(name, sizeof name, "%s--%s%s%s", letter ? short_form : "", option, value ? " " : "",
             value ? value : "");
    fprintf(file, "  %-*s", NAME_COLUMNS, name);
    for (const char *end; (end = strchr(help, '\n')); help = end + 1)
        fprintf(file, "%.*s\n  %*s", (int)(end - help), help, NAME_COLUMNS, "");
    fprintf(file, "%s\n", help);
}
