/* Types of the database schema's library. */
#ifndef ROCPROFILER_SDK_ROCPD_TYPES_H
#define ROCPROFILER_SDK_ROCPD_TYPES_H

#include <stdint.h>

typedef enum rocpd_status_t {
    ROCPD_STATUS_SUCCESS = 0,
    ROCPD_STATUS_ERROR,                              /**< No memory */
    ROCPD_STATUS_ERROR_INVALID_ARGUMENT,             /**< No callback, or variables of no size */
    ROCPD_STATUS_ERROR_SQL_ERROR,                    /**< An SQL engine refused something */
    ROCPD_STATUS_ERROR_SQL_INVALID_ENGINE,           /**< No such SQL engine */
    ROCPD_STATUS_ERROR_SQL_INVALID_SCHEMA_KIND,      /**< No such part of the schema */
    ROCPD_STATUS_ERROR_SQL_SCHEMA_NOT_FOUND,         /**< Its file is in none of the folders */
    ROCPD_STATUS_ERROR_SQL_SCHEMA_PERMISSION_DENIED, /**< Its file cannot be read, or is empty */
    ROCPD_STATUS_LAST,
} rocpd_status_t;

typedef struct rocpd_version_triplet_t {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} rocpd_version_triplet_t;

#endif
