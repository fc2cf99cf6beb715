/*
 * An HSA runtime of tests: tables of the first or second generation, a CPU and a GPU agent, queues
 * whose packets a device thread works off, signals in plain memory, one loadable executable.
 */
#ifndef INTERCEPT_HSA_DOUBLE_H
#define INTERCEPT_HSA_DOUBLE_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* A second copy of it (double_copy.h) has agents of its own. */
#ifndef DOUBLE_AGENTS
#define DOUBLE_AGENTS 0
#endif
enum {
    DOUBLE_CPU = DOUBLE_AGENTS + 0x10,
    DOUBLE_GPU = DOUBLE_AGENTS + 0x20,
    DOUBLE_TICKS_PER_KERNEL = 50
};

/* A fresh root table (HsaApiTable *) of that AMD-extension generation, every slot the double's. */
void *double_table_make(uint32_t amd_major);

/* Device and copies give times from `now_ns` on. Otherwise these begin somewhere. */
void double_clock_begin(uint64_t now_ns);

/* The runtime measures its clocks anew, and finds the device's elsewhere by so much. */
void double_clock_shift(int64_t ns);

/* Runtimes name agents in any order. */
void double_agents_gpu_first(bool first);

/* Agents on nodes that no topology has. */
void double_agents_hide(bool hide);

/* Signals that were made and not destroyed, blocks of pools not freed, calls of hsa_shut_down. */
int double_signals_alive(void);
int double_blocks_alive(void);
int double_shut_downs(void);

/* The function in the table now, as the runtime's exported symbol would reach it. */
void *double_function(int hsa_function);
/* A runtime without it: to be called before the table arrives. */
void double_function_remove(int hsa_function);

/* Writes packets (64 bytes each) as a program does, and rings the doorbell: calls interceptors. */
void double_packets_submit(hsa_queue_t *queue, const void *packets, uint32_t count);

/* Stops and continues the device between packets. */
void double_device_hold(bool hold);

/* Ends the device's thread: from now on packets end only in double_device_finish, on its caller's
 * thread, until no more than `pending` of the queue are left. Each must be able to end. */
void double_device_by_hand(void);
void double_device_finish(hsa_queue_t *queue, uint64_t pending);

/* Most packets that its hardware queue, which takes any number, held at a time. */
bool double_queue_exists(const hsa_queue_t *queue); /* created and not destroyed */
/* How many hold the device's cooperative queue, which the last one ends. */
int double_cooperative_references(void);
uint64_t double_queue_deepest(const hsa_queue_t *queue);

/* What a kernel does when it begins, and whether it goes on when it could end; on the device's
 * thread. NULL: nothing, and it ends. */
extern void (*_Atomic double_on_kernel)(const hsa_kernel_dispatch_packet_t *packet);
extern bool (*_Atomic double_kernel_waits)(const hsa_kernel_dispatch_packet_t *packet);

/* What reached the device: packets, and kernels by kernel_object. */
uint64_t double_packets_seen(void);
uint64_t double_kernels_seen(void);
/* Kernels that ran at the same time as another one of the device. */
uint64_t double_overlaps_seen(void);
/* The n-th packet that reached the device. */
const void *double_packet(uint64_t n);

/* Puts the queue into the error state: the device stops, the error callback runs. */
/* The first one that has no interceptor. */
hsa_queue_t *double_plain_queue(void);
void double_queue_break(hsa_queue_t *queue);

hsa_executable_t double_executable(void);
uint64_t double_kernel_object(uint32_t n);
void double_stop(void);

#endif
