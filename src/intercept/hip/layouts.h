/* Where hip_api_data_t's members lie in releases that offer tables. Internal to this folder; what
 * front ends may ask is in arm.h. */
#ifndef INTERCEPT_HIP_LAYOUTS_H
#define INTERCEPT_HIP_LAYOUTS_H

#include <stdint.h>

enum { HIP_TABLES_SINCE_MAJOR = 6 };

/* `version`: as the library registered its tables, 10000 * major + 100 * minor + patch. Only the
 * first library of a process counts. */
void layouts_choose(uint64_t version);

/* As the chosen release numbers its functions; "": no such, or no release chosen. */
const char *layouts_function_name(uint32_t id);

#endif
