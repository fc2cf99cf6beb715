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

static void times_come_from_the_programs_signal(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct borrow_times times = {0};

    (void)state;
    signal->start_ts = 7; /* of an earlier kernel */
    signal->end_ts = 8;
    struct loan *loan = borrow_begin(signal);
    assert_non_null(loan);
    assert_true(borrow_any());
    assert_false(borrow_end(loan, &times));
    device_end(signal, 100, 130);
    assert_true(borrow_end(loan, &times));
    assert_int_equal(times.start_ticks, 100);
    assert_int_equal(times.end_ticks, 130);
    assert_false(borrow_any());
    assert_int_equal(signal->value, 0);
    assert_int_equal(signal->end_ts, 130); /* the program may ask for them */
    free(signal);
}

static void a_signal_that_others_count_is_not_lent(void **state)
{
    amd_signal_t *two = signal_make(2), *zero = signal_make(0), *doorbell = signal_make(1);

    (void)state;
    doorbell->kind = AMD_SIGNAL_KIND_DOORBELL;
    assert_null(borrow_begin(two));
    assert_null(borrow_begin(zero));
    assert_null(borrow_begin(doorbell));
    assert_false(borrow_any());
    free(two);
    free(zero);
    free(doorbell);
}

static void a_signal_in_flight_is_lent_once(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct borrow_times times;

    (void)state;
    struct loan *loan = borrow_begin(signal);
    assert_null(borrow_begin(signal));
    device_end(signal, 1, 2);
    assert_true(borrow_end(loan, &times));
    assert_int_equal(times.end_ticks, 2);
    free(signal);
}

/* The program uses its signal again and again before anybody looked: up to the set's size the
 * times are kept, then the signal is not lent. */
static void times_survive_the_next_use(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct loan *loans[16];
    struct borrow_times times;
    uint64_t lent = 0;

    (void)state;
    for (;;) {
        signal->value = 1;
        loans[lent] = borrow_begin(signal);
        if (loans[lent] == NULL)
            break;
        lent++;
        assert_true(lent < 16);
        device_end(signal, 10 * lent, 10 * lent + 1);
    }
    assert_true(lent >= 2);
    borrow_settle(signal);
    device_end(signal, 5, 6);
    for (uint64_t i = 1; i <= lent; i++) {
        assert_true(borrow_end(loans[i - 1], &times));
        assert_int_equal(times.start_ticks, 10 * i);
        assert_int_equal(times.end_ticks, 10 * i + 1);
    }
    assert_false(borrow_any());
    free(signal);
}

static void a_destroyed_signal_is_not_looked_at(void **state)
{
    amd_signal_t *ended = signal_make(1), *running = signal_make(1);
    struct borrow_times times;

    (void)state;
    struct loan *first = borrow_begin(ended), *second = borrow_begin(running);
    device_end(ended, 40, 41);
    borrow_forget(ended);
    borrow_forget(running);
    free(ended);
    free(running);
    assert_true(borrow_end(first, &times));
    assert_int_equal(times.end_ticks, 41);
    assert_true(borrow_end(second, &times));
    assert_int_equal(times.end_ticks, 0);
    assert_false(borrow_any());
}

static void without_time_stamps_the_count_ends_it(void **state)
{
    amd_signal_t *signal = signal_make(1);
    struct borrow_times times;

    (void)state;
    struct loan *loan = borrow_begin(signal);
    __atomic_sub_fetch(&signal->value, 1, __ATOMIC_RELEASE);
    assert_true(borrow_end(loan, &times));
    assert_int_equal(times.end_ticks, 0);
    loan = (signal->value = 1, borrow_begin(signal));
    borrow_cancel(loan);
    assert_false(borrow_any());
    free(signal);
}

/* A program thread that reuses and destroys signals as fast as it can, while the completion thread
 * looks: every kernel is seen once, with its own times. Each kernel's times tell its number. */
enum { KERNELS = 300000, IN_FLIGHT = 64, SIGNALS = 8 };
static struct {
    _Atomic(struct loan *) loan;
    uint64_t number;
} posted[IN_FLIGHT];

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
        (*signal)->value = 1;
        struct loan *loan = borrow_begin(*signal);
        device_end(*signal, 2 * n, 2 * n + 1);
        *(uint64_t *)unlent += loan == NULL;
        while (loan != NULL && atomic_load(&posted[n % IN_FLIGHT].loan) != NULL)
            ;
        posted[n % IN_FLIGHT].number = loan != NULL ? n : posted[n % IN_FLIGHT].number;
        if (loan != NULL)
            atomic_store(&posted[n % IN_FLIGHT].loan, loan);
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
    for (bool ended = false; !ended || borrow_any();) {
        for (int i = 0; i < IN_FLIGHT; i++) {
            struct borrow_times times;
            struct loan *loan = atomic_load(&posted[i].loan);
            if (loan == NULL || !borrow_end(loan, &times))
                continue;
            assert_int_equal(times.start_ticks, 2 * posted[i].number);
            assert_int_equal(times.end_ticks, 2 * posted[i].number + 1);
            atomic_store(&posted[i].loan, NULL);
            seen++;
        }
        ended = ended || pthread_tryjoin_np(thread, NULL) == 0;
    }
    assert_int_equal(seen + unlent, KERNELS);
    assert_true(seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_from_the_programs_signal),
        cmocka_unit_test(a_signal_that_others_count_is_not_lent),
        cmocka_unit_test(a_signal_in_flight_is_lent_once),
        cmocka_unit_test(times_survive_the_next_use),
        cmocka_unit_test(a_destroyed_signal_is_not_looked_at),
        cmocka_unit_test(without_time_stamps_the_count_ends_it),
        cmocka_unit_test(no_time_is_lost_or_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
