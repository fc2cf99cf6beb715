#include "topology/visibility.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* True when the entry is valid; *match says whether it names this GPU. */
static bool entry_match(const char *entry, int32_t ordinal, uint64_t unique_id, bool *match)
{
    char *end;
    while (isspace((unsigned char)*entry))
        entry++;
    if (strncasecmp(entry, "GPU-", 4) == 0) {
        uint64_t id = strtoull(entry + 4, &end, 16);
        *match = unique_id != 0 && id == unique_id;
        return end != entry + 4;
    }
    if (!isdigit((unsigned char)*entry))
        return false;
    *match = strtol(entry, &end, 10) == ordinal;
    return true;
}

int32_t visibility_position(const char *list, int32_t ordinal, uint64_t unique_id)
{
    if (!list)
        return ordinal;
    for (int32_t position = 0;; position++) {
        bool match = false;
        if (!entry_match(list, ordinal, unique_id, &match))
            return -1;
        if (match)
            return position;
        list = strchr(list, ',');
        if (!list)
            return -1;
        list++;
    }
}
