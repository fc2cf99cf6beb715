/* Names of what a PC sample may say. The service itself is in unavailable.c. */
#include <rocprofiler-sdk/pc_sampling.h>

#include <stddef.h>

#define TYPE(name)                                                                                 \
    [ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_##name] =                                            \
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_" #name
static const char *const type_names[] = {
    TYPE(NONE),         TYPE(VALU),       TYPE(MATRIX),
    TYPE(SCALAR),       TYPE(TEX),        TYPE(LDS),
    TYPE(FLAT),         TYPE(EXPORT),     TYPE(BRANCH_NOT_TAKEN),
    TYPE(BRANCH_TAKEN), TYPE(LDS_DIRECT), TYPE(MESSAGE),
    TYPE(BARRIER),      TYPE(JUMP),       TYPE(OTHER),
    TYPE(NO_INST),      TYPE(DUAL_VALU)};

#define REASON(name)                                                                               \
    [ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_##name] =                               \
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" #name
static const char *const reason_names[] = {
    REASON(NONE),       REASON(NO_INSTRUCTION_AVAILABLE), REASON(ALU_DEPENDENCY),
    REASON(WAITCNT),    REASON(INTERNAL_INSTRUCTION),     REASON(BARRIER_WAIT),
    REASON(OTHER_WAIT), REASON(ARBITER_NOT_WIN),          REASON(ARBITER_WIN_EX_STALL),
    REASON(SLEEP_WAIT)};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(COUNT(type_names) == ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST, "all");
_Static_assert(COUNT(reason_names) == ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST,
               "all");

const char *rocprofiler_get_pc_sampling_instruction_type_name(
    rocprofiler_pc_sampling_instruction_type_t instruction_type)
{
    return (size_t)instruction_type < COUNT(type_names) ? type_names[instruction_type] : NULL;
}

const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
    rocprofiler_pc_sampling_instruction_not_issued_reason_t not_issued_reason)
{
    return (size_t)not_issued_reason < COUNT(reason_names) ? reason_names[not_issued_reason] : NULL;
}
