/* Who listens to what: immutable sets, published per operation when a context starts or stops. */
#include "base/log.h"
#include "model/operations.h"
#include "session/internal.h"

#include <stdlib.h>
#include <string.h>

/* model/trace.h says who writes and who reads these three. */
_Atomic(const struct trace_counting_ops *) trace_counting;
_Atomic(const struct trace_set *) trace_slots[TRACE_DOMAIN_COUNT][TRACE_OPERATIONS_MAX];
_Atomic bool external_in_use; /* writers and readers: see internal.h */
const void *(*_Atomic trace_queue_first)(rocprofiler_agent_id_t agent, uint64_t hsa_agent);

enum { INTERN_BUCKETS = 1024, CHUNK_BYTES = 16 << 10 };

struct interned {
    struct interned *next;
    struct trace_set set;
};

/* Sets live as long as the process: a wrapper may hold one across a call that never ends. Equal
 * sets are one object, so the table grows with the number of different combinations only. */
static struct interned *buckets[INTERN_BUCKETS];

/* Memory for sets, obtained while session_lock is not held. */
struct chunk {
    struct chunk *next;
    size_t used_bytes;
    _Alignas(struct interned) unsigned char bytes[CHUNK_BYTES];
};
_Static_assert(CHUNK_BYTES >= sizeof(struct interned) +
                                  TRACE_SUBSCRIBERS_MAX * sizeof(struct trace_subscriber),
               "any set fits");
static struct chunk *chunks; /* the first is in use, further ones are empty; session_lock */

/* What happened in a round of publishing; under session_lock. */
static struct {
    bool lacks_memory, starved; /* a set could not be made; and there is no memory to be had */
    bool cut;                   /* somebody was left out */
} round_state;

struct candidate {
    enum trace_domain domain;
    uint32_t count;
    struct trace_subscriber subscribers[TRACE_SUBSCRIBERS_MAX];
};

static bool mask_has(const struct operation_mask *mask, int operation)
{
    return mask->words[operation / 32] >> (operation % 32) & 1;
}

static struct tracebuf *buffer_wanted(const struct context *context, uint8_t kind, int operation)
{
    const struct buffer_service *service = &context->buffers[kind];
    return kind && service->buffer && mask_has(&service->operations, operation) ? service->buffer
                                                                                : NULL;
}

/* NULL: it does not want the operation. */
static const struct trace_subscriber *subscribed(const struct context *context,
                                                 enum trace_domain domain, int operation)
{
    const struct trace_subscriber *wanted =
        context->subscription ? context->subscription->wanted[domain] : NULL;
    if (!wanted || (!wanted[operation].callback && !front_listens(&wanted[operation]) &&
                    !wanted[operation].buffer))
        return NULL;
    return &wanted[operation];
}

static bool subscriber_fill(struct trace_subscriber *s, const struct context *context,
                            enum trace_domain d, int operation)
{
    const struct domain *domain = &domains[d];
    const struct trace_subscriber *wanted = subscribed(context, d, operation);
    memset(s, 0, sizeof *s);
    if (wanted) {
        memcpy(s, wanted, sizeof *s); /* padding too: sets are compared by bytes */
        return true;
    }
    const struct callback_service *callback = &context->callbacks[domain->callback_kind];
    if (domain->callback_kind && callback->callback && mask_has(&callback->operations, operation)) {
        s->callback = callback->callback;
        s->callback_data = callback->data;
    }
    s->buffer = buffer_wanted(context, domain->buffer_kind, operation);
    s->args_buffer = buffer_wanted(context, domain->args_kind, operation);
    if (!s->callback && !s->buffer && !s->args_buffer)
        return false;
    s->context = context_id(context);
    s->context_index = context->index;
    const struct request_service *request = &context->requests[domain->request_kind];
    if (domain->request_kind && request->callback) {
        s->request = request->callback;
        s->request_data = request->data;
    }
    return true;
}

