/* The end of a process, and a process that can have no more threads, while records come in. */
#include "tracebuf/test/consumer_double.h"

#include <dlfcn.h>
#include <errno.h>

enum { RECORD_BYTES = 16, LIMIT_SECONDS = 20 };

/* Stands before libc's in this program: a process at its limit. */
static _Atomic bool no_more_threads;
typedef int (*create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                   void *arg)
{
    create_fn next = (create_fn)dlsym(RTLD_NEXT, "pthread_create");
    return no_more_threads ? EAGAIN : next(thread, attributes, main, arg);
}

static _Atomic bool producing;
static _Atomic uint64_t attempts;

static void *producer_main(void *arg)
{
    struct consumer_double *consumer = arg;
    for (uint64_t n = 0; atomic_load(&producing); n++) {
        put_word(consumer->buffer);
        atomic_fetch_add(&attempts, 1);
    }
    return NULL;
}

/* In a child, since shutdown is for ever; `end` runs while eight threads fill a buffer that holds
 * `words`. Status 0: all of them came back and every record was delivered or counted. */
static int shutdown_under_load(size_t words, void (*end)(struct consumer_double *consumer))
{
    static struct consumer_double consumer;
    pthread_t threads[PRODUCERS];
    alarm(LIMIT_SECONDS);
    consumer = (struct consumer_double){.raw = true};
    consumer.buffer = buffer_make(&consumer, words * sizeof(uint64_t), words * sizeof(uint64_t),
                                  TRACEBUF_LOSSLESS);
    atomic_store(&producing, true);
    for (int i = 0; i < PRODUCERS; i++)
        if (pthread_create(&threads[i], NULL, producer_main, &consumer))
            return 1;
    nap(20000);
    end(&consumer);
    atomic_store(&producing, false);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    tracebuf_close(consumer.buffer);
    uint64_t known = consumer.records + atomic_load(&((struct tracebuf *)consumer.buffer)->dropped);
    return known == atomic_load(&attempts) ? 0 : 2;
}

static void shut_down(struct consumer_double *consumer)
{
    (void)consumer;
    tracebuf_shutdown();
    nap(20000);
}

static int status_of(int (*test)(size_t, void (*)(struct consumer_double *)), size_t words,
                     void (*end)(struct consumer_double *))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(test(words, end));
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* One record fits, or a few: at any moment most threads wait for room. */
static void nobody_waits_for_room_after_shutdown(void **state)
{
    (void)state;
    for (size_t words = 1; words <= 64; words *= 4)
        for (int round = 0; round < 5; round++)
            assert_int_equal(status_of(shutdown_under_load, words, shut_down), 0);
}

/* The child of a fork has to make its delivery thread anew, and cannot. */
static int no_thread(size_t words, void (*end)(struct consumer_double *))
{
    static struct consumer_double consumer;
    alarm(LIMIT_SECONDS);
    consumer = (struct consumer_double){.raw = true};
    struct tracebuf *buffer = buffer_make(&consumer, words * sizeof(uint64_t),
                                          words * sizeof(uint64_t), TRACEBUF_LOSSLESS);
    /* Its delivery thread is up: a fork while one starts leaves the child a sanitizer's lock. */
    put_word(buffer);
    tracebuf_flush(buffer);
    consumer.records = 0;
    pid_t child = fork();
    if (child == 0) {
        uint64_t kept = 0;
        alarm(LIMIT_SECONDS);
        no_more_threads = true;
        for (int i = 0; i < 1000; i++)
            kept += put_word(buffer);
        tracebuf_flush(buffer);
        bool good = kept == 2 * words && buffer->dropped == 1000 - kept && consumer.records == 0;
        no_more_threads = false;
        tracebuf_flush(buffer); /* the limit is over */
        good &= consumer.records == kept && put_word(buffer);
        end(&consumer);
        good &= consumer.records == kept + 1;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}

static void without_a_thread_nobody_waits(void **state)
{
    (void)state;
    assert_int_equal(status_of(no_thread, 1, shut_down), 0);
    assert_int_equal(status_of(no_thread, 64, shut_down), 0);
}

/* A consumer ends the delivery thread, and there can be no other one. */
static void end_thread(struct consumer_double *consumer)
{
    (void)consumer;
    pthread_exit(NULL);
}

static void *flusher_main(void *arg)
{
    tracebuf_flush(((struct consumer_double *)arg)->buffer);
    return NULL;
}

static int thread_gone(size_t words, void (*end)(struct consumer_double *))
{
    static struct consumer_double consumer;
    pthread_t flusher;
    alarm(LIMIT_SECONDS);
    consumer = (struct consumer_double){.raw = true};
    held = true;
    consumer.in_callback = hold;
    consumer.buffer = buffer_make(&consumer, words * sizeof(uint64_t), words * sizeof(uint64_t),
                                  TRACEBUF_LOSSLESS);
    bool good = put_word(consumer.buffer);
    tracebuf_flush_start(consumer.buffer);
    while (atomic_load(&consumer.callbacks) == 0)
        nap(1000);
    good &= pthread_create(&flusher, NULL, flusher_main, &consumer) == 0;
    nap(20000); /* lets it wait; may be too short */
    no_more_threads = true;
    consumer.in_callback = end; /* of the next call, which the flush asks for */
    good &= put_word(consumer.buffer);
    held = false;
    pthread_join(flusher, NULL);
    tracebuf_flush(consumer.buffer);
    return good ? 0 : 4;
}

static void a_flush_ends_with_its_thread(void **state)
{
    (void)state;
    assert_int_equal(status_of(thread_gone, 4, end_thread), 0);
}

/* exit() in a consumer: the process's last functions run on the delivery thread from then on. */
static void leave_for_good(struct consumer_double *consumer)
{
    (void)consumer;
    tracebuf_leave();
    tracebuf_threads_renew();
    for (;;)
        pause();
}

/* Who waits for a flush meanwhile is served by a new thread, whichever of the threads it was. */
static int another_thread_goes_on(size_t words, void (*end)(struct consumer_double *))
{
    static struct consumer_double consumers[3];
    alarm(LIMIT_SECONDS);
    for (int i = 0; i < 3; i++) {
        struct consumer_double *consumer = &consumers[i];
        *consumer = (struct consumer_double){.raw = true, .in_callback = end};
        consumer->buffer = buffer_make(consumer, words * sizeof(uint64_t), words * sizeof(uint64_t),
                                       TRACEBUF_LOSSLESS);
        tracebuf_assign(consumer->buffer, tracebuf_thread_create());
        if (!put_word(consumer->buffer))
            return 5;
        tracebuf_flush(consumer->buffer);
        if (consumer->callbacks != 1)
            return 6;
    }
    return 0;
}

static void a_flush_goes_on_in_a_new_thread(void **state)
{
    (void)state;
    assert_int_equal(status_of(another_thread_goes_on, 64, leave_for_good), 0);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    return 0; /* its runtime makes no threads in the child of a program with threads */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_room_after_shutdown),
        cmocka_unit_test(without_a_thread_nobody_waits),
        cmocka_unit_test(a_flush_ends_with_its_thread),
        cmocka_unit_test(a_flush_goes_on_in_a_new_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
