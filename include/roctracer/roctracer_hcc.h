/* Older name of roctracer_hip.h. */
#include "roctracer_hip.h"
