/*
 * Metrics files and expressions, on the GPU that crocgpu shows.
 *
 *   metrics_test own              files written here, with everything that may be in one
 *   metrics_test shipped FILE     every metric of our file against the SDK's evaluation of the same
 *                                 definitions, on made-up samples
 */
#include "api/rocprofiler_v1/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct counting_agent *agent;

/* ---- files */

static char folder[] = "/tmp/v1_metrics_XXXXXX";

static const char *file_write(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* What is logged meanwhile. */
static char logged[8192];
static int log_pipe[2], log_kept;
static void log_begin(void)
{
    assert_int_equal(pipe(log_pipe), 0);
    fcntl(log_pipe[0], F_SETFL, O_NONBLOCK);
    log_kept = dup(STDERR_FILENO);
    dup2(log_pipe[1], STDERR_FILENO);
}
static void log_end(void)
{
    dup2(log_kept, STDERR_FILENO);
    ssize_t length = read(log_pipe[0], logged, sizeof logged - 1);
    logged[length > 0 ? length : 0] = 0;
    close(log_kept);
    close(log_pipe[0]);
    close(log_pipe[1]);
}

static const char everything[] =
    "# a comment, then an include\n"
    "#include \"more.xml\"\n"
    "<?xml version=\"1.0\"?>\n"
    "<!-- <metric name=HIDDEN block=SQ event=1> -->\n"
    "<gfx9_all>\n"
    "  <metric name=W block=SQ event=4 descr=\"waves &lt;all&gt;\">\n" /* stays open */
    "  <metric name = 'SPACED' block = \"SQ\" event = 0x4 ></metric>\n"
    "  <metric name=OVER block=SQ event=2/>\n"
    "  <metric name=TWICE expr=1 ></metric>\n"
    "  <metric name=TWICE expr=2 ></metric>\n"
    "</gfx9_all>\n"
    "<gfx90a base=\"gfx9_all\">\n"
    "  <metric name=OVER block=SQ event=3></metric>\n"
    "  <metric name=HIT block=TCC event=17></metric>\n"
    "  <metric name=LONG\n     expr=\"1 +\n     2\"></metric>\n"
    "</gfx90a>\n"
    "<gfx906>\n  <metric name=OTHERS block=SQ event=4></metric>\n</gfx906>\n"
    "<global>\n"
    "  <metric name=LEFT expr=100-30-20 ></metric>\n"
    "  <metric name=LEFT2 expr=100-30+20></metric>\n"
    "  <metric name=QUOTIENT expr=100/10/5></metric>\n"
    "  <metric name=MIXED expr=\"2+3*4-10/5\"></metric>\n"
    "  <metric name=BRACKETS expr=\"(2+3)*(4-10)/5\"></metric>\n"
    "  <metric name=FLOATING expr=\"0.5*8+.25+1e2\"></metric>\n"
    "  <metric name=NEGATIVE expr=\"-(3-5)*-2\"></metric>\n"
    "  <metric name=ZERO expr=\"7+1/0\"></metric>\n"
    "  <metric name=NESTED expr=\"LEFT*LEFT2\"></metric>\n"
    "  <metric name=WAVES2 expr=\"2*W\"></metric>\n"
    "  <metric name=SUM expr=\"sum(HIT,4)\"></metric>\n"
    "  <metric name=AVERAGE expr=\"avr(HIT, 4)\"></metric>\n"
    "  <metric name=LEAST expr=\"min(HIT,4)\"></metric>\n"
    "  <metric name=MOST expr=\"max(HIT,4)\"></metric>\n"
    "  <metric name=ONE expr=\"HIT[3]\"></metric>\n"
    "  <metric name=FIRST expr=\"HIT\"></metric>\n"
    "  <metric name=ALL expr=\"sum(HIT)\"></metric>\n"
    "  <metric name=UNITS expr=\"CU_NUM+SE_NUM+SIMD_NUM+XCC_NUM+MAX_WAVE_SIZE\"></metric>\n"
    "  <metric name=ITSELF expr=\"1+ITSELF\"></metric>\n"
    "  <metric name=ROUND1 expr=ROUND2></metric>\n"
    "  <metric name=ROUND2 expr=ROUND1></metric>\n"
    "  <metric name=BROKEN expr=\"1+\"></metric>\n"
    "  <metric name=BROKEN2 expr=\"(1\"></metric>\n"
    "  <metric name=BROKEN3 expr=\"1 2\"></metric>\n"
    "  <metric name=UNKNOWN expr=\"1+NOTHING\"></metric>\n"
    "  <metric name=MANY expr=\"sum(HIT,1000)\"></metric>\n"
    "  <metric name=FUNCTION expr=\"sqrt(2)\"></metric>\n"
    "</global>\n";

/* Instance i of a counter shows 10 * (i + 1) in each of two samples; event 4 has 7. */
static double made_up(const struct input *input, const void *data)
{
    const struct counter *counter =
        engine->catalog_find_id(engine->counting_catalog(agent), (uint32_t)input->counter.handle);
    double values[32];
    (void)data;
    if (strcmp(counter->block_name, "TCC") != 0)
        return counter->event;
    for (int i = 0; i < 32; i++)
        values[i] = 10 * (i + 1);
    return input->instance >= 0 ? values[input->instance] : reduce(input->reduction, values, 32);
}

static double value(const char *name)
{
    struct formula formula;
    const struct metric_set *set = metrics_of(agent);
    assert_non_null(set);
    if (!formula_compile(&formula, set, agent, name))
        fail_msg("%s: %s", name, failure());
    double result = formula_evaluate(&formula, made_up, NULL);
    formula_free(&formula);
    return result;
}

static void refused(const char *name, const char *word)
{
    struct formula formula;
    assert_false(formula_compile(&formula, metrics_of(agent), agent, name));
    if (!strstr(failure(), word))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, failure(), word);
    formula_free(&formula);
}

