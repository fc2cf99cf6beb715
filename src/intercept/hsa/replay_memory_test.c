/* Snapshots of memory that a replayed kernel may write: memory of this process plays the device's,
 * and a kernel is a function. */
#include "intercept/hsa/replay_memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/wait.h"
#include "intercept/hsa/replay_kept.h"

enum { DEVICE = 1, OTHER = 2, WORDS = 1 << 20, ODD_BYTES = 12347, PASSES = 5 };

/* What the copies of a test do. */
static struct {
    int alive;            /* blocks got and not put */
    int gets_left;        /* then there is no memory */
    int copies_left;      /* then none is made */
    int failures;         /* and so many of those fail, -1: all */
    _Atomic bool is_slow; /* a copy waits for `may_go` */
    _Atomic bool in_copy; /* one is waiting */
    _Atomic bool may_go;  /* written by the test, read by who copies; both release, acquire */
    _Atomic bool removed; /* replay_memory_remove has returned */
} device;

static void *get(void *data, size_t bytes)
{
    (void)data;
    if (device.gets_left-- <= 0)
        return NULL;
    device.alive++;
    return malloc(bytes);
}

static void put(void *data, void *memory)
{
    (void)data;
    device.alive--;
    free(memory);
}

static bool may_go(void *data)
{
    (void)data;
    return atomic_load_explicit(&device.may_go, memory_order_acquire);
}

static bool copy(void *data, void *to, const void *from, size_t bytes)
{
    (void)data;
    bool fails = device.copies_left-- <= 0 && device.failures != 0;
    device.failures -= fails && device.failures > 0;
    if (fails || bytes == 0) /* ROCr 5.2 never ends an empty one */
        return false;
    if (atomic_load_explicit(&device.is_slow, memory_order_acquire)) {
        atomic_store_explicit(&device.in_copy, true, memory_order_release);
        wait_until(may_go, NULL, WAIT_FOREVER, 100 * WAIT_NS_PER_US);
    }
    memcpy(to, from, bytes);
    return true;
}

static const struct replay_copies copies = {get, put, copy, copy, NULL};

static int reset(void **state)
{
    (void)state;
    replay_kept_release(); /* by the test before */
    device.alive = 0;
    device.gets_left = device.copies_left = 1000;
    device.failures = -1;
    atomic_store_explicit(&device.is_slow, false, memory_order_release);
    atomic_store_explicit(&device.in_copy, false, memory_order_release);
    atomic_store_explicit(&device.may_go, false, memory_order_release);
    atomic_store_explicit(&device.removed, false, memory_order_release);
    return 0;
}

/* What was kept for other snapshots is given back, and nothing else is got. */
static void nothing_is_left(void)
{
    replay_kept_release();
    assert_int_equal(device.alive, 0);
    assert_int_equal(replay_kept_bytes(), 0);
}

static uint32_t *words_make(uint64_t owner)
{
    uint32_t *words = malloc(WORDS * sizeof *words);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
    assert_true(replay_memory_add(owner, (uintptr_t)words, WORDS * sizeof *words));
    return words;
}

static void words_free(void *words)
{
    replay_memory_remove((uintptr_t)words);
    free(words);
}

/* In place: a second execution gives other values than one. */
static void kernel(uint32_t *words)
{
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = words[i] * 3 + 1;
}

static struct replay_snapshot *take(enum replay_status *status)
{
    return replay_snapshot_take(DEVICE, SIZE_MAX, &copies, status);
}

static void passes_have_the_effects_of_one(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *words = words_make(DEVICE);
    unsigned char odd[ODD_BYTES] = {7};
    assert_true(replay_memory_add(DEVICE, (uintptr_t)odd, sizeof odd));
    struct replay_snapshot *snapshot = take(&status);
    assert_non_null(snapshot);
    for (int pass = 0; pass < PASSES; pass++) {
        if (pass > 0)
            assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
        kernel(words);
        odd[0]++;
        odd[ODD_BYTES - 1]++;
    }
    replay_snapshot_free(snapshot);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], i * 2654435761u * 3 + 1);
    assert_int_equal(odd[0], 8);
    assert_int_equal(odd[ODD_BYTES - 1], 1);
    nothing_is_left();
    replay_memory_remove((uintptr_t)odd);
    words_free(words);
}

