/* The table of the hipFile library. */
#ifndef ROCPROFILER_SDK_HIPFILE_TABLE_ID_H
#define ROCPROFILER_SDK_HIPFILE_TABLE_ID_H

typedef enum rocprofiler_hipfile_table_id_t {
    ROCPROFILER_HIPFILE_TABLE_ID_NONE = -1,
    ROCPROFILER_HIPFILE_TABLE_ID_CORE = 0,
    ROCPROFILER_HIPFILE_TABLE_ID_LAST,
} rocprofiler_hipfile_table_id_t;

#endif
