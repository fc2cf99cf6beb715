/*
 * All that the builders write, for a GPU of every family, through `crocgpu pm4`: it knows every
 * packet and has a name for every register. And what it says of files that are cut or damaged.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/dump.h"
#include "gpu/pmc.h"
#include "gpu/sqtt/sqtt.h"

static const struct machine {
    const char *architecture;
    struct gpu_geometry geometry;
} machines[] = {
    {"gfx900", {1, 4, 1, 64, 0}},  {"gfx906", {1, 4, 1, 60, 0}},   {"gfx908", {1, 8, 1, 120, 0}},
    {"gfx90a", {1, 8, 1, 104, 0}}, {"gfx942", {8, 32, 1, 304, 0}}, {"gfx950", {8, 32, 1, 256, 0}},
    {"gfx1010", {1, 2, 2, 40, 0}}, {"gfx1030", {1, 4, 2, 80, 0}},  {"gfx1036", {1, 1, 1, 2, 0}},
    {"gfx1100", {1, 6, 2, 96, 0}}, {"gfx1151", {1, 2, 2, 40, 0}},  {"gfx1200", {1, 2, 2, 32, 0}},
    {"gfx1201", {1, 4, 2, 64, 0}},
};

static struct gpu_target target_of(const struct machine *machine)
{
    struct gpu_target target;
    assert_int_equal(gpu_target_find(machine->architecture, &machine->geometry, &target), 0);
    return target;
}

static void counters_append(struct pm4_stream *stream, const struct gpu_target *target)
{
    uint32_t blocks;
    const struct gpu_block *all = gpu_blocks(target, &blocks);
    for (uint32_t k = 0; k < blocks; k++) {
        uint32_t instances = gpu_block_instances(target, &all[k]);
        for (uint32_t instance = 0; instance < instances; instance += instances - 1 + !instance) {
            struct gpu_event events[GPU_BLOCK_COUNTERS_MAX];
            for (uint32_t i = 0; i < all[k].counters; i++)
                events[i] = (struct gpu_event){
                    .block = &all[k], .instance = instance, .event = all[k].event_max};
            assert_int_equal(gpu_pmc_assign(target, events, all[k].counters), GPU_PMC_OK);
            gpu_pmc_start(stream, target, events, all[k].counters);
            gpu_pmc_read(stream, target, events, all[k].counters, 0x7f0000001000);
            gpu_pmc_stop(stream, target, events, all[k].counters);
            if (instances == 1)
                break;
        }
    }
    gpu_pmc_enable(stream, target, 0);
}

static void trace_append(struct pm4_stream *stream, const struct gpu_target *target)
{
    struct sqtt_config config = {.engine_mask = (1ull << target->geometry.se_count) - 1,
                                 .simd_mask = 0xf,
                                 .has_timestamps = 1,
                                 .control_va = 0x7f0000002000,
                                 .buffer_va = 0x7f5566000000,
                                 .buffer_bytes = 64 << 20};
    struct sqtt_config counting = config;
    counting.counters[0] = 4;
    counting.counter_count = 1;
    if (!sqtt_config_check(target, &counting))
        config = counting;
    assert_null(sqtt_config_check(target, &config));
    sqtt_start(stream, target, &config);
    sqtt_marker(stream, target, SQTT_CHANNEL_HEADER, 1);
    sqtt_read(stream, target, &config);
    sqtt_stop(stream, target, &config);
}

static char path[] = "/tmp/croc_decode_XXXXXX";

static void file_write(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* What the command prints of the file; the caller frees it. */
static char *command_run(const char *architecture, int *status)
{
    char command[512];
    size_t count = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    snprintf(command, sizeof command, "%s pm4 --gfx %s %s 2>/dev/null", CROCGPU, architecture,
             path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    for (size_t got; (got = fread(text + count, 1, capacity - count - 1, pipe)) > 0;) {
        count += got;
        if (capacity - count < 1 << 12)
            text = realloc(text, capacity *= 2);
    }
    text[count] = '\0';
    *status = pclose(pipe);
    assert_true(WIFEXITED(*status));
    *status = WEXITSTATUS(*status);
    return text;
}

/* A register in the text is its name: numbers stand for registers without one. */
static int is_named(const char *at)
{
    static const char *const before[] = {
        "64 ", "perf:", "base_die0:", "base_die1:", "base_die2:", "base_die3:"};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            at += strlen(before[i]);
    return isupper((unsigned char)*at) || *at == '[';
}

/* COPY_DATA of a register: the source is its first operand. */
static void line_check(const char *line, const struct dump_packet *packet)
{
    const char *operands = strstr(line, packet->name);
    const char *arrow = strstr(line, " -> ");
    assert_non_null(operands);
    operands += strlen(packet->name) + 1;
    int named = 1;
    if (strncmp(packet->name, "SET_", 4) == 0 || strcmp(packet->name, "WAIT_REG_MEM") == 0)
        named = is_named(operands);
    if (packet->opcode == PM4_COPY_DATA) {
        uint32_t from = packet->body[0] & 15;
        named = is_named(arrow + 4);
        if (from == PM4_COPY_REGISTER || from == PM4_COPY_PERFCOUNTERS)
            named = named && is_named(operands);
    }
    if (!named || strstr(line, "place") || strstr(line, "reserved"))
        fail_msg("%.200s", line);
}

static void every_builder_test(void **state)
{
    uint32_t packets = 0;
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct gpu_target target = target_of(&machines[i]);
        struct pm4_stream stream = {0};
        int status;
        counters_append(&stream, &target);
        trace_append(&stream, &target);
        assert_false(stream.out_of_memory);
        file_write(stream.dwords, (size_t)stream.count * 4);
        char *text = command_run(machines[i].architecture, &status), *save = NULL;
        assert_int_equal(status, 0);
        char *line = strtok_r(text, "\n", &save);
        for (uint32_t at = 0; at < stream.count; packets++) {
            struct dump_packet packet;
            uint32_t length = dump_decode(stream.dwords + at, stream.count - at, &packet);
            assert_true(length > 0);
            assert_non_null(line);
            assert_int_equal(strtoul(line, NULL, 10), at);
            line_check(line, &packet);
            line = strtok_r(NULL, "\n", &save);
            at += length;
        }
        assert_null(line);
        free(text);
        pm4_stream_free(&stream);
    }
    assert_true(packets > 10000);
}

