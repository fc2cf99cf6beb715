#include "perfetto.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lanes.h"
#include "proto.h"

static void bytes_equal(const struct proto *proto, const char *expected, size_t size)
{
    assert_false(proto->failed);
    assert_int_equal(proto->used, size);
    assert_memory_equal(proto->bytes, expected, size);
}

/* The examples of protobuf's own description of its encoding. */
static void fields_are_encoded_as_protobuf_describes(void **state)
{
    (void)state;
    struct proto proto = {0};
    proto_u64(&proto, 1, 150);
    bytes_equal(&proto, "\x08\x96\x01", 3);
    proto_reset(&proto);
    proto_string(&proto, 2, "testing");
    bytes_equal(&proto, "\x12\x07testing", 9);
    proto_reset(&proto);
    size_t open = proto_begin(&proto, 3);
    proto_u64(&proto, 1, 150);
    proto_end(&proto, open);
    bytes_equal(&proto, "\x1a\x03\x08\x96\x01", 5);
    proto_reset(&proto);
    proto_fixed64(&proto, 1, 0x0102030405060708u);
    bytes_equal(&proto, "\x09\x08\x07\x06\x05\x04\x03\x02\x01", 9);
    proto_reset(&proto);
    proto_u64(&proto, 1, UINT64_MAX);
    bytes_equal(&proto, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    proto_free(&proto);
}

static void empty_strings_and_messages_are_kept(void **state)
{
    (void)state;
    struct proto proto = {0};
    proto_string(&proto, 2, "");
    proto_end(&proto, proto_begin(&proto, 3));
    bytes_equal(&proto, "\x12\x00\x1a\x00", 4);
    proto_free(&proto);
}

/* Lengths around those at which their own encoding grows. */
static void long_messages_make_room_for_their_length(void **state)
{
    (void)state;
    static char text[20000];
    static const struct {
        size_t text, head;
        const char *bytes;
    } cases[] = {
        /* inner: tag, length of the text, text; outer: tag, length of the inner */
        {125, 4, "\x0a\x7f\x12\x7d"},
        {126, 5, "\x0a\x80\x01\x12\x7e"},
        {16380, 6, "\x0a\xff\x7f\x12\xfc\x7f"},
        {16381, 7, "\x0a\x80\x80\x01\x12\xfd\x7f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct proto proto = {0};
        memset(text, 'x', cases[i].text);
        text[cases[i].text] = 0;
        size_t open = proto_begin(&proto, 1);
        proto_string(&proto, 2, text);
        proto_end(&proto, open);
        assert_int_equal(proto.used, cases[i].head + cases[i].text);
        assert_memory_equal(proto.bytes, cases[i].bytes, cases[i].head);
        assert_memory_equal(proto.bytes + cases[i].head, text, cases[i].text);
        proto_free(&proto);
    }
}

static void overlapping_ranges_get_lanes(void **state)
{
    (void)state;
    int status;
    struct perfetto *trace = perfetto_create("/dev/null", &status);
    assert_non_null(trace);
    struct lanes lanes = {.parent = perfetto_process(trace, 1, "p"), .name = "queue"};
    perfetto_track first = lanes_track(&lanes, trace, 10, 20);
    assert_int_not_equal(first, lanes.parent);
    assert_int_equal(lanes_track(&lanes, trace, 20, 30), first); /* touching is no overlap */
    perfetto_track second = lanes_track(&lanes, trace, 25, 40);
    assert_int_not_equal(second, first);
    assert_int_equal(lanes_track(&lanes, trace, 35, 36), first);
    assert_int_equal(lanes_track(&lanes, trace, 40, 41), first); /* both are free */
    assert_int_equal(lanes.count, 2);
    /* Arrived late: whatever else lies on a lane at that time is unknown, so neither is taken. */
    perfetto_track third = lanes_track(&lanes, trace, 1, 2);
    assert_true(third != first && third != second);
    lanes_free(&lanes);
    assert_int_equal(perfetto_close(trace), 0);
}

static void a_file_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    int status = 0;
    assert_null(perfetto_create("/nonexistent/folder/file", &status));
    assert_int_equal(status, -ENOENT);
    assert_int_equal(perfetto_process(NULL, 1, "p"), 0);
    assert_int_equal(perfetto_thread(NULL, 1, 1, 1, NULL), 0);
    assert_int_equal(perfetto_name(NULL, "x"), 0);
    assert_int_equal(perfetto_status(NULL), -EINVAL);
    const struct perfetto_event event = {.track = 1};
    perfetto_slice(NULL, &event);
    perfetto_instant(NULL, &event);
}

static void a_full_disk_is_told_at_the_end(void **state)
{
    (void)state;
    int status;
    struct perfetto *trace = perfetto_create("/dev/full", &status);
    assert_non_null(trace);
    const struct perfetto_event event = {.track = 1, .name = perfetto_name(trace, "x")};
    for (int i = 0; i < 10000; i++) /* more than is kept in memory */
        perfetto_slice(trace, &event);
    assert_int_equal(perfetto_status(trace), -ENOSPC);
    assert_int_equal(perfetto_close(trace), -ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_encoded_as_protobuf_describes),
        cmocka_unit_test(empty_strings_and_messages_are_kept),
        cmocka_unit_test(long_messages_make_room_for_their_length),
        cmocka_unit_test(overlapping_ranges_get_lanes),
        cmocka_unit_test(a_file_that_cannot_be_made_is_an_error),
        cmocka_unit_test(a_full_disk_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
