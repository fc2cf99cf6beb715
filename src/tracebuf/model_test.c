/* Buffers against a model of one: random sizes, watermarks, policies and records, explicit flushes,
 * callbacks that record and flush. Each batch, its records and its count of losses are compared. */
#include "tracebuf/test/consumer_double.h"

#include "tracebuf/state.h"

enum { RUNS = 60, OPERATIONS = 250, RECORDS_MAX = 40000, LIST_MAX = 4096, NESTING_MAX = 3 };

static uint64_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* ---- what was delivered, or shall be: ids, and at each end of a batch 0 and the losses so far */

struct journal {
    uint32_t words[2 * RECORDS_MAX], count;
    uint64_t begun;
    _Atomic uint64_t batches; /* whose callback has returned */
};

static void journal_add(struct journal *journal, uint32_t word)
{
    if (journal->count < 2 * RECORDS_MAX)
        journal->words[journal->count++] = word;
}

/* What the callback does with its nth batch depends on nothing else, so both sides know it. */
struct plan {
    uint32_t puts;
    bool flush;
};

static struct plan plan_of(uint64_t batch, unsigned nesting, bool quiet)
{
    uint32_t hash = (uint32_t)(batch * 2654435761u) >> 8;
    if (quiet || nesting > NESTING_MAX)
        return (struct plan){0, false};
    return (struct plan){hash % 5 == 0 ? hash % 37 : 0, hash % 7 == 0};
}

static size_t size_of(uint32_t id)
{
    return id % 11 == 0 ? 8 * (id % 190) : id % 200;
}

static bool is_sized(uint32_t id)
{
    return id % 3 == 0 && size_of(id) >= 16;
}

/* ---- the model: segments are lists of ids */

struct list {
    uint32_t ids[LIST_MAX], count, sequence;
    size_t payload_bytes, stored_bytes;
};

static struct model {
    size_t size_bytes, watermark_bytes;
    bool lossless, quiet, requested;
    struct list current, full[SEGMENTS_MAX];
    uint32_t full_count, free_count, segment_count, sequence, next_id;
    unsigned nesting;
    uint64_t dropped;
    struct journal journal;
} model;

static bool model_rotate(void)
{
    if (model.free_count == 0)
        return false;
    model.free_count--;
    model.current.sequence = ++model.sequence;
    model.full[model.full_count++] = model.current;
    memset(&model.current, 0, sizeof model.current);
    return true;
}

static void model_extend(void)
{
    bool may = model.free_count == 0 &&
               model.segment_count < (unsigned)(model.nesting ? SEGMENTS_MAX : SEGMENTS_NORMAL);
    model.segment_count += may;
    model.free_count += may;
}

static bool model_fits(size_t payload_bytes, size_t stored_bytes)
{
    return model.current.payload_bytes + payload_bytes <= model.size_bytes &&
           model.current.stored_bytes + stored_bytes <= 2 * model.size_bytes;
}

static void model_put(uint32_t id)
{
    size_t payload_bytes = (size_of(id) + 7) / 8 * 8;
    size_t stored_bytes = payload_bytes + (is_sized(id) ? 0 : 8);
    bool fits = model_fits(payload_bytes, stored_bytes);
    if (payload_bytes > model.size_bytes || (!fits && !model.lossless)) {
        model.dropped++;
        model.requested |= payload_bytes <= model.size_bytes; /* there is room after a delivery */
        return;
    }
    if (!fits) {
        if (!model_rotate()) {
            model_extend();
            assert_true(model_rotate());
        }
        model.requested = true;
    }
    model.current.ids[model.current.count++] = id;
    model.current.payload_bytes += payload_bytes;
    model.current.stored_bytes += stored_bytes;
    if (model.current.payload_bytes >= model.watermark_bytes)
        model.requested = true;
}

static void model_deliver(void);
static void model_callback(const struct list *list, uint64_t dropped)
{
    for (uint32_t i = 0; i < list->count; i++)
        journal_add(&model.journal, list->ids[i]);
    struct plan plan = plan_of(model.journal.begun++, model.nesting - 1, model.quiet);
    journal_add(&model.journal, 0);
    journal_add(&model.journal, (uint32_t)dropped);
    for (uint32_t i = 0; i < plan.puts; i++)
        model_put(model.next_id++);
    if (plan.flush)
        model_deliver();
    model.journal.batches++;
}

static void model_deliver_up_to(uint32_t sequence)
{
    while (model.full_count && model.full[0].sequence <= sequence) {
        struct list list = model.full[0];
        model.full_count--;
        memmove(model.full, model.full + 1, model.full_count * sizeof list);
        model.nesting++;
        model_callback(&list, model.dropped);
        model.nesting--;
        if (model.segment_count > SEGMENTS_NORMAL)
            model.segment_count--;
        else
            model.free_count++;
    }
}

