/* What comes out is what went in: words, batches, memory, and children of a fork. */
#include "tracebuf/test/consumer_double.h"

enum { LINE_BYTES = 64, TAGS = 5 };

/* Records of every size and both kinds of word; byte i of the rest of record n is n + i. */
static size_t odd_size(uint64_t n)
{
    return n % 2 ? 8 + n % 90 : n % 97;
}

static bool put_odd(struct tracebuf *buffer, uint64_t n)
{
    struct thread *self = thread_self();
    bool sized = n % 2;
    uint32_t tag = tracebuf_tag((uint32_t)n % TAGS, TRACEBUF_TAG_MAX - 1);
    unsigned char *at = sized ? tracebuf_reserve_sized(buffer, self, tag, odd_size(n))
                              : tracebuf_reserve(buffer, self, tag, odd_size(n));
    if (!at)
        return false;
    for (size_t i = sized ? 8 : 0; i < odd_size(n); i++)
        at[i] = (unsigned char)(n + i);
    tracebuf_commit(self);
    return true;
}

static void check_odd(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                      uint64_t dropped, void *arg)
{
    struct consumer_double *consumer = arg;
    (void)buffer, (void)dropped;
    for (size_t k = 0; k < count; k++) {
        uint64_t n = consumer->records++;
        const unsigned char *at = items[k]->payload;
        consumer->disorder += items[k]->tag != (n % TAGS | (uint64_t)(TRACEBUF_TAG_MAX - 1) << 32);
        consumer->disorder += n % 2 && *(const uint64_t *)at != odd_size(n);
        for (size_t i = n % 2 ? 8 : 0; i < odd_size(n); i++)
            consumer->disorder += at[i] != (unsigned char)(n + i);
    }
}

static void odd_records(size_t size_bytes, size_t watermark_bytes)
{
    enum { RECORDS = 100000 };
    struct consumer_double consumer = {0};
    struct tracebuf *buffer =
        buffer_make(&consumer, size_bytes, watermark_bytes, TRACEBUF_LOSSLESS);
    buffer->config.deliver = check_odd;
    for (uint64_t n = 0; n < RECORDS; n++)
        assert_true(put_odd(buffer, n));
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, RECORDS);
    assert_int_equal(consumer.disorder, 0);
    assert_true(tracebuf_close(buffer));
}

static void every_record_comes_out_as_it_went_in(void **state)
{
    (void)state;
    odd_records(4096, 1000);
    odd_records(1 << 20, 1 << 20);
    odd_records(8 << 20, 7 << 20);
}

/* As many as there is room for at once, the next one alone where that is none. Returns how many at
 * once there were at most. */
static size_t put_runs(struct tracebuf *buffer, uint64_t records, size_t size_bytes)
{
    struct thread *self = thread_self();
    size_t stride = 8 + tracebuf_round(size_bytes), longest = 0;
    for (uint64_t n = 0; n < records;) {
        size_t wanted = n % 100 < records - n ? n % 100 : records - n;
        unsigned char *at;
        size_t count = wanted ? tracebuf_reserve_run(buffer, self, stride, wanted, &at) : 0;
        assert_true(count <= wanted);
        for (size_t i = 0; i < count; i++, at += stride)
            memcpy(tracebuf_word_put(at, tracebuf_word(7, size_bytes)), &(struct record){1, n + i},
                   sizeof(struct record));
        if (count)
            tracebuf_commit(self);
        else
            assert_true(put(buffer, 1, n, size_bytes));
        n += count ? count : 1;
        longest = count > longest ? count : longest;
    }
    return longest;
}

