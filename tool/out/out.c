#include "out.h"

#include <string.h>

static const struct out_ops *const formats[] = {&out_csv_ops, &out_sqlite_ops, &out_pftrace_ops};

const struct out_ops *out_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