static void model_deliver(void)
{
    bool rotated = !model.current.count || model_rotate();
    if (!rotated) {
        model_extend();
        rotated = model_rotate();
    }
    model_deliver_up_to(model.sequence);
    if (!rotated && model.current.count && model_rotate())
        model_deliver_up_to(model.sequence);
}

static void model_serve(void)
{
    while (model.requested) {
        model.requested = false;
        model_deliver();
    }
}

/* ---- the real one */

static struct tracebuf *real, *idle; /* one thread serves both */
static struct journal seen;
static _Atomic uint32_t real_next_id;
static _Atomic bool real_quiet;
static unsigned real_nesting;
static _Atomic unsigned wrong;

static void real_put(uint32_t id)
{
    struct thread *self = thread_self();
    size_t size_bytes = size_of(id);
    unsigned char *at = is_sized(id) ? tracebuf_reserve_sized(real, self, id % 7, size_bytes)
                                     : tracebuf_reserve(real, self, id % 7, size_bytes);
    if (!at)
        return;
    if (is_sized(id))
        memcpy(at + 8, &id, sizeof id);
    memset(at + (is_sized(id) ? 12 : 0), (int)(id % 251), size_bytes - (is_sized(id) ? 12 : 0));
    tracebuf_commit(self);
}

/* Ids are in no record that is too small for one: they follow from the order, and the bytes say
 * whether that is right. */
static bool item_is(const struct tracebuf_item *item, uint32_t id)
{
    const unsigned char *at = item->payload;
    bool right = item->tag == id % 7;
    size_t i = 0;
    if (is_sized(id)) {
        uint64_t size_bytes;
        uint32_t written;
        memcpy(&size_bytes, at, sizeof size_bytes);
        memcpy(&written, at + 8, sizeof written);
        right &= size_bytes == size_of(id) && written == id;
        i = 12;
    }
    for (; i < size_of(id); i++)
        right &= at[i] == id % 251;
    return right;
}

/* The model runs first, so what is expected here is known. */
static void on_batch(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                     uint64_t dropped, void *arg)
{
    (void)buffer, (void)arg;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = model.journal.words[seen.count];
        wrong += id == 0 || !item_is(items[i], id);
        journal_add(&seen, id);
    }
    struct plan plan = plan_of(seen.begun++, real_nesting, real_quiet);
    journal_add(&seen, 0);
    journal_add(&seen, (uint32_t)dropped);
    wrong += model.journal.words[seen.count - 2] != 0;
    real_nesting++;
    for (uint32_t i = 0; i < plan.puts; i++)
        real_put(real_next_id++);
    if (plan.flush)
        tracebuf_flush(real);
    real_nesting--;
    seen.batches++;
}

/* What is expected has come, and the thread has looked once more: a callback that flushes leaves it
 * a request without records, which would take the next record early. */
static void settle(void)
{
    assert_true(eventually(&seen.batches, model.journal.batches));
    tracebuf_flush(idle);
    tracebuf_flush(idle);
}

static void model_flush(void)
{
    model_deliver();
    model_serve();
}

static void real_flush(void)
{
    tracebuf_flush(real);
    settle();
}

/* A record that does not fit makes the delivery thread and this one run at the same time. They
 * agree after a flush, if the callback does nothing. */
static void both_put_over_the_end(uint32_t id)
{
    model.quiet = true;
    real_quiet = true;
    model_put(id);
    model_flush();
    real_put(id);
    real_flush();
    model.quiet = false;
    real_quiet = false;
}

static void both_put(void)
{
    uint32_t id = model.next_id++;
    size_t payload_bytes = (size_of(id) + 7) / 8 * 8;
    real_next_id = model.next_id;
    if (model.lossless && payload_bytes <= model.size_bytes &&
        !model_fits(payload_bytes, payload_bytes + (is_sized(id) ? 0 : 8))) {
        both_put_over_the_end(id);
        return;
    }
    model_put(id);
    model_serve();
    real_put(id);
    settle();
}

static void both_flush(void)
{
    model_flush();
    real_flush();
}

