/* The SDK's part of a program that uses both: their headers do not go into one file. */
#ifndef CONFORMANCE_ROCPROFILER_V1_SDK_SIDE_H
#define CONFORMANCE_ROCPROFILER_V1_SDK_SIDE_H

#include <stdint.h>

/* A tool "the other tool" that counts SQ_WAVES of kernels while it is started. */
void sdk_prepare(void); /* before hsa_init */
int sdk_start(void);    /* its status */
void sdk_stop(void);
uint64_t sdk_waves(void);   /* counted so far */
uint64_t sdk_kernels(void); /* traced so far, started or not */

#endif
