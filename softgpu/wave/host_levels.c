#include "wave/host_levels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "valu/valu.h"
#include "wave/wave.h"

enum host_level host_level = LEVEL_PORTABLE;

static const struct {
    const char *name;
    enum host_level level;
} levels[] = {{"portable", LEVEL_PORTABLE}, {"avx2", LEVEL_AVX2}, {"avx512", LEVEL_AVX512}};

static void choose(void)
{
    const char *wanted = getenv("CROCGPU_HOST_ISA");
    if (wanted && *wanted && valu_build_select(wanted) < 0)
        log_warning("softgpu", "CROCGPU_HOST_ISA=%s is none that this CPU has; using %s", wanted,
                    valu_isa_name());
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].name, valu_isa_name()) == 0)
            host_level = levels[i].level;
    }
}

void host_level_choose(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
}
