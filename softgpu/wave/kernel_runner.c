#include "wave/kernel_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hsa/amd_hsa_queue.h>

#include "base/wait.h"
#include "perf/perf.h"
#include "wave/kernel_cache.h"

enum { SLOTS = 4, SLOT_BYTES = 65536, CODE_OFFSET = 256, VGPRS = 64, WAIT_SECONDS = 60 };
/* Around the buffer, where the GPU sees nothing: what runs off its ends faults, wherever the host
 * has put the rest. */
enum { GUARD_BYTES = 16 << 20, PAGE_BYTES = 4096, GUARDS_BYTES = 2 * GUARD_BYTES + PAGE_BYTES };

struct kernel_runner {
    struct vm *vm;
    struct perf *perf;
    struct engine *engine;
    uint8_t *code, *buffer;
    amd_queue_t *queue;               /* page of its own: the apertures */
    size_t buffer_bytes, guard_bytes; /* the latter before the buffer */
    uint64_t kernarg;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    const char *cpu; /* for the assembler */
    unsigned running;
    bool gws, is_uncounted, is_untimed;
    struct unit_mask units;
    uint32_t scratch_waves, vgprs;
    struct dispatch_result last;
};

static unsigned runners_made; /* tests make them one after the other */

static void *pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int map_same(struct vm *vm, void *memory, size_t bytes)
{
    return vm_map(vm, (uint64_t)(uintptr_t)memory, bytes, memory, VM_READ | VM_WRITE | VM_EXEC);
}

int kernel_runner_create(int threads, size_t buffer_bytes, struct kernel_runner **out)
{
    return kernel_runner_create_on("gfx90a", threads, buffer_bytes, out);
}

int kernel_runner_create_on(const char *gpu, int threads, size_t buffer_bytes,
                            struct kernel_runner **out)
{
    struct kernel_runner *r = calloc(1, sizeof *r);
    const struct gpu_model *model = gpu_model_find(gpu);
    /* What LLVM 15 knows gfx942 by. */
    r->cpu = model->gen == GPU_GFX942 ? "gfx940" : model->name;
    r->vgprs = VGPRS;
    r->buffer_bytes = (buffer_bytes + 4095) & ~(size_t)4095;
    r->code = pages(SLOTS * SLOT_BYTES);
    /* Of runners one after the other every second buffer is in another page than the host would
     * choose, which may be a multiple of two megabytes. */
    r->guard_bytes = GUARD_BYTES + runners_made++ % 2 * PAGE_BYTES;
    r->buffer = (uint8_t *)pages(r->buffer_bytes + GUARDS_BYTES) + r->guard_bytes;
    r->queue = pages(4096);
    r->queue->group_segment_aperture_base_hi = 0x10000;
    r->queue->private_segment_aperture_base_hi = 0x20000;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ended, NULL);
    if (vm_create(&r->vm) < 0 || map_same(r->vm, r->code, SLOTS * SLOT_BYTES) < 0 ||
        map_same(r->vm, r->buffer, r->buffer_bytes) < 0 || map_same(r->vm, r->queue, 4096) < 0 ||
        perf_create(model, &r->perf) < 0 ||
        engine_create(model, r->vm, r->perf, threads, &r->engine) < 0)
        return -ENOMEM;
    /* The kernel argument segment is the buffer's last 8 bytes: its own address. */
    uint64_t self = (uint64_t)(uintptr_t)r->buffer;
    r->kernarg = self + r->buffer_bytes - 8;
    memcpy(r->buffer + r->buffer_bytes - 8, &self, 8);
    *out = r;
    return 0;
}

void kernel_runner_destroy(struct kernel_runner *r)
{
    engine_destroy(r->engine);
    perf_destroy(r->perf);
    vm_destroy(r->vm);
    munmap(r->code, SLOTS * SLOT_BYTES);
    munmap(r->buffer - r->guard_bytes, r->buffer_bytes + GUARDS_BYTES);
    munmap(r->queue, 4096);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->ended);
    free(r);
}

void *kernel_runner_buffer(struct kernel_runner *r)
{
    return r->buffer;
}

