#ifndef DRIVER_TEST_MMAP_COUNTER_H
#define DRIVER_TEST_MMAP_COUNTER_H

struct mmap_counts {
    unsigned maps, unmaps;
};
struct mmap_counts mmap_counts(void);

#endif
