#include "session/counting/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "base/log.h"

/* Tools choose among few configurations, so the joint ones are kept. */
enum { JOINT_MAX = 8, JOINT_KEPT = 8 };

struct joint {
    uint64_t handles[JOINT_MAX]; /* of what was joined, 0 behind the last */
    bool known;
    struct counting_config *config; /* a reference; NULL: the hardware cannot */
};

static struct {
    pthread_mutex_t lock; /* a leaf */
    struct joint items[JOINT_KEPT];
    uint32_t oldest;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(joint_kept, kept.lock)

struct counting_collection *counting_collection_create(uint32_t shares_max)
{
    struct counting_collection *collection = NULL;
    return calloc(1, sizeof *collection + shares_max * sizeof collection->shares[0]);
}

void counting_collection_destroy(struct counting_collection *collection)
{
    if (!collection)
        return;
    concurrent_turn_end(collection->slot, &collection->turn);
    if (collection->slot)
        counting_slot_release(collection->slot);
    for (uint32_t i = 0; i < collection->share_count; i++)
        counting_config_release(collection->shares[i].config);
    free(collection->records);
    free(collection);
}

static struct counting_config *reference(struct counting_config *config)
{
    if (config)
        atomic_fetch_add_explicit(&config->references, 1, memory_order_relaxed);
    return config;
}

/* The different configurations of the first shares; 0: more than can be joined. */
static uint32_t handles_list(const struct counting_collection *collection, uint64_t *handles)
{
    uint32_t count = 0;
    memset(handles, 0, JOINT_MAX * sizeof *handles);
    for (uint32_t i = 0; i < collection->share_count; i++) {
        uint64_t handle = collection->shares[i].config->handle;
        uint32_t k = 0;
        while (k < count && handles[k] != handle)
            k++;
        if (k == JOINT_MAX)
            return 0;
        handles[k] = handle;
        count += k == count;
    }
    return count;
}

static bool joint_find(const uint64_t *handles, struct counting_config **config)
{
    bool known = false;
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < JOINT_KEPT && !known; i++) {
        known = kept.items[i].known &&
                !memcmp(kept.items[i].handles, handles, sizeof kept.items[i].handles);
        if (known)
            *config = reference(kept.items[i].config);
    }
    pthread_mutex_unlock(&kept.lock);
    return known;
}

static void joint_keep(const uint64_t *handles, struct counting_config *config)
{
    pthread_mutex_lock(&kept.lock);
    struct joint *item = &kept.items[kept.oldest++ % JOINT_KEPT];
    struct counting_config *former = item->config;
    *item = (struct joint){.known = true, .config = reference(config)};
    memcpy(item->handles, handles, sizeof item->handles);
    pthread_mutex_unlock(&kept.lock);
    if (former)
        counting_config_release(former);
}

/* The new configuration keeps no handle: it lives as long as somebody has a reference. */
static struct counting_config *joint_make(const struct counting_collection *collection)
{
    rocprofiler_counter_config_id_t id = {0};
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    for (uint32_t i = 0; i < collection->share_count && status == ROCPROFILER_STATUS_SUCCESS; i++) {
        const struct counting_config *config = collection->shares[i].config;
        rocprofiler_counter_config_id_t narrower = id;
        rocprofiler_counter_id_t *ids = malloc((config->counter_count + 1) * sizeof *ids);
        for (uint32_t k = 0; ids && k < config->counter_count; k++)
            ids[k].handle = config->counters[k]->id;
        status = ids ? counting_config_create(config->agent->id, ids, config->counter_count, &id)
                     : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
        counting_config_destroy(narrower);
        free(ids);
    }
    struct counting_config *joint =
        status == ROCPROFILER_STATUS_SUCCESS ? counting_config_acquire(id) : NULL;
    counting_config_destroy(id);
    return joint;
}

/* A trace is one configuration's alone. */
static bool has_trace(const struct counting_collection *collection)
{
    bool traces = false;
    for (uint32_t i = 0; i < collection->share_count; i++)
        traces |= collection->shares[i].config->has_trace;
    return traces;
}

/* One configuration with the counters of all shares, as a reference; NULL: there cannot be. */
static struct counting_config *joint_config(const struct counting_collection *collection)
{
    uint64_t handles[JOINT_MAX];
    struct counting_config *config = NULL;
    uint32_t count = handles_list(collection, handles);
    if (count == 1)
        return reference(collection->shares[0].config);
    if (count == 0 || joint_find(handles, &config) || has_trace(collection))
        return config;
    config = joint_make(collection);
    joint_keep(handles, config);
    if (!config)
        log_error("counting", "two callbacks of a context chose counters that do not fit the "
                              "hardware together: the later ones' are not counted");
    return config;
}

/* The joint configuration, as a reference. */
static struct counting_config *shares_fit(struct counting_collection *collection)
{
    uint32_t share_count = collection->share_count;
    struct counting_config *config = reference(collection->shares[0].config);
    collection->share_count = 1;
    for (uint32_t i = 1; i < share_count; i++) {
        struct counting_share share = collection->shares[i];
        collection->shares[collection->share_count++] = share;
        struct counting_config *wider = joint_config(collection);
        counting_config_release(wider ? config : share.config);
        if (wider)
            config = wider;
        else
            collection->share_count--;
    }
    return config;
}

bool counting_collection_begin(struct counting_collection *collection, uint64_t hsa_agent)
{
    struct counting_config *config = shares_fit(collection);
    collection->slot = counting_slot_acquire(config, COUNTING_SLOT_DISPATCH, hsa_agent);
    if (collection->share_count > 1)
        collection->records = malloc((config->record_count + 1) * sizeof *collection->records);
    counting_config_release(config);
    return collection->slot && (collection->share_count == 1 || collection->records) &&
           concurrent_turn_take(collection->slot, false, &collection->turn);
}

/* Appends the values of one counter. */
static uint32_t counter_copy(struct counting_collection *collection, uint64_t counter,
                             uint32_t total, uint32_t count)
{
    enum { COUNTER_SHIFT = 48 };
    for (uint32_t i = 0; i < total; i++)
        if (collection->slot->records[i].id >> COUNTER_SHIFT == counter)
            collection->records[count++] = collection->slot->records[i];
    return count;
}

rocprofiler_counter_record_t *counting_collection_records(struct counting_collection *collection,
                                                          const struct counting_share *share,
                                                          uint32_t total, uint32_t *count)
{
    *count = total;
    if (collection->share_count == 1)
        return collection->slot->records;
    *count = 0;
    for (uint32_t i = 0; i < share->config->counter_count; i++)
        *count = counter_copy(collection, share->config->counters[i]->id, total, *count);
    for (uint32_t i = 0; i < *count; i++)
        collection->records[i].user_data = share->user_data;
    return collection->records;
}
