#include "sweep.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_ELEMENTS = 64, PRINTED_MAX = 4 };

const sweep_type_t SWEEP_TYPES[] = {
    [SWEEP_F16] = {"f16", 150, 2, false, 11, 0x1p-24},
    [SWEEP_BF16] = {"bf16", 168, 2, false, 8, 0x1p-126},
    [SWEEP_F32] = {"f32", 151, 4, false, 24, 0x1p-126},
    [SWEEP_F64] = {"f64", 152, 8, false, 53, 0x1p-1022},
    [SWEEP_C32] = {"c32", 154, 8, true, 24, 0x1p-126},
    [SWEEP_C64] = {"c64", 155, 16, true, 53, 0x1p-1022},
    [SWEEP_I8] = {"i8", 160, 1, false, 7, 0},
    [SWEEP_I32] = {"i32", 162, 4, false, 31, 0},
};

uint64_t sweep_random_next(sweep_random_t *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int sweep_random_between(sweep_random_t *random, int low, int high)
{
    return low + (int)(sweep_random_next(random) % (uint64_t)(high - low + 1));
}

static double random_part(sweep_random_t *random, int limit)
{
    return limit ? (double)sweep_random_between(random, -limit, limit)
                 : (double)(int64_t)sweep_random_next(random) * 0x1p-63;
}

number_t sweep_random_number(sweep_random_t *random, const sweep_type_t *type, int limit)
{
    unsigned char element[16];
    const double real = random_part(random, limit);
    if (type == &SWEEP_TYPES[SWEEP_F16] && fabs(real) < 0x1p-14)
        return 0;
    sweep_put(type, element, 0, type->is_complex ? CMPLXL(real, random_part(random, limit)) : real);
    return sweep_get(type, element, 0);
}

double sweep_unit(const sweep_type_t *type)
{
    return ldexp(1, -type->mantissa_bits);
}

static float bf16_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

static uint16_t bf16_bits(float value)
{
    uint32_t wide;
    memcpy(&wide, &value, sizeof(wide));
    return (uint16_t)((wide + 0x7fffu + (wide >> 16 & 1)) >> 16);
}

number_t sweep_get(const sweep_type_t *type, const void *array, size_t index)
{
    switch (type - SWEEP_TYPES) {
    case SWEEP_F16:
        return (double)((const _Float16 *)array)[index];
    case SWEEP_BF16:
        return (double)bf16_value(((const uint16_t *)array)[index]);
    case SWEEP_F32:
        return (double)((const float *)array)[index];
    case SWEEP_F64:
        return ((const double *)array)[index];
    case SWEEP_C32:
        return ((const float complex *)array)[index];
    case SWEEP_C64:
        return ((const double complex *)array)[index];
    case SWEEP_I8:
        return (int)((const int8_t *)array)[index];
    default:
        return ((const int32_t *)array)[index];
    }
}

void sweep_put(const sweep_type_t *type, void *array, size_t index, number_t number)
{
    const double real = (double)creall(number);
    switch (type - SWEEP_TYPES) {
    case SWEEP_F16:
        ((_Float16 *)array)[index] = (_Float16)real;
        break;
    case SWEEP_BF16:
        ((uint16_t *)array)[index] = bf16_bits((float)real);
        break;
    case SWEEP_F32:
        ((float *)array)[index] = (float)real;
        break;
    case SWEEP_F64:
        ((double *)array)[index] = real;
        break;
    case SWEEP_C32:
        ((float complex *)array)[index] = (float complex)number;
        break;
    case SWEEP_C64:
        ((double complex *)array)[index] = (double complex)number;
        break;
    case SWEEP_I8:
        ((int8_t *)array)[index] = (int8_t)real;
        break;
    default:
        ((int32_t *)array)[index] = (int32_t)real;
    }
}

void *sweep_library(const char *const *names)
{
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
        if (library)
            return library;
    }
    printf("%s\n", dlerror());
    exit(77);
}

void *sweep_function(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        printf("%s\n", dlerror());
        exit(77);
    }
    return function;
}

