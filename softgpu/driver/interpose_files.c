/* open, fopen, access, stat, readlink and realpath for paths of the file tree; all others go
 * straight on to the C library. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/real.h"
#include "driver/vfs.h"

/* Entry points that no header declares, or only under fortification. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *info);
int __xstat64(int version, const char *path, struct stat64 *info);
int __lxstat(int version, const char *path, struct stat *info);
int __lxstat64(int version, const char *path, struct stat64 *info);
int __fxstat(int version, int fd, struct stat *info);
int __fxstat64(int version, int fd, struct stat64 *info);
int __fxstatat(int version, int dirfd, const char *path, struct stat *info, int flags);
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *info, int flags);
char *__realpath_chk(const char *path, char *resolved, size_t size);

/* stat64 is stat on this architecture; one filler serves both. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64");

/* The mode argument exists only with O_CREAT or O_TMPFILE. */
#define MODE_ARGUMENT(flags)                                                                       \
    ({                                                                                             \
        mode_t mode_ = 0;                                                                          \
        if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) {                               \
            va_list args_;                                                                         \
            va_start(args_, flags);                                                                \
            mode_ = va_arg(args_, mode_t);                                                         \
            va_end(args_);                                                                         \
        }                                                                                          \
        mode_;                                                                                     \
    })

/* Runs `real` for paths elsewhere, else opens ours. */
#define OPEN_OR(dirfd, path, flags, real)                                                          \
    do {                                                                                           \
        const struct vnode *node_;                                                                 \
        switch (vfs_find(dirfd, path, (flags)&O_NOFOLLOW, &node_)) {                               \
        case VTREE_ELSEWHERE:                                                                      \
            return real;                                                                           \
        case VTREE_FOUND:                                                                          \
            return vfs_open(node_, flags);                                                         \
        case VTREE_MISSING:                                                                        \
            break;                                                                                 \
        }                                                                                          \
        return -1;                                                                                 \
    } while (0)

EXPORT int open(const char *path, int flags, ...)
{
    mode_t mode = MODE_ARGUMENT(flags);
    OPEN_OR(AT_FDCWD, path, flags, REAL(open)(path, flags, mode));
}

EXPORT int open64(const char *path, int flags, ...)
{
    mode_t mode = MODE_ARGUMENT(flags);
    OPEN_OR(AT_FDCWD, path, flags, REAL(open64)(path, flags, mode));
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
    mode_t mode = MODE_ARGUMENT(flags);
    OPEN_OR(dirfd, path, flags, REAL(openat)(dirfd, path, flags, mode));
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
    mode_t mode = MODE_ARGUMENT(flags);
    OPEN_OR(dirfd, path, flags, REAL(openat64)(dirfd, path, flags, mode));
}

EXPORT int __open_2(const char *path, int flags)
{
    OPEN_OR(AT_FDCWD, path, flags, REAL(__open_2)(path, flags));
}

EXPORT int __open64_2(const char *path, int flags)
{
    OPEN_OR(AT_FDCWD, path, flags, REAL(__open64_2)(path, flags));
}

EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
    OPEN_OR(dirfd, path, flags, REAL(__openat_2)(dirfd, path, flags));
}

EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
    OPEN_OR(dirfd, path, flags, REAL(__openat64_2)(dirfd, path, flags));
}

static int open_flags_of(const char *mode)
{
    int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT;
    if (strchr(mode, '+'))
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (strchr(mode, 'e'))
        flags |= O_CLOEXEC;
    return flags;
}

static FILE *node_fopen(const struct vnode *node, const char *mode)
{
    int fd = vfs_open(node, open_flags_of(mode));
    FILE *file = fd >= 0 ? fdopen(fd, mode) : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

#define FOPEN(name)                                                                                \
    EXPORT FILE *name(const char *path, const char *mode)                                          \
    {                                                                                              \
        const struct vnode *node;                                                                  \
        enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);                               \
        if (where == VTREE_ELSEWHERE)                                                              \
            return REAL(name)(path, mode);                                                         \
        return where == VTREE_FOUND ? node_fopen(node, mode) : NULL;                               \
    }
FOPEN(fopen)
FOPEN(fopen64)