struct engine *kernel_runner_engine(struct kernel_runner *r)
{
    return r->engine;
}

struct perf *kernel_runner_perf(struct kernel_runner *r)
{
    return r->perf;
}

void kernel_runner_limit_scratch(struct kernel_runner *r, uint32_t waves)
{
    r->scratch_waves = waves;
}

void kernel_runner_allow_gws(struct kernel_runner *r)
{
    r->gws = true;
}

void kernel_runner_mask_units(struct kernel_runner *r, const struct unit_mask *mask)
{
    r->units = *mask;
}

void kernel_runner_leave_counters(struct kernel_runner *r, bool timed)
{
    r->is_uncounted = true;
    r->is_untimed = !timed;
}

void kernel_runner_set_timed(struct kernel_runner *r, bool timed)
{
    r->is_untimed = !timed;
}

void kernel_runner_set_vgprs(struct kernel_runner *r, uint32_t vgprs)
{
    r->vgprs = vgprs;
}

int kernel_runner_remap(struct kernel_runner *r, size_t bytes)
{
    const int status = vm_unmap(r->vm, (uint64_t)(uintptr_t)r->code);
    return status < 0 ? status : map_same(r->vm, r->code, bytes);
}

int kernel_runner_split(struct kernel_runner *r, const void *at)
{
    return vm_split(r->vm, (uint64_t)(uintptr_t)at);
}

int kernel_runner_protect(struct kernel_runner *r, const void *at)
{
    return vm_set_flags(r->vm, (uint64_t)(uintptr_t)at, VM_READ);
}

int kernel_runner_set_memory(struct kernel_runner *r, const void *at, uint32_t memory)
{
    return vm_set_flags(r->vm, (uint64_t)(uintptr_t)at, VM_READ | VM_WRITE | memory);
}

void kernel_runner_set_arguments(struct kernel_runner *r, uint64_t va)
{
    r->kernarg = va;
}

/* The bytes of the section .text, or -1. */
static ssize_t text_copy(Elf *elf, uint8_t *code, size_t capacity)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return -1;
    while ((section = elf_nextscn(elf, section))) {
        const Elf64_Shdr *header = elf64_getshdr(section);
        const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;
        const Elf_Data *data = elf_rawdata(section, NULL);
        if (!name || strcmp(name, ".text") != 0 || !data || data->d_size > capacity)
            continue;
        memcpy(code, data->d_buf, data->d_size);
        return (ssize_t)data->d_size;
    }
    return -1;
}

