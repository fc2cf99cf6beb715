/*
 * Expressions of metrics, compiled once into steps on a stack.
 *
 *   sum   := term (('+' | '-') term)*         both levels associate to the left
 *   term  := unary (('*' | '/') unary)*       x / 0 is 0
 *   unary := '-' unary | '(' sum ')' | number | counter
 *          | OP '(' NAME ',' N ')'            over NAME[0] ... NAME[N - 1]
 *          | OP '(' sampled ')'               over every sample of every instance
 *          | reduce '(' sampled ',' OP ')'    the same, as the SDK writes it
 *          | accumulate '(' NAME ',' RESOLUTION ')'
 *   OP := sum | avr | min | max
 *
 * A counter's own value is the sum of its samples over dies and shader engines.
 */
#include "api/rocprofiler_v1/internal.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 40, NAME_MAX_BYTES = 128, STEPS_MAX = 1 << 16 };

struct parser {
    struct formula *formula;
    const struct metric_set *set;
    const struct counting_agent *agent;
    const char *text, *at; /* of the expression being read */
    const char *metric;    /* whose expression it is */
    int nesting;
};

static bool parse_sum(struct parser *parser);

static bool wrong(const struct parser *parser, const char *what)
{
    fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "metric %s: %s at '%.40s' in \"%s\"", parser->metric,
         what, parser->at, parser->text);
    return false;
}

static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? 2 * *capacity : 8;
    void *larger = realloc(*items, wanted * size);
    if (!larger)
        return false;
    *items = larger;
    *capacity = wanted;
    return true;
}

static bool step_add(struct parser *parser, struct step step)
{
    struct formula *f = parser->formula;
    if (f->step_count == STEPS_MAX)
        return wrong(parser, "too large");
    if (!grow((void **)&f->steps, f->step_count, &f->step_capacity, sizeof step))
        return wrong(parser, "no memory");
    f->steps[f->step_count++] = step;
    return true;
}

static bool input_add(struct parser *parser, struct input input)
{
    struct formula *f = parser->formula;
    uint32_t i = 0;
    while (i < f->input_count &&
           (f->inputs[i].counter.handle != input.counter.handle ||
            f->inputs[i].instance != input.instance || f->inputs[i].reduction != input.reduction))
        i++;
    if (i == f->input_count) {
        if (!grow((void **)&f->inputs, f->input_count, &f->input_capacity, sizeof input))
            return wrong(parser, "no memory");
        f->inputs[f->input_count++] = input;
    }
    return step_add(parser, (struct step){.kind = STEP_INPUT, .index = i});
}

/* ---- words */

static void spaces_skip(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool take(struct parser *parser, char c)
{
    spaces_skip(parser);
    if (*parser->at != c)
        return false;
    parser->at++;
    return true;
}

static bool expect(struct parser *parser, char c)
{
    char what[] = "'?' expected";
    what[1] = c;
    return take(parser, c) || wrong(parser, what);
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool word_take(struct parser *parser, const char **word, size_t *length)
{
    spaces_skip(parser);
    *word = parser->at;
    *length = word_length(parser->at);
    parser->at += *length;
    return *length > 0 || wrong(parser, "a name expected");
}

static bool is_word(const char *word, size_t length, const char *wanted)
{
    return strlen(wanted) == length && strncmp(word, wanted, length) == 0;
}

static bool reduction_of(const char *word, size_t length, enum reduction *reduction)
{
    static const char *const names[] = {
        [REDUCE_SUM] = "sum", [REDUCE_AVERAGE] = "avr", [REDUCE_MIN] = "min", [REDUCE_MAX] = "max"};
    for (int i = 0; i < 4; i++) {
        *reduction = (enum reduction)i;
        if (is_word(word, length, names[i]))
            return true;
    }
    return false;
}

static bool integer_take(struct parser *parser, unsigned long *value)
{
    char *end;
    spaces_skip(parser);
    if (!isdigit((unsigned char)*parser->at))
        return wrong(parser, "a number expected");
    *value = strtoul(parser->at, &end, 10);
    parser->at = end;
    return true;
}

/* ---- counters */

/* A number too large for any instance stays one. */
static int32_t instance_of(unsigned long number)
{
    return number < INT32_MAX ? (int32_t)number : INT32_MAX;
}

static bool event_counter(struct parser *parser, const char *block, uint32_t event,
                          rocprofiler_counter_id_t *id)
{
    if (engine->counting_event_counter(parser->agent->id, block, event, id) ==
        ROCPROFILER_STATUS_SUCCESS)
        return true;
    char what[160];
    snprintf(what, sizeof what, "%s has no event %u of a block %s", parser->agent->info->name,
             event, block);
    return wrong(parser, what);
}

static bool counter_put(struct parser *parser, const struct metric *metric, int32_t instance,
                        enum reduction reduction)
{
    struct input input = {.instance = instance, .reduction = reduction};
    if (instance >= 0 && (uint32_t)instance >= metric->instances) {
        char what[160];
        snprintf(what, sizeof what, "%s has %u instances", metric->name, metric->instances);
        return wrong(parser, what);
    }
    if (metric->instances == 1)
        input.instance = -1;
    return event_counter(parser, metric->block, metric->event, &input.counter) &&
           input_add(parser, input);
}

static bool expression_put(struct parser *parser, const struct metric *metric)
{
    struct parser inner = *parser;
    inner.text = inner.at = metric->expr;
    inner.metric = metric->name;
    if (++inner.nesting > NESTING_MAX)
        return wrong(parser, "it refers to itself");
    bool fine = parse_sum(&inner);
    spaces_skip(&inner);
    return fine && (!*inner.at || wrong(&inner, "not understood"));
}

/* Constants of the GPU that expressions may name without a definition. */
static bool constant_of(const struct counting_agent *agent, const char *name, double *value)
{
    static const struct {
        const char *name, *top, *bottom; /* bottom: NULL: 1 */
    } known[] = {
        {"CU_NUM", "simd_count", "simd_per_cu"},
        {"SE_NUM", "array_count", "simd_arrays_per_engine"},
        {"SIMD_NUM", "simd_count", NULL},
        {"XCC_NUM", "num_xcc", NULL},
        {"MAX_WAVE_SIZE", "wave_front_size", NULL},
    };
    double bottom = 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) != 0)
            continue;
        if (!engine->counting_property(agent, known[i].top, value) ||
            (known[i].bottom && !engine->counting_property(agent, known[i].bottom, &bottom)))
            return false;
        *value = bottom != 0 ? *value / bottom : 0;
        return true;
    }
    return engine->counting_property(agent, name, value);
}

