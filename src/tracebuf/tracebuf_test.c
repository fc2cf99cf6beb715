#include "tracebuf/test/consumer_double.h"

static void watermark_is_exact_to_the_byte(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 96, TRACEBUF_LOSSLESS);
    for (int i = 0; i < 5; i++)
        assert_true(put(buffer, 0, (uint64_t)i, 16)); /* 80 of 96 bytes */
    nap(20000);
    assert_int_equal(consumer.callbacks, 0);
    assert_true(put(buffer, 0, 5, 16));
    assert_true(eventually(&consumer.records, 6));
    assert_int_equal(consumer.callbacks, 1);
    assert_int_equal(consumer.disorder, 0);
}

/* The specification's example: records of 8 bytes, a watermark of 48. */
static void eight_byte_records_reach_48_bytes_as_six(void **state)
{
    (void)state;
    struct consumer_double consumer = {.raw = true};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 48, TRACEBUF_LOSSLESS);
    for (uint64_t round = 1; round <= 3; round++) {
        for (int i = 0; i < 5; i++)
            assert_true(put_word(buffer));
        nap(10000);
        assert_int_equal(consumer.callbacks, round - 1);
        assert_true(put_word(buffer));
        assert_true(eventually(&consumer.records, 6 * round));
        assert_int_equal(consumer.callbacks, round);
    }
}

static void watermark_zero_delivers_every_record(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 0, TRACEBUF_LOSSLESS);
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(put(buffer, 0, i, 16));
        assert_true(eventually(&consumer.records, i + 1));
    }
    assert_int_equal(consumer.callbacks, 10);
}

static void lossless_overflow_flushes_by_itself(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_LOSSLESS);
    for (uint64_t i = 0; i < 170; i++) /* 4080 bytes: below the watermark */
        assert_true(put(buffer, 0, i, 24));
    nap(20000);
    assert_int_equal(consumer.callbacks, 0);
    assert_true(put(buffer, 0, 170, 24)); /* does not fit: the full part goes out */
    assert_true(eventually(&consumer.records, 170));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 171);
    assert_int_equal(consumer.dropped, 0);
}

/* 170 records of 24 bytes leave 16: no record ever crosses the watermark. The first that is lost
 * asks for a delivery; while its callback lasts, the other half fills, and then all is lost. */
static void discard_counts_every_loss(void **state)
{
    (void)state;
    enum { FIT = 4096 / 24 };
    struct consumer_double consumer = {.in_callback = hold};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_DISCARD);
    held = true;
    for (uint64_t i = 0; i < FIT; i++)
        assert_true(put(buffer, 0, i, 24));
    nap(20000);
    assert_int_equal(consumer.callbacks, 0);
    assert_false(put(buffer, 0, FIT, 24));
    assert_true(eventually(&consumer.callbacks, 1));
    assert_int_equal(consumer.dropped, 1);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < 200; i++)
        kept += put(buffer, 0, 1000 + i, 24);
    assert_int_equal(kept, FIT);
    held = false;
    assert_true(eventually(&consumer.records, 2 * FIT));
    assert_int_equal(consumer.dropped, 1 + 200 - FIT);
    tracebuf_flush(buffer);
    assert_int_equal(consumer.callbacks, 2);
    assert_int_equal(consumer.disorder, 0);
}

/* The case that was found: 4096 bytes, watermark 4096, records of 80. Who records no faster than a
 * buffer is delivered loses one record of 52. */
static void discard_goes_on_where_no_record_crosses_the_watermark(void **state)
{
    (void)state;
    enum { RECORDS = 2000, FIT = 4096 / 80 };
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_DISCARD);
    uint64_t lost = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        if (put(buffer, 0, i, 80))
            continue;
        lost++;
        assert_true(eventually(&consumer.records, i + 1 - lost));
    }
    assert_int_equal(lost, RECORDS / (FIT + 1));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, RECORDS - lost);
    assert_int_equal(consumer.dropped, lost);
    assert_int_equal(consumer.disorder, 0);
}

static void record_larger_than_buffer_is_counted(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_LOSSLESS);
    assert_false(put(buffer, 0, 0, 4104));
    assert_true(put(buffer, 0, 1, 16));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 1);
    assert_int_equal(consumer.dropped, 1);
}

static void flush_and_record_once(struct consumer_double *consumer)
{
    if (consumer->callbacks > 3)
        return;
    uint64_t before = consumer->records;
    put(consumer->buffer, 1, consumer->callbacks, 16);
    tracebuf_flush(consumer->buffer);
    if (consumer->records == before)
        consumer->disorder++; /* flush in a callback must deliver */
}

