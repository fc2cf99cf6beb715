/* HSA tables that end earlier than ours, at the end of mapped memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "intercept/hsa/install.h"
#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/test/trace_double.h"

/* A copy whose last byte is the last one of mapped memory, cut to `bytes`, and says so. */
static void *table_at_page_end(const void *table, uint32_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    char *copy = memory + page - bytes;
    memcpy(copy, table, bytes);
    memcpy(copy + sizeof(uint32_t), &bytes, sizeof bytes);
    return copy;
}

static void nothing_behind_short_tables_is_touched(void **state)
{
    (void)state;
    enum { VERSION_BYTES = 16, AMD_SLOTS = 50, ROOT_TABLES = 2 };
    double_reset();
    void **root = double_table_make(2);
    void **members = root + VERSION_BYTES / sizeof(void *);
    void *core = table_at_page_end(members[0], *((uint32_t *)members[0] + 1));
    void *amd = table_at_page_end(members[1], VERSION_BYTES + AMD_SLOTS * sizeof(void *));
    void *shorter = table_at_page_end(root, VERSION_BYTES + ROOT_TABLES * sizeof(void *));
    members = (void **)shorter + VERSION_BYTES / sizeof(void *);
    members[0] = core;
    members[1] = amd;
    double_listen(TRACE_HSA_CORE_API, -1);
    double_listen(TRACE_HSA_AMD_EXT_API, -1);
    double_listen(TRACE_HSA_IMAGE_EXT_API, -1);
    double_listen(TRACE_SCRATCH_MEMORY, -1);
    double_listen(TRACE_MEMORY_COPY, -1);
    assert_true(table_arrives(shorter));
    void **slots = (void **)amd + VERSION_BYTES / sizeof(void *);
    unsigned wrapped = 0;
    for (int i = 0; i < AMD_SLOTS; i++)
        wrapped += slots[i] != ((void **)(void *)((char *)root[VERSION_BYTES / sizeof(void *) + 1] +
                                                  VERSION_BYTES))[i];
    assert_int_equal(wrapped, AMD_SLOTS); /* the last one too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_behind_short_tables_is_touched),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    double_stop();
    return failed;
}
