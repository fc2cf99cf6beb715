// What the sweeps of ROCm's libraries share: numbers of a seed, arrays on the host and the GPU
// whose bytes between the elements must stay, and the comparison with what the host computed.
#pragma once

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef long double complex number_t;

enum { SWEEP_F16, SWEEP_BF16, SWEEP_F32, SWEEP_F64, SWEEP_C32, SWEEP_C64, SWEEP_I8, SWEEP_I32 };

typedef struct sweep_type {
    const char *name;
    int blas_id;       // rocblas_datatype
    size_t size;       // of an element, in bytes
    bool is_complex;   // two numbers of half the size
    int mantissa_bits; // integers up to 2^bits are exact
    double smallest;   // where numbers are this small, the error is no longer relative
} sweep_type_t;

extern const sweep_type_t SWEEP_TYPES[];

// The random numbers of one case.
typedef struct sweep_random {
    uint64_t state;
} sweep_random_t;

uint64_t sweep_random_next(sweep_random_t *random);
int sweep_random_between(sweep_random_t *random, int low, int high);
// A whole number of -limit to limit, or where limit is 0 anything between -1 and 1 that the type
// holds. No denormals of f16: gfx90a's matrix instructions take them as 0.
number_t sweep_random_number(sweep_random_t *random, const sweep_type_t *type, int limit);

number_t sweep_get(const sweep_type_t *type, const void *array, size_t index);
void sweep_put(const sweep_type_t *type, void *array, size_t index, number_t number);
double sweep_unit(const sweep_type_t *type);

typedef struct sweep_array {
    const sweep_type_t *type;
    size_t count;
    unsigned char *host;  // what it held before
    unsigned char *after; // what sweep_array_fetch found
    void *device;
    number_t *expected; // NULL: nothing may change
    double *bound;      // how far from it each may be; negative: this element may not change
} sweep_array_t;

// An array that is not a number anywhere (integers: -1), with elements more at its end that stay
// so.
void sweep_array_make(sweep_array_t *array, const sweep_type_t *type, size_t count);
void sweep_poison(sweep_array_t *array, size_t index); // as sweep_array_make leaves it
void sweep_array_free(sweep_array_t *array);
void sweep_array_send(sweep_array_t *array);
void sweep_array_fetch(sweep_array_t *array);
void sweep_array_expect(sweep_array_t *array, size_t index, number_t expected, double bound);
// How many elements are wrong; the first few are printed.
size_t sweep_array_wrong(sweep_array_t *array, const char *name);

// The function of a library that dlopen found; the program ends where it is missing.
void *sweep_library(const char *const *names);
void *sweep_function(void *library, const char *name);
void *sweep_hip_function(const char *name);
void sweep_synchronize(void);
