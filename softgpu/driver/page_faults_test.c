#include "driver/page_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/driver.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"

enum { PAGE = 4096, PARTS = 3000, EVENTS = 2 };
static const uint64_t part_bytes = 2 << 20;

static struct driver *driver;

static int setup(void **state)
{
    (void)state;
    setenv("CROCGPU_DEVICES", "gfx90a*2", 1);
    const int device = driver_open(O_RDWR);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    return driver ? 0 : -1;
}

static bool find(int gpu, uint64_t va, uint32_t access, struct vm_range *range)
{
    const struct vm_fault fault = {.va = va, .high = UINT64_MAX, .access = access};
    return page_fault_find(&driver->gpu[gpu], &fault, range);
}

/* A GPU's memory and device files are no memory of the program's, nor is what lies nowhere. */
static void devices_are_not_found(void **state)
{
    (void)state;
    struct vm_range range;
    const uint64_t local = (uintptr_t)&range, wild[] = {0, 8, 65536, 0x123456789000, UINT64_MAX};
    void *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, driver->file,
                     (off_t)DEVICE_OFFSET_HEAP);
    assert_ptr_not_equal(own, MAP_FAILED);
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
        assert_false(find(0, wild[i], VM_READ, &range));
    assert_false(find(0, (uintptr_t)own, VM_READ, &range));
    munmap(own, PAGE);
    assert_true(find(0, local, VM_WRITE, &range)); /* the stack */
    assert_true(range.start <= local && range.end > local);
    assert_true(find(0, (uintptr_t) "text", VM_READ, &range));
    assert_int_equal(range.flags & VM_WRITE, 0);
    assert_int_not_equal(range.flags & VM_FAULTED, 0);
}

static int events_open(int gpu)
{
    struct kfd_ioctl_smi_events_args args = {.gpuid = driver->gpu[gpu].gpu_id};
    const uint64_t mask = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_PAGE_FAULT_START) |
                          KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_PAGE_FAULT_END);
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_SMI_EVENTS, (uintptr_t)&args), 0);
    assert_int_equal(write((int)args.anon_fd, &mask, sizeof mask), sizeof mask);
    return (int)args.anon_fd;
}

/* Begin and end of one fault, as letters; "" if there is none. */
static const char *fault_told(int file, uint64_t va)
{
    static char letters[EVENTS + 1];
    char text[4096];
    unsigned event[EVENTS], node[EVENTS];
    unsigned long page[EVENTS];
    const ssize_t got = read(file, text, sizeof text - 1);
    text[got < 0 ? 0 : got] = '\0';
    memset(letters, 0, sizeof letters);
    if (got < 0)
        return letters;
    assert_int_equal(sscanf(text, "%x %*d -%*d @%lx(%x) %c\n%x %*d -%*d @%lx(%x) %c\n", &event[0],
                            &page[0], &node[0], &letters[0], &event[1], &page[1], &node[1],
                            &letters[1]),
                     8);
    assert_int_equal(event[0], KFD_SMI_EVENT_PAGE_FAULT_START);
    assert_int_equal(event[1], KFD_SMI_EVENT_PAGE_FAULT_END);
    assert_true(page[0] == va / PAGE && page[1] == page[0] && node[1] == node[0]);
    return letters;
}

static void parts_are_told_once_and_by_gpu(void **state)
{
    (void)state;
    struct vm_range range;
    const int first = events_open(0), second = events_open(1);
    uint8_t *memory =
        mmap(NULL, 8 * part_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t va = ((uintptr_t)memory + part_bytes - 1) & -part_bytes;
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_true(find(0, va + PAGE, VM_READ, &range));
    assert_string_equal(fault_told(first, va + PAGE), "RU");
    assert_true(find(0, va + part_bytes - PAGE, VM_WRITE, &range)); /* the same part */
    assert_string_equal(fault_told(first, va), "");
    assert_true(find(0, va + part_bytes, VM_WRITE, &range));
    assert_string_equal(fault_told(first, va + part_bytes), "WU");
    assert_string_equal(fault_told(second, va), "");
    assert_true(find(1, va, VM_READ, &range));
    assert_string_equal(fault_told(second, va), "RU");
    mprotect((void *)(uintptr_t)(va + 2 * part_bytes), part_bytes, PROT_READ);
    assert_false(find(0, 0x123456789000, VM_READ, &range)); /* the list is read anew */
    assert_true(find(0, va + 2 * part_bytes, VM_WRITE, &range));
    assert_string_equal(fault_told(first, va), ""); /* that one is an error */
    errno = 77;
    page_faults_forget(driver, va, va + PAGE);
    assert_int_equal(errno, 77);
    assert_true(find(0, va, VM_READ, &range));
    assert_string_equal(fault_told(first, va), "RU");
    assert_true(find(0, va + part_bytes, VM_READ, &range));
    assert_string_equal(fault_told(first, va), "");
    munmap(memory, 8 * part_bytes);
    close(first);
    close(second);
}

/* Each of thousands once, again when it was forgotten, and no memory for those that come and go. */
static void thousands_of_parts_come_and_go(void **state)
{
    (void)state;
    struct vm_range range;
    struct page_faults *faults = &driver->page_faults;
    uint8_t *memory = mmap(NULL, PARTS * part_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uint64_t va = ((uintptr_t)memory + part_bytes - 1) & -part_bytes;
    const int file = events_open(0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    page_faults_forget(driver, 0, UINT64_MAX); /* munmap() is the C library's here */
    for (int round = 0; round < 6; round++) {
        for (uint64_t n = 0; n < PARTS - 1; n++) {
            for (int again = 0; again < 2; again++) {
                assert_true(find(0, va + n * part_bytes, VM_READ, &range));
                assert_string_equal(fault_told(file, va + n * part_bytes), again ? "" : "RU");
            }
        }
        if (round % 2)
            page_faults_forget(driver, 0, UINT64_MAX);
        else
            page_faults_forget(driver, va, va + (PARTS - 1) * part_bytes);
    }
    assert_true(faults->room <= 4 * PARTS);
    munmap(memory, PARTS * part_bytes);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_not_found),
        cmocka_unit_test(parts_are_told_once_and_by_gpu),
        cmocka_unit_test(thousands_of_parts_come_and_go),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
