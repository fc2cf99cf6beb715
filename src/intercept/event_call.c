#include "intercept/event_call.h"

__thread struct event_call event_call_here;
