#include "torture.h"

#include <string.h>

struct switch_state oracle_switches[CONTEXTS];

/* `seen` and `times`: contexts' threads (relaxed or under no race: once for each context); the
 * rest: the thread that launched it, and the check when all threads have ended. */
static struct row {
    uint32_t changes[CONTEXTS]; /* when it was about to be written */
    _Atomic uint32_t seen; /* a byte of counts would hide a third time: bits, see oracle_seen */
    uint8_t on, must, may;
    bool ended, barrier;
    uint32_t before;
    _Atomic uint64_t start_ns, end_ns, dispatch_id;
} rows[NUMBERS];
static _Atomic uint32_t used;

void oracle_round(void)
{
    memset((void *)rows, 0, sizeof rows[0] * oracle_numbers());
    atomic_store(&used, 0);
}

uint32_t oracle_number(void)
{
    uint32_t number = atomic_fetch_add(&used, 1);
    EXPECT(number < NUMBERS);
    struct row *row = &rows[number];
    row->before = NUMBERS;
    row->on = 0;
    for (int c = 0; c < CONTEXTS; c++) {
        row->changes[c] = atomic_load(&oracle_switches[c].changes);
        row->on |= (uint8_t)(atomic_load(&oracle_switches[c].on) << c);
    }
    return number;
}

uint32_t oracle_numbers(void)
{
    return atomic_load(&used);
}

bool oracle_has_numbers(void)
{
    return atomic_load(&used) < NUMBERS - NUMBERS / 8;
}

/* Where nothing changed since, the context's state is known. */
void oracle_ended(uint32_t number)
{
    struct row *row = &rows[number];
    EXPECT(!row->ended);
    row->ended = true;
    for (int c = 0; c < CONTEXTS; c++) {
        uint32_t now = atomic_load(&oracle_switches[c].changes);
        bool known = now == row->changes[c] && now % 2 == 0;
        bool on = row->on >> c & 1;
        row->must |= (uint8_t)((known && on) << c);
        row->may |= (uint8_t)((!known || on) << c);
    }
}

void oracle_follows(uint32_t number, uint32_t before, bool barrier)
{
    rows[number].before = before;
    rows[number].barrier = barrier;
}

void oracle_seen(uint32_t number, uint32_t context, uint64_t start_ns, uint64_t end_ns,
                 uint64_t dispatch_id)
{
    EXPECT(number < oracle_numbers());
    struct row *row = &rows[number];
    uint32_t bit = 1u << context;
    if (atomic_fetch_or(&row->seen, bit) & bit) {
        fprintf(stderr, "dispatch %u twice in context %u\n", number, context);
        EXPECT(false);
    }
    EXPECT(start_ns != 0 && start_ns <= end_ns && dispatch_id != 0);
    uint64_t former = atomic_exchange(&row->dispatch_id, dispatch_id);
    EXPECT(former == 0 || former == dispatch_id);
    former = atomic_exchange(&row->start_ns, start_ns);
    EXPECT(former == 0 || former == start_ns);
    former = atomic_exchange(&row->end_ns, end_ns);
    EXPECT(former == 0 || former == end_ns);
}

static void order_check(const struct row *row)
{
    const struct row *before = row->before < NUMBERS ? &rows[row->before] : NULL;
    if (!before || !row->seen || !before->seen)
        return;
    EXPECT(before->dispatch_id < row->dispatch_id);
    EXPECT(!row->barrier || before->end_ns <= row->start_ns);
}

void oracle_check(uint32_t lossy)
{
    uint32_t count = oracle_numbers();
    for (uint32_t i = 0; i < count; i++) {
        struct row *row = &rows[i];
        if (!row->ended)
            oracle_ended(i);
        uint32_t must = row->must & ~lossy;
        if ((row->seen & must) != must || (row->seen & ~row->may)) {
            fprintf(stderr, "dispatch %u: seen %x, must %x, may %x\n", i, row->seen, must,
                    row->may);
            EXPECT(false);
        }
        order_check(row);
    }
}