static void callback_may_record_and_flush_its_own_buffer(void **state)
{
    (void)state;
    struct consumer_double consumer = {.in_callback = flush_and_record_once};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, 16);
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 4);
    assert_int_equal(consumer.disorder, 0);
}

static void record_many(struct consumer_double *consumer)
{
    if (consumer->callbacks > 1)
        return;
    for (uint64_t i = 0; i < 2000; i++) /* four times what both segments hold */
        if (!put(consumer->buffer, 1, i, 16))
            consumer->disorder++;
}

static void callback_may_overfill_its_own_lossless_buffer(void **state)
{
    (void)state;
    struct consumer_double consumer = {.in_callback = record_many};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, 16);
    tracebuf_flush(buffer);
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 2001);
    assert_int_equal(consumer.disorder, 0);
}

static struct tracebuf *other_buffer;
static void flush_other(struct consumer_double *consumer)
{
    (void)consumer;
    tracebuf_flush(other_buffer);
}

static void callback_may_flush_another_buffer_of_its_thread(void **state)
{
    (void)state;
    struct consumer_double first = {.in_callback = flush_other}, second = {0};
    struct tracebuf *buffer = buffer_make(&first, 4096, 4096, TRACEBUF_LOSSLESS);
    other_buffer = buffer_make(&second, 4096, 4096, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, 16);
    put(other_buffer, 0, 0, 16);
    tracebuf_flush(buffer);
    assert_int_equal(first.records, 1);
    assert_int_equal(second.records, 1);
}

/* Writers: callbacks of both threads; readers: they and the test. */
static _Atomic uint64_t crossing_began, crossing_ended;
static struct consumer_double crossing[2];
static struct tracebuf *crossing_buffers[2];

static void flush_the_other_ones(struct consumer_double *consumer)
{
    crossing_began++;
    if (!eventually(&crossing_began, 2))
        consumer->disorder++;
    tracebuf_flush(crossing_buffers[consumer == &crossing[0]]);
    crossing_ended++;
}

/* Each waits for the other's thread, which is in a callback itself. */
static void callbacks_may_flush_each_others_buffers(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        crossing[i].in_callback = flush_the_other_ones;
        crossing_buffers[i] = buffer_make(&crossing[i], 4096, 0, TRACEBUF_LOSSLESS);
        tracebuf_assign(crossing_buffers[i], tracebuf_thread_create());
    }
    for (int i = 0; i < 2; i++)
        put(crossing_buffers[i], 0, 0, 16);
    assert_true(eventually(&crossing_ended, 2));
    for (int i = 0; i < 2; i++) {
        assert_true(eventually(&crossing[i].records, 1));
        assert_int_equal(crossing[i].callbacks, 1);
        assert_int_equal(crossing[i].disorder, 0);
    }
}

static void producers_go_on_while_a_callback_runs(void **state)
{
    (void)state;
    struct consumer_double consumer = {.in_callback = hold};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 1024, TRACEBUF_LOSSLESS);
    held = true;
    for (uint64_t i = 0; i < 64; i++) /* 1024 bytes: starts a callback */
        put(buffer, 0, i, 16);
    assert_true(eventually(&consumer.callbacks, 1));
    for (uint64_t i = 64; i < 64 + 250; i++) /* 4000 bytes: a segment's worth; hangs if blocked */
        put(buffer, 0, i, 16);
    assert_int_equal(consumer.records, 0);
    held = false;
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 314);
}

/* Stress: every record arrives exactly once and in its producer's order. */
static uint64_t stress_records = 200000;
struct producer {
    struct tracebuf *buffer;
    uint64_t id, kept;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (uint64_t i = 0; i < stress_records; i++)
        p->kept += put(p->buffer, p->id, i, 16 + 8 * (i % 7));
    return NULL;
}

static void *flush_for_ever(void *arg)
{
    struct consumer_double *consumer = arg;
    while (!consumer->stop) {
        tracebuf_flush(consumer->buffer);
        nap(300);
    }
    return NULL;
}

static void record_and_flush_sometimes(struct consumer_double *consumer)
{
    if (consumer->callbacks % 16 == 0)
        put(consumer->buffer, PRODUCERS, consumer->callbacks, 16);
    if (consumer->callbacks % 64 == 0)
        tracebuf_flush(consumer->buffer);
}

