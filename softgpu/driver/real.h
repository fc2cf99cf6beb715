/*
 * The machine's own calls, for use inside the library, where a plain call would come back to us.
 */
#ifndef DRIVER_REAL_H
#define DRIVER_REAL_H

#include <sys/stat.h>
#include <sys/types.h>

/* The next definition of `name` after this library's; resolved once into *slot, which any
 * thread reads and writes: all find the same (real.c). */
void *real_symbol(const char *name, _Atomic(void *) *slot);

/* REAL(open)(...) calls the machine's open, with our declaration's type. */
#define REAL(name)                                                                                 \
    ({                                                                                             \
        /* real_symbol() reads and writes it. */                                                   \
        static _Atomic(void *) slot_;                                                              \
        (__typeof__(&name))real_symbol(#name, &slot_);                                             \
    })

int real_open(const char *path, int flags, mode_t mode);
int real_fstat(int fd, struct stat *info);
int real_stat(const char *path, struct stat *info);
/* Of the file as it is, whatever the descriptor plays. */
void *real_mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset);
int real_munmap(void *address, size_t size_bytes);
off_t real_lseek(int fd, off_t offset, int whence);

#endif
