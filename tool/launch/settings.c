#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void settings_default(struct settings *settings)
{
    *settings = (struct settings){0};
#define X(field, option, variable, value, help) settings->field = value;
    SETTINGS_BOOL(X)
#undef X
}

static const char *text_from(const char *variable)
{
    const char *value = secure_getenv(variable); /* among them what is written */
    return value && *value ? value : NULL;
}

static bool bool_from(const char *variable, bool otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strcmp(value, "0") != 0 : otherwise;
}

void settings_from_environment(struct settings *settings)
{
#define X(field, option, letter, value, variable, help) settings->field = text_from(variable);
    SETTINGS_TEXT(X)
#undef X
#define X(field, variable) settings->field = text_from(variable);
    SETTINGS_OWN(X)
#undef X
#define X(field, option, variable, value, help) settings->field = bool_from(variable, value);
    SETTINGS_BOOL(X)
#undef X
}

static int put(const char *variable, const char *value)
{
    int status = value ? setenv(variable, value, 1) : unsetenv(variable);
    return status ? -errno : 0;
}

int settings_to_environment(const struct settings *settings)
{
    int status = 0;
#define X(field, option, letter, value, variable, help)                                            \
    if (status == 0)                                                                               \
        status = put(variable, settings->field);
    SETTINGS_TEXT(X)
#undef X
#define X(field, variable)                                                                         \
    if (status == 0)                                                                               \
        status = put(variable, settings->field);
    SETTINGS_OWN(X)
#undef X
#define X(field, option, variable, value, help)                                                    \
    if (status == 0)                                                                               \
        status = put(variable, settings->field ? "1" : "0");
    SETTINGS_BOOL(X)
#undef X
    return status;
}

bool settings_list_next(const char **list, char *item, unsigned item_size)
{
    const char *at = *list + strspn(*list, ", \t");
    size_t length = strcspn(at, ", \t");
    *list = at + length;
    if (length == 0)
        return false;
    size_t kept = length < item_size ? length : item_size - 1;
    memcpy(item, at, kept);
    item[kept] = 0;
    return true;
}