static bool known(const char *name)
{
    return metric_find(metrics_of(agent), name, strlen(name)) != NULL;
}

static void every_spelling_is_read(void **state)
{
    (void)state;
    file_write("more.xml", "<gfx9_all>\n<metric name=INCLUDED expr=41+1 ></metric>\n</gfx9_all>\n");
    setenv("ROCP_METRICS", file_write("own.xml", everything), 1);
    log_begin();
    const struct metric_set *set = metrics_of(agent);
    log_end();
    assert_non_null(set);
    assert_string_equal(logged, "");
    assert_string_equal(metric_find(set, "W", 1)->description, "waves <all>");
    assert_null(metric_find(set, "W", 1)->expr);
    assert_string_equal(metric_find(set, "W", 1)->block, "SQ");
    assert_int_equal(metric_find(set, "HIT", 3)->instances, 32);
    assert_int_equal(metric_find(set, "SPACED", 6)->event, 4);
    assert_int_equal(metric_find(set, "OVER", 4)->event, 3); /* the GPU's own hides its base's */
    assert_true(value("TWICE") == 2);
    assert_true(value("INCLUDED") == 42);
    assert_true(value("LONG") == 3);
    assert_false(known("HIDDEN"));
    assert_false(known("OTHERS"));
    assert_false(known("SQ_WAVES")); /* the file alone counts */
}

