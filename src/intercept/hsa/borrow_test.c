#include "intercept/hsa/borrow.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static amd_signal_t *signal_make(int64_t value)
{
    amd_signal_t *signal = aligned_alloc(64, sizeof *signal);
    memset(signal, 0, sizeof *signal);
    signal->kind = AMD_SIGNAL_KIND_USER;
    signal->value = value;
    return signal;
}

/* What a packet processor does when the kernel has ended. */
static void device_end(amd_signal_t *signal, uint64_t start, uint64_t end)
{
    __atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, end, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&signal->value, 1, __ATOMIC_RELEASE);
}

/* The completion thread looks. */
static bool loan_look(struct loan *loan)
{
    borrow_asking();
    bool ended = borrow_end(loan);
    borrow_asked();
    return ended;
}

static void times_come_from_the_programs_signal(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct loan loan;
    (void)state;
    signal->start_ts = 7; /* of an earlier kernel */
    signal->end_ts = 8;
    assert_true(borrow_begin(&loan, signal));
    assert_true(borrow_any());
    assert_false(loan_look(&loan));
    device_end(signal, 100, 130);
    assert_true(loan_look(&loan));
    assert_int_equal(loan.times.start_ticks, 100);
    assert_int_equal(loan.times.end_ticks, 130);
    assert_false(borrow_any());
    assert_int_equal(signal->value, 0);
    assert_int_equal(signal->end_ts, 130); /* the program may ask for them */
    free(signal);
}

static void a_signal_that_others_count_is_not_lent(void **state)
{
    amd_signal_t *two = signal_make(2), *zero = signal_make(0), *doorbell = signal_make(1);
    struct loan loan;
    (void)state;
    doorbell->kind = AMD_SIGNAL_KIND_DOORBELL;
    assert_false(borrow_begin(&loan, two));
    assert_false(borrow_begin(&loan, zero));
    assert_false(borrow_begin(&loan, doorbell));
    assert_false(borrow_any());
    free(two);
    free(zero);
    free(doorbell);
}

static void a_signal_in_flight_is_lent_once(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct loan loan, other;
    (void)state;
    assert_true(borrow_begin(&loan, signal));
    assert_false(borrow_begin(&other, signal));
    borrow_settle(signal); /* runs: nothing to keep yet */
    assert_false(loan_look(&loan));
    device_end(signal, 1, 2);
    assert_true(loan_look(&loan));
    assert_int_equal(loan.times.end_ticks, 2);
    free(signal);
}

/* The program uses its signal again and again before anybody looked. */
static void times_survive_the_next_uses(void **state)
{
    enum { USES = 100 };
    amd_signal_t *signal = signal_make(1);
    struct loan loans[USES];

    (void)state;
    for (uint64_t i = 0; i < USES; i++) {
        signal->value = 1;
        assert_true(borrow_begin(&loans[i], signal));
        device_end(signal, 10 * i, 10 * i + 1);
    }
    borrow_settle(signal);
    assert_false(borrow_any());
    device_end(signal, 5, 6); /* a copy, say */
    for (uint64_t i = 0; i < USES; i++) {
        assert_true(loan_look(&loans[i]));
        assert_int_equal(loans[i].times.start_ticks, 10 * i);
        assert_int_equal(loans[i].times.end_ticks, 10 * i + 1);
    }
    free(signal);
}

/* Four signals with one place in the table are lent at the same time, the fifth is not. */
static void a_full_set_lends_no_more(void **state)
{
    enum { SIGNALS = 5, APART = 4096 * 128 };
    char *memory = aligned_alloc(128, (size_t)SIGNALS * APART);
    amd_signal_t *signals[SIGNALS];
    struct loan loans[SIGNALS];

    (void)state;
    for (int i = 0; i < SIGNALS; i++) {
        signals[i] = (amd_signal_t *)(void *)(memory + (size_t)i * APART);
        *signals[i] = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = 1};
        assert_int_equal(borrow_begin(&loans[i], signals[i]), i < 4);
    }
    device_end(signals[2], 20, 21);
    assert_false(loan_look(&loans[1]));
    assert_true(loan_look(&loans[2]));
    assert_int_equal(loans[2].times.start_ticks, 20);
    assert_true(borrow_begin(&loans[4], signals[4]));
    for (int i = 0; i < SIGNALS; i++)
        if (i != 2)
            borrow_cancel(&loans[i]);
    assert_false(borrow_any());
    free(memory);
}