static void stress(size_t size, size_t watermark, enum tracebuf_policy policy)
{
    struct consumer_double consumer = {.in_callback = record_and_flush_sometimes};
    struct tracebuf *buffer = buffer_make(&consumer, size, watermark, policy);
    consumer.buffer = buffer;
    pthread_t threads[PRODUCERS], flusher;
    struct producer producers[PRODUCERS];
    pthread_create(&flusher, NULL, flush_for_ever, &consumer);
    for (uint64_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){buffer, i, 0};
        pthread_create(&threads[i], NULL, produce, &producers[i]);
    }
    uint64_t kept = 0;
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(threads[i], NULL);
        kept += producers[i].kept;
    }
    consumer.stop = true;
    pthread_join(flusher, NULL);
    consumer.in_callback = NULL;
    tracebuf_flush(buffer);
    uint64_t of_callback = consumer.records - kept;
    assert_true(of_callback <= consumer.callbacks / 16 + 1);
    assert_int_equal(consumer.disorder, 0);
    assert_true(kept + buffer->dropped >= PRODUCERS * stress_records);
    assert_true(kept + buffer->dropped <= PRODUCERS * stress_records + consumer.callbacks);
    if (policy == TRACEBUF_LOSSLESS)
        assert_int_equal(kept, PRODUCERS * stress_records);
    assert_true(tracebuf_close(buffer));
}

static void stress_lossless_large(void **state)
{
    (void)state;
    stress(1 << 20, 900 << 10, TRACEBUF_LOSSLESS);
}

static void stress_lossless_small(void **state)
{
    (void)state;
    stress(8192, 4096, TRACEBUF_LOSSLESS);
}

static void stress_discard(void **state)
{
    (void)state;
    stress(1 << 20, 512 << 10, TRACEBUF_DISCARD);
}

static void closed_buffer_drops(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 1 << 20, 1 << 20, TRACEBUF_LOSSLESS);
    assert_true(put(buffer, 0, 0, 16)); /* takes a lease */
    assert_true(tracebuf_close(buffer));
    assert_true(tracebuf_close(buffer));
    assert_false(put(buffer, 0, 1, 16));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 0);
    assert_int_equal(buffer->dropped, 2); /* what it held, and what came later */
}

/* What deliveries told of is not told again. */
static void what_is_lost_at_the_end_is_told(void **state)
{
    enum { FIT = 4096 / 24, LATER = 3 };
    int said[2], standard_error = dup(STDERR_FILENO);
    char text[200] = "";
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_DISCARD);
    for (uint64_t i = 0; i < FIT; i++)
        assert_true(put(buffer, 0, i, 24));
    assert_false(put(buffer, 0, FIT, 24)); /* lost; asks for a delivery, which says so */
    assert_true(eventually(&consumer.records, FIT));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.dropped, 1);
    for (uint64_t i = 0; i < LATER; i++)
        assert_true(put(buffer, 0, FIT + i, 24));
    assert_int_equal(pipe(said), 0);
    dup2(said[1], STDERR_FILENO);
    assert_true(tracebuf_close(buffer));
    dup2(standard_error, STDERR_FILENO);
    close(said[1]);
    assert_true(read(said[0], text, sizeof text - 1) > 0);
    close(said[0]);
    close(standard_error);
    assert_non_null(strstr(text, " 3 records were lost"));
}

static void shutdown_delivers_the_rest(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 4096, 4096, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, 16);
    tracebuf_shutdown();
    assert_int_equal(consumer.records, 1);
    assert_false(put(buffer, 0, 1, 16));
    tracebuf_flush(buffer);
}

int main(void)
{
    if (getenv("CROC_STRESS_RECORDS"))
        stress_records = strtoull(getenv("CROC_STRESS_RECORDS"), NULL, 0) / PRODUCERS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watermark_is_exact_to_the_byte),
        cmocka_unit_test(eight_byte_records_reach_48_bytes_as_six),
        cmocka_unit_test(watermark_zero_delivers_every_record),
        cmocka_unit_test(lossless_overflow_flushes_by_itself),
        cmocka_unit_test(discard_counts_every_loss),
        cmocka_unit_test(discard_goes_on_where_no_record_crosses_the_watermark),
        cmocka_unit_test(record_larger_than_buffer_is_counted),
        cmocka_unit_test(callback_may_record_and_flush_its_own_buffer),
        cmocka_unit_test(callback_may_overfill_its_own_lossless_buffer),
        cmocka_unit_test(callback_may_flush_another_buffer_of_its_thread),
        cmocka_unit_test(callbacks_may_flush_each_others_buffers),
        cmocka_unit_test(producers_go_on_while_a_callback_runs),
        cmocka_unit_test(stress_lossless_large),
        cmocka_unit_test(stress_lossless_small),
        cmocka_unit_test(stress_discard),
        cmocka_unit_test(closed_buffer_drops),
        cmocka_unit_test(what_is_lost_at_the_end_is_told),
        cmocka_unit_test(shutdown_delivers_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
