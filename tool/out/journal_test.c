#include "journal.h"
#include "journal_shapes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>

enum { ROWS = 1000, KERNELS = 3 };

static struct out_code_object code = {.id = 4, .node = 1, .uri = "file:///x", .load_delta = -5};
static struct out_kernel kernels[KERNELS] = {{.id = 7, .code_object = &code, .symbol = "_Z1k"},
                                             {.id = 8, .code_object = &code, .name = "k2"},
                                             {.id = 9}};
static struct out_counter counter = {
    .id = 3,
    .name = "SQ_WAVES",
    .is_derived = true,
    .dimension_count = 2,
    .dimensions = {{.name = "A", .id = 1, .size = 8, .step = 1},
                   {.name = "B", .id = 7, .size = 32, .step = 64}}};

static struct out_dispatch_row dispatch_make(uint64_t i)
{
    static const char *const names[] = {"alpha", "", NULL, "beta"};
    return (struct out_dispatch_row){.kind = "KERNEL_DISPATCH",
                                     .dispatch_id = i + 1,
                                     .kernel_name = names[i % 4],
                                     .start_ns = UINT64_MAX - i,
                                     .grid = {i * i, 1, i % 2},
                                     .external_id = i % 7 ? 0 : i,
                                     .kernel = i % 5 ? &kernels[i % KERNELS] : NULL};
}

static void rows_write(const char *prefix)
{
    struct journal *journal;
    assert_int_equal(journal_create(prefix, &journal), 0);
    const rocprofiler_agent_mem_bank_t banks[2] = {{.width = 4096}, {.width = 64}};
    struct out_agent_row agent = {.type = "GPU", .agent = {.name = "gfx90a", .mem_banks_count = 2}};
    agent.agent.mem_banks = banks;
    journal_row(journal, OUT_AGENT_INFO, &agent);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct out_dispatch_row dispatch = dispatch_make(i);
        journal_row(journal, OUT_KERNEL_TRACE, &dispatch);
        char message[32];
        snprintf(message, sizeof message, "step %u", (unsigned)i % 10); /* at one address */
        const struct out_api_row marker = {.domain = "MARKER", .message = message, .start_ns = i};
        journal_row(journal, OUT_MARKER_API, &marker);
        char arguments[32]; /* every second call has one */
        int bytes = snprintf(arguments, sizeof arguments, "size_t%csize%c%u", 0, 0, (unsigned)i);
        const struct out_api_row call = {.domain = "HIP",
                                         .arguments = i % 2 ? arguments : NULL,
                                         .arguments_bytes = i % 2 ? (uint32_t)bytes + 1 : 0,
                                         .result = i % 3};
        journal_row(journal, OUT_HIP_API, &call);
    }
    const struct out_counter_row value = {.dispatch = dispatch_make(1),
                                          .counter_name = "SQ_WAVES",
                                          .counter_value = 0.1,
                                          .counter = &counter};
    journal_row(journal, OUT_COUNTER_COLLECTION, &value);
    journal_flush(journal);
    kill(getpid(), 9);
}

/* What was read. */
struct read_rows {
    uint64_t dispatches, markers, calls, values, agents, ends;
    pid_t pid;
};

static void text_equal(const char *found, const char *wanted)
{
    if (wanted)
        assert_string_equal(found, wanted);
    else
        assert_null(found);
}

static void dispatch_check(const struct out_dispatch_row *row, uint64_t i)
{
    struct out_dispatch_row wanted = dispatch_make(i), found = *row;
    text_equal(row->kind, wanted.kind);
    text_equal(row->kernel_name, wanted.kernel_name);
    assert_int_equal(row->kernel != NULL, wanted.kernel != NULL);
    if (row->kernel) {
        assert_int_equal(row->kernel->id, wanted.kernel->id);
        text_equal(row->kernel->symbol, wanted.kernel->symbol);
        text_equal(row->kernel->name, wanted.kernel->name);
        if (wanted.kernel->code_object) {
            text_equal(row->kernel->code_object->uri, code.uri);
            assert_int_equal(row->kernel->code_object->load_delta, code.load_delta);
        }
    }
    found.kind = wanted.kind;
    found.kernel_name = wanted.kernel_name;
    found.kernel = wanted.kernel;
    assert_memory_equal(&found, &wanted, sizeof found);
}