static void expressions_are_computed(void **state)
{
    double units = 0, property, engines; /* from the properties themselves */
    (void)state;
    assert_true(value("LEFT") == 50);
    assert_true(value("LEFT2") == 90);
    assert_true(value("QUOTIENT") == 2);
    assert_true(value("MIXED") == 12);
    assert_true(value("BRACKETS") == -6);
    assert_true(value("FLOATING") == 104.25);
    assert_true(value("NEGATIVE") == -4);
    assert_true(value("ZERO") == 7);
    assert_true(value("NESTED") == 4500);
    assert_true(value("W") == 4);
    assert_true(value("WAVES2") == 8);
    assert_true(value("SUM") == 100);
    assert_true(value("AVERAGE") == 25);
    assert_true(value("LEAST") == 10);
    assert_true(value("MOST") == 40);
    assert_true(value("ONE") == 40);
    assert_true(value("HIT[5]") == 60);
    assert_true(value("FIRST") == 10);
    assert_true(value("ALL") == 10 * 32 * 33 / 2);
    assert_true(value("SQ:9") == 9);
    assert_true(value("TCC[2]:17") == 30);
    assert_true(engine->counting_property(agent, "simd_count", &property));
    units += property;
    assert_true(engine->counting_property(agent, "simd_per_cu", &engines));
    units += property / engines;
    assert_true(engine->counting_property(agent, "array_count", &property));
    assert_true(engine->counting_property(agent, "simd_arrays_per_engine", &engines));
    units += property / engines;
    assert_true(engine->counting_property(agent, "num_xcc", &property));
    units += property;
    assert_true(engine->counting_property(agent, "wave_front_size", &property));
    assert_true(value("UNITS") == units + property);
}

/* The program's locale may have another decimal point. */
static void numbers_are_the_same_everywhere(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    setenv("LOCPATH", folder, 1);
    if (system(command) != 0 || !setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_true(value("FLOATING") == 104.25);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
}

static void bad_expressions_say_why(void **state)
{
    (void)state;
    refused("ITSELF", "refers to itself");
    refused("ROUND1", "refers to itself");
    refused("BROKEN", "a name expected");
    refused("BROKEN2", "')' expected");
    refused("BROKEN3", "not understood");
    refused("UNKNOWN", "NOTHING");
    refused("MANY", "instances");
    refused("FUNCTION", "unknown function");
    refused("HIT[32]", "instances");
    refused("HIT[2147483648]", "instances");
    refused("HIT[18446744073709551615]", "instances");
    refused("TCC[32]:17", "instances");
    refused("TCC[2147483648]:17", "instances");
    refused("SQ:100000", "no event");
    refused("SQ:4294967300", "no event");
    refused("HIT[x]", "a number expected");
    refused("LEFT[0]", "no instances");
    refused("NO_SUCH", "NO_SUCH");
}

static void problem_is_told(const char *text, uint32_t line, const char *word)
{
    struct xml_file file;
    char place[160];
    const char *path = file_write("bad.xml", text);
    log_begin();
    assert_true(xml_open(&file, path));
    xml_scope_read(&file, NULL);
    log_end();
    snprintf(place, sizeof place, "bad.xml:%u: ", line);
    if (!strstr(logged, place) || !strstr(logged, word))
        fail_msg("\"%s\": \"%s\" does not say %s and \"%s\"", text, logged, place, word);
    assert_true(file.problems > 0);
    xml_free(&file);
}

static void bad_files_say_where(void **state)
{
    struct xml_file file;
    (void)state;
    problem_is_told("<gfx9>\n<metric block=SQ event=4>\n</gfx9>", 2, "without a name");
    problem_is_told("<gfx9>\n\n<metric name=A block=SQ>\n</gfx9>", 3, "neither");
    problem_is_told("<gfx9>\n<metric name=A block=SQ event=x>\n</gfx9>", 2, "no number");
    problem_is_told("<gfx9>\n<metric name=A block=SQ event=-1>\n</gfx9>", 2, "no number");
    problem_is_told("<gfx9>\n<metric name=A block=SQ event=1 expr=2>\n</gfx9>", 2, "and an expr");
    problem_is_told("<metric name=A expr=1>", 1, "outside");
    problem_is_told("<gfx9>\n<metric name=A expr=\"1>\n</gfx9>", 3, "no end");
    problem_is_told("<gfx9>\n<metric name=A expr", 2, "no value");
    problem_is_told("<gfx9>\n<metric name=A expr=1>\n", 3, "<gfx9> has no end");
    problem_is_told("<gfx9>\n</gfx8>\n</gfx9>", 2, "ends nothing");
    problem_is_told("<gfx9>\nrubbish\n</gfx9>", 2, "not understood");
    problem_is_told("<gfx9>\n<metric name=A expr=1>\n</gfx9>\n\n</gfx9>", 5, "ends nothing");
    problem_is_told("<gfx9>\n<metric name=A expr=\n'1\n'>\nrubbish\n</gfx9>", 5, "understood");
    problem_is_told("<gfx9><metric name=A expr=1></gfx9>\n<gfx8>\nrubbish\n</gfx8>\n", 3, "under");
    problem_is_told("<gfx9>\n<gfx8>\n</gfx8>\n</gfx9>", 2, "inside of");
    problem_is_told("\n#include \"nowhere.xml\"\n", 2, "nowhere.xml");
    problem_is_told("\n#include nowhere.xml\n", 2, "#include needs");
    problem_is_told("#include \"bad.xml\"\n", 1, "include each other");
    assert_false(xml_open(&file, "/no/such/file"));
    assert_false(xml_open(&file, "/tmp"));
    xml_free(&file);
}

/* A file that was cut off may have lost a part of its last metric. */
static void what_is_cut_off_is_left_out(void **state)
{
    struct xml_file file;
    (void)state;
    const char *path =
        file_write("cut.xml", "<gfx9>\n<metric name=A expr=1>\n<metric name=B expr=2");
    log_begin();
    assert_true(xml_open(&file, path));
    xml_scope_read(&file, NULL);
    log_end();
    assert_non_null(strstr(logged, "<metric has no end"));
    assert_int_equal(file.metric_count, 1);
    assert_string_equal(file.metrics[0].name, "A");
    xml_free(&file);
}

/* Whatever stands in a file, it is read to its end, and nothing else happens. */
static void any_text_is_survived(void **state)
{
    static const char pieces[] = "<>/=\"'#&;! \n";
    uint64_t random = 88172645463325252u;
    char text[sizeof everything];
    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct xml_file file;
        memcpy(text, everything, sizeof text);
        for (int i = 0; i < 1 + round % 8; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            text[random % (sizeof text - 1)] =
                random >> 32 & 1 ? pieces[random >> 40 & 7] : (char)(random >> 48);
        }
        const char *path = file_write("any.xml", text);
        log_begin();
        if (xml_open(&file, path)) {
            xml_scope_read(&file, NULL);
            xml_free(&file);
        }
        log_end();
    }
}