static void runs_come_out_as_they_went_in(void **state)
{
    enum { RECORDS = 200000 };
    const size_t sizes[] = {16, 40, 61};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct consumer_double consumer = {0};
        bool has_leases = i % 2;
        size_t bytes = has_leases ? 4 << 20 : 4096;
        struct tracebuf *buffer = buffer_make(&consumer, bytes, bytes / 2, TRACEBUF_LOSSLESS);
        size_t longest = put_runs(buffer, RECORDS, sizes[i / 2]);
        assert_int_equal(longest > 1, has_leases);
        tracebuf_flush(buffer);
        assert_int_equal(consumer.records, RECORDS);
        assert_int_equal(consumer.next[1], RECORDS);
        assert_int_equal(consumer.disorder, 0);
        assert_true(tracebuf_close(buffer));
    }
}

/* A buffer that is closed before it delivered says what was lost. */
static void what_a_closed_buffer_held_is_counted(void **state)
{
    (void)state;
    struct consumer_double consumer = {.raw = true};
    const size_t watermarks[] = {4096, 1 << 20};
    for (int i = 0; i < 2; i++) {
        struct tracebuf *buffer = buffer_make(&consumer, 1 << 20, watermarks[i], TRACEBUF_LOSSLESS);
        for (uint64_t n = 0; n < 20; n++)
            assert_true(put_odd(buffer, n));
        assert_true(tracebuf_close(buffer));
        assert_int_equal(buffer->dropped, 20);
    }
    assert_int_equal(consumer.records, 0);
}

static bool put_line(struct tracebuf *buffer, uint64_t value)
{
    struct thread *self = thread_self();
    uint64_t *line = tracebuf_reserve_sized(buffer, self, 7, LINE_BYTES);
    if (!line)
        return false;
    for (int i = 1; i < LINE_BYTES / 8; i++)
        line[i] = value;
    tracebuf_commit(self);
    return true;
}

/* Sorts the pointers the other way round, as a consumer may. */
static void reverse(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                    uint64_t dropped, void *arg)
{
    struct consumer_double *consumer = arg;
    (void)buffer, (void)dropped;
    for (size_t i = 0; i < count; i++)
        consumer->disorder += ((const uint64_t *)items[i]->payload)[1] != consumer->next[0] + i;
    for (size_t i = 0; i < count / 2; i++) {
        struct tracebuf_item *item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
    consumer->next[0] += count;
    consumer->callbacks++;
    consumer->largest_batch = count > consumer->largest_batch ? count : consumer->largest_batch;
}

static void a_large_batch_comes_in_several_calls(void **state)
{
    (void)state;
    enum { SIZE_BYTES = 16 << 20, RECORDS = 250000 };
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, SIZE_BYTES, SIZE_BYTES, TRACEBUF_LOSSLESS);
    buffer->config.deliver = reverse;
    for (int round = 1; round <= 2; round++) {
        for (uint64_t i = 0; i < RECORDS; i++)
            assert_true(put_line(buffer, consumer.next[0] + i));
        tracebuf_flush(buffer);
        assert_int_equal(consumer.next[0], round * RECORDS);
        assert_int_equal(consumer.callbacks, round * 4);
        assert_int_equal(consumer.largest_batch, 65536);
    }
    assert_int_equal(consumer.disorder, 0);
    assert_true(tracebuf_close(buffer));
}

static size_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Both halves full, as when a callback is slow. */
static void full_buffer_takes_twice_its_size(void **state)
{
    (void)state;
    enum { SIZE_BYTES = 32 << 20, ALLOWED_BYTES = 4 << 20 };
    struct consumer_double consumer = {.in_callback = hold, .raw = true};
    struct tracebuf *buffer = buffer_make(&consumer, SIZE_BYTES, SIZE_BYTES, TRACEBUF_LOSSLESS);
    const size_t before = resident_bytes();
    held = true;
    for (uint64_t i = 0; i < 2 * (SIZE_BYTES / LINE_BYTES - SIZE_BYTES / LINE_BYTES / 200); i++)
        assert_true(put_line(buffer, i));
    assert_true(eventually(&consumer.callbacks, 1));
    size_t grown = resident_bytes() - before;
    assert_true(grown >= 2 * (SIZE_BYTES - SIZE_BYTES / 100));
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* their shadow is memory */
    assert_true(grown <= 2 * SIZE_BYTES + ALLOWED_BYTES);
#endif
    held = false;
    tracebuf_flush(buffer);
    assert_int_equal(consumer.dropped, 0);
    assert_true(tracebuf_close(buffer));
}