static void call_check(const struct out_api_row *row, uint64_t i)
{
    struct out_argument argument;
    char value[32];
    uint32_t at = 0;
    assert_int_equal(row->result, i % 3);
    assert_int_equal(out_argument_next(row, &at, &argument), i % 2);
    if (i % 2 == 0)
        return;
    snprintf(value, sizeof value, "%u", (unsigned)i);
    assert_string_equal(argument.type, "size_t");
    assert_string_equal(argument.name, "size");
    assert_string_equal(argument.value, value);
    assert_false(out_argument_next(row, &at, &argument));
}

static void process_take(void *data, const struct out_process *process)
{
    struct read_rows *rows = data;
    assert_int_equal(process->pid, rows->pid);
    assert_non_null(strstr(process->command, "journal_test"));
}

static void row_take(void *data, enum out_table_id table, const void *row)
{
    struct read_rows *rows = data;
    const struct out_agent_row *agent = row;
    const struct out_api_row *marker = row;
    const struct out_counter_row *value = row;
    char message[32];
    if (table == OUT_KERNEL_TRACE) {
        dispatch_check(row, rows->dispatches++);
    } else if (table == OUT_MARKER_API) {
        snprintf(message, sizeof message, "step %u", (unsigned)rows->markers % 10);
        assert_string_equal(marker->message, message);
        assert_int_equal(marker->start_ns, rows->markers++);
    } else if (table == OUT_HIP_API) {
        call_check(row, rows->calls++);
    } else if (table == OUT_COUNTER_COLLECTION) {
        rows->values++;
        dispatch_check(&value->dispatch, 1);
        assert_true(value->counter_value == 0.1);
        assert_string_equal(value->counter->name, "SQ_WAVES");
        assert_true(value->counter->is_derived);
        assert_int_equal(value->counter->dimension_count, 2);
        assert_string_equal(value->counter->dimensions[1].name, "B");
        assert_int_equal(value->counter->dimensions[1].step, 64);
        assert_null(value->counter->dimensions[2].name);
    } else {
        assert_int_equal(table, OUT_AGENT_INFO);
        rows->agents++;
        assert_string_equal(agent->agent.name, "gfx90a");
        assert_int_equal(agent->agent.mem_banks_count, 2);
        assert_int_equal(agent->agent.mem_banks[0].width, 4096);
        assert_int_equal(agent->agent.mem_banks[1].width, 64);
        assert_null(agent->agent.caches);
    }
}

static void end_take(void *data)
{
    ((struct read_rows *)data)->ends++;
}

/* Rows of a process that is killed. The path is that of its file. */
static pid_t killed_run(char path[64])
{
    char folder[] = "/tmp/crocprof-journal-XXXXXX", prefix[40];
    int status;
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/1", folder);
    snprintf(path, 64, "%s" JOURNAL_END, prefix);
    assert_int_equal(journal_state(path), JOURNAL_NONE);
    pid_t child = fork();
    if (child == 0)
        rows_write(prefix);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == 9);
    assert_int_equal(journal_state(path), JOURNAL_LEFT);
    return child;
}

static void folder_remove(char *path)
{
    unlink(path);
    *strrchr(path, '/') = 0;
    assert_int_equal(rmdir(path), 0);
}

static void rows_of_a_killed_process_come_back(void **state)
{
    (void)state;
    char path[64], error[200];
    struct read_rows rows = {.pid = killed_run(path)};
    const struct journal_reader reader = {process_take, row_take, end_take, &rows};
    assert_int_equal(journal_read(path, &reader, error, sizeof error), 0);
    assert_int_equal(rows.dispatches, ROWS);
    assert_int_equal(rows.markers, ROWS);
    assert_true(rows.values == 1 && rows.agents == 1 && rows.ends == 1);
    folder_remove(path);
}

