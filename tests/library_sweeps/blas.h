// Matrices as BLAS lays them out, and what is to come of them by the definition.
#pragma once

#include "sweep.h"

enum { BLAS_NONE = 111, BLAS_TRANSPOSE = 112, BLAS_CONJUGATE = 113 };
enum { BLAS_UPPER = 121, BLAS_LOWER = 122, BLAS_FULL = 123 };
enum { BLAS_NON_UNIT = 131, BLAS_UNIT = 132 };
enum { BLAS_LEFT = 141, BLAS_RIGHT = 142 };

typedef enum blas_layout {
    LAYOUT_FULL,
    LAYOUT_PACKED_UPPER,
    LAYOUT_PACKED_LOWER,
    LAYOUT_BAND
} blas_layout_t;

// One or more matrices in one array; a vector is one column, whose rows are some way apart.
typedef struct blas_matrix {
    sweep_array_t array;
    blas_layout_t layout;
    int rows, columns;
    int increment, distance; // from row to row, from column to column
    int below, above;        // LAYOUT_BAND: diagonals beside the main one
    bool reversed;           // a vector of negative increment
    int copies;
    int64_t stride;
} blas_matrix_t;

// A matrix of the host, without a layout.
typedef struct blas_dense {
    int rows, columns;
    number_t *at; // row by row
} blas_dense_t;

// One case: its random numbers and what all of its matrices have in common.
typedef struct blas_case {
    sweep_random_t random;
    void *library, *handle;
    const sweep_type_t *type;
    char letter;     // s, d, c or z
    int whole_limit; // numbers are whole ones up to this; 0: any
    number_t alpha, beta;
    unsigned char alpha_bytes[16], beta_bytes[16]; // of the type
    char text[256];                                // what it was, for failures
} blas_case_t;

number_t *blas_dense_at(const blas_dense_t *dense, int row, int column);
blas_dense_t blas_dense_make(int rows, int columns);
void blas_dense_free(blas_dense_t *dense);
blas_dense_t blas_dense_operated(blas_dense_t dense, int operation); // takes what it is given
// Sums of products and, for the bound, of their magnitudes.
void blas_dense_product(const blas_dense_t *a, const blas_dense_t *b, blas_dense_t *sums,
                        blas_dense_t *magnitudes);

void blas_matrix_full(blas_case_t *it, blas_matrix_t *matrix, int rows, int columns);
void blas_matrix_strided(blas_case_t *it, blas_matrix_t *matrix, const sweep_type_t *type, int rows,
                         int columns, int copies);
void blas_matrix_band(blas_case_t *it, blas_matrix_t *matrix, int rows, int columns, int below,
                      int above);
void blas_matrix_packed(blas_case_t *it, blas_matrix_t *matrix, int order, int fill);
void blas_vector(blas_case_t *it, blas_matrix_t *vector, int length);
int blas_increment(const blas_matrix_t *vector);
// Where an element is, -1: nowhere.
int64_t blas_matrix_index(const blas_matrix_t *matrix, int row, int column, int copy);
// Random elements in all places; what is in none is 0.
void blas_matrix_fill(blas_case_t *it, blas_matrix_t *matrix);
blas_dense_t blas_matrix_dense(const blas_matrix_t *matrix, int copy);
// The matrix that its triangle stands for; the other triangle is not a number any more.
blas_dense_t blas_matrix_symmetric(blas_matrix_t *matrix, int fill, bool hermitian);
blas_dense_t blas_matrix_triangular(blas_matrix_t *matrix, int fill, int diagonal);

// Expects alpha * a * b + beta * matrix in a matrix (or its triangle), within the error of such
// sums.
typedef struct blas_sum {
    const blas_dense_t *a, *b;
    number_t alpha, beta;
    const sweep_type_t *computed; // what the sums are of
    int fill;
} blas_sum_t;
void blas_matrix_expect(blas_case_t *it, blas_matrix_t *matrix, int copy, const blas_sum_t *sum);

int blas_random_size(blas_case_t *it);
int blas_random_fill(blas_case_t *it);
int blas_random_operation(blas_case_t *it);
// A scalar of the type, also where the call finds it.
number_t blas_random_scalar(blas_case_t *it, const sweep_type_t *type, unsigned char *bytes);

// rocblas_, the letter and the name; or for real and complex types two names.
void *blas_function(const blas_case_t *it, const char *name);
void *blas_function_of(const blas_case_t *it, const char *real, const char *complex_name);
void blas_send(blas_matrix_t *const *matrices, int count);
// The call's status, the matrices' elements; says what is wrong.
bool blas_right(blas_case_t *it, int status, blas_matrix_t *const *matrices, int count);

// One case of each: random, run, compared.
bool blas_gemm_case(blas_case_t *it);
bool blas_matrices_case(blas_case_t *it); // level 3
bool blas_solve_case(blas_case_t *it);    // triangular systems of both levels
bool blas_vectors_case(blas_case_t *it);  // level 2
bool blas_numbers_case(blas_case_t *it);  // level 1
