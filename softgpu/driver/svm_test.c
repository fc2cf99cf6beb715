#include "driver/svm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "driver/driver.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"

enum { PAGES = 8, PAGE = 4096 };

static struct driver *driver;
static struct vm_reader reader;
static uint8_t *memory;

static int setup(void **state)
{
    (void)state;
    int device = driver_open(O_RDWR);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    if (!driver)
        return -1;
    vm_reader_register(driver->gpu[0].vm, &reader);
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? -1 : 0;
}

struct call {
    struct kfd_ioctl_svm_args args;
    struct kfd_ioctl_svm_attribute list[4];
};

static int set(int page, int pages, uint32_t type, uint32_t value)
{
    struct call call = {.args = {.start_addr = (uintptr_t)memory + (uint64_t)page * PAGE,
                                 .size = (uint64_t)pages * PAGE,
                                 .op = KFD_IOCTL_SVM_OP_SET_ATTR,
                                 .nattr = 1}};
    call.list[0] = (struct kfd_ioctl_svm_attribute){type, value};
    return kfd_svm(driver, (uintptr_t)&call);
}

static int query(int page, int pages, struct kfd_ioctl_svm_attribute *attribute)
{
    struct call call = {.args = {.start_addr = (uintptr_t)memory + (uint64_t)page * PAGE,
                                 .size = (uint64_t)pages * PAGE,
                                 .op = KFD_IOCTL_SVM_OP_GET_ATTR,
                                 .nattr = 1}};
    call.list[0] = *attribute;
    const int status = kfd_svm(driver, (uintptr_t)&call);
    *attribute = call.list[0];
    return status;
}
static int get_status(int page, int pages)
{
    struct kfd_ioctl_svm_attribute attribute = {KFD_IOCTL_SVM_ATTR_ACCESS, driver->gpu[0].gpu_id};
    return query(page, pages, &attribute);
}
static struct kfd_ioctl_svm_attribute get(int page, int pages, uint32_t type, uint32_t value)
{
    struct kfd_ioctl_svm_attribute attribute = {type, value};
    assert_int_equal(query(page, pages, &attribute), 0);
    return attribute;
}

/* One letter a page: w readable and writable by the GPU, r readable, - neither. */
static void expect(const char *pages)
{
    char seen[PAGES + 1] = {0};
    vm_reader_enter(&reader);
    for (int page = 0; page < PAGES; page++) {
        uint64_t va = (uintptr_t)memory + (uint64_t)page * PAGE + 8;
        void *write = vm_translate(&reader, va, 4, VM_WRITE);
        void *read = vm_translate(&reader, va, 4, VM_READ);
        assert_true(!read || read == (void *)(uintptr_t)va);
        seen[page] = write ? 'w' : read ? 'r' : '-';
    }
    vm_reader_leave(&reader);
    assert_string_equal(seen, pages);
}

