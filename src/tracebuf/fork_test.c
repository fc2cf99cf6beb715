/* What a child has of its parent's buffers. */
#include "tracebuf/test/consumer_double.h"

#include <signal.h>
#include <sys/syscall.h>

enum { SIZE = 1 << 20, WATERMARK = 1 << 19 };

static _Atomic uint64_t notices;

static void on_creation(bool created)
{
    notices += !created;
}

static int status_of(pid_t child)
{
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Ten of the parent's wait; the child's first comes by itself, its second with a flush. */
static void child_of(struct tracebuf *buffer, struct consumer_double *consumer)
{
    for (uint64_t i = 0; i < 10; i++)
        put(buffer, 0, i, sizeof(struct record));
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        uint64_t before = notices;
        bool good = put(buffer, 1, 0, sizeof(struct record)) && notices == before + 1 &&
                    eventually(&consumer->records, 1);
        good = good && put(buffer, 1, 1, sizeof(struct record)) && consumer->records == 1;
        tracebuf_flush(buffer);
        _exit(good && consumer->records == 2 && consumer->disorder == 0 ? 7 : 1);
    }
    assert_int_equal(status_of(child), 7);
    assert_int_equal(consumer->records, 0);
    tracebuf_flush(buffer);
    assert_int_equal(consumer->records, 10);
}

static void a_child_has_its_own_records(void **state)
{
    (void)state;
    static struct consumer_double consumer;
    child_of(buffer_make(&consumer, SIZE, WATERMARK, TRACEBUF_LOSSLESS), &consumer);
}

/* None of the parent's threads is there, whichever was the buffer's. */
static void each_thread_begins_anew_in_a_child(void **state)
{
    (void)state;
    static struct consumer_double consumer;
    struct tracebuf *buffer = buffer_make(&consumer, SIZE, WATERMARK, TRACEBUF_LOSSLESS);
    tracebuf_assign(buffer, tracebuf_thread_create());
    child_of(buffer, &consumer);
}

static void an_idle_child_gets_no_thread(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, SIZE, WATERMARK, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, sizeof(struct record));
    pid_t child = fork();
    if (child == 0) {
        uint64_t before = notices;
        tracebuf_flush(buffer);
        _exit(notices == before && consumer.records == 0 ? 7 : 1);
    }
    assert_int_equal(status_of(child), 7);
}

/* A first record that fills the buffer to its watermark is still the first one. */
static void a_first_record_may_be_large(void **state)
{
    (void)state;
    struct consumer_double consumer = {.raw = true};
    struct tracebuf *buffer = buffer_make(&consumer, SIZE, 64, TRACEBUF_LOSSLESS);
    pid_t child = fork();
    if (child == 0) {
        bool good = put(buffer, 1, 0, sizeof(struct record)) && put_word(buffer);
        for (int i = 0; i < 100; i++)
            good = good && put_word(buffer);
        tracebuf_flush(buffer);
        _exit(good && consumer.records == 102 ? 7 : 1);
    }
    assert_int_equal(status_of(child), 7);
}

/* As clone() or _Fork() make it: no handler has run, no thread is there. It loses records and waits
 * for nobody. */
static void a_strange_child_does_not_wait(void **state)
{
    (void)state;
    struct consumer_double consumer = {0};
    struct tracebuf *buffer = buffer_make(&consumer, 8192, 4096, TRACEBUF_LOSSLESS);
    put(buffer, 0, 0, sizeof(struct record));
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        bool lost = false;
        for (uint64_t i = 0; i < 2000; i++)
            lost |= !put(buffer, 1, i, sizeof(struct record));
        tracebuf_flush(buffer);
        syscall(SYS_exit_group, lost ? 7 : 1);
    }
    assert_int_equal(status_of((pid_t)child), 7);
    tracebuf_flush(buffer);
    assert_int_equal(consumer.records, 1);
}

int main(void)
{
    alarm(60);
    thread_creation_hook(on_creation);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_its_own_records),
        cmocka_unit_test(each_thread_begins_anew_in_a_child),
        cmocka_unit_test(an_idle_child_gets_no_thread),
        cmocka_unit_test(a_first_record_may_be_large),
        cmocka_unit_test(a_strange_child_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