/* However much of the file is there, what comes is right, and no row is made up. */
static void a_file_cut_anywhere_is_read_so_far(void **state)
{
    (void)state;
    char path[64], error[200];
    struct stat whole;
    uint64_t before = ROWS;
    pid_t pid = killed_run(path);
    assert_int_equal(stat(path, &whole), 0);
    for (off_t size = whole.st_size; size > 0; size -= size > 4000 ? 331 : 1) {
        struct read_rows rows = {.pid = pid};
        const struct journal_reader reader = {process_take, row_take, end_take, &rows};
        assert_int_equal(truncate(path, size), 0);
        int status = journal_read(path, &reader, error, sizeof error);
        assert_true(status == 0 || (status == -EINVAL && size < 256));
        assert_true(rows.dispatches <= before);
        before = rows.dispatches;
    }
    assert_int_equal(before, 0);
    folder_remove(path);
}

static void process_ignore(void *data, const struct out_process *process)
{
    (void)data;
    (void)process;
}

static void end_ignore(void *data)
{
    (void)data;
}

/* Every byte of what a writer may touch. */
static void row_touch(void *data, enum out_table_id table, const void *row)
{
    const struct out_dispatch_row *dispatch = row;
    size_t *sum = data;
    if (table != OUT_KERNEL_TRACE)
        return;
    *sum += dispatch->kernel_name ? strlen(dispatch->kernel_name) : 0;
    *sum += dispatch->kernel && dispatch->kernel->symbol ? strlen(dispatch->kernel->symbol) : 0;
}

/* Bytes that anybody may have changed: numbers of things, lengths, masks. */
static void a_damaged_file_is_no_danger(void **state)
{
    (void)state;
    enum { HEAD = JOURNAL_HEAD_BYTES + OUT_TABLE_COUNT * sizeof(uint16_t), BYTES = 4096 };
    char path[64], error[200];
    size_t sum = 0;
    killed_run(path);
    const struct journal_reader reader = {process_ignore, row_touch, end_ignore, &sum};
    assert_int_equal(truncate(path, BYTES), 0);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    for (int at = HEAD; at < BYTES; at++) {
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        for (int change = 1; change < 256; change = change << 1 | 1) {
            fseek(file, at, SEEK_SET);
            fputc(byte ^ change, file);
            fflush(file);
            assert_int_equal(journal_read(path, &reader, error, sizeof error), 0);
        }
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
        fflush(file);
    }
    fclose(file);
    folder_remove(path);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    char error[200] = "";
    const struct journal_reader reader = {process_take, row_take, end_take, NULL};
    assert_int_equal(journal_read("/proc/self/exe", &reader, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "/proc/self/exe: no rows"));
    assert_int_equal(journal_read("/nonexistent", &reader, error, sizeof error), -ENOENT);
    assert_int_equal(journal_read("/dev/null", &reader, error, sizeof error), -EINVAL);
}

static void a_file_that_is_written_is_in_use(void **state)
{
    (void)state;
    char folder[] = "/tmp/crocprof-journal-XXXXXX", prefix[40], path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/1", folder);
    snprintf(path, sizeof path, "%s" JOURNAL_END, prefix);
    struct journal *journal;
    assert_int_equal(journal_create(prefix, &journal), 0);
    assert_non_null(journal);
    assert_int_equal(journal_create(prefix, &journal), -EEXIST);
    assert_int_equal(journal_state(path), JOURNAL_IN_USE);
    pid_t child = fork();
    if (child == 0) {
        journal_forget(journal);
        _exit(journal_state(path) == JOURNAL_IN_USE ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(journal_state(path), JOURNAL_IN_USE);
    journal_remove(journal);
    assert_int_equal(journal_state(path), JOURNAL_NONE);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_killed_process_come_back),
        cmocka_unit_test(a_file_cut_anywhere_is_read_so_far),
        cmocka_unit_test(a_damaged_file_is_no_danger),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_file_that_is_written_is_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
