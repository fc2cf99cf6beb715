#include "call_arguments.h"

#include <stdlib.h>
#include <string.h>

void arguments_begin(struct arguments_read *arguments)
{
    arguments->used = arguments->count = 0;
}

bool arguments_add(struct arguments_read *arguments, int64_t position, const char *type,
                   const char *name, const char *value)
{
    const char *const texts[] = {type ? type : "", name ? name : "", value ? value : ""};
    const size_t bytes = strlen(texts[0]) + strlen(texts[1]) + strlen(texts[2]) + 3;
    if (arguments->count == ARGUMENTS_MAX || bytes > sizeof arguments->as_read - arguments->used)
        return false;
    arguments->places[arguments->count++] =
        (struct argument_place){position, arguments->used, (uint32_t)bytes};
    char *at = arguments->as_read + arguments->used;
    for (int i = 0; i < 3; i++)
        at = stpcpy(at, texts[i]) + 1;
    arguments->used += (uint32_t)bytes;
    return true;
}

static int by_position(const void *left, const void *right)
{
    const struct argument_place *a = left, *b = right;
    return a->position != b->position ? (a->position > b->position) - (a->position < b->position)
                                      : (a->at > b->at) - (a->at < b->at);
}

void arguments_end(struct arguments_read *arguments, struct out_api_row *row)
{
    qsort(arguments->places, arguments->count, sizeof arguments->places[0], by_position);
    char *at = arguments->in_order;
    for (uint32_t i = 0; i < arguments->count; i++)
        at = mempcpy(at, arguments->as_read + arguments->places[i].at, arguments->places[i].bytes);
    row->arguments = arguments->count > 0 ? arguments->in_order : NULL;
    row->arguments_bytes = arguments->used;
}
