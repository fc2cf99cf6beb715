#include "print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "rules.h"
#include "text.h"

/* Says the first rule of each topic that applies. */
static void rules_each(const struct measures *m,
                       void (*said)(void *data, const struct rule *rule, const char *text),
                       void *data)
{
    const char *topic = "";
    for (const struct rule *rule = analyze_rules; rule->name; rule++) {
        char text[RULE_TEXT_BYTES];
        if (strcmp(topic, rule->topic) == 0 || !rule->applies(m))
            continue;
        topic = rule->topic;
        rule->say(m, text, sizeof text);
        said(data, rule, text);
    }
}

struct text_out {
    FILE *out;
    const struct measures *measures;
    const struct analyze_kernels *kernels;
};

/* Counters that the kernel has, with their class where that is known. */
static void text_said(void *data, const struct rule *rule, const char *text)
{
    const struct text_out *to = data;
    const char *before = "      [";
    fprintf(to->out, "   %s.\n", text);
    for (int i = 0; rule->counters[i] != COUNT_COUNT; i++) {
        if (!to->measures->kernel->count[rule->counters[i]])
            continue;
        fprintf(to->out, "%s%s%s%s", before, analyze_counters[rule->counters[i]],
                to->kernels->has_classes ? " " : "",
                to->kernels->has_classes ? to->kernels->class[rule->counters[i]] : "");
        before = ", ";
    }
    if (*before == ',')
        fputs("]\n", to->out);
}

static void machine_print(const struct machine *machine, FILE *out)
{
    fprintf(out, "Agent %u: %s (%s), %u compute units at %.0f MHz", machine->node, machine->name,
            machine->product, machine->cus, machine->clock_hz / 1e6);
    if (machine->arch)
        fprintf(out, ", %.1f TFLOP/s (FP32)",
                machine->cus * machine->clock_hz * machine->arch->fp32 / 1e12);
    if (machine->memory_bytes_per_s > 0)
        fprintf(out, ", memory %.0f GB/s", machine->memory_bytes_per_s / 1e9);
    fputc('\n', out);
}

/* Counters that no kernel has: a GPU without them, or a recording without. */
static void missing_print(const struct analyze_kernels *kernels, FILE *out)
{
    const char *before = "Not counted, and what needs it is not said: ";
    for (int c = 0; c < COUNT_COUNT; c++) {
        bool is_there = false;
        for (uint32_t k = 0; k < kernels->count; k++)
            is_there |= kernels->list[k]->count[c] > 0;
        if (is_there)
            continue;
        fprintf(out, "%s%s", before, analyze_counters[c]);
        before = ", ";
    }
    if (*before == ',')
        fputc('\n', out);
}

static double all_cycles(const struct analyze_kernels *kernels)
{
    double sum = 0;
    for (uint32_t i = 0; i < kernels->count; i++)
        sum += kernels->list[i]->sum[COUNT_GRBM_GUI_ACTIVE];
    return sum;
}

static double all_modelled_ns(const struct analyze_kernels *kernels)
{
    double sum = 0;
    for (uint32_t i = 0; i < kernels->count; i++)
        sum += kernels->list[i]->modelled_ns;
    return sum;
}

static void head_print(const struct analyze_kernels *kernels, const struct measures *m,
                       uint32_t number, FILE *out)
{
    const struct analyze_kernel *kernel = m->kernel;
    char time[32];
    fprintf(out, "\n%u. %s\n   %llu launch%s", number, kernel->name,
            (unsigned long long)kernel->launches, kernel->launches == 1 ? "" : "es");
    if (!isnan(m->seconds))
        fprintf(out, ", %s each (%.0f cycles%s), %.1f %% of all kernels' cycles",
                text_seconds(m->seconds, time), m->cycles,
                kernels->has_classes ? " over the clock: modelled" : " over the clock",
                100 * kernel->sum[COUNT_GRBM_GUI_ACTIVE] / all_cycles(kernels));
    else if (kernel->modelled_ns > 0)
        fprintf(out, ", %s each (modelled), %.1f %% of all kernels' modelled time",
                text_seconds(kernel->modelled_ns / (double)kernel->traced * 1e-9, time),
                100 * kernel->modelled_ns / all_modelled_ns(kernels));
    if (kernel->traced)
        fprintf(out, "; %s each by the wall clock",
                text_seconds(kernel->duration_ns / (double)kernel->traced * 1e-9, time));
    fputc('\n', out);
}

