/*
 * The GPU's page table: which GPU virtual addresses a device may touch, and where they live in
 * this process. Every access of the wave engine, SDMA and the packet processors goes through it,
 * so a wild pointer becomes a memory-fault report and never a host SIGSEGV.
 *
 * Ranges are few (tens to thousands) and change rarely; look-ups are many. Readers take no lock:
 * the table is an immutable sorted array replaced as a whole, and old arrays are freed only after
 * every reader has been seen outside a read section (vm_reader_enter / vm_reader_leave).
 * vm_unmap returns only when no reader can still use the range.
 */
#ifndef MEM_VM_H
#define MEM_VM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* Above the rights: how the caches treat a mapping's memory, and where that is. Data is coherent
 * whatever they say: the models of caches and of time go by them. */
enum vm_flags {
    VM_READ = 1,
    VM_WRITE = 2,
    VM_EXEC = 4,
    VM_FAULTED = 8,    /* what a page fault found; no code, whoever executes checks no rights */
    VM_TYPE_SHIFT = 4, /* enum memory_type */
    VM_HOME_SHIFT = 6, /* enum memory_home */
    VM_MEMORY_MASK = 0xf << VM_TYPE_SHIFT
};
enum memory_type {
    MEMORY_RW, /* cached for reads and writes */
    MEMORY_NC, /* cached, not coherent with others */
    MEMORY_UC, /* not cached by the L2 */
    MEMORY_CC  /* cached, coherent with others */
};
enum memory_home { HOME_OWN, HOME_HOST, HOME_PEER };

struct vm_range {
    uint64_t start, end; /* GPU VA, end exclusive */
    uint8_t *host;       /* host address of `start` */
    uint32_t flags;
    uint32_t place; /* of `start`, in units of VM_PLACE_BYTES */
};

/* Where memory lies that the models of caches see: a range gets its place when it is mapped, behind
 * those before it, as it would get physical memory. Addresses are the host's choice, another one in
 * every run; places are the same when a program maps the same sizes in the same order. Whole units,
 * because a range of the program's own pages has one more or less by where they lie. Ranges as
 * large as a translation begin with one. */
enum { VM_PLACE_BITS = 16, VM_PLACE_BYTES = 1 << VM_PLACE_BITS, VM_PLACE_LARGE = 2 << 20 };

/* A place's high bits are what its mapping's flags say of its memory. The GPU's own memory of type
 * RW, which most accesses go to, has 0 there. */
enum { VM_PLACE_TYPE_SHIFT = 56, VM_PLACE_HOME_SHIFT = 58 };
static inline uint64_t vm_place_memory(uint32_t flags)
{
    return (uint64_t)(flags >> VM_TYPE_SHIFT & 0xf) << VM_PLACE_TYPE_SHIFT;
}
static inline enum memory_type vm_place_type(uint64_t place)
{
    return (enum memory_type)(place >> VM_PLACE_TYPE_SHIFT & 3);
}
static inline enum memory_home vm_place_home(uint64_t place)
{
    return (enum memory_home)(place >> VM_PLACE_HOME_SHIFT & 3);
}

int vm_create(struct vm **vm);
void vm_destroy(struct vm *vm);

/* Where nothing is mapped: an access to `va`, and the gap between two ranges that it lies in. */
struct vm_fault {
    uint64_t va, low, high;
    uint32_t access;
};
/* What a page fault finds, when waves wait for page faults (XNACK): a range in the gap that holds
 * the address, whatever it allows. False: the fault is an error. Called inside read sections: it
 * takes no lock under which anybody waits for readers or calls an allocator. What it finds is
 * asked for again in the next section. */
typedef bool vm_fault_fn(void *context, const struct vm_fault *fault, struct vm_range *out);
/* NULL, as at first: page faults are errors. `context` is the same at every call. */
void vm_faults_set(struct vm *vm, vm_fault_fn *fault, void *context);
/* The place of memory that is found by its address, which needs no table. */
static inline uint32_t vm_place_by_address(uint64_t va)
{
    return UINT32_C(1) << 31 | (uint32_t)(va >> VM_PLACE_BITS);
}

