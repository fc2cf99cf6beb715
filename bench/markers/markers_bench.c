/* markers_bench: ns per marker of libroctx64 when nobody listens, beyond what the call of an empty
 * function of the same library costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <roctracer/roctracer.h>
#include <roctracer/roctracer_roctx.h>
#include <roctracer/roctx.h>

enum { CALLS = 200000, ROUNDS = 200 };
static const double budget_ns = 3;

static void marks(void)
{
    for (int i = 0; i < CALLS; i++)
        roctxMark("mark");
}

static void pushes_and_pops(void) /* CALLS calls in all */
{
    for (int i = 0; i < CALLS / 2; i++) {
        roctxRangePush("range");
        roctxRangePop();
    }
}

static void starts_and_stops(void)
{
    for (int i = 0; i < CALLS / 2; i++)
        roctxRangeStop(roctxRangeStart("range"));
}

static void empty_calls(void)
{
    for (int i = 0; i < CALLS; i++)
        (void)roctx_version_major();
}

static void on_marker(uint32_t domain, uint32_t operation, const void *data, void *arg)
{
    (void)domain, (void)operation, (void)data, (void)arg;
}

static void hear(void)
{
    roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, on_marker, NULL);
}

/* The floor of a traced call without its call. */
static void readings(void)
{
    static uint64_t record[8];
    static _Atomic uint64_t id;
    for (int i = 0; i < CALLS; i++) {
        uint64_t begin = __builtin_ia32_rdtsc();
        record[2] = id++;
        record[0] = begin;
        record[1] = __builtin_ia32_rdtsc();
        __asm__ volatile("" : : "r"(record) : "memory");
    }
}

static const struct kind {
    const char *name;
    void (*run)(void);
    double budget_ns; /* 0: none; an atomic counter costs what the machine wants */
    void (*before)(void);
} kinds[] = {{"empty call", empty_calls, 0, NULL},
             {"mark", marks, budget_ns, NULL},
             {"push, pop", pushes_and_pops, budget_ns, NULL},
             {"start, stop", starts_and_stops, 0, NULL},
             {"two tick readings", readings, 0, NULL},
             {"mark, heard", marks, 0, hear},
             {"push, pop, heard", pushes_and_pops, 0, NULL},
             {"start, stop, heard", starts_and_stops, 0, NULL}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best round: other programs of the machine only ever add time. */
static double measure(const struct kind *kind)
{
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        kind->run();
        double ns = (now_ns() - begin) / CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    FILE *json = NULL;
    int checking = 0, over = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            checking = 1;
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            json = fopen(argv[++i], "w");
    }
    if (json)
        fprintf(json, "{\"benchmark\": \"markers\", \"unit\": \"ns per call\", \"results\": [\n");
    double empty_ns = 0;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].before)
            kinds[i].before();
        double ns = measure(&kinds[i]) - empty_ns;
        empty_ns = i == 0 ? ns : empty_ns;
        over += kinds[i].budget_ns > 0 && ns > kinds[i].budget_ns;
        printf("%-18s %5.2f ns", kinds[i].name, ns);
        if (kinds[i].budget_ns > 0)
            printf("  budget %.0f ns  %s", kinds[i].budget_ns,
                   ns <= kinds[i].budget_ns ? "met" : "OVER");
        printf("\n");
        if (json)
            fprintf(json, "  {\"name\": \"%s\", \"ns\": %.3f, \"budget\": %.1f}%s\n", kinds[i].name,
                    ns, kinds[i].budget_ns, i + 1 < KINDS ? "," : "\n]}");
    }
    if (json)
        fclose(json);
    return checking && over;
}