/* Wherever it lies beside what is given back meanwhile. */
static void what_stays_is_put_back(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        enum replay_status status;
        uint32_t *words[2] = {words_make(DEVICE), words_make(DEVICE)};
        uint32_t *kept = words[1 - gone];
        struct replay_snapshot *snapshot = take(&status);
        assert_non_null(snapshot);
        kernel(kept);
        words_free(words[gone]);
        assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(kept[i], i * 2654435761u);
        replay_snapshot_free(snapshot);
        words_free(kept);
        nothing_is_left();
    }
}

/* One byte at the very end of what is watched. */
static void watched_memory_ends_it(uint64_t owner, bool is_shared)
{
    enum replay_status status;
    uint32_t *words = words_make(DEVICE), *watched = words_make(owner);
    if (is_shared)
        replay_memory_share((uintptr_t)watched);
    struct replay_snapshot *snapshot = take(&status);
    assert_non_null(snapshot);
    kernel(words);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    kernel(words);
    ((char *)watched)[WORDS * sizeof *watched - 1] ^= 1;
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_CHANGED);
    /* Also when it is undone: what its host saw, it saw. */
    ((char *)watched)[WORDS * sizeof *watched - 1] ^= 1;
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_CHANGED);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], i * 2654435761u * 3 + 1);
    replay_snapshot_free(snapshot);
    words_free(watched);
    words_free(words);
    nothing_is_left();
}

static void host_memory_is_never_written(void **state)
{
    (void)state;
    watched_memory_ends_it(REPLAY_HOST, false);
}

static void shared_memory_is_never_written(void **state)
{
    (void)state;
    watched_memory_ends_it(DEVICE, true);
    watched_memory_ends_it(OTHER, true);
}

static void memory_of_others_is_left_alone(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *words = words_make(OTHER);
    struct replay_snapshot *snapshot = take(&status);
    kernel(words);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    assert_int_equal(words[1], 2654435761u * 3 + 1);
    replay_snapshot_free(snapshot);
    words_free(words);
}

static void sharing_ends_it_and_freeing_does_not(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *words = words_make(DEVICE), *others = words_make(DEVICE);
    struct replay_snapshot *snapshot = take(&status);
    replay_memory_share((uintptr_t)words);
    kernel(others);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_CHANGED);
    assert_int_equal(others[1], 2654435761u * 3 + 1);
    replay_snapshot_free(snapshot);
    snapshot = take(&status);
    replay_memory_remove((uintptr_t)words);
    uint32_t freed = words[1], kept = others[1];
    kernel(words);
    kernel(others);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    assert_int_not_equal(words[1], freed);
    assert_int_equal(others[1], kept);
    replay_snapshot_free(snapshot);
    /* Given back unseen, and got again. */
    snapshot = take(&status);
    assert_true(replay_memory_add(DEVICE, (uintptr_t)others, 64));
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FREED);
    replay_snapshot_free(snapshot);
    words_free(others);
    free(words);
}

/* The process lives, and the pass before was the last. */
static void unmapped_memory_ends_it(void **state)
{
    (void)state;
    enum replay_status status;
    const size_t bytes = 1 << 16;
    const uintptr_t nowhere = (uintptr_t)1 << 60;
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(replay_memory_add(REPLAY_HOST, (uintptr_t)mapped, bytes));
    struct replay_snapshot *snapshot = take(&status);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    munmap(mapped, bytes);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_UNREADABLE);
    replay_snapshot_free(snapshot);
    replay_memory_remove((uintptr_t)mapped);
    assert_true(replay_memory_add(REPLAY_HOST, nowhere, bytes)); /* no kernel has it, either */
    snapshot = take(&status);
    assert_int_equal(status, REPLAY_FINE);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    replay_snapshot_free(snapshot);
    replay_memory_remove(nowhere);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    enum replay_status status;
    const size_t bytes = 2 * WORDS * sizeof(uint32_t);
    uint32_t *words = words_make(DEVICE), *host = words_make(REPLAY_HOST);
    assert_null(replay_snapshot_take(DEVICE, bytes - 1, &copies, &status));
    assert_int_equal(status, REPLAY_NO_ROOM);
    struct replay_snapshot *snapshot = replay_snapshot_take(DEVICE, bytes, &copies, &status);
    assert_non_null(snapshot);
    replay_snapshot_free(snapshot);
    replay_kept_release();
    device.gets_left = 0;
    assert_null(take(&status));
    assert_int_equal(status, REPLAY_NO_ROOM);
    device.gets_left = 1000;
    device.copies_left = 0;
    assert_null(take(&status));
    assert_int_equal(status, REPLAY_UNREADABLE);
    nothing_is_left();
    words_free(words);
    words_free(host);
}

