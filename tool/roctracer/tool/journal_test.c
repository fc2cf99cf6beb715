#include "journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };

/* The reader's view: what came, by thread, and whether it came in order. */
static struct {
    uint64_t count[THREADS + 1], wrong;
} seen;

static void see(const struct journal_entry *entry)
{
    uint64_t thread = entry->record.domain, number = entry->record.begin_ns;
    size_t size = entry->record.bytes;
    seen.wrong += number != seen.count[thread]++;
    for (size_t i = 0; i < size; i++)
        seen.wrong += entry->data[i] != (unsigned char)(number + i);
}

/* Sizes from nothing to the largest, so that ends of chunks fall everywhere. */
static size_t size_of(uint64_t number)
{
    return number % 97 == 0 ? JOURNAL_ENTRY_BYTES_MAX - sizeof(struct journal_entry)
                            : number * 13 % 300;
}

static int put(uint32_t thread, uint64_t number)
{
    struct journal_entry *entry = journal_begin();
    if (!entry)
        return -1;
    size_t size = size_of(number);
    entry->record = (roctracer_record_t){.domain = thread};
    entry->record.begin_ns = number;
    entry->record.bytes = size;
    for (size_t i = 0; i < size; i++)
        entry->data[i] = (unsigned char)(number + i);
    journal_end(entry, size);
    return 0;
}

static int reset(void **state)
{
    (void)state;
    journal_drain(see);
    memset(&seen, 0, sizeof seen);
    journal_notify(NULL);
    return 0;
}

static void entries_come_out_as_they_went_in(void **state)
{
    (void)state;
    journal_drain(see);
    assert_int_equal(seen.count[0], 0);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_int_equal(put(0, i), 0);
        if (i % 777 == 0)
            journal_drain(see);
    }
    journal_drain(see);
    assert_int_equal(seen.count[0], 5000);
    assert_int_equal(seen.wrong, 0);
    journal_drain(see);
    assert_int_equal(seen.count[0], 5000);
}

static void an_entry_that_is_not_ended_stays(void **state)
{
    (void)state;
    uint64_t lost = journal_lost();
    put(0, 0);
    struct journal_entry *entry = journal_begin();
    assert_non_null(entry);
    assert_null(journal_begin()); /* a signal handler that traces, in the middle of it */
    assert_int_equal(journal_lost(), lost + 1);
    journal_drain(see);
    assert_int_equal(seen.count[0], 1);
    entry->record = (roctracer_record_t){.domain = 0};
    entry->record.begin_ns = 1;
    journal_end(entry, 0);
    journal_drain(see);
    assert_int_equal(seen.count[0], 2);
    assert_int_equal(seen.wrong, 0);
}

enum { PER_THREAD = 20000 };
static _Atomic int running;

static void *writer_main(void *number)
{
    for (uint64_t i = 0; i < PER_THREAD; i++)
        while (put((uint32_t)(uintptr_t)number, i) != 0)
            sched_yield();
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void threads_write_while_another_reads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    atomic_store(&running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, writer_main, (void *)(i + 1)), 0);
    while (atomic_load(&running) > 0)
        journal_drain(see);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    journal_drain(see);
    for (int i = 1; i <= THREADS; i++)
        assert_int_equal(seen.count[i], PER_THREAD);
    assert_int_equal(seen.wrong, 0);
}

static void *one_entry(void *number)
{
    put(1, (uint64_t)(uintptr_t)number);
    return NULL;
}

static void threads_that_have_ended_leave_their_room_to_others(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 2000; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, one_entry, (void *)i), 0);
        pthread_join(thread, NULL);
    }
    journal_drain(see);
    assert_int_equal(seen.count[1], 2000);
    assert_int_equal(seen.wrong, 0); /* also the order: every thread had the same lane */
}

static void what_has_no_room_is_counted(void **state)
{
    (void)state;
    uint64_t lost = journal_lost(), kept = 0, tried = 3000;
    journal_limit(1 << 20);
    for (uint64_t i = 0; i < tried; i++)
        kept += put(0, kept) == 0;
    assert_true(kept > 0 && kept < tried);
    assert_int_equal(journal_lost() - lost, tried - kept);
    journal_drain(see);
    assert_int_equal(seen.count[0], kept);
    assert_int_equal(put(0, kept), 0); /* there is room again */
    journal_limit((size_t)1 << 30);
}

static _Atomic int notified;
static void notify(void)
{
    atomic_fetch_add(&notified, 1);
}

static void full_chunks_are_announced(void **state)
{
    (void)state;
    journal_notify(notify);
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        put(0, i);
        bytes += size_of(i) + sizeof(struct journal_entry);
    }
    assert_true((uint64_t)atomic_load(&notified) >= bytes / 65536 - 1);
}

static void a_forked_child_starts_empty(void **state)
{
    (void)state;
    put(0, 0);
    pid_t child = fork();
    if (child == 0) {
        journal_forget();
        memset(&seen, 0, sizeof seen);
        put(1, 0);
        journal_drain(see);
        _exit(seen.count[0] != 0 || seen.count[1] != 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    journal_drain(see);
    assert_int_equal(seen.count[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(entries_come_out_as_they_went_in, reset),
        cmocka_unit_test_setup(an_entry_that_is_not_ended_stays, reset),
        cmocka_unit_test_setup(threads_write_while_another_reads, reset),
        cmocka_unit_test_setup(threads_that_have_ended_leave_their_room_to_others, reset),
        cmocka_unit_test_setup(what_has_no_room_is_counted, reset),
        cmocka_unit_test_setup(full_chunks_are_announced, reset),
        cmocka_unit_test_setup(a_forked_child_starts_empty, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