#define ACCESS_OR(dirfd, path, mode, real)                                                         \
    do {                                                                                           \
        const struct vnode *node_;                                                                 \
        enum vtree_where where_ = vfs_find(dirfd, path, 0, &node_);                                \
        if (where_ == VTREE_ELSEWHERE)                                                             \
            return real;                                                                           \
        return where_ == VTREE_FOUND ? vfs_access(node_, mode) : -1;                               \
    } while (0)

EXPORT int access(const char *path, int mode)
{
    ACCESS_OR(AT_FDCWD, path, mode, REAL(access)(path, mode));
}

EXPORT int euidaccess(const char *path, int mode)
{
    ACCESS_OR(AT_FDCWD, path, mode, REAL(euidaccess)(path, mode));
}

EXPORT int faccessat(int dirfd, const char *path, int mode, int flags)
{
    ACCESS_OR(dirfd, path, mode, REAL(faccessat)(dirfd, path, mode, flags));
}

static int path_stat(int dirfd, const char *path, int flags, struct stat *info, int *result)
{
    const struct vnode *node = NULL;
    enum vtree_where where = VTREE_ELSEWHERE;
    if ((flags & AT_EMPTY_PATH) && path && !*path) {
        node = vfs_dir_of_fd(dirfd);
        where = node ? VTREE_FOUND : VTREE_ELSEWHERE;
    } else {
        where = vfs_find(dirfd, path, flags & AT_SYMLINK_NOFOLLOW, &node);
    }
    if (where == VTREE_ELSEWHERE)
        return 0;
    *result = where == VTREE_FOUND ? 0 : -1;
    if (where == VTREE_FOUND)
        vfs_stat(node, info);
    return 1;
}

/* `info` may be struct stat64; see the assertion above. */
#define STAT_OR(dirfd, path, flags, info, real)                                                    \
    do {                                                                                           \
        int result_;                                                                               \
        if (path_stat(dirfd, path, flags, (struct stat *)(info), &result_))                        \
            return result_;                                                                        \
        return real;                                                                               \
    } while (0)

EXPORT int stat(const char *restrict path, struct stat *restrict info)
{
    STAT_OR(AT_FDCWD, path, 0, info, REAL(stat)(path, info));
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict info)
{
    STAT_OR(AT_FDCWD, path, 0, info, REAL(stat64)(path, info));
}

EXPORT int lstat(const char *restrict path, struct stat *restrict info)
{
    STAT_OR(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, info, REAL(lstat)(path, info));
}

EXPORT int lstat64(const char *restrict path, struct stat64 *restrict info)
{
    STAT_OR(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, info, REAL(lstat64)(path, info));
}

/* A descriptor of a render node is the device file of the driver; libdrm asks what it is. */
static int device_stat(int fd, struct stat *info, int result)
{
    if (result == 0)
        driver_stat(fd, info);
    return result;
}

EXPORT int fstat(int fd, struct stat *info)
{
    STAT_OR(fd, "", AT_EMPTY_PATH, info, device_stat(fd, info, REAL(fstat)(fd, info)));
}

EXPORT int fstat64(int fd, struct stat64 *info)
{
    STAT_OR(fd, "", AT_EMPTY_PATH, info,
            device_stat(fd, (struct stat *)info, REAL(fstat64)(fd, info)));
}

EXPORT int fstatat(int dirfd, const char *restrict path, struct stat *restrict info, int flags)
{
    STAT_OR(dirfd, path, flags, info, REAL(fstatat)(dirfd, path, info, flags));
}

EXPORT int fstatat64(int dirfd, const char *restrict path, struct stat64 *restrict info, int flags)
{
    STAT_OR(dirfd, path, flags, info, REAL(fstatat64)(dirfd, path, info, flags));
}

EXPORT int __xstat(int version, const char *path, struct stat *info)
{
    STAT_OR(AT_FDCWD, path, 0, info, REAL(__xstat)(version, path, info));
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *info)
{
    STAT_OR(AT_FDCWD, path, 0, info, REAL(__xstat64)(version, path, info));
}

