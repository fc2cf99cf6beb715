#include "driver/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/real.h"
#include "driver/size_limit.h"
#include "driver/topology.h"

/* A directory descriptor is a memory file that holds this mark and the directory's path, so that
 * it says what it is after dup, fork and exec. */
static const char dir_mark[] = "crocgpu directory ";
/* Whether one was ever handed out. Writers and readers: any thread; relaxed, since the thread that
 * asks about a descriptor got it from the one that opened it. */
static atomic_bool dirs_opened;

const struct vnode *vfs_dir_of_fd(int fd)
{
    char text[sizeof dir_mark + 256];
    const struct vtree *tree = driver_tree();
    const struct vnode *node;
    if (!tree || fd < 0 || !atomic_load_explicit(&dirs_opened, memory_order_relaxed))
        return NULL;
    if (fcntl(fd, F_GET_SEALS) <= 0)
        return NULL; /* most descriptors fail here: not a memory file, or not sealed */
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length < (ssize_t)sizeof dir_mark || memcmp(text, dir_mark, sizeof dir_mark - 1) != 0)
        return NULL;
    text[length] = 0;
    const char *path = text + sizeof dir_mark - 1;
    return vtree_find(tree, NULL, path, 0, &node) == VTREE_FOUND ? node : NULL;
}

/* Nearly every path of a program is none of ours; this looks at a few bytes of it. */
static bool path_of_interest(const char *path)
{
    return path[0] == '/' &&
           (path[1] == '/' || path[1] == '.' || strncmp(path + 1, "sys", 3) == 0 ||
            strncmp(path + 1, "dev", 3) == 0 || strncmp(path + 1, "proc/mod", 8) == 0);
}

enum vtree_where vfs_find(int dirfd, const char *path, int keep_link, const struct vnode **node)
{
    const struct vnode *from = NULL;
    if (!path)
        return VTREE_ELSEWHERE;
    if (path[0] == '/' ? !path_of_interest(path) : dirfd == AT_FDCWD)
        return VTREE_ELSEWHERE;
    const struct vtree *tree = driver_tree();
    if (path[0] != '/')
        from = vfs_dir_of_fd(dirfd);
    if (!tree || (path[0] != '/' && !from))
        return VTREE_ELSEWHERE;
    enum vtree_where where = vtree_find(tree, from, path, keep_link, node);
    if (where == VTREE_MISSING)
        errno = ENOENT;
    return where;
}

static int memory_file(const char *name, const char *head, const char *text, size_t size_bytes,
                       int flags)
{
    int fd = memfd_create(name, MFD_ALLOW_SEALING | (flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
    if (fd < 0)
        return -1;
    size_t head_bytes = strlen(head);
    struct size_limit limit;
    errno = 0;
    size_limit_begin(&limit, head_bytes + size_bytes);
    bool written = pwrite(fd, head, head_bytes, 0) == (ssize_t)head_bytes &&
                   pwrite(fd, text, size_bytes, (off_t)head_bytes) == (ssize_t)size_bytes;
    size_limit_end(&limit);
    if (written && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) == 0)
        return fd;
    close(fd);
    errno = EIO;
    return -1;
}

static int dir_open(const struct vnode *node, int flags)
{
    char path[256];
    size_t length = vnode_path(node, path, sizeof path);
    if (length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    atomic_store_explicit(&dirs_opened, true, memory_order_relaxed);
    return memory_file("crocgpu-dir", dir_mark, path, length, flags);
}

static int live_open(const struct vnode *node, int flags)
{
    char text[VNODE_LIVE_MAX_BYTES];
    size_t length = node->live(node->gpu, text, sizeof text);
    return memory_file("crocgpu-file", "", text, length, flags);
}

int vfs_open(const struct vnode *node, int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if ((flags & O_DIRECTORY) && node->kind != VNODE_DIR)
        errno = ENOTDIR;
    else if ((flags & O_CREAT) && (flags & O_EXCL))
        errno = EEXIST;
    else if (node->kind == VNODE_DEVICE)
        return node->device ? driver_open_render(minor(node->device), flags) : driver_open(flags);
    else if (writes)
        errno = node->kind == VNODE_DIR ? EISDIR : EACCES;
    else if (node->kind == VNODE_DIR)
        return dir_open(node, flags);
    else if (node->kind == VNODE_LINK)
        errno = ELOOP; /* O_NOFOLLOW */
    else if (node->live)
        return live_open(node, flags);
    else
        return memory_file("crocgpu-file", "", node->text, node->size_bytes, flags);
    return -1;
}

int vfs_access(const struct vnode *node, int mode)
{
    bool allowed = !(mode & W_OK) || node->kind == VNODE_DEVICE;
    if ((mode & X_OK) && node->kind != VNODE_DIR)
        allowed = false;
    if (allowed)
        return 0;
    errno = EACCES;
    return -1;
}

void vfs_stat(const struct vnode *node, struct stat *info)
{
    static const mode_t modes[] = {
        [VNODE_DIR] = S_IFDIR | 0755,
        [VNODE_FILE] = S_IFREG | 0444,
        [VNODE_LINK] = S_IFLNK | 0777,
        [VNODE_DEVICE] = S_IFCHR | 0666,
    };
    memset(info, 0, sizeof *info);
    info->st_dev = makedev(0, 0x4b); /* sysfs shows sizes of one page; ours are the real ones */
    info->st_ino = node->inode;
    info->st_mode = modes[node->kind];
    info->st_nlink = node->kind == VNODE_DIR ? 2 : 1;
    info->st_blksize = 4096;
    info->st_size = (off_t)node->size_bytes;
    if (node->kind == VNODE_DEVICE)
        info->st_rdev = node->device ? node->device : makedev(TOPOLOGY_KFD_MAJOR, 0);
}