void analyze_print(const struct analyze_kernels *kernels, uint32_t most, FILE *out)
{
    for (uint32_t i = 0; i < kernels->machine_count; i++)
        machine_print(&kernels->machines[i], out);
    if (kernels->has_classes)
        fputs("By the device's own word its counters are exact (they equal what executed), "
              "modelled (by models of "
              "caches and banks:\nthe same in every run) or approximate (cycles of a simple clock, "
              "which need not know the limits of bandwidths).\n",
              out);
    missing_print(kernels, out);
    for (uint32_t i = 0; i < kernels->count && i < most; i++) {
        struct measures m = measures_of(kernels, kernels->list[i]);
        struct text_out to = {out, &m, kernels};
        head_print(kernels, &m, i + 1, out);
        rules_each(&m, text_said, &to);
    }
    if (kernels->count > most)
        fprintf(out, "\n... and %u more kernels (--top)\n", kernels->count - most);
}

/* ---- JSON */

/* Bytes that are no UTF-8 become U+FFFD. */
static void string_print(FILE *out, const char *text)
{
    fputc('"', out);
    for (size_t length; *text; text += length ? length : 1) {
        length = json_character_length(text);
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*text);
        else if (length == 0)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(text, 1, length, out);
    }
    fputc('"', out);
}

static void number_print(FILE *out, const char *name, double value)
{
    fprintf(out, ", \"%s\": ", name);
    if (isfinite(value))
        fprintf(out, "%.10g", value);
    else
        fputs("null", out);
}

struct json_out {
    FILE *out;
    const struct analyze_kernels *kernels;
    const struct analyze_kernel *kernel;
    bool is_next;
};

static void json_said(void *data, const struct rule *rule, const char *text)
{
    struct json_out *to = data;
    fprintf(to->out, "%s\n     {\"rule\": \"%s\", \"text\": ", to->is_next ? "," : "", rule->name);
    string_print(to->out, text);
    fputs(", \"counters\": [", to->out);
    for (int i = 0; rule->counters[i] != COUNT_COUNT; i++)
        fprintf(to->out, "%s\"%s\"", i ? ", " : "", analyze_counters[rule->counters[i]]);
    fputs("], \"classes\": [", to->out); /* of these counters; null: this kernel has it not */
    for (int i = 0; rule->counters[i] != COUNT_COUNT; i++) {
        const char *class = to->kernels->class[rule->counters[i]];
        bool is_said = to->kernels->has_classes && class && to->kernel->count[rule->counters[i]];
        fprintf(to->out, is_said ? "%s\"%s\"" : "%snull", i ? ", " : "", class);
    }
    fputs("]}", to->out);
    to->is_next = true;
}

static void kernel_json(const struct analyze_kernels *kernels, uint32_t i, FILE *out)
{
    struct measures m = measures_of(kernels, kernels->list[i]);
    struct json_out to = {out, kernels, kernels->list[i], false};
    fprintf(out, "%s\n  {\"name\": ", i ? "," : "");
    string_print(out, m.kernel->name);
    fprintf(out, ", \"agent\": %u, \"launches\": %llu", m.kernel->node,
            (unsigned long long)m.kernel->launches);
    number_print(out, "cycles", m.cycles);
    number_print(out, "seconds", m.seconds);
    number_print(out, "modelled_seconds",
                 m.kernel->modelled_ns > 0 ? m.kernel->modelled_ns / (double)m.kernel->traced * 1e-9
                                           : NAN);
    number_print(out, "wait_share", m.wait_share);
    number_print(out, "waves_per_cu", m.waves_per_cu);
    number_print(out, "waves_per_cu_limit", m.has_occupancy ? m.occupancy.waves_per_cu : NAN);
    number_print(out, "lanes", m.lanes);
    number_print(out, "lines", m.lines);
    number_print(out, "conflict_share", m.conflict_share);
    number_print(out, "l2_hit_share", m.l2_hit_share);
    number_print(out, "elsewhere_share", m.elsewhere_share);
    number_print(out, "bytes", m.bytes);
    number_print(out, "flops", m.flops);
    fputs(",\n   \"says\": [", out);
    rules_each(&m, json_said, &to);
    fputs("]}", out);
}

void analyze_print_json(const struct analyze_kernels *kernels, FILE *out)
{
    fputs("{\"kernels\": [", out);
    for (uint32_t i = 0; i < kernels->count; i++)
        kernel_json(kernels, i, out);
    fputs("]}\n", out);
}
