#include "translate/translate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "core/host_memory.h"
#include "translate/run.h"
#include "translate/series.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum translate_mode mode;

static void mode_choose(void)
{
    const char *wanted = getenv("CROCGPU_TRANSLATE");
    const bool never = wanted && strcmp(wanted, "0") == 0;
    const bool always = wanted && strcmp(wanted, "always") == 0;
    if (wanted && *wanted && !never && !always)
        log_warning("softgpu",
                    "CROCGPU_TRANSLATE=%s is neither 0 nor always; translating what is "
                    "executed often",
                    wanted);
    if (x86_level_find(valu_isa_name()) && !never)
        mode = always ? TRANSLATE_AT_ONCE : TRANSLATE_HOT;
}

enum translate_mode translate_mode(void)
{
    pthread_once(&once, mode_choose);
    return mode;
}

unsigned translate_run(struct x86 *x, const struct inst *const *insts, unsigned count,
                       inst_exec_fn *plain, const struct translate_memory *memory)
{
    span_find_fn *const spans = memory ? memory->spans : NULL;
    struct run run;
    x->level = x86_level_find(valu_isa_name());
    if (!x->level || count == 0)
        return 0;
    run_take(&run, insts, count, true);
    run.spans = spans;
    if (run.count < TRANSLATE_RUN_MIN)
        return 0;
    const unsigned taken = run.count;
    if (run.lds) { /* behind it, for when somebody looks at its accesses: the same with calls */
        frame_emit(x, &run, NULL);
        run_take(&run, insts, taken, false);
        run.spans = spans;
    }
    run.series = memory ? memory->series : NULL;
    frame_emit(x, &run, plain);
    if (run.series)
        series_emit(x, &run, run.series);
    return taken;
}

/* Whoever reads ahead of what is executed, as valgrind does, finds bytes there. */
enum { BEHIND = 4096 };

void *translated_map(const struct x86 *x)
{
    if (x->failed || !x->count)
        return NULL;
    void *code =
        mmap(NULL, x->count + BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return NULL;
    memcpy(code, x->bytes, x->count);
    if (mprotect(code, x->count + BEHIND, PROT_READ | PROT_EXEC) == 0)
        return code;
    host_unmap(code, x->count + BEHIND);
    return NULL;
}

void translated_unmap(void *code, size_t bytes)
{
    host_unmap(code, bytes + BEHIND);
}