/* Past the limit only the count grows. */
static void candidate_build(struct candidate *candidate, enum trace_domain domain, int operation,
                            const struct context *as_if_active)
{
    struct context *context;
    candidate->domain = domain;
    candidate->count = 0;
    for (uint32_t i = 0; (context = context_at(i)); i++) {
        if (context->state != CONTEXT_ACTIVE && context != as_if_active)
            continue;
        struct trace_subscriber s;
        if (!subscriber_fill(&s, context, domain, operation))
            continue;
        if (candidate->count < TRACE_SUBSCRIBERS_MAX)
            candidate->subscribers[candidate->count] = s;
        candidate->count++;
    }
}

static uint32_t candidate_hash(const struct candidate *candidate)
{
    const unsigned char *byte = (const unsigned char *)candidate->subscribers;
    uint32_t hash = 2166136261u ^ (uint32_t)candidate->domain;
    for (size_t i = 0; i < candidate->count * sizeof candidate->subscribers[0]; i++)
        hash = (hash ^ byte[i]) * 16777619u;
    return hash;
}

static bool set_equals(const struct trace_set *set, const struct candidate *candidate)
{
    return set->domain == candidate->domain && set->subscriber_count == candidate->count &&
           !memcmp(set->subscribers, candidate->subscribers,
                   candidate->count * sizeof candidate->subscribers[0]);
}

static void *chunk_take(size_t bytes)
{
    while (chunks && chunks->used_bytes + bytes > CHUNK_BYTES)
        chunks = chunks->next;
    if (!chunks)
        return NULL;
    void *at = chunks->bytes + chunks->used_bytes;
    chunks->used_bytes += bytes;
    return at;
}

/* ---- ways in and out: what a call has to do for a set is known before any call comes */

static const struct trace_ways *ways;

void sets_ways_use(const struct trace_ways *known)
{
    ways = known;
}

/* False: something concerns all calls that straight ways do not look for. */
static bool straight_ways_are_open(void)
{
    return thread_fence_is_free && clock_uses_tsc &&
           !atomic_load_explicit(&external_in_use, memory_order_relaxed) &&
           !trace_set_load(TRACE_CORRELATION_ID_RETIREMENT, 0);
}

static const struct trace_way *way_of(const struct trace_set *set)
{
    const struct trace_subscriber *s = &set->subscribers[0];
    if (set->subscriber_count != 1 || s->front || s->request || s->args_buffer ||
        !domains[set->domain].is_api || !straight_ways_are_open())
        return &ways->any;
    if (s->callback && s->buffer)
        return &ways->any;
    return s->callback ? &ways->callback : &ways->record;
}

static void way_choose(struct trace_set *set)
{
    const struct trace_way *way = way_of(set);
    atomic_store_explicit(&set->enter, way->enter, memory_order_release);
    atomic_store_explicit(&set->exit, way->exit, memory_order_release);
}

static void ways_renew(void)
{
    for (int i = 0; i < INTERN_BUCKETS; i++)
        for (struct interned *entry = buckets[i]; entry; entry = entry->next)
            way_choose(&entry->set);
}

/* Who pushes at the same time comes back when no straight way is left, too. */
void sets_externals_begin(void)
{
    pthread_mutex_lock(&session_lock);
    if (!atomic_exchange_explicit(&external_in_use, true, memory_order_release))
        ways_renew();
    pthread_mutex_unlock(&session_lock);
}

static struct interned *set_new(const struct candidate *candidate)
{
    size_t bytes = candidate->count * sizeof candidate->subscribers[0];
    struct interned *entry = chunk_take(sizeof *entry + bytes);
    if (!entry)
        return NULL;
    struct trace_set *set = &entry->set;
    set->domain = (uint16_t)candidate->domain;
    set->subscriber_count = candidate->count;
    memcpy(set->subscribers, candidate->subscribers, bytes);
    for (uint32_t i = 0; i < candidate->count; i++) {
        const struct trace_subscriber *s = &candidate->subscribers[i];
        set->has_callbacks |= s->callback || front_listens(s);
        set->has_buffers |= s->buffer || s->args_buffer;
        set->wants_args |= s->callback || s->args_buffer || (s->front && front_of(s)->wants_args);
        set->has_requests |= s->request != NULL;
    }
    if (candidate->count == 1 && candidate->subscribers[0].buffer)
        record_plain_prepare(set);
    way_choose(set);
    return entry;
}

