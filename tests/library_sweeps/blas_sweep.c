// blas_sweep WHAT FIRST COUNT: calls of rocBLAS of random types, sizes and numbers, one for each
// seed, against the definition, computed on the host with the extended type.
#include "blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool (*run)(blas_case_t *);
} PARTS[] = {
    {"gemm", blas_gemm_case},       {"matrices", blas_matrices_case}, {"solve", blas_solve_case},
    {"vectors", blas_vectors_case}, {"numbers", blas_numbers_case},
};

enum { PARTS_COUNT = sizeof(PARTS) / sizeof(PARTS[0]) };

// Each case from its seed alone.
static bool case_run(blas_case_t *it, bool (*run)(blas_case_t *), int seed)
{
    static const int LIMITS[] = {0, 0, 0, 1, 2, 4};
    it->random.state = (uint64_t)seed * 0x2545f4914f6cdd1du;
    it->whole_limit = LIMITS[sweep_random_next(&it->random) % 6];
    const int letter = sweep_random_between(&it->random, 0, 3);
    it->letter = "sdcz"[letter];
    it->type = &SWEEP_TYPES[SWEEP_F32 + letter];
    const bool right = run(it);
    if (getenv("SWEEP_VERBOSE"))
        printf("%d: %s\n", seed, it->text);
    if (!right)
        printf("seed %d\n", seed);
    fflush(stdout);
    return right;
}

int main(int argc, char **argv)
{
    static const char *const NAMES[] = {"librocblas.so.5", "librocblas.so.4", "librocblas.so.0",
                                        NULL};
    int part = 0, wrong = 0;
    while (argc == 4 && part < PARTS_COUNT && strcmp(argv[1], PARTS[part].name) != 0)
        part++;
    if (argc != 4 || part == PARTS_COUNT) {
        puts("usage: blas_sweep gemm|matrices|solve|vectors|numbers FIRST COUNT");
        return 2;
    }
    blas_case_t it = {.library = sweep_library(NAMES)};
    int (*create)(void **) = (int (*)(void **))sweep_function(it.library, "rocblas_create_handle");
    if (create(&it.handle) != 0) {
        puts("rocblas_create_handle failed");
        return 1;
    }
    const int first = atoi(argv[2]), count = atoi(argv[3]);
    for (int seed = first; seed < first + count; seed++)
        wrong += !case_run(&it, PARTS[part].run, seed);
    printf("%d cases, %d wrong\n", count, wrong);
    return wrong != 0;
}