/* 0, -EEXIST when it overlaps another range, -EINVAL, -ENOMEM. */
int vm_map(struct vm *vm, uint64_t va, uint64_t size_bytes, void *host, uint32_t flags);
/* Other flags for the range that begins at `va`, and two ranges in the place of one of which `at`
 * is in the middle. Both are mapped all the while. 0, -ENOENT or -ENOMEM. Waits for readers when
 * rights are taken away. */
int vm_set_flags(struct vm *vm, uint64_t va, uint32_t flags);
int vm_split(struct vm *vm, uint64_t at);
/* 0 or -ENOENT. Waits for readers; never call it from inside a read section. */
int vm_unmap(struct vm *vm, uint64_t va);

/* One per thread that executes GPU work. */
enum { VM_TLB_BITS = 8, VM_TLB_WAYS = 1 << VM_TLB_BITS };
struct vm_reader {
    struct vm *vm;
    uint64_t generation;              /* of the table the ways were filled from */
    bool has_faulted;                 /* a way may hold what a page fault has found */
    struct vm_range way[VM_TLB_WAYS]; /* direct mapped, see vm_way() */
    _Atomic uint64_t epoch;           /* odd while inside a read section */
    struct vm_reader *next;
};
void vm_reader_register(struct vm *vm, struct vm_reader *reader);
void vm_reader_unregister(struct vm_reader *reader);
void vm_reader_enter(struct vm_reader *reader); /* cheap; call once per time slice */
void vm_reader_leave(struct vm_reader *reader);

/* Slow path; a range need not allow the access that is wanted of it. */
bool vm_range_find_for(struct vm_reader *reader, uint64_t va, uint32_t access,
                       struct vm_range *out);
static inline bool vm_range_find(struct vm_reader *reader, uint64_t va, struct vm_range *out)
{
    return vm_range_find_for(reader, va, VM_READ, out);
}

/* By 2 MiB. Large buffers begin at multiples of their sizes: all bits of the address choose, so
 * that those which a kernel reads side by side do not share one way. */
static inline struct vm_range *vm_way(struct vm_reader *reader, uint64_t va)
{
    return &reader->way[(va >> 21) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - VM_TLB_BITS)];
}

/* The range that holds the address, or NULL; good until the next question. Between vm_reader_enter
 * and vm_reader_leave. */
static inline const struct vm_range *vm_range_for(struct vm_reader *reader, uint64_t va,
                                                  uint32_t access)
{
    struct vm_range *way = vm_way(reader, va);
    if (va - way->start >= way->end - way->start && !vm_range_find_for(reader, va, access, way))
        return NULL;
    return way;
}
static inline const struct vm_range *vm_range_at(struct vm_reader *reader, uint64_t va)
{
    return vm_range_for(reader, va, VM_READ);
}

/* Host address for [va, va + size), which must lie in one range that allows `access`; NULL is a
 * fault. Pointers stay good until vm_reader_leave. */
static inline void *vm_translate(struct vm_reader *reader, uint64_t va, uint32_t size_bytes,
                                 uint32_t access)
{
    const struct vm_range *way = vm_range_for(reader, va, access);
    if (!way || size_bytes > way->end - va || (way->flags & access) != access)
        return NULL;
    return way->host + (va - way->start);
}

/* An element that begins in one range and ends in the next one. NULL is a fault, or the host has
 * them apart. */
void *vm_translate_across(struct vm_reader *reader, uint64_t va, uint32_t size_bytes,
                          uint32_t access);

/* The same of one element, which may lie across ranges: programs change attributes of pages of
 * their memory, and know nothing of the ranges that it is cut into by that. */
static inline void *vm_translate_element(struct vm_reader *reader, uint64_t va, uint32_t size_bytes,
                                         uint32_t access)
{
    void *host = vm_translate(reader, va, size_bytes, access);
    if (__builtin_expect(host != NULL, 1))
        return host;
    return vm_translate_across(reader, va, size_bytes, access);
}

/* The place of an address, or the address itself when nothing is mapped there. Between
 * vm_reader_enter and vm_reader_leave. */
uint64_t vm_place(struct vm_reader *reader, uint64_t va);

#endif