/* ---- the shipped file */

/* A made-up sample of a hardware counter: it depends on event and place only, because an event may
 * have several names. */
static double sample_of(const struct counter *counter, bool accumulated, uint32_t flat)
{
    uint64_t mixed = counter->block * 15485863u + counter->event * 2654435761u + flat * 40503u +
                     accumulated * 77777u;
    return (double)(mixed % 99991 + 1);
}

/* The position in one dimension of flat index `flat`. */
static uint32_t position_of(const struct counter_shape *shape, uint32_t flat, int dimension)
{
    for (int d = DIMENSION_COUNT - 1; d > dimension; d--)
        flat /= shape->extent[d] ? shape->extent[d] : 1;
    return flat % (shape->extent[dimension] ? shape->extent[dimension] : 1);
}

static uint32_t samples_of(const struct counter_shape *shape)
{
    uint32_t count = 1;
    for (int d = 0; d < DIMENSION_COUNT; d++)
        count *= shape->extent[d] ? shape->extent[d] : 1;
    return count;
}

static double input_reduce(const struct input *input, const void *data)
{
    static double values[4096];
    const struct catalog *catalog = engine->counting_catalog(agent);
    const struct counter *counter =
        engine->catalog_find_id(catalog, (uint32_t)input->counter.handle);
    bool accumulated = counter->kind == COUNTER_DERIVED;
    uint32_t inputs, total, count = 0;
    (void)data;
    if (accumulated)
        counter = &engine->catalog_counters(
            catalog, &total)[expr_inputs(counter_program(counter), &inputs)->input];
    for (uint32_t flat = 0; flat < samples_of(counter_shape(counter)); flat++)
        if (input->instance < 0 || position_of(counter_shape(counter), flat, DIMENSION_INSTANCE) ==
                                       (uint32_t)input->instance)
            values[count++] = sample_of(counter, accumulated, flat);
    return reduce(input->reduction, values, count);
}

