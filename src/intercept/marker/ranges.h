/* Marker ranges as one event each, from push to pop and from start to stop. */
#ifndef INTERCEPT_MARKER_RANGES_H
#define INTERCEPT_MARKER_RANGES_H

#include "intercept/table/table.h"

/* Wrappers of the core table for MARKER_CORE_RANGE_API; to be put around those of
 * MARKER_CORE_API. */
extern const struct table_wrappers table_wrappers_marker_ranges;

#endif
