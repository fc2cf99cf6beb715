#include "cli/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/complete.h"
#include "cli/input.h"
#include "collect/periods.h"

static struct cli_options options;
static char message[CLI_ERROR_BYTES];

static int parse(char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    cli_options_free(&options);
    return cli_options_parse(&options, argc, argv, message, sizeof message);
}
#define PARSE(...)     parse((char *[]){"crocprof", __VA_ARGS__, NULL})
#define ROCPROFV3(...) parse((char *[]){"/opt/rocm/bin/rocprofv3", __VA_ARGS__, NULL})

static int complete(void)
{
    return cli_options_complete(&options, message, sizeof message);
}

static const char *text(enum option_id id)
{
    return settings_text(&options.settings, id);
}

static bool flag(enum option_id id)
{
    return settings_flag(&options.settings, id);
}

static int forget(void **state)
{
    (void)state;
    cli_options_free(&options);
    return 0;
}

static void words_behind_a_switch(void **state)
{
    (void)state;
    static const struct {
        char *words[8];
        const char *on, *wanted; /* of ROCPROF_OMPT_TRACE and ROCPROF_OMPT_TRACE_OPERATIONS */
    } lines[] = {
        {{"--ompt-trace", "--", "./app"}, "1", NULL},
        {{"--ompt-trace", "parallel", "Task", "--", "./app"}, "1", "parallel,task"},
        {{"--ompt-trace", "parallel", "-s", "--", "./app"}, "1", "parallel"},
        {{"--ompt-trace=sync,mutex", "./app"}, "1", "sync,mutex"},
        {{"--ompt-trace=all", "./app"}, "1", "all"},
        {{"--ompt-trace=no", "./app"}, "0", NULL},
        {{"--no-ompt-trace", "./app"}, "0", NULL},
        {{"--ompt-trace", "no", "--", "./app"}, "0", NULL},
        {{"--ompt-trace", "yes", "--", "./app"}, "1", NULL},
        {{"--ompt-trace", "task", "--ompt-trace", "target", "--", "./app"}, "1", "task,target"},
        {{"--ompt-trace", "task", "--ompt-trace", "--", "./app"}, "1", "task,all"},
        {{"--ompt-trace", "--ompt-trace", "task", "--", "./app"}, "1", "all,task"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int like = 0; like < 2; like++) {
            char *argv[10] = {like ? "rocprofv3" : "crocprof"};
            memcpy(argv + 1, lines[i].words, sizeof lines[i].words);
            assert_int_equal(parse(argv), 0);
            assert_string_equal(options.program[0], "./app");
            assert_string_equal(text(OPTION_OMPT_TRACE), lines[i].on);
            if (lines[i].wanted)
                assert_string_equal(text(OPTION_OMPT_OPERATIONS), lines[i].wanted);
            else
                assert_null(text(OPTION_OMPT_OPERATIONS));
        }
    assert_int_equal(PARSE("--ompt-trace", "task"), 0); /* a program of that name */
    assert_string_equal(options.program[0], "task");
    assert_int_equal(PARSE("--ompt-trace", "./app", "--", "x"), 0);
    assert_string_equal(options.program[0], "./app");
    assert_int_not_equal(ROCPROFV3("--ompt-trace", "taks", "--", "./app"), 0);
    assert_non_null(strstr(message, "taks is none of all|thread|"));
    assert_int_not_equal(PARSE("--ompt-trace=task,x", "./app"), 0);
    assert_non_null(strstr(message, "x is none of"));
}

static void the_program_keeps_its_own_options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-e", "SQ_WAVES,TCC_HIT", "./app", "-o", "x", "--help"), 0);
    assert_int_equal(options.command, CLI_RUN);
    assert_string_equal(text(OPTION_PMC), "SQ_WAVES,TCC_HIT");
    assert_null(text(OPTION_OUTPUT_FILE));
    assert_string_equal(options.program[0], "./app");
    assert_string_equal(options.program[3], "--help");
    assert_int_equal(PARSE("--pmc", "A", "./app", "--", "B"), 0); /* its "--" is its own */
    assert_string_equal(text(OPTION_PMC), "A");
    assert_string_equal(options.program[0], "./app");
}

