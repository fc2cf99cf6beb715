/*
 * codes_test HIP_PROF_STR_H...: numbers of HIP's functions in a process without HIP. The headers
 * are of several releases, newest first: a name has the number that the newest one with it says.
 */
#include <roctracer/roctracer.h>

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 2000, NAME_BYTES = 96 };

static char names[NAMES_MAX][NAME_BYTES];
static unsigned name_count, wrong;

static int is_new(const char *name)
{
    for (unsigned i = 0; i < name_count; i++)
        if (!strcmp(names[i], name))
            return 0;
    if (name_count < NAMES_MAX)
        strcpy(names[name_count++], name);
    return 1;
}

static void check(const char *name, uint32_t number)
{
    uint32_t op = 0, kind = 7;
    roctracer_status_t status = roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, name, &op, &kind);
    if (status == ROCTRACER_STATUS_SUCCESS && op == number && kind == 0)
        return;
    printf("%s: status %d, number %u, the header says %u\n", name, status, op, number);
    wrong++;
}

static int header_read(const char *path)
{
    char line[512], name[NAME_BYTES];
    unsigned number, found = 0;
    FILE *header = fopen(path, "r");
    while (header && fgets(line, sizeof line, header)) {
        if (sscanf(line, " HIP_API_ID_%95[a-zA-Z0-9_] = %u,", name, &number) != 2)
            continue;
        found++;
        if (strcmp(name, "NONE") && strcmp(name, "FIRST") && strcmp(name, "LAST") && is_new(name) &&
            strncmp(name, "RESERVED", 8))
            check(name, number);
    }
    if (header)
        fclose(header);
    return found > 300;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!header_read(argv[i])) {
            printf("%s: no header of HIP's numbers\n", argv[i]);
            return 1;
        }
    printf("%u names, %u wrong\n", name_count, wrong);
    return wrong || name_count < 300;
}
