#include "core/time_source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

enum { CLOCK_MHZ = GPU_CLOCK_HZ / 1000000 };

enum time_source time_source_parse(const char *text)
{
    if (!text || !*text || strcmp(text, "wall") == 0)
        return TIME_WALL;
    return strcmp(text, "model") == 0 ? TIME_MODEL : TIME_UNKNOWN;
}

static pthread_once_t looked = PTHREAD_ONCE_INIT;
static bool is_modelled, sampling_is_off; /* written under `looked` alone */

static void environment_look(void)
{
    const char *text = getenv("CROCGPU_TIME");
    enum time_source source = time_source_parse(text);
    if (source == TIME_UNKNOWN)
        log_warning("softgpu", "CROCGPU_TIME=%s is neither wall nor model; using wall", text);
    is_modelled = source == TIME_MODEL;
    const char *sampling = getenv("CROCGPU_SAMPLING");
    sampling_is_off = sampling && strcmp(sampling, "all") == 0;
    if (sampling && *sampling && !sampling_is_off)
        log_warning("softgpu", "CROCGPU_SAMPLING=%s is not all; looking at samples", sampling);
}

bool time_is_modelled(void)
{
    pthread_once(&looked, environment_look);
    return is_modelled;
}

bool time_sampling_is_off(void)
{
    pthread_once(&looked, environment_look);
    return sampling_is_off;
}

/* Whole parts first: cycles times the clock's rate would overflow after five hours. */
static uint64_t scale(uint64_t value, uint64_t by, uint64_t through, uint64_t round_up)
{
    return value / through * by + (value % through * by + round_up) / through;
}

uint64_t ticks_of_cycles(const struct gpu_model *model, uint64_t cycles)
{
    return scale(cycles, CLOCK_MHZ, model->sclk_mhz, model->sclk_mhz - 1);
}

uint64_t cycles_of_ticks(const struct gpu_model *model, uint64_t ticks)
{
    return scale(ticks, model->sclk_mhz, CLOCK_MHZ, 0);
}
