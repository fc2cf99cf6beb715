/* Records that are put many at a time: all arrive, in order, whatever their size and the buffer's.
 */
#include "model/trace.h"
#include "tracebuf/test/consumer_double.h"

enum { ROUNDS = 400, MANY = 73 };

static void check_many(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                       uint64_t dropped, void *arg)
{
    struct consumer_double *consumer = arg;
    (void)buffer;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *words = items[i]->payload;
        uint64_t n = consumer->records++;
        consumer->disorder += items[i]->tag != (3 | UINT64_C(5) << 32) || words[0] != n % 64;
        consumer->disorder += words[1] != n || words[4] != ~n;
    }
    consumer->dropped = dropped;
}

static void many_put(struct tracebuf *buffer, size_t words)
{
    uint64_t payloads[MANY * 8], n = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < MANY; i++, n++) {
            payloads[i * words] = n % 64; /* its own size is among these: see record_copy() */
            payloads[i * words + 1] = n;
            payloads[i * words + 4] = ~n;
        }
        trace_buffer_put_many(buffer, 3, 5, payloads, words * 8, MANY);
    }
}

static void all_of_many_arrive(void **state)
{
    const size_t words[] = {5, 8};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct consumer_double consumer = {0};
        size_t bytes = i / 2 ? 1 << 20 : 4096;
        struct tracebuf *buffer = buffer_make(&consumer, bytes, bytes / 2, TRACEBUF_LOSSLESS);
        buffer->config.deliver = check_many;
        many_put(buffer, words[i % 2]);
        trace_buffer_put_many(buffer, 3, 5, NULL, 40, 0);
        tracebuf_flush(buffer);
        assert_int_equal(consumer.records, ROUNDS * MANY);
        assert_int_equal(consumer.disorder, 0);
        assert_int_equal(consumer.dropped, 0);
        assert_true(tracebuf_close(buffer));
    }
}

/* Those that there is no room for are counted, and no others. */
static void what_has_no_room_is_counted(void **state)
{
    enum { ROOM_BYTES = 64 << 10 };
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, ROOM_BYTES, ROOM_BYTES, TRACEBUF_DISCARD);
    (void)state;
    buffer->config.deliver = check_many;
    tracebuf_mute(buffer);
    many_put(buffer, 5);
    tracebuf_unmute(buffer);
    tracebuf_flush(buffer);
    assert_true(buffer->dropped > 0);
    assert_int_equal(consumer.records + buffer->dropped, ROUNDS * MANY);
    assert_true(tracebuf_close(buffer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_many_arrive),
        cmocka_unit_test(what_has_no_room_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
