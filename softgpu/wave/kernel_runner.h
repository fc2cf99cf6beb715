/*
 * For tests: assembles kernels with llvm-mc when the test runs, and puts them through the engine.
 * s[0:1] holds the address of the test's buffer, s2 the work-group id, v0 the work-item id.
 */
#ifndef WAVE_KERNEL_RUNNER_H
#define WAVE_KERNEL_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include "wave/dispatch.h"

struct kernel_runner;

/* Device "gfx90a" with `threads` pool threads and a zeroed buffer at the same GPU and host address.
 */
int kernel_runner_create(int threads, size_t buffer_bytes, struct kernel_runner **runner);
void kernel_runner_destroy(struct kernel_runner *runner);
void *kernel_runner_buffer(struct kernel_runner *runner);
struct engine *kernel_runner_engine(struct kernel_runner *runner);
struct perf *kernel_runner_perf(struct kernel_runner *runner);

/* The same on another GPU than "gfx90a". */
int kernel_runner_create_on(const char *gpu, int threads, size_t buffer_bytes,
                            struct kernel_runner **runner);

/* Assembles `text` into program slot 0..3, replacing what was there. 0 or -errno. */
int kernel_runner_load(struct kernel_runner *runner, unsigned slot, const char *text);

/* Programs loaded from now on have so many vector registers, a multiple of 8 up to 512; 64 at
 * first. */
void kernel_runner_set_vgprs(struct kernel_runner *runner, uint32_t vgprs);

/* Maps the first `bytes` of the programs' memory anew, and nothing behind them. 0 or -errno. */
int kernel_runner_remap(struct kernel_runner *runner, size_t bytes);

/* Makes two mappings of the one that holds the address, which begins the second one, and takes the
 * right to write it away from that. 0 or -errno. */
int kernel_runner_split(struct kernel_runner *runner, const void *at);
int kernel_runner_protect(struct kernel_runner *runner, const void *at);
/* What memory the one that begins there is: of VM_MEMORY_MASK (mem/vm.h). */
int kernel_runner_set_memory(struct kernel_runner *runner, const void *at, uint32_t memory);

/* Kernels started from now on may use global wave sync. */
void kernel_runner_allow_gws(struct kernel_runner *runner);
/* Their waves are none of the sequencers' counters, and nobody reads their times but when `timed`.
 */
void kernel_runner_leave_counters(struct kernel_runner *runner, bool timed);
/* Whether somebody reads their times; at first somebody does. */
void kernel_runner_set_timed(struct kernel_runner *runner, bool timed);
/* They have private memory for so many waves at once; 0: for any number. */
void kernel_runner_limit_scratch(struct kernel_runner *runner, uint32_t waves);

/* Their argument segment is there; at first the buffer's last 8 bytes, which hold its address. */
void kernel_runner_set_arguments(struct kernel_runner *runner, uint64_t va);

/* They may use these compute units. */
void kernel_runner_mask_units(struct kernel_runner *runner, const struct unit_mask *mask);

struct kernel_geometry {
    uint32_t grid, group_size, lds_bytes, scratch_bytes;
};
int kernel_runner_start(struct kernel_runner *runner, unsigned slot,
                        struct kernel_geometry geometry);
/* Aborts the slot's queue, to which one kernel was given that never ends. */
void kernel_runner_abort(struct kernel_runner *runner, unsigned slot);
/* Waits for all started kernels; the result of the last one that ended. False after ten seconds. */
bool kernel_runner_wait(struct kernel_runner *runner, struct dispatch_result *result);

#endif