static double sdk_value(const struct counter *counter)
{
    static double workspace[1 << 16];
    uint32_t inputs, total;
    const struct counter *all = engine->catalog_counters(engine->counting_catalog(agent), &total);
    const struct expr_input *input = expr_inputs(counter_program(counter), &inputs);
    assert_true(expr_workspace_size(counter_program(counter)) <=
                sizeof workspace / sizeof *workspace);
    expr_workspace_init(counter_program(counter), workspace);
    for (uint32_t i = 0; i < inputs; i++)
        for (uint32_t flat = 0; flat < samples_of(&input[i].shape); flat++)
            workspace[input[i].slot + flat] =
                sample_of(&all[input[i].input], input[i].accumulate != ACCUMULATE_NONE, flat);
    return *expr_evaluate(counter_program(counter), workspace);
}

static void both_evaluations_agree(void **state)
{
    uint32_t total, compared = 0;
    (void)state;
    const struct metric_set *set = metrics_of(agent);
    assert_non_null(set);
    assert_false(set->from_catalog);
    const struct counter *all = engine->catalog_counters(engine->counting_catalog(agent), &total);
    for (uint32_t i = 0; i < total; i++) {
        const struct counter *counter = &all[i];
        struct formula formula;
        if (counter->kind == COUNTER_CONSTANT || strchr(counter->name, ':'))
            continue;
        const struct metric *metric = metric_find(set, counter->name, strlen(counter->name));
        if (!metric)
            fail_msg("%s is not in the file", counter->name);
        if (!formula_compile(&formula, set, agent, counter->name))
            fail_msg("%s: %s", counter->name, failure());
        assert_int_equal(formula.is_counter, counter->kind == COUNTER_BASIC);
        if (counter->kind == COUNTER_BASIC)
            assert_int_equal(metric->event, counter->event);
        else if (samples_of(counter_shape(counter)) == 1) {
            double ours = formula_evaluate(&formula, input_reduce, NULL), sdk = sdk_value(counter);
            if (fabs(ours - sdk) > 1e-9 * fabs(sdk))
                fail_msg("%s: %.17g, and the SDK has %.17g", counter->name, ours, sdk);
            compared++;
        }
        formula_free(&formula);
    }
    assert_true(compared > 50);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest own[] = {cmocka_unit_test(every_spelling_is_read),
                                     cmocka_unit_test(expressions_are_computed),
                                     cmocka_unit_test(numbers_are_the_same_everywhere),
                                     cmocka_unit_test(bad_expressions_say_why),
                                     cmocka_unit_test(bad_files_say_where),
                                     cmocka_unit_test(what_is_cut_off_is_left_out),
                                     cmocka_unit_test(any_text_is_survived)};
    const struct CMUnitTest shipped[] = {cmocka_unit_test(both_evaluations_agree)};
    const struct topology *topology = engine->topology_system();
    for (uint32_t i = 0; i < topology->agent_count && !agent; i++)
        if (topology->agents[i]->type == ROCPROFILER_AGENT_TYPE_GPU)
            agent = engine->counting_agent_find(topology->agents[i]->id);
    if (!agent || argc < 2 || !mkdtemp(folder))
        return 2;
    if (argc == 3) {
        setenv("ROCP_METRICS", argv[2], 1);
        return cmocka_run_group_tests(shipped, NULL, NULL);
    }
    return cmocka_run_group_tests(own, NULL, NULL);
}