static void failing_restores_say_what_is_left(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *first = words_make(DEVICE), *second = words_make(DEVICE);
    struct replay_snapshot *snapshot = take(&status);
    device.copies_left = 0;
    device.failures = 2; /* a third try helps */
    kernel(first);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    assert_int_equal(first[1], 2654435761u);
    kernel(first);
    kernel(second);
    device.copies_left = 0;
    device.failures = -1; /* nothing was written */
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_UNREADABLE);
    assert_int_equal(first[1], 2654435761u * 3 + 1);
    replay_snapshot_free(snapshot);
    device.copies_left = 1000;
    snapshot = take(&status);
    device.copies_left = 1; /* one was, the other was not */
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_BROKEN);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_BROKEN);
    replay_snapshot_free(snapshot);
    words_free(first);
    words_free(second);
}

static void *restorer(void *snapshot)
{
    enum replay_status status = replay_snapshot_restore(snapshot);
    return (void *)(uintptr_t)status;
}

static bool in_copy(void *data)
{
    (void)data;
    return atomic_load_explicit(&device.in_copy, memory_order_acquire);
}

static void snapshot_of(int gets)
{
    enum replay_status status;
    int before = device.gets_left;
    struct replay_snapshot *snapshot = take(&status);
    assert_non_null(snapshot);
    replay_snapshot_free(snapshot);
    assert_int_equal(before - device.gets_left, gets);
}

/* The next snapshot has the memory of the one before, unless that is too small, or far too large.
 */
static void memory_for_copies_is_kept(void **state)
{
    (void)state;
    enum { MORE = 6 };
    const size_t bytes = WORDS * sizeof(uint32_t);
    uint32_t *words = words_make(DEVICE), *more[MORE];
    for (int n = 0; n < 3; n++)
        snapshot_of(n == 0);
    assert_int_equal(device.alive, 1);
    assert_true(replay_kept_bytes() >= bytes);
    for (int n = 0; n < MORE; n++)
        more[n] = words_make(DEVICE);
    snapshot_of(1);
    assert_int_equal(device.alive, 1); /* the smaller one was given back */
    assert_true(replay_kept_bytes() >= (MORE + 1) * bytes);
    words_free(more[0]);
    snapshot_of(0);
    for (int n = 1; n < MORE; n++)
        words_free(more[n]);
    words_free(words);
    snapshot_of(1);
    assert_true(replay_kept_bytes() < bytes);
    nothing_is_left();
}

/* What the host writes while no pass runs is no pass's doing, where looking again is cheap. */
static void what_the_host_writes_in_between(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *words = words_make(DEVICE);
    unsigned char host[ODD_BYTES] = {1};
    assert_true(replay_memory_add(REPLAY_HOST, (uintptr_t)host, sizeof host));
    struct replay_snapshot *snapshot = take(&status);
    pthread_t restores;
    void *restored;
    kernel(words);
    atomic_store_explicit(&device.is_slow, true, memory_order_release);
    assert_int_equal(pthread_create(&restores, NULL, restorer, snapshot), 0);
    wait_until(in_copy, NULL, WAIT_FOREVER, 100 * WAIT_NS_PER_US); /* memory is put back */
    host[ODD_BYTES - 1] = 5;
    atomic_store_explicit(&device.may_go, true, memory_order_release);
    pthread_join(restores, &restored);
    assert_true(restored == (void *)(uintptr_t)REPLAY_FINE);
    kernel(words);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    host[0] = 5; /* while a pass ran */
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_CHANGED);
    replay_snapshot_free(snapshot);
    replay_memory_remove((uintptr_t)host);
    words_free(words);
}

static void *remover(void *words)
{
    replay_memory_remove((uintptr_t)words);
    atomic_store_explicit(&device.removed, true, memory_order_release);
    return NULL;
}

/* A copy that is under way has its memory until it has ended, also when threads are cancelled. */
static void freeing_waits_for_copies(void **state)
{
    (void)state;
    enum replay_status status;
    uint32_t *words = words_make(DEVICE);
    struct replay_snapshot *snapshot = take(&status);
    pthread_t restores, removes;
    void *restored;
    atomic_store_explicit(&device.is_slow, true, memory_order_release);
    kernel(words);
    assert_int_equal(pthread_create(&restores, NULL, restorer, snapshot), 0);
    wait_until(in_copy, NULL, WAIT_FOREVER, 100 * WAIT_NS_PER_US);
    assert_int_equal(pthread_create(&removes, NULL, remover, words), 0);
    wait_pause(20 * WAIT_NS_PER_MS);
    pthread_cancel(restores);
    pthread_cancel(removes);
    wait_pause(20 * WAIT_NS_PER_MS);
    assert_false(atomic_load_explicit(&device.removed, memory_order_acquire));
    atomic_store_explicit(&device.may_go, true, memory_order_release);
    pthread_join(restores, &restored);
    pthread_join(removes, NULL);
    assert_true(restored == PTHREAD_CANCELED || restored == (void *)(uintptr_t)REPLAY_FINE);
    assert_int_equal(words[1], 2654435761u);
    kernel(words); /* it is somebody else's now */
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    assert_int_equal(words[1], 2654435761u * 3 + 1);
    replay_snapshot_free(snapshot);
    free(words);
}