static void access_follows_the_attributes_page_by_page(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    expect("--------");
    assert_int_equal(set(1, 6, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    expect("-wwwwww-");
    assert_int_equal(set(3, 2, KFD_IOCTL_SVM_ATTR_NO_ACCESS, gpu), 0);
    expect("-ww--ww-");
    assert_int_equal(set(2, 4, KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, gpu), 0);
    expect("-wwwwww-");
    assert_int_equal(set(0, 2, KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_FLAG_GPU_RO), 0);
    expect("-rwwwww-");
    assert_int_equal(set(0, 8, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    expect("rrwwwwww");
    svm_forget(driver, (uintptr_t)memory + PAGE, (uintptr_t)memory + 7 * PAGE);
    expect("r------w");
    svm_forget(driver, 0, UINT64_MAX);
    expect("--------");
}

/* What GPUs may reach goes with it, and what is mapped there next is nothing of theirs. */
static void memory_that_goes_is_no_gpus(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    uint8_t *const part = memory + 2 * PAGE;
    assert_int_equal(set(1, 6, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    assert_int_equal(munmap(part + 1, PAGE), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(munmap(part, 0), -1);
    assert_int_equal(munmap(part, SIZE_MAX / 2), -1); /* beyond all memory */
    expect("-wwwwww-");
    assert_int_equal(munmap(part, 2 * PAGE - 1), 0);
    expect("-w--www-");
    assert_ptr_equal(mmap(part, 2 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     part);
    expect("-w--www-");
    assert_int_equal(get(2, 2, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_NO_ACCESS);
    svm_forget(driver, 0, UINT64_MAX);
}

static void *first_pages_forget(void *unused)
{
    (void)unused;
    svm_forget(driver, (uintptr_t)memory, (uintptr_t)memory + 2 * PAGE);
    return NULL;
}

/* Allocators unmap memory inside calls of malloc() and free(), wherever this library makes them:
 * while it reads page tables, which others wait for, and while it changes attributes. */
static void unmapping_other_memory_waits_for_nobody(void **state)
{
    uint32_t gpu = driver->gpu[0].gpu_id;
    pthread_t thread;
    (void)state;
    void *other = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(other, MAP_FAILED);
    assert_int_equal(set(0, 4, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    vm_reader_enter(&reader);
    assert_int_equal(pthread_create(&thread, NULL, first_pages_forget, NULL), 0);
    while (pthread_mutex_trylock(&driver->svm_lock) == 0) {
        pthread_mutex_unlock(&driver->svm_lock);
        sched_yield();
    }
    assert_int_equal(munmap(other, PAGE), 0);
    vm_reader_leave(&reader);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect("--ww----");
    pthread_mutex_lock(&driver->svm_lock);
    assert_int_equal(munmap(memory + 3 * PAGE, PAGE), 0);
    pthread_mutex_unlock(&driver->svm_lock);
    assert_ptr_equal(mmap(memory + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     memory + 3 * PAGE);
    svm_forget(driver, 0, UINT64_MAX);
}

static void queries_answer_for_the_whole_range(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    assert_int_equal(set(0, 4, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    assert_int_equal(set(0, 2, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu), 0);
    assert_int_equal(get(0, 2, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, 0).value, gpu);
    assert_int_equal(get(0, 4, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, 0).value, UINT32_MAX);
    assert_int_equal(get(0, 4, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_ACCESS);
    /* What was never set is not looked at beside what was. */
    assert_int_equal(get(0, 5, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_ACCESS);
    assert_int_equal(get(4, 1, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_NO_ACCESS);
    /* Some pages with the one right and some with the other have neither. */
    assert_int_equal(set(4, 1, KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, gpu), 0);
    assert_int_equal(get(4, 1, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type,
                     KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE);
    assert_int_equal(get(0, 5, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_NO_ACCESS);
    /* What nobody has said. */
    const uint32_t flags = KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT;
    assert_int_equal(get(0, 5, KFD_IOCTL_SVM_ATTR_SET_FLAGS, 0).value, flags);
    assert_int_equal(get(7, 1, KFD_IOCTL_SVM_ATTR_SET_FLAGS, 0).value, flags);
    svm_forget(driver, 0, UINT64_MAX);
}

/* Page 1 lent to the driver, page 3 with memory of its own in its place. */
static void buffers_are_not_shared_virtual_memory(void **state)
{
    (void)state;
    const uint32_t gpu = driver->gpu[0].gpu_id;
    const uint64_t at = (uintptr_t)memory;
    struct kfd_ioctl_alloc_memory_of_gpu_args lent = {.va_addr = at + PAGE,
                                                      .size = PAGE,
                                                      .gpu_id = gpu,
                                                      .flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR |
                                                               KFD_ALLOC_WRITABLE,
                                                      .mmap_offset = at + PAGE},
                                              own = {.va_addr = at + 3 * PAGE,
                                                     .size = PAGE,
                                                     .gpu_id = gpu,
                                                     .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                                                              KFD_ALLOC_WRITABLE};
    assert_int_equal(kfd_memory_alloc(driver, &lent), 0);
    assert_int_equal(kfd_memory_alloc(driver, &own), 0);
    assert_int_equal(set(0, 2, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), -EADDRINUSE);
    assert_int_equal(set(2, 2, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), -EFAULT);
    assert_int_equal(get_status(1, 1), -EADDRINUSE);
    assert_int_equal(get_status(3, 2), -EFAULT);
    assert_int_equal(get_status(4, 2), 0);
    assert_int_equal(get_status(2, 1), 0);
    expect("--------");
    struct kfd_ioctl_free_memory_of_gpu_args free_lent = {.handle = lent.handle},
                                             free_own = {.handle = own.handle};
    assert_int_equal(kfd_memory_free(driver, &free_lent), 0);
    assert_int_equal(kfd_memory_free(driver, &free_own), 0);
    assert_int_equal(get_status(0, 8), 0);
}

static void wrong_requests_are_refused_and_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(set(0, 1, KFD_IOCTL_SVM_ATTR_ACCESS, 1), -EINVAL);
    assert_int_equal(set(0, 1, 99, 0), -EINVAL);
    assert_int_equal(set(0, 0, KFD_IOCTL_SVM_ATTR_ACCESS, driver->gpu[0].gpu_id), -EINVAL);
    munmap(memory + 7 * PAGE, PAGE);
    assert_int_equal(set(6, 2, KFD_IOCTL_SVM_ATTR_ACCESS, driver->gpu[0].gpu_id), -EFAULT);
    assert_int_equal(get_status(6, 2), -EFAULT);
    expect("--------");
}

static int xnack_set(int wanted)
{
    struct kfd_ioctl_set_xnack_mode_args mode = {.xnack_enabled = wanted};
    const int status = kfd_xnack_set(driver, &mode);
    return status ? status : mode.xnack_enabled;
}

static void rights_set(int page, int pages, int rights)
{
    assert_int_equal(mprotect(memory + page * PAGE, (size_t)pages * PAGE, rights), 0);
}

/* Waves that wait for page faults reach what the program may reach itself, without a word of it,
 * unless it takes a GPU's rights away. */
static void page_faults_find_the_programs_memory(void **state)
{
    (void)state;
    const uint32_t gpu = driver->gpu[0].gpu_id;
    svm_forget(driver, 0, UINT64_MAX);
    memory = mmap(memory, PAGES * PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    expect("--------");
    assert_int_equal(get(0, 8, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_NO_ACCESS);
    assert_int_equal(xnack_set(1), 1);
    assert_int_equal(xnack_set(-1), 1);
    expect("wwwwwwww");
    assert_int_equal(get(0, 8, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).type, KFD_IOCTL_SVM_ATTR_ACCESS);
    assert_int_equal(set(2, 2, KFD_IOCTL_SVM_ATTR_NO_ACCESS, gpu), 0);
    expect("ww--wwww");
    assert_int_equal(set(5, 1, KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_FLAG_GPU_RO), 0);
    expect("ww--wrww");
    svm_forget(driver, 0, UINT64_MAX);
    munmap(memory + PAGE, PAGE);
    expect("w-wwwwww");
    rights_set(3, 1, PROT_READ);
    rights_set(4, 1, PROT_NONE);
    munmap(memory + 6 * PAGE, PAGE); /* a list of mappings that is older than rights is kept */
    expect("w-wr-w-w");
    rights_set(3, 2, PROT_READ | PROT_WRITE);
    assert_int_equal(xnack_set(0), 0);
    expect("--------");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_follows_the_attributes_page_by_page),
        cmocka_unit_test(memory_that_goes_is_no_gpus),
        cmocka_unit_test(unmapping_other_memory_waits_for_nobody),
        cmocka_unit_test(queries_answer_for_the_whole_range),
        cmocka_unit_test(buffers_are_not_shared_virtual_memory),
        cmocka_unit_test(wrong_requests_are_refused_and_change_nothing),
        cmocka_unit_test(page_faults_find_the_programs_memory),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
