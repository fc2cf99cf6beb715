/* Build step: reads the YAML of data/counters and writes the C of counters/builtin.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/builtin.h"
#include "counters/definition.h"

/* The tool links the loader, whose table of built-in rows is what it is about to make. */
const struct builtin_definition builtin_definitions[1];
const uint32_t builtin_definition_count = 0;
const char builtin_text[1];

struct text_table {
    char *text;
    uint32_t used, capacity;
};

/* The offset of a string in the text, added on first use; 0 stands for NULL. */
static uint32_t intern(struct text_table *t, const char *string)
{
    if (!string)
        return 0;
    uint32_t bytes = (uint32_t)strlen(string) + 1;
    for (uint32_t at = 1; at < t->used; at += (uint32_t)strlen(t->text + at) + 1) {
        if (strcmp(t->text + at, string) == 0)
            return at;
    }
    if (t->used + bytes > t->capacity) {
        t->capacity = (t->capacity + bytes) * 2;
        t->text = realloc(t->text, t->capacity);
        if (!t->text)
            exit(2);
    }
    memcpy(t->text + t->used, string, bytes);
    t->used += bytes;
    return t->used - bytes;
}

static void write_text(FILE *out, const struct text_table *t)
{
    fprintf(out, "const char builtin_text[] =");
    for (uint32_t at = 0; at < t->used; at += (uint32_t)strlen(t->text + at) + 1) {
        fprintf(out, "\n    \"");
        for (const char *c = t->text + at; *c; c++)
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fprintf(out, "\\0\"");
    }
    fprintf(out, ";\n");
}

int main(int argc, char **argv)
{
    struct definition_set *set = definitions_create();
    struct text_table texts = {.text = calloc(1, 1 << 16), .used = 1, .capacity = 1 << 16};
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    uint32_t count;
    if (!set || !out || !texts.text) {
        fprintf(stderr, "usage: builtin_make OUT.c FILE.yaml ...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        if (definitions_load_file(set, argv[i]) != 0)
            return 1;
    }
    const struct counter_definition *all = definitions_all(set, &count);
    fprintf(out,
            "/* Made by builtin_make from data/counters. */\n#include \"counters/builtin.h\"\n");
    fprintf(out, "const struct builtin_definition builtin_definitions[] = {\n");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = intern(&texts, all[i].name);
        uint32_t architectures = intern(&texts, all[i].architectures);
        uint32_t block = intern(&texts, all[i].block);
        uint32_t expression = intern(&texts, all[i].expression);
        uint32_t description = intern(&texts, all[i].description);
        fprintf(out, "    {%u, %u, %u, %u, %u, %u},\n", name, architectures, block, expression,
                description, all[i].event);
    }
    fprintf(out, "};\nconst uint32_t builtin_definition_count = %u;\n", count);
    write_text(out, &texts);
    definitions_destroy(set);
    free(texts.text);
    return fclose(out) == 0 ? 0 : 1;
}
