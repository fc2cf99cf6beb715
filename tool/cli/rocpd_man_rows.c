/* The commands of rocpd as rows of gen/man_page.py, which makes the manual page of them. */
#include <stdio.h>

#include "command_rows.h"
#include "commands/table.h"

int main(void)
{
    for (const struct command *const *command = rocpd_commands_table; *command; command++)
        man_command_rows(*command);
    printf("OWN\thelp\th\t\t\t\tshows the commands, or a command\047s options%c", 0);
    printf("OWN\tversion\tv\t\t\t\tshows the version%c", 0);
    return ferror(stdout) != 0;
}
