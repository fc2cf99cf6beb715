#include "out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct out_ops *const formats[] = {&out_csv_ops,     &out_json_ops, &out_rocpd_ops,
                                                &out_pftrace_ops, &out_otf2_ops, &out_html_ops};

const char *out_default_format(void)
{
    return "rocpd";
}

const char *out_default_formats(void)
{
    return "csv,rocpd";
}

const struct out_ops *out_find(const char *name)
{
    if (strcasecmp(name, "sqlite") == 0)
        return &out_rocpd_ops;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

int out_names(char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0] && used < size; i++)
        used +=
            (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "", formats[i]->name);
    return used < size ? 0 : -E2BIG;
}
