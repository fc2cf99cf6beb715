/* crocgpu pm4: disassembles PM4 command buffers, binary or as hexadecimal text. */
#include "launch/pm4.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump.h"
#include "launch/options.h"

enum { STATUS_OK, STATUS_NOT_ALL, STATUS_USAGE };
enum { INPUT_BYTES_MAX = 256 << 20, READ_BYTES = 1 << 16, LINE_BYTES = 4096 };

static void usage_print(FILE *file)
{
    fputs("usage: crocgpu pm4 [--gfx NAME] FILE...\n"
          "Disassembles PM4 command buffers; - is the standard input.\n",
          file);
#define X(option, letter, value, help) launch_option_print(file, option, letter, value, help);
    PM4_OPTIONS(X)
#undef X
    fputs("A file holds little-endian dwords, or text: hexadecimal dwords between blanks and "
          "commas;\n"
          "words that end with a colon, and all from # to the end of a line, are skipped.\n"
          "Exit status: 0, 1 when a part was not understood, 2 when an argument is wrong.\n",
          file);
}

struct bytes {
    unsigned char *data;
    size_t count, capacity;
};

static int bytes_read(FILE *file, struct bytes *bytes)
{
    size_t got;
    do {
        if (bytes->capacity - bytes->count < READ_BYTES) {
            size_t capacity = bytes->capacity * 2 + READ_BYTES;
            unsigned char *grown = realloc(bytes->data, capacity);
            if (!grown)
                return ENOMEM;
            bytes->data = grown;
            bytes->capacity = capacity;
        }
        got = fread(bytes->data + bytes->count, 1, bytes->capacity - bytes->count, file);
        bytes->count += got;
        if (bytes->count > INPUT_BYTES_MAX)
            return EFBIG;
    } while (got);
    return ferror(file) ? EIO : 0;
}

static int is_text(const struct bytes *bytes)
{
    for (size_t i = 0; i < bytes->count; i++) {
        if (!isprint(bytes->data[i]) && !isspace(bytes->data[i]))
            return 0;
    }
    return 1;
}

/* Reads one word of text. Returns 1 with *dword, 0 when the word is to be skipped, or -1 when it is
 * no dword. */
static int word_read(const char *word, size_t length, uint32_t *dword)
{
    if (word[length - 1] == ':')
        return 0;
    if (length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
        word += 2;
        length -= 2;
    }
    if (length > 8)
        return -1;
    *dword = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isxdigit((unsigned char)word[i]))
            return -1;
        *dword = *dword << 4 | (uint32_t)(isdigit((unsigned char)word[i])
                                              ? word[i] - '0'
                                              : tolower((unsigned char)word[i]) - 'a' + 10);
    }
    return 1;
}

static int is_separator(unsigned char c)
{
    return isspace(c) || c == ',';
}

/* Returns 0, -1 when there were words that are no dwords, or an errno. */
static int text_parse(const char *name, const struct bytes *text, struct bytes *dwords)
{
    unsigned line = 1;
    int status = 0;
    dwords->data = malloc(text->count * sizeof(uint32_t) + 1);
    if (!dwords->data)
        return ENOMEM;
    for (size_t i = 0; i < text->count;) {
        size_t start = i;
        uint32_t dword;
        if (text->data[i] == '#') {
            while (i < text->count && text->data[i] != '\n')
                i++;
            continue;
        }
        if (is_separator(text->data[i])) {
            line += text->data[i++] == '\n';
            continue;
        }
        while (i < text->count && !is_separator(text->data[i]) && text->data[i] != '#')
            i++;
        int kind = word_read((const char *)text->data + start, i - start, &dword);
        if (kind < 0) {
            fprintf(stderr, "crocgpu: %s:%u: \"%.*s\" is not a dword\n", name, line,
                    (int)(i - start < 40 ? i - start : 40), text->data + start);
            status = -1;
        } else if (kind > 0) {
            memcpy(dwords->data + dwords->count, &dword, sizeof dword);
            dwords->count += sizeof dword;
        }
    }
    return status;
}

