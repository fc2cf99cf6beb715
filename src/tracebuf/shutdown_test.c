/* The end of a process, and a process that can have no more threads, while records come in. */
#include "tracebuf/sink.h"

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
    struct sink *sink = arg;
    for (uint64_t n = 0; atomic_load(&producing); n++) {
        put_word(sink->buffer);
        atomic_fetch_add(&attempts, 1);
    }
    return NULL;
}

/* In a child, since shutdown is for ever; `end` runs while eight threads fill a buffer that holds
 * `words`. Status 0: all of them came back and every record was delivered or counted. */
static int shutdown_under_load(size_t words, void (*end)(struct sink *sink))
{
    static struct sink sink;
    pthread_t threads[PRODUCERS];
    alarm(LIMIT_SECONDS);
    sink = (struct sink){.raw = true};
    sink.buffer =
        buffer_make(&sink, words * sizeof(uint64_t), words * sizeof(uint64_t), TRACEBUF_LOSSLESS);
    atomic_store(&producing, true);
    for (int i = 0; i < PRODUCERS; i++)
        if (pthread_create(&threads[i], NULL, producer_main, &sink))
            return 1;
    nap(20000);
    end(&sink);
    atomic_store(&producing, false);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    tracebuf_close(sink.buffer);
    uint64_t known = sink.records + atomic_load(&((struct tracebuf *)sink.buffer)->dropped);
    return known == atomic_load(&attempts) ? 0 : 2;
}

static void shut_down(struct sink *sink)
{
    (void)sink;
    tracebuf_shutdown();
    nap(20000);
}

static int status_of(int (*test)(size_t, void (*)(struct sink *)), size_t words,
                     void (*end)(struct sink *))
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
static int no_thread(size_t words, void (*end)(struct sink *))
{
    static struct sink sink;
    alarm(LIMIT_SECONDS);
    sink = (struct sink){.raw = true};
    struct tracebuf *buffer =
        buffer_make(&sink, words * sizeof(uint64_t), words * sizeof(uint64_t), TRACEBUF_LOSSLESS);
    pid_t child = fork();
    if (child == 0) {
        uint64_t kept = 0;
        alarm(LIMIT_SECONDS);
        no_more_threads = true;
        for (int i = 0; i < 1000; i++)
            kept += put_word(buffer);
        tracebuf_flush(buffer);
        bool good = kept == 2 * words && buffer->dropped == 1000 - kept && sink.records == 0;
        no_more_threads = false;
        tracebuf_flush(buffer); /* the limit is over */
        good &= sink.records == kept && put_word(buffer);
        end(&sink);
        good &= sink.records == kept + 1;
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
static void end_thread(struct sink *sink)
{
    (void)sink;
    pthread_exit(NULL);
}

static void *flusher_main(void *arg)
{
    tracebuf_flush(((struct sink *)arg)->buffer);
    return NULL;
}

static int thread_gone(size_t words, void (*end)(struct sink *))
{
    static struct sink sink;
    pthread_t flusher;
    alarm(LIMIT_SECONDS);
    sink = (struct sink){.raw = true};
    held = true;
    sink.in_callback = hold;
    sink.buffer =
        buffer_make(&sink, words * sizeof(uint64_t), words * sizeof(uint64_t), TRACEBUF_LOSSLESS);
    bool good = put_word(sink.buffer);
    tracebuf_flush_start(sink.buffer);
    while (atomic_load(&sink.callbacks) == 0)
        nap(1000);
    good &= pthread_create(&flusher, NULL, flusher_main, &sink) == 0;
    nap(20000); /* lets it wait; may be too short */
    no_more_threads = true;
    sink.in_callback = end; /* of the next call, which the flush asks for */
    good &= put_word(sink.buffer);
    held = false;
    pthread_join(flusher, NULL);
    tracebuf_flush(sink.buffer);
    return good ? 0 : 4;
}

static void a_flush_ends_with_its_thread(void **state)
{
    (void)state;
    assert_int_equal(status_of(thread_gone, 4, end_thread), 0);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