static void every_spelling_of_a_value(void **state)
{
    (void)state;
    assert_int_equal(
        PARSE("-eA", "--output-directory=out", "--format", "csv", "-u", "msec", "--", "list"), 0);
    assert_string_equal(text(OPTION_PMC), "A");
    assert_string_equal(text(OPTION_OUTPUT_DIRECTORY), "out");
    assert_string_equal(text(OPTION_OUTPUT_FORMAT), "csv");
    assert_string_equal(text(OPTION_SUMMARY_UNITS), "msec");
    assert_string_equal(options.program[0], "list"); /* after --, a program */
}

static void switches(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--hsa-trace", "--no-hip-runtime-trace", "--stats=no", "-ST", "true"),
                     0);
    assert_true(flag(OPTION_HSA_TRACE));
    assert_false(flag(OPTION_HIP_RUNTIME_TRACE));
    assert_false(flag(OPTION_STATS));
    assert_true(flag(OPTION_SUMMARY) && flag(OPTION_TRUNCATE_KERNELS));
    assert_string_equal(options.program[0], "true"); /* without --, a program */
    assert_int_equal(ROCPROFV3("--hsa-trace", "no", "--stats", "TRUE", "--", "true"), 0);
    assert_false(flag(OPTION_HSA_TRACE));
    assert_true(flag(OPTION_STATS));
    assert_int_equal(PARSE("-L"), 0);
    assert_true(flag(OPTION_LIST_AVAIL) && !options.program);
    assert_int_equal(PARSE("-L", "true"), 0);
    assert_string_equal(options.program[0], "true");
}

static void lists_add_up(void **state)
{
    (void)state;
    assert_int_equal(ROCPROFV3("--pmc", "A", "B,C", "--pmc", "D", "-f", "csv", "json", "-f",
                               "pftrace", "--preload", "a.so", "b.so", "--", "app"),
                     0);
    assert_string_equal(text(OPTION_PMC), "A B,C\nD");
    assert_string_equal(text(OPTION_OUTPUT_FORMAT), "csv,json,pftrace");
    assert_string_equal(text(OPTION_PRELOAD), "a.so:b.so");
    assert_string_equal(options.program[0], "app");
}