/* NULL for no listeners, and when memory lacks. */
static const struct trace_set *set_intern(const struct candidate *candidate)
{
    if (candidate->count == 0)
        return NULL;
    struct interned **bucket = &buckets[candidate_hash(candidate) % INTERN_BUCKETS];
    for (struct interned *entry = *bucket; entry; entry = entry->next)
        if (set_equals(&entry->set, candidate))
            return &entry->set;
    struct interned *entry = set_new(candidate);
    if (!entry) {
        round_state.lacks_memory = true;
        return NULL;
    }
    entry->next = *bucket;
    *bucket = entry;
    return &entry->set;
}

/* The masks of the three views of a domain; NULL where the context has none. */
static void interests(const struct context *context, const struct domain *domain,
                      const struct operation_mask *masks[3])
{
    const struct callback_service *callback = &context->callbacks[domain->callback_kind];
    const struct buffer_service *buffer = &context->buffers[domain->buffer_kind];
    const struct buffer_service *args = &context->buffers[domain->args_kind];
    masks[0] = domain->callback_kind && callback->callback ? &callback->operations : NULL;
    masks[1] = domain->buffer_kind && buffer->buffer ? &buffer->operations : NULL;
    masks[2] = domain->args_kind && args->buffer ? &args->operations : NULL;
}

static bool context_wants(const struct context *context, enum trace_domain domain, int operation)
{
    const struct operation_mask *masks[3];
    if (context->subscription)
        return subscribed(context, domain, operation) != NULL;
    interests(context, &domains[domain], masks);
    for (int i = 0; i < 3; i++)
        if (masks[i] && mask_has(masks[i], operation))
            return true;
    return false;
}

static bool context_wants_domain(const struct context *context, enum trace_domain domain)
{
    const struct operation_mask *masks[3];
    if (context->subscription)
        return context->subscription->wanted[domain] != NULL;
    interests(context, &domains[domain], masks);
    return masks[0] || masks[1] || masks[2];
}

static bool subscription_may_want(const struct context *context, enum trace_domain domain)
{
    return context->subscription && (context->subscription->domains >> domain & 1);
}

bool trace_is_configured(enum trace_domain domain, int32_t operation)
{
    if ((unsigned)domain >= TRACE_DOMAIN_COUNT || operation < 0 ||
        operation >= TRACE_OPERATIONS_MAX)
        return false;
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if ((context->valid && context_wants(context, domain, operation)) ||
            subscription_may_want(context, domain))
            return true;
    return false;
}

bool trace_domain_is_configured(enum trace_domain domain)
{
    struct context *context;
    for (uint32_t i = 0; (unsigned)domain < TRACE_DOMAIN_COUNT && (context = context_at(i)); i++)
        if ((context->valid && context_wants_domain(context, domain)) ||
            subscription_may_want(context, domain))
            return true;
    return false;
}

static bool subscription_wants(const struct context *context, enum trace_domain domain)
{
    for (int op = 0; context->subscription && op < operation_count(domain); op++)
        if (subscribed(context, domain, op))
            return true;
    return false;
}

bool trace_domain_is_wanted(enum trace_domain domain)
{
    struct context *context;
    bool wanted = false;
    pthread_mutex_lock(&session_lock);
    for (uint32_t i = 0; !wanted && (context = context_at(i)); i++)
        wanted = (context->valid && context_wants_domain(context, domain)) ||
                 subscription_wants(context, domain);
    pthread_mutex_unlock(&session_lock);
    return wanted;
}

static uint32_t active_count(void)
{
    uint32_t count = 0;
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        count += context->state == CONTEXT_ACTIVE;
    return count;
}