void *sweep_hip_function(const char *name)
{
    static const char *const NAMES[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        NULL};
    static void *hip;
    if (!hip)
        hip = sweep_library(NAMES);
    return sweep_function(hip, name);
}

static void hip_check(int status, const char *what)
{
    if (status != 0) {
        printf("%s: HIP error %d\n", what, status);
        exit(1);
    }
}

void sweep_synchronize(void)
{
    int (*synchronize)(void) = (int (*)(void))sweep_hip_function("hipDeviceSynchronize");
    hip_check(synchronize(), "hipDeviceSynchronize");
}

static void copy(void *to, const void *from, size_t bytes, int kind)
{
    int (*copy_bytes)(void *, const void *, size_t, int) =
        (int (*)(void *, const void *, size_t, int))sweep_hip_function("hipMemcpy");
    hip_check(copy_bytes(to, from, bytes, kind), "hipMemcpy");
}

static size_t array_bytes(const sweep_array_t *array)
{
    return array->count * array->type->size;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        puts("out of memory");
        exit(1);
    }
    return memory;
}

void sweep_array_make(sweep_array_t *array, const sweep_type_t *type, size_t count)
{
    int (*make)(void **, size_t) = (int (*)(void **, size_t))sweep_hip_function("hipMalloc");
    *array = (sweep_array_t){.type = type, .count = count + GUARD_ELEMENTS};
    array->host = allocate(array_bytes(array));
    array->after = allocate(array_bytes(array));
    memset(array->host, 0xff, array_bytes(array));
    hip_check(make(&array->device, array_bytes(array)), "hipMalloc");
}

void sweep_poison(sweep_array_t *array, size_t index)
{
    memset(array->host + index * array->type->size, 0xff, array->type->size);
}

void sweep_array_free(sweep_array_t *array)
{
    int (*release)(void *) = (int (*)(void *))sweep_hip_function("hipFree");
    hip_check(release(array->device), "hipFree");
    free(array->host);
    free(array->after);
    free(array->expected);
    free(array->bound);
}

void sweep_array_send(sweep_array_t *array)
{
    copy(array->device, array->host, array_bytes(array), 1);
}

void sweep_array_fetch(sweep_array_t *array)
{
    copy(array->after, array->device, array_bytes(array), 2);
}

void sweep_array_expect(sweep_array_t *array, size_t index, number_t expected, double bound)
{
    if (!array->expected) {
        array->expected = allocate(array->count * sizeof(*array->expected));
        array->bound = allocate(array->count * sizeof(*array->bound));
        for (size_t i = 0; i < array->count; i++)
            array->bound[i] = -1;
    }
    array->expected[index] = expected;
    array->bound[index] = bound;
}

static bool element_right(const sweep_array_t *array, size_t index)
{
    const size_t size = array->type->size;
    if (!array->expected || array->bound[index] < 0)
        return memcmp(array->host + index * size, array->after + index * size, size) == 0;
    const number_t got = sweep_get(array->type, array->after, index);
    return cabsl(got - array->expected[index]) <= array->bound[index];
}

static void element_print(const sweep_array_t *array, const char *name, size_t index)
{
    const number_t got = sweep_get(array->type, array->after, index);
    const number_t before = sweep_get(array->type, array->host, index);
    printf("  %s[%zu] = %.17Lg %+.17Lgi, ", name, index, creall(got), cimagl(got));
    if (!array->expected || array->bound[index] < 0)
        printf("was %.17Lg %+.17Lgi and not to change\n", creall(before), cimagl(before));
    else
        printf("not %.17Lg %+.17Lgi within %g\n", creall(array->expected[index]),
               cimagl(array->expected[index]), array->bound[index]);
}

size_t sweep_array_wrong(sweep_array_t *array, const char *name)
{
    size_t wrong = 0;
    for (size_t i = 0; i < array->count; i++) {
        if (element_right(array, i))
            continue;
        if (wrong++ < PRINTED_MAX)
            element_print(array, name, i);
    }
    if (wrong)
        printf("  %s: %zu of %zu are wrong\n", name, wrong, array->count);
    return wrong;
}