/* A file cut anywhere says what is whole, and that there is more; damaged ones end it never. */
static void hostile_test(void **state)
{
    struct gpu_target target = target_of(&machines[3]);
    struct pm4_stream stream = {0};
    uint64_t seed = 3;
    int status;
    (void)state;
    trace_append(&stream, &target);
    const size_t bytes = (size_t)stream.count * 4;
    file_write(stream.dwords, bytes);
    char *whole = command_run("gfx90a", &status);
    for (size_t cut = 1; cut < 120; cut++) {
        file_write(stream.dwords, cut);
        char *part = command_run("gfx90a", &status);
        char *unknown = strstr(part, " not a packet");
        size_t same = strlen(part);
        if (unknown) { /* the line's begin */
            while (unknown > part && unknown[-1] != '\n')
                unknown--;
            same = (size_t)(unknown - part);
        }
        assert_memory_equal(part, whole, same);
        assert_int_equal(status, unknown || cut % 4 ? 1 : 0);
        free(part);
    }
    uint8_t *damaged = malloc(bytes);
    for (int round = 0; round < 60; round++) {
        memcpy(damaged, stream.dwords, bytes);
        for (int i = 0; i < 1 + round; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            damaged[(seed >> 33) % bytes] = (uint8_t)(seed >> 20);
        }
        file_write(damaged, bytes);
        free(command_run(machines[round % 13].architecture, &status));
        assert_true(status == 0 || status == 1);
    }
    free(damaged);
    free(whole);
    pm4_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_builder_test),
        cmocka_unit_test(hostile_test),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