/* Equal dwords that are no packets make one line. Returns how many. */
static uint32_t unknown_print(const uint32_t *dwords, uint32_t count, uint32_t at)
{
    uint32_t same = 1;
    while (at + same < count && dwords[at + same] == dwords[at])
        same++;
    printf("%6u: %08x not a packet", at, dwords[at]);
    printf(same > 1 ? " (%u times)\n" : "\n", same);
    return same;
}

static int dwords_print(enum dump_family family, const uint32_t *dwords, uint32_t count)
{
    static char text[LINE_BYTES];
    int status = STATUS_OK;
    for (uint32_t at = 0; at < count;) {
        struct dump_packet packet;
        uint32_t length = dump_decode(dwords + at, count - at, &packet);
        if (length == 0) {
            at += unknown_print(dwords, count, at);
            status = STATUS_NOT_ALL;
            continue;
        }
        dump_format(family, &packet, text, sizeof text);
        printf("%6u: %s\n", at, text);
        at += length;
    }
    return status;
}

static int bytes_print(const char *name, enum dump_family family, const struct bytes *bytes)
{
    uint32_t count = (uint32_t)(bytes->count / sizeof(uint32_t));
    uint32_t *dwords = malloc(count * sizeof *dwords + 1);
    if (!dwords) {
        fprintf(stderr, "crocgpu: %s: %s\n", name, strerror(ENOMEM));
        return STATUS_NOT_ALL;
    }
    memcpy(dwords, bytes->data, count * sizeof *dwords);
    int status = dwords_print(family, dwords, count);
    free(dwords);
    if (bytes->count % sizeof(uint32_t)) {
        fprintf(stderr, "crocgpu: %s: %zu bytes after the last dword\n", name,
                bytes->count % sizeof(uint32_t));
        status = STATUS_NOT_ALL;
    }
    return status;
}

static int file_print(const char *name, enum dump_family family)
{
    struct bytes input = {0}, parsed = {0};
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    int error = file ? bytes_read(file, &input) : errno, status = STATUS_NOT_ALL;
    if (!error && is_text(&input)) {
        error = text_parse(name, &input, &parsed);
        free(input.data);
        input = parsed;
    }
    if (error > 0)
        fprintf(stderr, "crocgpu: %s: %s\n", name, strerror(error));
    else
        status = bytes_print(name, family, &input);
    free(input.data);
    if (file && file != stdin)
        fclose(file);
    return error ? STATUS_NOT_ALL : status;
}

static int wrong(const char *what, const char *argument)
{
    fprintf(stderr, "crocgpu: pm4: %s %s\n", what, argument);
    usage_print(stderr);
    return STATUS_USAGE;
}

int pm4_command(int argc, char **argv)
{
    int family = DUMP_GFX9, at = 0, status = STATUS_OK;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        const char *name = NULL;
        if (strcmp(argv[at], "-h") == 0 || strcmp(argv[at], "--help") == 0) {
            usage_print(stdout);
            return STATUS_OK;
        }
        if (strncmp(argv[at], "--gfx=", 6) == 0)
            name = argv[at] + 6;
        else if (strcmp(argv[at], "--gfx") == 0 && at + 1 < argc)
            name = argv[++at];
        else
            return wrong("unknown or incomplete option", argv[at]);
        family = dump_family_find(name);
        if (family < 0)
            return wrong("no registers are known of", name);
    }
    if (at == argc)
        return wrong("which", "file?");
    for (; at < argc; at++) {
        int one = file_print(argv[at], (enum dump_family)family);
        status = one > status ? one : status;
    }
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "crocgpu: pm4: cannot write: %s\n", strerror(errno));
        return STATUS_NOT_ALL;
    }
    return status;
}
