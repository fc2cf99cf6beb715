/* Names and numbers of everything that can be traced. Strings are static. */
#ifndef MODEL_OPERATIONS_H
#define MODEL_OPERATIONS_H

#include "model/trace.h"

/* Operation ids are 0 .. count-1. API domains count their functions; the others also have the NONE
 * operation 0 of their enum. */
int32_t operation_count(enum trace_domain domain);
const char *operation_name(enum trace_domain domain, int32_t operation); /* NULL: no such */
const char *domain_name(enum trace_domain domain);

/* Names of kinds as the SDK spells them ("HIP_RUNTIME_API"); NULL: no such kind. */
const char *callback_kind_name(uint32_t kind);
const char *buffer_kind_name(uint32_t kind);
const char *request_kind_name(uint32_t kind);

#endif