bool sets_would_overflow(const struct context *context)
{
    static struct candidate candidate; /* large; session_lock is held */
    if (active_count() < TRACE_SUBSCRIBERS_MAX)
        return false;
    for (int d = 0; d < TRACE_DOMAIN_COUNT; d++) {
        if (!context_wants_domain(context, (enum trace_domain)d))
            continue;
        for (int op = 0; op < TRACE_OPERATIONS_MAX; op++) {
            if (!context_wants(context, (enum trace_domain)d, op))
                continue;
            candidate_build(&candidate, (enum trace_domain)d, op, context);
            if (candidate.count > TRACE_SUBSCRIBERS_MAX)
                return true;
        }
    }
    return false;
}

static bool same_wanted(const struct trace_subscriber *wanted, int one, int other)
{
    return !wanted || !memcmp(&wanted[one], &wanted[other], sizeof *wanted);
}

/* Every active context wants both operations, or neither, in each of its views. */
static bool same_listeners(enum trace_domain domain, int one, int other)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++) {
        if (context->state != CONTEXT_ACTIVE)
            continue;
        const struct operation_mask *masks[3];
        if (context->subscription &&
            !same_wanted(context->subscription->wanted[domain], one, other))
            return false;
        interests(context, &domains[domain], masks);
        for (int view = 0; view < 3; view++)
            if (masks[view] && mask_has(masks[view], one) != mask_has(masks[view], other))
                return false;
    }
    return true;
}

/* Contexts are refused when they would be too many; subscriptions cannot be. */
static void candidate_cut(struct candidate *candidate)
{
    if (candidate->count <= TRACE_SUBSCRIBERS_MAX)
        return;
    candidate->count = TRACE_SUBSCRIBERS_MAX;
    round_state.cut = true;
}

/* Neighbouring operations mostly have the same listeners: 32 instead of 170 us to start a context
 * that wants everything beside two others. */
static void operations_publish(enum trace_domain domain, int first, int end,
                               const struct context *changed)
{
    static struct candidate candidate; /* large; session_lock is held */
    const struct trace_set *last = NULL;
    int last_op = -1;
    for (int op = first; op < end; op++) {
        if (changed && !context_wants(changed, domain, op))
            continue;
        if (last_op < 0 || !same_listeners(domain, last_op, op)) {
            candidate_build(&candidate, domain, op, NULL);
            candidate_cut(&candidate);
            last = set_intern(&candidate);
        }
        if (round_state.lacks_memory && !round_state.starved)
            return; /* those who listen so far go on until the next round */
        last_op = op;
        atomic_store_explicit(&trace_slots[domain][op], last, memory_order_release);
    }
    if (domain == TRACE_CORRELATION_ID_RETIREMENT) {
        ways_renew();
        calls_settle_own();
    }
}

/* Lets session_lock go while it asks for memory. */
static void chunk_add(void)
{
    pthread_mutex_unlock(&session_lock);
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        log_error("session", "out of memory: some operations are not traced");
    pthread_mutex_lock(&session_lock);
    round_state.starved = !chunk;
    if (!chunk)
        return;
    chunk->next = chunks; /* what is left of the present one serves smaller sets later */
    chunks = chunk;
}

/* True after a round that needs another one, with more memory or with what there is. */
static bool again(void)
{
    bool lacks_memory = round_state.lacks_memory && !round_state.starved;
    round_state.lacks_memory = round_state.starved = false;
    if (lacks_memory)
        chunk_add();
    return lacks_memory;
}

/* Under session_lock, which it lets go to speak. */
static void cut_tell(void)
{
    if (!round_state.cut)
        return;
    round_state.cut = false;
    pthread_mutex_unlock(&session_lock);
    log_warning("session", "more than %d listeners to one operation: the latest ones hear nothing",
                TRACE_SUBSCRIBERS_MAX);
    pthread_mutex_lock(&session_lock);
}

void sets_publish(const struct context *changed)
{
    do {
        for (int d = 0; d < TRACE_DOMAIN_COUNT; d++)
            if (context_wants_domain(changed, (enum trace_domain)d))
                operations_publish((enum trace_domain)d, 0, operation_count((enum trace_domain)d),
                                   changed);
    } while (again());
    cut_tell();
}

void sets_publish_operations(enum trace_domain domain, int32_t first, int32_t count)
{
    do
        operations_publish(domain, first, first + count, NULL);
    while (again());
    cut_tell();
}
