#include "json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

size_t json_character_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc2 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* Neither a longer spelling of a shorter one, nor half of a pair, nor beyond the last plane. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

static void control_put(struct writer *writer, unsigned char value)
{
    static const struct {
        char value, letter;
    } letters[] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'},
                   {'\r', 'r'}, {'\b', 'b'},  {'\f', 'f'}};
    char text[8];
    int length = snprintf(text, sizeof text, "\\u%04x", value);
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].value == (char)value)
            length = snprintf(text, sizeof text, "\\%c", letters[i].letter);
    writer_bytes(writer, text, (size_t)length);
}

void json_text(struct writer *writer, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    writer_char(writer, '"');
    while (*at) {
        size_t length = json_character_length((const char *)at);
        if (*at < 0x20 || *at == '"' || *at == '\\')
            control_put(writer, *at);
        else if (length == 0)
            writer_bytes(writer, replacement, sizeof replacement - 1);
        else
            writer_bytes(writer, (const char *)at, length);
        at += length ? length : 1;
    }
    writer_char(writer, '"');
}

void json_raw(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

void json_double(struct writer *writer, double value)
{
    char text[32];
    if (value >= 0 && value < 9007199254740992.0 && value == (double)(uint64_t)value) {
        writer_u64(writer, (uint64_t)value);
        json_raw(writer, ".0");
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    json_raw(writer, isfinite(value) ? text : "null");
}

void json_member(struct writer *writer, const char *name)
{
    json_raw(writer, "\"");
    json_raw(writer, name);
    json_raw(writer, "\":");
}

void json_member_u64(struct writer *writer, const char *name, uint64_t value)
{
    json_member(writer, name);
    writer_u64(writer, value);
    writer_char(writer, ',');
}

void json_member_text(struct writer *writer, const char *name, const char *text)
{
    json_member(writer, name);
    json_text(writer, text ? text : "");
    writer_char(writer, ',');
}

void json_member_handle(struct writer *writer, const char *name, uint64_t handle)
{
    json_member(writer, name);
    json_raw(writer, "{\"handle\":");
    writer_u64(writer, handle);
    json_raw(writer, "},");
}
