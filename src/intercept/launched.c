#include "intercept/launched.h"

__thread struct launched launched_here;