EXPORT int __lxstat(int version, const char *path, struct stat *info)
{
    STAT_OR(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, info, REAL(__lxstat)(version, path, info));
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *info)
{
    STAT_OR(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, info, REAL(__lxstat64)(version, path, info));
}

EXPORT int __fxstat(int version, int fd, struct stat *info)
{
    STAT_OR(fd, "", AT_EMPTY_PATH, info, device_stat(fd, info, REAL(__fxstat)(version, fd, info)));
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *info)
{
    STAT_OR(fd, "", AT_EMPTY_PATH, info,
            device_stat(fd, (struct stat *)info, REAL(__fxstat64)(version, fd, info)));
}

EXPORT int __fxstatat(int version, int dirfd, const char *path, struct stat *info, int flags)
{
    STAT_OR(dirfd, path, flags, info, REAL(__fxstatat)(version, dirfd, path, info, flags));
}

EXPORT int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *info, int flags)
{
    STAT_OR(dirfd, path, flags, info, REAL(__fxstatat64)(version, dirfd, path, info, flags));
}

EXPORT int statx(int dirfd, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict info)
{
    struct stat plain;
    int result;
    if (!path_stat(dirfd, path, flags, &plain, &result))
        return REAL(statx)(dirfd, path, flags, mask, info);
    if (result)
        return result;
    memset(info, 0, sizeof *info);
    info->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE;
    info->stx_blksize = (uint32_t)plain.st_blksize;
    info->stx_nlink = (uint32_t)plain.st_nlink;
    info->stx_mode = (uint16_t)plain.st_mode;
    info->stx_ino = plain.st_ino;
    info->stx_size = (uint64_t)plain.st_size;
    info->stx_rdev_major = (uint32_t)(plain.st_rdev >> 8);
    info->stx_rdev_minor = (uint32_t)(plain.st_rdev & 0xff);
    info->stx_dev_minor = 0x4b;
    return 0;
}

static ssize_t link_read(const struct vnode *node, char *out, size_t size_bytes)
{
    if (node->kind != VNODE_LINK) {
        errno = EINVAL;
        return -1;
    }
    size_t length = node->size_bytes < size_bytes ? node->size_bytes : size_bytes;
    memcpy(out, node->text, length);
    return (ssize_t)length;
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict out, size_t size_bytes)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 1, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(readlink)(path, out, size_bytes);
    return where == VTREE_FOUND ? link_read(node, out, size_bytes) : -1;
}

EXPORT ssize_t readlinkat(int dirfd, const char *restrict path, char *restrict out,
                          size_t size_bytes)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(dirfd, path, 1, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(readlinkat)(dirfd, path, out, size_bytes);
    return where == VTREE_FOUND ? link_read(node, out, size_bytes) : -1;
}

static char *node_realpath(const struct vnode *node, char *resolved)
{
    char *out = resolved ? resolved : malloc(PATH_MAX);
    if (out)
        vnode_path(node, out, PATH_MAX);
    return out;
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(realpath)(path, resolved);
    return where == VTREE_FOUND ? node_realpath(node, resolved) : NULL;
}

EXPORT char *__realpath_chk(const char *path, char *resolved, size_t size)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(__realpath_chk)(path, resolved, size);
    return where == VTREE_FOUND ? node_realpath(node, resolved) : NULL;
}

EXPORT char *canonicalize_file_name(const char *path)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(canonicalize_file_name)(path);
    return where == VTREE_FOUND ? node_realpath(node, NULL) : NULL;
}

/* ls asks each file for its access list: ours have no attributes. */
#define XATTR_OR(path, keep_link, real)                                                            \
    do {                                                                                           \
        const struct vnode *node_;                                                                 \
        enum vtree_where where_ = vfs_find(AT_FDCWD, path, keep_link, &node_);                     \
        if (where_ == VTREE_ELSEWHERE)                                                             \
            return real;                                                                           \
        if (where_ == VTREE_FOUND)                                                                 \
            errno = ENODATA;                                                                       \
        return -1;                                                                                 \
    } while (0)

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size_bytes)
{
    XATTR_OR(path, 0, REAL(getxattr)(path, name, value, size_bytes));
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size_bytes)
{
    XATTR_OR(path, 1, REAL(lgetxattr)(path, name, value, size_bytes));
}