/* `whole`: if it is a counter, all its samples are reduced at once. */
static bool name_put(struct parser *parser, const char *word, size_t length, bool whole,
                     enum reduction reduction)
{
    const struct metric *metric = metric_find(parser->set, word, length);
    unsigned long instance = 0;
    bool indexed = take(parser, '[');
    if (indexed && (!integer_take(parser, &instance) || !expect(parser, ']')))
        return false;
    if (metric && metric->expr)
        return indexed ? wrong(parser, "a computed metric has no instances")
                       : expression_put(parser, metric);
    if (metric && whole && !indexed)
        return counter_put(parser, metric, -1, reduction);
    if (metric) {
        bool all = !indexed && parser->nesting > 0 && parser->set->from_catalog;
        return counter_put(parser, metric, all ? -1 : instance_of(instance), REDUCE_SUM);
    }
    char name[NAME_MAX_BYTES];
    double number;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (!indexed && constant_of(parser->agent, name, &number))
        return step_add(parser, (struct step){.kind = STEP_NUMBER, .number = number});
    char what[NAME_MAX_BYTES + 80];
    snprintf(what, sizeof what, "%s has no metric %s", parser->agent->info->name, name);
    return wrong(parser, what);
}

/* accumulate(NAME, RESOLUTION) becomes a counter of the engine's with that expression. */
static bool accumulate_put(struct parser *parser, enum reduction reduction)
{
    const char *word, *resolution;
    size_t length, resolution_length;
    if (!expect(parser, '(') || !word_take(parser, &word, &length) || !expect(parser, ',') ||
        !word_take(parser, &resolution, &resolution_length) || !expect(parser, ')'))
        return false;
    const struct metric *metric = metric_find(parser->set, word, length);
    rocprofiler_counter_id_t level, id;
    if (!metric || metric->expr)
        return wrong(parser, "accumulate() needs a hardware counter");
    if (!event_counter(parser, metric->block, metric->event, &level))
        return false;
    const struct catalog *catalog = engine->counting_catalog(parser->agent);
    const struct counter *counter = engine->catalog_find_id(catalog, (uint32_t)level.handle);
    char name[256], expression[256];
    snprintf(expression, sizeof expression, "accumulate(%s, %.*s)", counter->name,
             (int)resolution_length, resolution);
    snprintf(name, sizeof name, "%s:%.*s", counter->name, (int)resolution_length, resolution);
    counter = engine->catalog_find(catalog, name);
    if (counter)
        id.handle = counter->id;
    else if (engine->counting_counter_create(name, strlen(name), expression, strlen(expression), "",
                                             0, parser->agent->id,
                                             &id) != ROCPROFILER_STATUS_SUCCESS)
        return wrong(parser, "this counter cannot be accumulated");
    return input_add(parser, (struct input){.counter = id, .instance = -1, .reduction = reduction});
}

