/* The table of the rocDecode library. */
#ifndef ROCPROFILER_SDK_ROCDECODE_TABLE_ID_H
#define ROCPROFILER_SDK_ROCDECODE_TABLE_ID_H

typedef enum rocprofiler_rocdecode_table_id_t {
    ROCPROFILER_ROCDECODE_TABLE_ID_NONE = -1,
    ROCPROFILER_ROCDECODE_TABLE_ID_CORE = 0,
    ROCPROFILER_ROCDECODE_TABLE_ID_LAST,
} rocprofiler_rocdecode_table_id_t;

#endif