/* Its parent's thread is in a copy, of memory that the child has no device for. */
static void children_wait_for_nobody(void **state)
{
    (void)state;
    enum { CHILD_LIMIT_S = 20 };
    enum replay_status status;
    uint32_t *words = words_make(DEVICE);
    struct replay_snapshot *snapshot = take(&status);
    pthread_t restores;
    int ended = -1;
    atomic_store_explicit(&device.is_slow, true, memory_order_release);
    assert_int_equal(pthread_create(&restores, NULL, restorer, snapshot), 0);
    wait_until(in_copy, NULL, WAIT_FOREVER, 100 * WAIT_NS_PER_US);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        replay_memory_remove((uintptr_t)words);
        bool fine = replay_snapshot_restore(snapshot) == REPLAY_FREED;
        replay_snapshot_free(snapshot);
        _exit(!fine || take(&status) || status != REPLAY_NOT_WHOLE);
    }
    waitpid(child, &ended, 0);
    assert_int_equal(ended, 0);
    atomic_store_explicit(&device.may_go, true, memory_order_release);
    pthread_join(restores, NULL);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    replay_snapshot_free(snapshot);
    words_free(words);
}

/* Many regions in any order, found again each. */
static void regions_are_found(void **state)
{
    (void)state;
    enum { REGIONS = 1000, STEP = 331, REGION_BYTES = 48 };
    static unsigned char memory[REGIONS][64];
    enum replay_status status;
    for (unsigned i = 0; i < REGIONS; i++)
        assert_true(replay_memory_add(DEVICE, (uintptr_t)memory[i * STEP % REGIONS], REGION_BYTES));
    for (unsigned i = 0; i < REGIONS; i += 2)
        replay_memory_remove((uintptr_t)memory[i]);
    replay_memory_remove((uintptr_t)memory[1] + 1);
    replay_memory_share((uintptr_t)memory[1] + 1);
    device.gets_left = device.copies_left = 2 * REGIONS;
    struct replay_snapshot *snapshot = take(&status);
    memset(memory, 9, sizeof memory);
    assert_int_equal(replay_snapshot_restore(snapshot), REPLAY_FINE);
    for (unsigned i = 0; i < REGIONS; i++)
        for (unsigned k = 0; k < 64; k++)
            assert_int_equal(memory[i][k], i % 2 && k < REGION_BYTES ? 0 : 9);
    replay_snapshot_free(snapshot);
    for (unsigned i = 1; i < REGIONS; i += 2)
        replay_memory_remove((uintptr_t)memory[i]);
}

static void each_status_has_a_sentence(void **state)
{
    (void)state;
    for (int status = 0; status < REPLAY_STATUS_COUNT; status++)
        assert_non_null(replay_status_text((enum replay_status)status));
    assert_string_equal(replay_status_text((enum replay_status)REPLAY_STATUS_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(passes_have_the_effects_of_one, reset),
        cmocka_unit_test_setup(what_stays_is_put_back, reset),
        cmocka_unit_test_setup(host_memory_is_never_written, reset),
        cmocka_unit_test_setup(shared_memory_is_never_written, reset),
        cmocka_unit_test_setup(memory_of_others_is_left_alone, reset),
        cmocka_unit_test_setup(sharing_ends_it_and_freeing_does_not, reset),
        cmocka_unit_test_setup(unmapped_memory_ends_it, reset),
        cmocka_unit_test_setup(what_does_not_fit_is_refused, reset),
        cmocka_unit_test_setup(failing_restores_say_what_is_left, reset),
        cmocka_unit_test_setup(memory_for_copies_is_kept, reset),
        cmocka_unit_test_setup(what_the_host_writes_in_between, reset),
        cmocka_unit_test_setup(freeing_waits_for_copies, reset),
        cmocka_unit_test_setup(children_wait_for_nobody, reset),
        cmocka_unit_test_setup(regions_are_found, reset),
        cmocka_unit_test_setup(each_status_has_a_sentence, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
