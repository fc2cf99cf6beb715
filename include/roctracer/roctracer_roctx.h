/* ROCtracer and markers: what ACTIVITY_DOMAIN_ROCTX callbacks get. */
#ifndef ROCTRACER_ROCTX_H_
#define ROCTRACER_ROCTX_H_

#include "roctx.h"

/** Operations of ACTIVITY_DOMAIN_ROCTX. */
typedef enum roctx_api_id_t {
    ROCTX_API_ID_roctxMarkA = 0,
    ROCTX_API_ID_roctxRangePushA = 1,
    ROCTX_API_ID_roctxRangePop = 2,
    ROCTX_API_ID_roctxRangeStartA = 3,
    ROCTX_API_ID_roctxRangeStop = 4,
    ROCTX_API_ID_NUMBER,
} roctx_api_id_t;

/** Strings are the program's, valid during the call; NULL where the operation has no message. */
typedef struct roctx_api_data_s {
    union {
        struct { /**< the same place for every operation */
            const char *message;
            roctx_range_id_t id;
        };
        struct {
            const char *message;
        } roctxMarkA;
        struct {
            const char *message;
        } roctxRangePushA;
        struct {
            const char *message;
        } roctxRangePop;
        struct {
            const char *message;
            roctx_range_id_t id;
        } roctxRangeStartA;
        struct {
            const char *message;
            roctx_range_id_t id;
        } roctxRangeStop;
    } args;
} roctx_api_data_t;

#endif
