/*
 * An HSA runtime of tests: tables of the first or second generation, a CPU and a GPU agent, queues
 * whose packets a device thread works off, signals in plain memory, one loadable executable.
 */
#ifndef INTERCEPT_MOCK_HSA_H
#define INTERCEPT_MOCK_HSA_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* A second copy of it (mock_copy.h) has agents of its own. */
#ifndef MOCK_AGENTS
#define MOCK_AGENTS 0
#endif
enum { MOCK_CPU = MOCK_AGENTS + 0x10, MOCK_GPU = MOCK_AGENTS + 0x20, MOCK_TICKS_PER_KERNEL = 50 };

/* A fresh root table (HsaApiTable *) of that AMD-extension generation, every slot the mock's. */
void *mock_table_make(uint32_t amd_major);

/* Device and copies give times from `now_ns` on. Otherwise these begin somewhere. */
void mock_clock_begin(uint64_t now_ns);

/* The runtime measures its clocks anew, and finds the device's elsewhere by so much. */
void mock_clock_shift(int64_t ns);

/* Agents on nodes that no topology has. */
void mock_agents_hide(bool hide);

/* Signals that were made and not destroyed, blocks of pools not freed, calls of hsa_shut_down. */
int mock_signals_alive(void);
int mock_blocks_alive(void);
int mock_shut_downs(void);

/* The function in the table now, as the runtime's exported symbol would reach it. */
void *mock_function(int hsa_function);

/* Writes packets (64 bytes each) as a program does, and rings the doorbell: calls interceptors. */
void mock_packets_submit(hsa_queue_t *queue, const void *packets, uint32_t count);

/* Stops and continues the device between packets. */
void mock_device_hold(bool hold);

/* Ends the device's thread: from now on packets end only in mock_device_finish, on its caller's
 * thread, until no more than `pending` of the queue are left. Each must be able to end. */
void mock_device_by_hand(void);
void mock_device_finish(hsa_queue_t *queue, uint64_t pending);

/* Most packets that its hardware queue, which takes any number, held at a time. */
bool mock_queue_exists(const hsa_queue_t *queue); /* created and not destroyed */
/* How many hold the device's cooperative queue, which the last one ends. */
int mock_cooperative_references(void);
uint64_t mock_queue_deepest(const hsa_queue_t *queue);

/* What reached the device: packets, and kernels by kernel_object. */
uint64_t mock_packets_seen(void);
uint64_t mock_kernels_seen(void);
/* Kernels that ran at the same time as another one of the device. */
uint64_t mock_overlaps_seen(void);
/* The n-th packet that reached the device. */
const void *mock_packet(uint64_t n);

/* Puts the queue into the error state: the device stops, the error callback runs. */
void mock_queue_break(hsa_queue_t *queue);

hsa_executable_t mock_executable(void);
uint64_t mock_kernel_object(uint32_t n);
void mock_stop(void);

#endif
