/* The functions that both libraries export, compiled once for each with its own header. */
#include MARKERS_HEADER

#include "markers.h"

void roctxMarkA(const char *message)
{
    markers_mark(message);
}

int roctxRangePushA(const char *message)
{
    return markers_push(message);
}

int roctxRangePop(void)
{
    return markers_pop();
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
    return markers_start(message);
}

void roctxRangeStop(roctx_range_id_t id)
{
    markers_stop(id);
}
