/* How the interposed libc calls see the file tree: shared by interpose_*.c. */
#ifndef DRIVER_VFS_H
#define DRIVER_VFS_H

#include <sys/stat.h>

#include "driver/vtree.h"

#define EXPORT __attribute__((visibility("default")))

/* VTREE_MISSING sets errno to ENOENT. `dirfd` as for openat(2). */
enum vtree_where vfs_find(int dirfd, const char *path, int keep_link, const struct vnode **node);
/* The directory of ours that `fd` stands for, or NULL. */
const struct vnode *vfs_dir_of_fd(int fd);
/* Like open(2), for a node of ours. */
int vfs_open(const struct vnode *node, int flags);
int vfs_access(const struct vnode *node, int mode);
void vfs_stat(const struct vnode *node, struct stat *info);

#endif