static void wrong_lines_say_what_is_wrong(void **state)
{
    static const struct {
        char *words[4];
        const char *why;
    } lines[] = {
        {{"--nonsense"}, "unknown option --nonsense"},
        {{"--kernl-trace"}, "did you mean --kernel-trace"},
        {{"-e"}, "--pmc needs a value"},
        {{"--output-file="}, "needs a value"},
        {{"-u", "years", "app"}, "years is none of sec|msec|usec|nsec"},
        {{"--minimum-output-data", "1.5", "app"}, "1.5 is not a number"},
        {{"--stats=maybe", "app"}, "maybe is neither yes nor no"},
        {{"-x", "app"}, "unknown option -x"},
        {{"--att", "app"}, "--att: thread traces are not collected"},
        {{"-p"}, "--pid needs a value"},
        {{"--hsa-trace"}, "which program"},
        {{"--"}, "which program"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *argv[] = {"crocprof", lines[i].words[0], lines[i].words[1], lines[i].words[2], NULL};
        assert_int_equal(parse(argv), -EINVAL);
        if (!strstr(message, lines[i].why))
            fail_msg("%s: %s", lines[i].words[0], message);
    }
    assert_int_equal(PARSE("--att=no", "--no-att", "app"), 0); /* so it is */
    assert_int_equal(ROCPROFV3("--attach", "12"), 0);          /* without a program */
    assert_string_equal(text(OPTION_PID), "12");
    assert_true(flag(OPTION_ATTACH_CHILDREN));
}

static void nothing_else_wins_over_what_was_said(void **state)
{
    (void)state;
    assert_int_equal(ROCPROFV3("-s", "--hip-trace", "no", "--hsa-image-trace=no", "--", "app"), 0);
    assert_int_equal(complete(), 0);
    assert_true(flag(OPTION_KERNEL_TRACE) && flag(OPTION_SCRATCH_MEMORY_TRACE) &&
                flag(OPTION_HSA_CORE_TRACE));
    assert_false(flag(OPTION_HIP_RUNTIME_TRACE) || flag(OPTION_HIP_COMPILER_TRACE));
    assert_false(flag(OPTION_HSA_IMAGE_TRACE));
}

static void the_name_decides_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(PARSE("app"), 0);
    assert_int_equal(complete(), 0);
    assert_true(flag(OPTION_KERNEL_TRACE) && flag(OPTION_HIP_RUNTIME_TRACE) &&
                flag(OPTION_SUMMARY_PER_DOMAIN));
    assert_string_equal(text(OPTION_OUTPUT_FORMAT), "none");
    assert_string_equal(text(OPTION_OUTPUT_FILE), "%pid%");
    assert_int_equal(PARSE("--no-summary", "app"), 0);
    assert_int_equal(complete(), 0);
    assert_false(flag(OPTION_SUMMARY) || flag(OPTION_SUMMARY_PER_DOMAIN));
    assert_int_equal(PARSE("--no-hip-trace", "-d", "out", "app"), 0);
    assert_int_equal(complete(), 0);
    assert_false(flag(OPTION_HIP_RUNTIME_TRACE));
    assert_string_not_equal(text(OPTION_OUTPUT_FORMAT), "none");
    assert_int_equal(ROCPROFV3("--kernel-trace", "--", "app"), 0);
    assert_int_equal(complete(), 0);
    assert_false(flag(OPTION_HIP_RUNTIME_TRACE) || flag(OPTION_SUMMARY));
    assert_null(text(OPTION_OUTPUT_FILE)); /* the tool's own: %hostname%/%pid% */
    assert_int_equal(ROCPROFV3("--stats", "--", "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_non_null(strstr(message, "--stats: nothing is traced"));
}

static void units_and_opposites(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--pmc", "A,B", "--pmc", "C", "-M", "--disable-signal-handlers",
                           "--minimum-output-data", "3", "-P", "1.5:2:0", "-P", "0:1:4",
                           "--collection-period-unit", "msec", "app"),
                     0);
    assert_int_equal(complete(), 0);
    assert_string_equal(text(OPTION_COUNTERS), "pmc: A B\npmc: C");
    assert_true(flag(OPTION_COUNTER_COLLECTION));
    assert_false(flag(OPTION_DEMANGLE) || flag(OPTION_SIGNAL_HANDLERS));
    assert_string_equal(text(OPTION_MINIMUM_OUTPUT_BYTES), "3072");
    assert_string_equal(text(OPTION_PERIODS_NS), "1500000:2000000:0;0:1000000:4");
    assert_int_equal(PARSE("-P", "1:0:1", "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_int_equal(PARSE("-P", "1:0.0000000001:1", "app"), 0); /* it would be none */
    assert_int_equal(complete(), -EINVAL);
    assert_non_null(strstr(message, "less than a nanosecond"));
    assert_int_equal(PARSE("-P", "1:2", "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_int_equal(PARSE("--kernel-iteration-range", "[4-2]", "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_int_equal(PARSE("--kernel-include-regex", "a(b", "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_non_null(strstr(message, "at character"));
}

/* The tool takes no more; what it does not understand does not keep it from collecting. */
static void periods_are_as_many_as_the_tool_takes(void **state)
{
    static const char periods[] = "0:1:1;";
    char line[(PERIODS_MAX + 1) * sizeof periods] = "";
    (void)state;
    for (unsigned i = 0; i < PERIODS_MAX; i++)
        strcat(line, periods);
    assert_int_equal(PARSE("-P", line, "app"), 0);
    assert_int_equal(complete(), 0);
    strcat(line, periods);
    assert_int_equal(PARSE("-P", line, "app"), 0);
    assert_int_equal(complete(), -EINVAL);
    assert_non_null(strstr(message, "too many periods"));
}

/* ---- files of jobs */

static struct jobs jobs;

static int input(const char *name, const char *content)
{
    char path[64];
    snprintf(path, sizeof path, "crocprof_input_test%s", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
    int status = input_read(&jobs, &options, path, message, sizeof message);
    remove(path);
    return status;
}

static const char *job_text(unsigned job, enum option_id id)
{
    return settings_text(&jobs.job[job].options.settings, id);
}

static void jobs_of_a_text(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--pmc", "LINE", "app"), 0);
    assert_int_equal(
        input(".txt", "# comment\npmc: A B # two\n\nkernel: x\n  pmc:C\npmc: # none\n"), 0);
    assert_int_equal(jobs.count, 3);
    assert_string_equal(job_text(0, OPTION_PMC), "LINE");
    assert_string_equal(job_text(2, OPTION_PMC), "C");
    assert_string_equal(jobs.job[1].subdirectory, "pmc_2");
    assert_string_equal(jobs.job[1].options.program[0], "app");
    input_free(&jobs);
    assert_int_equal(input(".txt", ""), 0); /* the line's own counters */
    input_free(&jobs);
    assert_int_equal(PARSE("app"), 0);
    assert_int_equal(input(".txt", "kernel: x\n"), -EINVAL);
}

static void jobs_of_yaml(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--kernel-trace", "app"), 0);
    assert_int_equal(
        input(".yaml",
              "jobs:\n  - pmc: [A, B]\n    kernel_trace: true\n    output_format: [csv, pftrace]\n"
              "    output_file: out\n  - {hip-trace: yes, kernel_iteration_range: '[1,3-5]'}\n"
              "  - pmc_groups: [[A, B], [C]]\n    pmc_group_interval: 3\n"),
        0);
    assert_int_equal(jobs.count, 3);
    assert_string_equal(job_text(0, OPTION_PMC), "A B ");
    assert_string_equal(job_text(0, OPTION_OUTPUT_FORMAT), "csv,pftrace");
    assert_true(settings_flag(&jobs.job[1].options.settings, OPTION_HIP_TRACE));
    assert_string_equal(job_text(1, OPTION_KERNEL_ITERATION_RANGE), "[1,3-5]");
    assert_string_equal(job_text(2, OPTION_COUNTER_GROUPS), "pmc: A B\npmc: C");
    assert_string_equal(job_text(2, OPTION_COUNTER_GROUPS_INTERVAL), "3");
    assert_string_equal(jobs.job[2].subdirectory, "pass_3");
    input_free(&jobs);
    assert_int_equal(input(".yaml", "jobs:\n  - {hip_trace: true}\n"), 0);
    assert_string_equal(jobs.job[0].subdirectory, ""); /* nothing to keep it from */
    input_free(&jobs);
    assert_int_equal(input(".yaml", "jobs:\n  - {pmc: [A]}\n"), 0);
    assert_string_equal(jobs.job[0].subdirectory, "pass_1");
    input_free(&jobs);
    assert_int_equal(
        input(".json", "{\"jobs\": [{\"pmc\": [\"A\"], \"stats\": true, \"log_level\": null}]}"),
        0);
    assert_string_equal(job_text(0, OPTION_PMC), "A ");
    input_free(&jobs);
}

/* Of one run, which repeats its kernels. */
static void jobs_may_be_passes(void **state)
{
    (void)state;
    assert_int_equal(PARSE("app"), 0);
    assert_int_equal(input(".yaml", "job_replay_mode: kernel\njobs:\n"
                                    "  - {pmc: [A, B], kernel_include_regex: k}\n"
                                    "  - {pmc: [A], kernel_include_regex: k, output_file: out}\n"),
                     0);
    assert_int_equal(jobs.count, 1);
    assert_string_equal(job_text(0, OPTION_PMC), "A B \nA ");
    assert_string_equal(job_text(0, OPTION_REPLAY_MODE), "kernel");
    assert_string_equal(job_text(0, OPTION_KERNEL_INCLUDE_REGEX), "k");
    assert_string_equal(job_text(0, OPTION_OUTPUT_FILE), "out");
    assert_string_equal(jobs.job[0].subdirectory, "");
    input_free(&jobs);
    assert_int_equal(
        input(".yaml", "job_replay_mode: application\njobs: [{pmc: [A]}, {pmc: [B]}]\n"), 0);
    assert_int_equal(jobs.count, 2);
    input_free(&jobs);
    assert_int_equal(PARSE("--replay-mode", "kernel", "app"), 0);
    assert_int_equal(input(".yaml", "jobs: [{pmc: [A]}, {pmc: [B]}]\n"), 0);
    assert_int_equal(jobs.count, 2); /* the file says what its jobs are */
    input_free(&jobs);
}

static void jobs_that_cannot_be_passes(void **state)
{
    static const struct {
        const char *content, *why;
    } files[] = {
        {"job_replay_mode: dispatch\njobs: [{pmc: [A]}]", "neither kernel nor application"},
        {"job_replay_mode: kernel\njobs: [{pmc: [A]}, {kernel_trace: true}]", "a pass with pmc"},
        {"job_replay_mode: kernel\njobs: [{pmc_groups: [[A], [B]]}]", "a pass with pmc"},
        {"job_replay_mode: kernel\njobs: [{pmc: [A], output_file: a}, {pmc: [B], output_file: b}]",
         "--output-file is a and b"},
        {"job_replay_mode: kernel\njobs: [{pmc: [A], replay_mode: application}]",
         "--replay-mode is application and kernel"},
    };
    (void)state;
    assert_int_equal(PARSE("app"), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(input(".yaml", files[i].content), -EINVAL);
        if (!strstr(message, files[i].why))
            fail_msg("%s: %s", files[i].content, message);
    }
    assert_int_equal(PARSE("--pmc", "C", "app"), 0);
    assert_int_equal(input(".yaml", "job_replay_mode: kernel\njobs: [{pmc: [A]}]"), -EINVAL);
}

static void wrong_files_say_what_is_wrong(void **state)
{
    static const struct {
        const char *ending, *content, *why;
    } files[] = {
        {".toml", "", "none of .txt"},
        {".yaml", "jobs: [", "line "},
        {".yaml", "job: []", "no list named jobs"},
        {".yaml", "jobs: [3]", "no list of options"},
        {".yaml", "jobs: [{pmcs: [A]}]", "unknown option pmcs (did you mean --pmc?)"},
        {".yaml", "jobs: [{pmc: {a: b}}]", "neither a word nor a list"},
        {".yaml", "jobs: [{kernel_trace: maybe}]", "neither yes nor no"},
        {".json", "{\"jobs\": [{\"output_file\": \"b\"}]}", "is b there and a on the command line"},
        {".json", "{\"jobs\": []}", "no jobs"},
        {".yaml", "jobs: [{pmc_groups: [A]}]", "list of lists"},
        {".yaml", "jobs: [{advanced_thread_trace: true}]", "not collected yet"},
    };
    (void)state;
    assert_int_equal(PARSE("-o", "a", "app"), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(input(files[i].ending, files[i].content) < 0);
        if (!strstr(message, files[i].why))
            fail_msg("%s: %s", files[i].content, message);
    }
    assert_int_equal(input_read(&jobs, &options, "/nonexistent.yaml", message, sizeof message),
                     -ENOENT);
}

static void rocprofv3_runs_once_for_each_pmc(void **state)
{
    (void)state;
    assert_int_equal(ROCPROFV3("--pmc", "A", "--pmc", "B", "C", "--", "app"), 0);
    assert_int_equal(input_none(&jobs, &options, message, sizeof message), 0);
    assert_int_equal(jobs.count, 2);
    assert_string_equal(job_text(1, OPTION_PMC), "B C");
    assert_string_equal(jobs.job[1].subdirectory, "pass_2");
    input_free(&jobs);
    assert_int_equal(
        ROCPROFV3("--replay-mode", "kernel", "--pmc", "A", "--pmc", "B", "C", "--", "app"), 0);
    assert_int_equal(input_none(&jobs, &options, message, sizeof message), 0);
    assert_int_equal(jobs.count, 1); /* whose kernels have the passes */
    assert_string_equal(jobs.job[0].subdirectory, "");
    input_free(&jobs);
    assert_int_equal(PARSE("--pmc", "A", "--pmc", "B", "app"), 0);
    assert_int_equal(input_none(&jobs, &options, message, sizeof message), 0);
    assert_int_equal(jobs.count, 1);
    assert_string_equal(jobs.job[0].subdirectory, "");
    input_free(&jobs);
}

enum { TEST_SQL, TEST_FORMAT, TEST_COUNT, TEST_ALL };
static const struct command_option own[] = {
    [TEST_SQL] = {"sql", 'q', OPTION_LIST, "TEXT", ""},
    [TEST_FORMAT] = {"form", 'f', OPTION_CHOICE, "csv|json", ""},
    [TEST_COUNT] = {"repeat", 'r', OPTION_NUMBER, "N", ""},
    [TEST_ALL] = {"all", 'a', OPTION_FLAG, NULL, ""},
    {0},
};
static const enum option_id taken[] = {OPTION_SUMMARY_UNITS, OPTION_SUMMARY, OPTION_COUNT};
static const struct command reader = {.name = "read",
                                      .operands = "FILE ...",
                                      .options = own,
                                      .takes = taken,
                                      .operands_min = 1,
                                      .operands_max = 2};
static const struct command runner = {
    .name = "run", .options = own, .takes_all = true, .takes_program = true, .operands_min = 1};

static int command_line(const struct command *command, char **words)
{
    int count = 0;
    while (words[count])
        count++;
    cli_options_free(&options);
    return command_parse(&options, command, count, words, message, sizeof message);
}
#define COMMAND(command, ...) command_line(&(command), (char *[]){"x", __VA_ARGS__, NULL})

static void a_command_has_options_of_its_own(void **state)
{
    unsigned at = 0;
    (void)state;
    assert_int_equal(COMMAND(reader, "-q", "one", "a.db", "--sql=two", "-aS", "-f", "CSV", "-u",
                             "msec", "--", "-b.db"),
                     0);
    assert_string_equal(command_next(&options, TEST_SQL, &at), "one");
    assert_string_equal(command_next(&options, TEST_SQL, &at), "two");
    assert_null(command_next(&options, TEST_SQL, &at));
    assert_string_equal(command_text(&options, TEST_SQL), "two");
    assert_string_equal(command_text(&options, TEST_FORMAT), "csv");
    assert_true(command_flag(&options, TEST_ALL) && flag(OPTION_SUMMARY));
    assert_int_equal(command_number(&options, TEST_COUNT, 7), 7);
    assert_string_equal(text(OPTION_SUMMARY_UNITS), "msec");
    assert_int_equal(options.operand_count, 2);
    assert_string_equal(options.operands[0], "a.db");
    assert_string_equal(options.operands[1], "-b.db");
    assert_null(options.operands[2]);
    assert_int_equal(COMMAND(reader, "a", "--all", "--no-all"), 0);
    assert_false(command_flag(&options, TEST_ALL));
}

static void a_command_may_run_a_program(void **state)
{
    (void)state;
    assert_int_equal(COMMAND(runner, "-r", "3", "--pmc", "A", "./app", "-r", "4"), 0);
    assert_int_equal(command_number(&options, TEST_COUNT, 0), 3); /* its own, not -r of record */
    assert_false(flag(OPTION_RUNTIME_TRACE));
    assert_string_equal(text(OPTION_PMC), "A");
    assert_string_equal(options.program[0], "./app");
    assert_string_equal(options.program[2], "4");
    assert_int_equal(COMMAND(runner, "-r", "3"), -EINVAL);
    assert_non_null(strstr(message, "which program"));
}

static void a_wrong_command_line_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *why;
    } lines[] = {
        {{"x", "--kernel-trace", "a"}, "unknown option --kernel-trace"},
        {{"x", "--repeet", "1"}, "did you mean --repeat"},
        {{"x", "a", "-r", "x"}, "x is not a number"},
        {{"x", "a", "-f", "xml"}, "xml is none of csv|json"},
        {{"x", "a", "--all=maybe"}, "neither yes nor no"},
        {{"x", "a", "-q"}, "--sql needs a value"},
        {{"x", "--all"}, "usage: crocprof read [options] FILE ..."},
        {{"x", "a", "b", "c"}, "usage: crocprof read"},
        {{"x", "-Z", "c"}, "unknown option -Z (see crocprof read --help)"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *words[5] = {lines[i].words[0], lines[i].words[1], lines[i].words[2],
                          lines[i].words[3], NULL};
        assert_int_equal(command_line(&reader, words), -EINVAL);
        if (!strstr(message, lines[i].why))
            fail_msg("\"%s\" is not in \"%s\"", lines[i].why, message);
    }
    assert_int_equal(COMMAND(reader, "--help"), 0);
    assert_int_equal(options.command, CLI_HELP);
}

static void commands_are_found_by_name(void **state)
{
    (void)state;
    const struct command *const commands[] = {&reader, &runner, NULL};
    assert_ptr_equal(command_find(commands, "run"), &runner);
    assert_null(command_find(commands, "rum"));
    assert_string_equal(command_nearest(commands, "raed"), "read");
    assert_null(command_nearest(commands, "./application"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(words_behind_a_switch, forget),
        cmocka_unit_test_teardown(the_program_keeps_its_own_options, forget),
        cmocka_unit_test_teardown(every_spelling_of_a_value, forget),
        cmocka_unit_test_teardown(switches, forget),
        cmocka_unit_test_teardown(lists_add_up, forget),
        cmocka_unit_test_teardown(wrong_lines_say_what_is_wrong, forget),
        cmocka_unit_test_teardown(nothing_else_wins_over_what_was_said, forget),
        cmocka_unit_test_teardown(the_name_decides_the_defaults, forget),
        cmocka_unit_test_teardown(units_and_opposites, forget),
        cmocka_unit_test_teardown(periods_are_as_many_as_the_tool_takes, forget),
        cmocka_unit_test_teardown(jobs_of_a_text, forget),
        cmocka_unit_test_teardown(jobs_of_yaml, forget),
        cmocka_unit_test_teardown(jobs_may_be_passes, forget),
        cmocka_unit_test_teardown(jobs_that_cannot_be_passes, forget),
        cmocka_unit_test_teardown(wrong_files_say_what_is_wrong, forget),
        cmocka_unit_test_teardown(rocprofv3_runs_once_for_each_pmc, forget),
        cmocka_unit_test_teardown(a_command_has_options_of_its_own, forget),
        cmocka_unit_test_teardown(a_command_may_run_a_program, forget),
        cmocka_unit_test_teardown(a_wrong_command_line_says_what_is_wrong, forget),
        cmocka_unit_test(commands_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
