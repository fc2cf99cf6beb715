/*
 * Which times the device gives its kernels: CROCGPU_TIME says "wall" (the default) or "model".
 * Wall times are those of the computer that stands in for the GPU. Modelled ones begin where the
 * work was there and the work before it had ended, and last as many cycles as the counters' clock
 * counted, at the shader engine's frequency: the same in every run.
 */
#ifndef CORE_TIME_SOURCE_H
#define CORE_TIME_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"

enum time_source { TIME_WALL, TIME_MODEL, TIME_UNKNOWN };

/* NULL and "" mean wall. */
enum time_source time_source_parse(const char *text);
/* CROCGPU_TIME, read once; what cannot be used is said, and means wall. Any thread. */
bool time_is_modelled(void);

/* CROCGPU_SAMPLING=all: modelled time comes from everything that a kernel does, which takes ten
 * times as long, instead of from samples. For tests of sampling. Read once; any thread. */
bool time_sampling_is_off(void);

/* Cycles of the shader engine in ticks of gpu_clock_ticks(), to the next one, and back. */
uint64_t ticks_of_cycles(const struct gpu_model *model, uint64_t cycles);
uint64_t cycles_of_ticks(const struct gpu_model *model, uint64_t ticks);

#endif