/* What stands where samples can be reduced: a counter, or anything with one value. */
static bool sampled_put(struct parser *parser, enum reduction reduction)
{
    spaces_skip(parser);
    size_t length = word_length(parser->at);
    const char *word = parser->at, *behind = word + length;
    while (isspace((unsigned char)*behind))
        behind++;
    if (length && is_word(word, length, "accumulate")) {
        parser->at = word + length;
        return accumulate_put(parser, reduction);
    }
    if (length && (*behind == ')' || *behind == ',')) {
        parser->at = word + length;
        return name_put(parser, word, length, true, reduction);
    }
    return parse_sum(parser);
}

/* OP(NAME, N) */
static bool instances_put(struct parser *parser, const struct metric *metric,
                          enum reduction reduction)
{
    unsigned long count;
    if (!integer_take(parser, &count))
        return false;
    if (!metric || metric->expr)
        return wrong(parser, "only a hardware counter has instances");
    if (count == 0 || count > STACK_MAX / 2)
        return wrong(parser, "so many instances");
    for (unsigned long i = 0; i < count; i++)
        if (!counter_put(parser, metric, (int32_t)i, REDUCE_SUM))
            return false;
    return step_add(
        parser,
        (struct step){.kind = STEP_REDUCE, .reduction = reduction, .index = (uint32_t)count});
}

static bool reduction_put(struct parser *parser, enum reduction reduction)
{
    if (!expect(parser, '('))
        return false;
    spaces_skip(parser);
    const char *word = parser->at, *behind = word + word_length(word);
    while (isspace((unsigned char)*behind))
        behind++;
    if (behind != word && *behind == ',') {
        parser->at = behind + 1;
        return instances_put(parser, metric_find(parser->set, word, word_length(word)),
                             reduction) &&
               expect(parser, ')');
    }
    return sampled_put(parser, reduction) && expect(parser, ')');
}

/* The operation stands behind its operand but is needed for it, so it is looked for first. */
static bool reduce_put(struct parser *parser)
{
    if (!expect(parser, '('))
        return false;
    int depth = 0;
    const char *comma = parser->at;
    while (*comma && (depth > 0 || (*comma != ',' && *comma != ')'))) {
        depth += (*comma == '(') - (*comma == ')');
        comma++;
    }
    enum reduction reduction;
    const char *word = comma + 1;
    while (*comma && isspace((unsigned char)*word))
        word++;
    if (*comma != ',' || !reduction_of(word, word_length(word), &reduction))
        return wrong(parser, "reduce() needs sum, avr, min or max");
    if (!sampled_put(parser, reduction) || !expect(parser, ','))
        return false;
    size_t length;
    return word_take(parser, &word, &length) && expect(parser, ')');
}

/* ---- expressions */

static bool parse_name(struct parser *parser)
{
    const char *word;
    size_t length;
    enum reduction reduction;
    if (!word_take(parser, &word, &length))
        return false;
    spaces_skip(parser);
    if (*parser->at != '(')
        return name_put(parser, word, length, false, REDUCE_SUM);
    if (reduction_of(word, length, &reduction))
        return reduction_put(parser, reduction);
    if (is_word(word, length, "reduce"))
        return reduce_put(parser);
    if (is_word(word, length, "accumulate"))
        return accumulate_put(parser, REDUCE_SUM);
    return wrong(parser, "an unknown function");
}

