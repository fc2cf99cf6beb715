/* An analysis as text, or as JSON with the same sentences. */
#ifndef ANALYZE_PRINT_H
#define ANALYZE_PRINT_H

#include <stdio.h>

#include "kernels.h"

void analyze_print(const struct analyze_kernels *kernels, uint32_t most, FILE *out);
void analyze_print_json(const struct analyze_kernels *kernels, FILE *out);

#endif