/* The child keeps a working engine, and none of the parent's records. */
__attribute__((unused)) static void fork_keeps_working(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 1 << 20, 1 << 20, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, 16);
    pid_t child = fork();
    if (child == 0) {
        for (uint64_t i = 1; i <= 3; i++)
            put(buffer, 0, i, 16);
        tracebuf_flush(buffer);
        _exit(consumer.records == 3 && consumer.disorder == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 1);
}

static _Atomic int child_status;
static void fork_in_the_first_call(struct consumer_double *consumer)
{
    if (consumer->callbacks != 1)
        return;
    pid_t child = fork();
    if (child == 0)
        return; /* the child goes on as a delivery thread */
    int status = -1;
    waitpid(child, &status, 0);
    child_status = status;
}

static pid_t forking_pid;

/* On the child's only thread, after the callback that forked: nothing of the parent may follow. */
static void child_ends(void *arg)
{
    struct consumer_double *consumer = arg;
    if (getpid() == forking_pid)
        return;
    bool good = consumer->callbacks == 1;
    for (uint64_t i = 0; i < 3; i++)
        good &= put_line(consumer->buffer, i);
    tracebuf_flush(consumer->buffer);
    _exit(good && consumer->callbacks == 2 && consumer->largest_batch == 65536 ? 0 : 1);
}

__attribute__((unused)) static void fork_in_a_callback_leaves_the_rest_to_the_parent(void **state)
{
    (void)state;
    struct consumer_double consumer = {.in_callback = fork_in_the_first_call, .raw = true};
    struct tracebuf *buffer = buffer_make(&consumer, 16 << 20, 16 << 20, TRACEBUF_LOSSLESS);
    buffer->config.flushed = child_ends;
    forking_pid = getpid();
    child_status = -1;
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(put_line(buffer, i));
    tracebuf_flush(buffer);
    assert_int_equal(child_status, 0);
    assert_int_equal(consumer.records, 100000);
    assert_int_equal(consumer.callbacks, 2);
    assert_true(tracebuf_close(buffer));
}

/* As many as there are places for, those of the tests before among them; they stay for good. */
static void a_buffer_too_many_is_refused(void **state)
{
    static struct consumer_double consumer;
    const struct tracebuf_config config = {.size_bytes = 64,
                                           .watermark_bytes = 64,
                                           .policy = TRACEBUF_DISCARD,
                                           .deliver = deliver,
                                           .arg = &consumer};
    (void)state;
    while (tracebuf_count() < TRACEBUF_MAX)
        assert_non_null(tracebuf_create(&config));
    assert_null(tracebuf_create(&config));
    assert_int_equal(tracebuf_count(), TRACEBUF_MAX);
    struct tracebuf *last = tracebuf_at(TRACEBUF_MAX - 1);
    assert_non_null(last);
    assert_true(put(last, 0, 0, 16));
    assert_true(tracebuf_close(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_out_as_it_went_in),
        cmocka_unit_test(runs_come_out_as_they_went_in),
        cmocka_unit_test(what_a_closed_buffer_held_is_counted),
        cmocka_unit_test(a_large_batch_comes_in_several_calls),
        cmocka_unit_test(full_buffer_takes_twice_its_size),
#ifndef __SANITIZE_THREAD__ /* TSan cannot start threads in a forked child */
        cmocka_unit_test(fork_keeps_working),
        cmocka_unit_test(fork_in_a_callback_leaves_the_rest_to_the_parent),
#endif
        cmocka_unit_test(a_buffer_too_many_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