static void a_destroyed_signal_is_not_looked_at(void **state)
{
    amd_signal_t *ended = signal_make(1), *running = signal_make(1);
    struct loan first, second;
    (void)state;
    assert_true(borrow_begin(&first, ended));
    assert_true(borrow_begin(&second, running));
    device_end(ended, 40, 41);
    borrow_forget(ended);
    borrow_forget(running);
    free(ended);
    free(running);
    assert_true(loan_look(&first));
    assert_int_equal(first.times.end_ticks, 41);
    assert_true(loan_look(&second));
    assert_int_equal(second.times.end_ticks, 0);
    assert_false(borrow_any());
}

static void without_time_stamps_the_count_ends_it(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct loan loan;
    (void)state;
    assert_true(borrow_begin(&loan, signal));
    __atomic_sub_fetch(&signal->value, 1, __ATOMIC_RELEASE);
    assert_true(loan_look(&loan));
    assert_int_equal(loan.times.end_ticks, 0);
    free(signal);
}

/* A program thread that reuses and destroys signals as fast as it can, while the completion thread
 * looks: every kernel is seen once, with its own times. Each kernel's times tell its number. */
enum { KERNELS = 300000, IN_FLIGHT = 64, SIGNALS = 8 };
static struct post {
    struct loan loan;
    uint64_t number;
    _Atomic bool full;
} posts[IN_FLIGHT];

static void kernel_run(amd_signal_t *signal, uint64_t number, uint64_t *unlent)
{
    struct post *post = &posts[number % IN_FLIGHT];
    while (atomic_load(&post->full))
        ;
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
    if (!borrow_begin(&post->loan, signal)) {
        (*unlent)++;
        return;
    }
    post->number = number;
    if (number % 3 == 0) { /* the device is faster than the host, or not */
        device_end(signal, 2 * number, 2 * number + 1);
        atomic_store(&post->full, true);
    } else {
        atomic_store(&post->full, true);
        device_end(signal, 2 * number, 2 * number + 1);
    }
}

static void *program(void *unlent)
{
    amd_signal_t *signals[SIGNALS];
    for (int i = 0; i < SIGNALS; i++)
        signals[i] = signal_make(0);
    for (uint64_t n = 1; n <= KERNELS; n++) {
        amd_signal_t **signal = &signals[n % SIGNALS];
        if (n % 1000 == 0) {
            borrow_forget(*signal);
            memset(*signal, 0xff, sizeof **signal);
            free(*signal);
            *signal = signal_make(0);
        }
        kernel_run(*signal, n, unlent);
    }
    for (int i = 0; i < SIGNALS; i++) {
        borrow_forget(signals[i]);
        free(signals[i]);
    }
    return NULL;
}

static void no_time_is_lost_or_mixed_up(void **state)
{
    pthread_t thread;
    uint64_t unlent = 0, seen = 0;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, program, &unlent), 0);
    for (bool ended = false, idle = false; !ended || !idle;) {
        idle = ended;
        for (int i = 0; i < IN_FLIGHT; i++) {
            struct post *post = &posts[i];
            if (!atomic_load(&post->full))
                continue;
            idle = false;
            if (!loan_look(&post->loan))
                continue;
            assert_int_equal(post->loan.times.start_ticks, 2 * post->number);
            assert_int_equal(post->loan.times.end_ticks, 2 * post->number + 1);
            atomic_store(&post->full, false);
            seen++;
        }
        ended = ended || pthread_tryjoin_np(thread, NULL) == 0;
    }
    assert_int_equal(seen + unlent, KERNELS);
    assert_true(seen > KERNELS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_from_the_programs_signal),
        cmocka_unit_test(a_signal_that_others_count_is_not_lent),
        cmocka_unit_test(a_signal_in_flight_is_lent_once),
        cmocka_unit_test(times_survive_the_next_uses),
        cmocka_unit_test(a_full_set_lends_no_more),
        cmocka_unit_test(a_destroyed_signal_is_not_looked_at),
        cmocka_unit_test(without_time_stamps_the_count_ends_it),
        cmocka_unit_test(no_time_is_lost_or_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