static void run_begin(void)
{
    static struct tracebuf_thread *thread;
    memset(&model, 0, sizeof model);
    memset(&seen, 0, sizeof seen);
    model.size_bytes = 512 + 8 * random_below(1024);
    model.watermark_bytes = random_below(4) ? random_below((uint32_t)model.size_bytes + 1)
                                            : (random_below(2) ? model.size_bytes : 0);
    model.lossless = random_below(2);
    model.free_count = 1;
    model.segment_count = SEGMENTS_NORMAL;
    model.next_id = 1;
    struct tracebuf_config config = {.size_bytes = model.size_bytes,
                                     .watermark_bytes = model.watermark_bytes,
                                     .policy =
                                         model.lossless ? TRACEBUF_LOSSLESS : TRACEBUF_DISCARD,
                                     .deliver = on_batch};
    if (!thread) {
        thread = tracebuf_thread_create();
        idle = tracebuf_create(&config);
        assert_non_null(idle);
        tracebuf_assign(idle, thread);
    }
    real = tracebuf_create(&config);
    assert_non_null(real);
    tracebuf_assign(real, thread);
}

static void run(void)
{
    run_begin();
    for (int i = 0; i < OPERATIONS && model.next_id < RECORDS_MAX / 2; i++)
        if (random_below(20) == 0)
            both_flush();
        else
            both_put();
    both_flush();
    assert_int_equal(wrong, 0);
    assert_int_equal(real_next_id, model.next_id);
    assert_int_equal(seen.count, model.journal.count);
    assert_memory_equal(seen.words, model.journal.words, seen.count * sizeof seen.words[0]);
    assert_int_equal(real->dropped, model.dropped);
    assert_true(tracebuf_close(real));
}

static void buffers_do_what_their_model_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        random_state = seed;
        run();
    }
}

/* ---- without a model: whatever the sizes, a record is never lost twice. The buffer that had no
 * room for it is delivered without anybody's flush, and then there is room. */

enum { SIZES_MAX = 4, PUTS = 300 };

static void counted_deliver(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                            uint64_t dropped, void *arg)
{
    (void)buffer, (void)items, (void)dropped;
    *(_Atomic uint64_t *)arg += count;
}

static bool sized_put(struct tracebuf *buffer, size_t size_bytes)
{
    struct thread *self = thread_self();
    unsigned char *at = tracebuf_reserve(buffer, self, 1, size_bytes);
    if (at) {
        memset(at, 1, size_bytes);
        tracebuf_commit(self);
    }
    return at != NULL;
}

/* One in eight is large enough for leases, and for words to fill it before its capacity does. */
static size_t random_size(void)
{
    return random_below(8) ? 8 * (1 + random_below(2048)) : (1 << 20) + 8 * random_below(1 << 16);
}

static struct tracebuf *random_buffer(_Atomic uint64_t *delivered)
{
    size_t size_bytes = random_size();
    size_t watermarks[] = {size_bytes, size_bytes,     random_below((uint32_t)size_bytes),
                           0,          size_bytes - 1, 2 * size_bytes};
    struct tracebuf_config config = {.size_bytes = size_bytes,
                                     .watermark_bytes = watermarks[random_below(6)],
                                     .policy =
                                         random_below(3) ? TRACEBUF_DISCARD : TRACEBUF_LOSSLESS,
                                     .deliver = counted_deliver,
                                     .arg = delivered};
    struct tracebuf *buffer = tracebuf_create(&config);
    assert_non_null(buffer);
    tracebuf_assign(buffer, atomic_load(&idle->state->thread));
    return buffer;
}

/* Sizes that fill it within a few records to some dozens, and 0. */
static size_t random_record(size_t buffer_bytes)
{
    size_t most = buffer_bytes / (1 + random_below(40));
    return random_below(10) ? (random_below((uint32_t)most + 1) & ~(size_t)7) : 0;
}

static void no_buffer_goes_blind(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        static _Atomic uint64_t delivered;
        random_state = seed;
        delivered = 0;
        struct tracebuf *buffer = random_buffer(&delivered);
        bool lossless = buffer->config.policy == TRACEBUF_LOSSLESS;
        size_t sizes[SIZES_MAX];
        uint64_t lost = 0, kinds = 1 + random_below(SIZES_MAX);
        for (uint64_t i = 0; i < kinds; i++)
            sizes[i] = random_record(buffer->config.size_bytes);
        for (int i = 0; i < PUTS; i++) {
            size_t size_bytes = sizes[random_below((uint32_t)kinds)];
            if (sized_put(buffer, size_bytes))
                continue;
            assert_false(lossless);
            lost++;
            tracebuf_flush(idle); /* the thread has looked at every buffer since */
            tracebuf_flush(idle);
            assert_true(sized_put(buffer, size_bytes));
        }
        tracebuf_flush(buffer);
        assert_int_equal(delivered, PUTS);
        assert_int_equal(buffer->dropped, lost);
        assert_true(tracebuf_close(buffer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_do_what_their_model_does),
        cmocka_unit_test(no_buffer_goes_blind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