static ssize_t object_text(const char *path, uint8_t *code, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    ssize_t bytes = elf ? text_copy(elf, code, capacity) : -1;
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* Starting the assembler is most of what a kernel takes, 25 ms. */
static ssize_t assembler_run(const char *cpu, const char *text, uint8_t *code, size_t capacity)
{
    char object[] = "/tmp/croc_kernel_XXXXXX", command[160];
    int fd = mkstemp(object);
    if (fd < 0)
        return -1;
    close(fd);
    snprintf(command, sizeof command,
             "exec llvm-mc-15 -triple=amdgcn-amd-amdhsa -mcpu=%s -filetype=obj -o %s", cpu, object);
    FILE *assembler = popen(command, "w");
    bool good = assembler && fprintf(assembler, "%s\n", text) > 0;
    good = assembler && pclose(assembler) == 0 && good;
    ssize_t bytes = good ? object_text(object, code, capacity) : -1;
    unlink(object);
    return bytes;
}

static ssize_t code_find(const char *cpu, const char *text, uint8_t *code, size_t capacity)
{
    ssize_t bytes = kernel_cache_find(cpu, text, code, capacity);
    if (bytes > 0)
        return bytes;
    bytes = assembler_run(cpu, text, code, capacity);
    if (bytes > 0)
        kernel_cache_keep(cpu, text, code, (size_t)bytes);
    return bytes;
}

/* What was assembled last: tests load a kernel on one engine, and then on another. */
static struct {
    const char *cpu;
    char *text;
    uint8_t code[SLOT_BYTES];
    ssize_t bytes;
} assembled;

static ssize_t assemble(const char *cpu, const char *text, uint8_t *code, size_t capacity)
{
    bool again = assembled.text && strcmp(assembled.cpu, cpu) == 0 &&
                 strcmp(assembled.text, text) == 0 && assembled.bytes <= (ssize_t)capacity;
    if (!again) {
        free(assembled.text);
        assembled.cpu = cpu;
        assembled.text = strdup(text);
        assembled.bytes = code_find(cpu, text, assembled.code, capacity);
    }
    if (assembled.bytes > 0)
        memcpy(code, assembled.code, (size_t)assembled.bytes);
    return assembled.bytes;
}

int kernel_runner_load(struct kernel_runner *r, unsigned slot, const char *text)
{
    uint8_t *base = r->code + (size_t)slot * SLOT_BYTES;
    memset(base, 0, SLOT_BYTES);
    int64_t entry = CODE_OFFSET;
    /* Fields of the kernel descriptor that the engine reads; layout of AMD's code object v3. */
    uint32_t rsrc1 = (r->vgprs / 8 - 1) | 12u << 6 | 0xf0u << 12 | 1u << 21 | 1u << 23;
    uint32_t rsrc2 = 2u << 1 | 1u << 7 | 1u << 0, rsrc3 = r->vgprs / 4 - 1, properties = 1u << 3;
    memcpy(base + 16, &entry, 8);
    memcpy(base + 44, &rsrc3, 4);
    memcpy(base + 48, &rsrc1, 4);
    memcpy(base + 52, &rsrc2, 4);
    memcpy(base + 56, &properties, 2);
    ssize_t bytes = assemble(r->cpu, text, base + CODE_OFFSET, SLOT_BYTES - CODE_OFFSET);
    engine_code_invalidate(r->engine); /* as runtimes do; only an entry's page is looked at else */
    return bytes > 0 ? 0 : -EINVAL;
}

static void kernel_done(void *arg, const struct dispatch_result *result)
{
    struct kernel_runner *r = arg;
    pthread_mutex_lock(&r->lock);
    r->last = *result;
    r->running--;
    pthread_cond_broadcast(&r->ended);
    pthread_mutex_unlock(&r->lock);
}

int kernel_runner_start(struct kernel_runner *r, unsigned slot, struct kernel_geometry geometry)
{
    struct dispatch_request request = {
        .packet = {.workgroup_size_x = (uint16_t)geometry.group_size,
                   .workgroup_size_y = 1,
                   .workgroup_size_z = 1,
                   .grid_size_x = geometry.grid,
                   .grid_size_y = 1,
                   .grid_size_z = 1,
                   .private_segment_size = geometry.scratch_bytes,
                   .group_segment_size = geometry.lds_bytes,
                   .kernel_object = (uint64_t)(uintptr_t)r->code + (uint64_t)slot * SLOT_BYTES,
                   .kernarg_address = (void *)(uintptr_t)r->kernarg},
        .amd_queue_va = (uint64_t)(uintptr_t)r->queue,
        .queue_id = slot,
        .is_counted = !r->is_uncounted,
        .is_untimed = r->is_untimed,
        .gws = r->gws,
        .units = r->units,
        .scratch_waves = r->scratch_waves,
        .done = kernel_done,
        .arg = r};
    pthread_mutex_lock(&r->lock);
    r->running++;
    pthread_mutex_unlock(&r->lock);
    return engine_submit(r->engine, &request);
}

void kernel_runner_abort(struct kernel_runner *r, unsigned slot)
{
    engine_queue_abort(r->engine, slot);
    pthread_mutex_lock(&r->lock);
    r->running--; /* nobody reports it */
    pthread_mutex_unlock(&r->lock);
}

bool kernel_runner_wait(struct kernel_runner *r, struct dispatch_result *result)
{
    struct timespec until = wait_deadline(CLOCK_REALTIME, WAIT_SECONDS * WAIT_NS_PER_S);
    int status = 0;
    pthread_mutex_lock(&r->lock);
    while (r->running > 0 && status == 0)
        status = pthread_cond_timedwait(&r->ended, &r->lock, &until);
    *result = r->last;
    pthread_mutex_unlock(&r->lock);
    return status == 0;
}
