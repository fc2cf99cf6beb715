/*
 * Build step: the compiled-in definitions as a metrics file of ROC Profiler v1, so that both
 * say the same.
 *
 *   metrics_xml_make OUT.xml
 *
 * What all GPUs of a family have stands in a part of its own, their parts are based on it. Computed
 * counters become expressions of that format: reduce(NAME,sum) is written sum(NAME), and a hardware
 * counter that is not reduced is summed, because there a name alone means one instance.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/definition.h"

enum { ARCHITECTURES_MAX = 64, NAME_BYTES = 16, TEXT_MAX = 4096 };

static struct definition_set *set;
static char architectures[ARCHITECTURES_MAX][NAME_BYTES];
static int architecture_count;
static FILE *out;

/* ---- architectures */

static void architecture_add(const char *name, size_t length)
{
    for (int i = 0; i < architecture_count; i++)
        if (strlen(architectures[i]) == length && !strncmp(architectures[i], name, length))
            return;
    if (architecture_count == ARCHITECTURES_MAX || length >= NAME_BYTES)
        exit(1);
    snprintf(architectures[architecture_count++], NAME_BYTES, "%.*s", (int)length, name);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void architectures_list(const struct counter_definition *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (const char *at = all[i].architectures; *at;) {
            size_t length = strcspn(at, "/");
            architecture_add(at, length);
            at += length + (at[length] == '/');
        }
    }
    qsort(architectures, (size_t)architecture_count, NAME_BYTES, compare);
}

/* "gfx9" of "gfx9" and "gfx90a", "gfx10" of "gfx1030". */
static void family_of(const char *architecture, char family[NAME_BYTES])
{
    size_t length = strlen(architecture);
    int is_family = length == 4 || (length == 5 && strncmp(architecture, "gfx1", 4) == 0);
    snprintf(family, NAME_BYTES, "%.*s", (int)(is_family ? length : length - 2), architecture);
}

static int is_of_family(const char *architecture, const char *family)
{
    char own[NAME_BYTES];
    family_of(architecture, own);
    return strcmp(own, family) == 0;
}

static int is_common(const struct counter_definition *definition, const char *family)
{
    for (int i = 0; i < architecture_count; i++)
        if (is_of_family(architectures[i], family) &&
            definition_find(set, definition->name, architectures[i]) != definition)
            return 0;
    return 1;
}

/* ---- expressions */

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

static int is_hardware(const char *word, size_t length, const char *architecture)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const struct counter_definition *found = definition_find(set, name, architecture);
    return found && found->block;
}

/* The end of what stands in brackets, at its ')'. */
static const char *closing_of(const char *text)
{
    int depth = 0;
    for (; *text && (depth > 0 || *text != ')'); text++)
        depth += (*text == '(') - (*text == ')');
    return text;
}

static const char *reduce_write(const char *text, FILE *to)
{
    const char *end = closing_of(text), *comma = end;
    while (comma > text && *comma != ',')
        comma--;
    const char *operation = comma + 1;
    while (isspace((unsigned char)*operation))
        operation++;
    fprintf(to, "%.*s(%.*s)", (int)word_length(operation), operation, (int)(comma - text), text);
    return end + 1;
}

static void expression_write(const char *text, const char *architecture, FILE *to)
{
    while (*text) {
        size_t length = isalpha((unsigned char)*text) || *text == '_' ? word_length(text) : 0;
        if (length == 0) {
            fputc(*text++, to);
        } else if (!strncmp(text, "reduce(", 7)) {
            text = reduce_write(text + 7, to);
        } else if (!strncmp(text, "accumulate(", 11)) {
            const char *end = closing_of(text + 11) + 1;
            fprintf(to, "%.*s", (int)(end - text), text);
            text = end;
        } else {
            int hardware = is_hardware(text, length, architecture);
            fprintf(to, hardware ? "sum(%.*s)" : "%.*s", (int)length, text);
            text += length;
        }
    }
}

/* ---- the file */

static void escaped_write(const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void metric_write(const struct counter_definition *definition, const char *architecture)
{
    fprintf(out, "  <metric name=%s ", definition->name);
    if (definition->block) {
        fprintf(out, "block=%s event=%u", definition->block, definition->event);
    } else {
        fputs("expr=\"", out);
        expression_write(definition->expression, architecture, out);
        fputc('"', out);
    }
    fputs(" descr=\"", out);
    escaped_write(definition->description ? definition->description : "");
    fputs("\"></metric>\n", out);
}

static void family_write(const char *family)
{
    uint32_t count;
    const struct counter_definition *all = definitions_all(set, &count);
    const char *example = family;
    for (int i = 0; i < architecture_count; i++)
        if (is_of_family(architectures[i], family))
            example = architectures[i];
    fprintf(out, "<%s_all>\n", family);
    for (uint32_t i = 0; i < count; i++)
        if (is_common(&all[i], family))
            metric_write(&all[i], example);
    fprintf(out, "</%s_all>\n\n", family);
}

static void architecture_write(const char *architecture)
{
    uint32_t count;
    char family[NAME_BYTES];
    const struct counter_definition *all = definitions_all(set, &count);
    family_of(architecture, family);
    fprintf(out, "<%s base=\"%s_all\">\n", architecture, family);
    for (uint32_t i = 0; i < count; i++)
        if (definition_find(set, all[i].name, architecture) == &all[i] &&
            !is_common(&all[i], family))
            metric_write(&all[i], architecture);
    fprintf(out, "</%s>\n\n", architecture);
}

static void file_write(void)
{
    char family[NAME_BYTES] = "", last[NAME_BYTES] = "";
    fputs(
        "# Metrics of ROC Profiler v1, made from the same definitions as the SDK's: do not edit.\n"
        "# NAME of several instances alone is instance 0; sum(NAME) is all of them.\n\n",
        out);
    for (int i = 0; i < architecture_count; i++) {
        family_of(architectures[i], family);
        if (strcmp(family, last) != 0)
            family_write(family);
        snprintf(last, sizeof last, "%s", family);
        architecture_write(architectures[i]);
    }
    fputs("<global>\n</global>\n", out);
}

int main(int argc, char **argv)
{
    uint32_t count;
    set = definitions_create();
    if (argc != 2 || !set || definitions_add_builtin(set))
        return 1;
    out = fopen(argv[1], "w");
    if (!out)
        return 1;
    const struct counter_definition *all = definitions_all(set, &count);
    architectures_list(all, count);
    file_write();
    definitions_destroy(set);
    return fclose(out) != 0;
}