static bool number_put(struct parser *parser)
{
    char *end = (char *)(uintptr_t)parser->at;
    /* The program may have set a locale whose decimal point is a comma. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return wrong(parser, "no memory");
    double number = strtod_l(parser->at, &end, plain);
    freelocale(plain);
    if (end == parser->at)
        return wrong(parser, "a number expected");
    parser->at = end;
    return step_add(parser, (struct step){.kind = STEP_NUMBER, .number = number});
}

static bool parse_unary(struct parser *parser)
{
    spaces_skip(parser);
    if (++parser->nesting > 10 * NESTING_MAX)
        return wrong(parser, "too deep");
    bool fine;
    if (take(parser, '-')) {
        fine = parse_unary(parser) && step_add(parser, (struct step){.kind = STEP_NEGATE});
    } else if (take(parser, '(')) {
        fine = parse_sum(parser) && expect(parser, ')');
    } else if (isdigit((unsigned char)*parser->at) || *parser->at == '.') {
        fine = number_put(parser);
    } else {
        fine = parse_name(parser);
    }
    parser->nesting--;
    return fine;
}

static bool parse_term(struct parser *parser)
{
    bool fine = parse_unary(parser);
    while (fine) {
        enum step_kind kind;
        if (take(parser, '*'))
            kind = STEP_MULTIPLY;
        else if (take(parser, '/'))
            kind = STEP_DIVIDE;
        else
            break;
        fine = parse_unary(parser) && step_add(parser, (struct step){.kind = kind});
    }
    return fine;
}

static bool parse_sum(struct parser *parser)
{
    bool fine = parse_term(parser);
    while (fine) {
        enum step_kind kind;
        if (take(parser, '+'))
            kind = STEP_ADD;
        else if (take(parser, '-'))
            kind = STEP_SUBTRACT;
        else
            break;
        fine = parse_term(parser) && step_add(parser, (struct step){.kind = kind});
    }
    return fine;
}

/* "BLOCK:event" or "BLOCK[i]:event" */
static bool event_put(struct parser *parser)
{
    unsigned long instance = 0, event;
    const char *word;
    size_t length;
    if (!word_take(parser, &word, &length))
        return false;
    const struct counter_block *block = metric_block(parser->agent, word, length);
    if (take(parser, '[') && (!integer_take(parser, &instance) || !expect(parser, ']')))
        return false;
    if (!expect(parser, ':') || !integer_take(parser, &event))
        return false;
    if (!block)
        return wrong(parser, "this GPU has no such block");
    struct metric metric = {.name = block->name,
                            .block = block->name,
                            .event = event < UINT32_MAX ? (uint32_t)event : UINT32_MAX,
                            .instances = block->shape.extent[DIMENSION_INSTANCE]};
    if (metric.instances == 0)
        metric.instances = 1;
    return counter_put(parser, &metric, instance_of(instance), REDUCE_SUM);
}

static uint32_t stack_needed(const struct formula *formula)
{
    uint32_t depth = 0, most = 0;
    for (uint32_t i = 0; i < formula->step_count; i++) {
        switch (formula->steps[i].kind) {
        case STEP_NUMBER:
        case STEP_INPUT:
            depth++;
            break;
        case STEP_REDUCE:
            depth -= formula->steps[i].index - 1;
            break;
        case STEP_NEGATE:
            break;
        default:
            depth--;
        }
        most = depth > most ? depth : most;
    }
    return most;
}

bool formula_compile(struct formula *formula, const struct metric_set *set,
                     const struct counting_agent *agent, const char *name)
{
    struct parser parser = {
        .formula = formula, .set = set, .agent = agent, .text = name, .at = name, .metric = name};
    *formula = (struct formula){0};
    const char *word;
    size_t length;
    bool fine;
    if (strchr(name, ':')) {
        fine = event_put(&parser);
        formula->is_counter = true;
    } else if ((fine = word_take(&parser, &word, &length))) {
        const struct metric *metric = metric_find(set, word, length);
        formula->is_counter = metric && !metric->expr;
        fine = name_put(&parser, word, length, false, REDUCE_SUM);
    }
    spaces_skip(&parser);
    if (fine && *parser.at)
        fine = wrong(&parser, "not understood");
    return fine && (stack_needed(formula) < STACK_MAX || wrong(&parser, "too large"));
}

void formula_free(struct formula *formula)
{
    free(formula->steps);
    free(formula->inputs);
}

double reduce(enum reduction reduction, const double *values, uint32_t count)
{
    double result = count ? values[0] : 0;
    for (uint32_t i = 1; i < count; i++) {
        if (reduction == REDUCE_SUM || reduction == REDUCE_AVERAGE)
            result += values[i];
        else if (reduction == REDUCE_MIN ? values[i] < result : values[i] > result)
            result = values[i];
    }
    return reduction == REDUCE_AVERAGE && count ? result / count : result;
}

static double binary(enum step_kind kind, double a, double b)
{
    switch (kind) {
    case STEP_ADD:
        return a + b;
    case STEP_SUBTRACT:
        return a - b;
    case STEP_MULTIPLY:
        return a * b;
    default:
        return b != 0 ? a / b : 0;
    }
}

double formula_evaluate(const struct formula *formula,
                        double (*value_of)(const struct input *input, const void *data),
                        const void *data)
{
    double stack[STACK_MAX];
    uint32_t top = 0;
    for (uint32_t i = 0; i < formula->step_count; i++) {
        const struct step *step = &formula->steps[i];
        switch (step->kind) {
        case STEP_NUMBER:
            stack[top++] = step->number;
            break;
        case STEP_INPUT:
            stack[top++] = value_of(&formula->inputs[step->index], data);
            break;
        case STEP_NEGATE:
            stack[top - 1] = -stack[top - 1];
            break;
        case STEP_REDUCE:
            top -= step->index;
            stack[top] = reduce(step->reduction, &stack[top], step->index);
            top++;
            break;
        default:
            top--;
            stack[top - 1] = binary(step->kind, stack[top - 1], stack[top]);
        }
    }
    return top ? stack[0] : 0;
}
