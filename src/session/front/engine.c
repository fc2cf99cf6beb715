#include "session/front/engine.h"

static const struct crocprof_engine engine = {.size = sizeof engine,
#define X(function) .function = &function,
                                              ENGINE_FUNCTIONS(X)
#undef X
};

const struct crocprof_engine *crocprof_engine(void)
{
    return &engine;
}
