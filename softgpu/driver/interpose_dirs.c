/*
 * Directory streams over the file tree. Programs get a DIR of ours, which only ever comes back to
 * the functions here; nothing has to exist on disk, so nothing can be left behind on it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/real.h"
#include "driver/vfs.h"

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "x86-64");

struct stream {
    const struct vnode *node;
    long position; /* 0 ".", 1 "..", then the children */
    int fd;        /* -1 until dirfd() asks for it */
    struct dirent entry;
    struct stream *next;
};

static struct {
    pthread_mutex_t lock; /* the list */
    struct stream *list;
    /* Writers: under lock. Readers: any thread, relaxed: zero while the caller's own stream is
     * open is impossible, and for other streams the list is looked at. */
    atomic_int count;
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The list is whole in a forked child, and its lock free: a child may go on reading. */
static void before_fork(void)
{
    pthread_mutex_lock(&streams.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&streams.lock);
}

static void fork_watch(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static struct stream *stream_of(DIR *dir)
{
    if (atomic_load_explicit(&streams.count, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&streams.lock);
    struct stream *stream = streams.list;
    while (stream && (void *)stream != (void *)dir)
        stream = stream->next;
    pthread_mutex_unlock(&streams.lock);
    return stream;
}

static DIR *stream_open(const struct vnode *node, int fd)
{
    if (node->kind != VNODE_DIR) {
        errno = ENOTDIR;
        return NULL;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    pthread_once(&once, fork_watch);
    stream->node = node;
    stream->fd = fd;
    pthread_mutex_lock(&streams.lock);
    stream->next = streams.list;
    streams.list = stream;
    atomic_fetch_add_explicit(&streams.count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&streams.lock);
    return (DIR *)stream;
}

static int stream_close(struct stream *stream)
{
    pthread_mutex_lock(&streams.lock);
    for (struct stream **at = &streams.list; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    atomic_fetch_sub_explicit(&streams.count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&streams.lock);
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream);
    return 0;
}

static const struct vnode *entry_at(const struct stream *stream, const char **name)
{
    static const char *const dots[] = {".", ".."};
    const struct vnode *dir = stream->node;
    if (stream->position < 2) {
        *name = dots[stream->position];
        return stream->position == 1 && dir->parent ? dir->parent : dir;
    }
    const struct vnode *child = dir->children;
    for (long i = 2; child && i < stream->position; i++)
        child = child->next;
    *name = child ? child->name : NULL;
    return child;
}

static struct dirent *stream_read(struct stream *stream)
{
    static const unsigned char types[] = {[VNODE_DIR] = DT_DIR,
                                          [VNODE_FILE] = DT_REG,
                                          [VNODE_LINK] = DT_LNK,
                                          [VNODE_DEVICE] = DT_CHR};
    const char *name;
    const struct vnode *node = entry_at(stream, &name);
    if (!node)
        return NULL;
    stream->position++;
    struct dirent *entry = &stream->entry;
    entry->d_ino = node->inode;
    entry->d_off = stream->position;
    entry->d_reclen = sizeof *entry;
    entry->d_type = types[node->kind];
    strncpy(entry->d_name, name, sizeof entry->d_name - 1);
    return entry;
}

EXPORT DIR *opendir(const char *path)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(opendir)(path);
    return where == VTREE_FOUND ? stream_open(node, -1) : NULL;
}

EXPORT DIR *fdopendir(int fd)
{
    const struct vnode *node = vfs_dir_of_fd(fd);
    return node ? stream_open(node, fd) : REAL(fdopendir)(fd);
}

EXPORT int closedir(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    return stream ? stream_close(stream) : REAL(closedir)(dir);
}

EXPORT struct dirent *readdir(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    return stream ? stream_read(stream) : REAL(readdir)(dir);
}

EXPORT struct dirent64 *readdir64(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    return stream ? (struct dirent64 *)stream_read(stream) : REAL(readdir64)(dir);
}

/* readdir_r() is deprecated, but older programs use it. */
static int stream_read_into(struct stream *stream, struct dirent *entry, struct dirent **result)
{
    *result = NULL;
    if (stream_read(stream)) {
        *entry = stream->entry;
        *result = entry;
    }
    return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EXPORT int readdir_r(DIR *restrict dir, struct dirent *restrict entry,
                     struct dirent **restrict result)
{
    struct stream *stream = stream_of(dir);
    return stream ? stream_read_into(stream, entry, result) : REAL(readdir_r)(dir, entry, result);
}

EXPORT int readdir64_r(DIR *restrict dir, struct dirent64 *restrict entry,
                       struct dirent64 **restrict result)
{
    struct stream *stream = stream_of(dir);
    return stream ? stream_read_into(stream, (struct dirent *)entry, (struct dirent **)result)
                  : REAL(readdir64_r)(dir, entry, result);
}
#pragma GCC diagnostic pop

EXPORT void rewinddir(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    if (stream)
        stream->position = 0;
    else
        REAL(rewinddir)(dir);
}

EXPORT long telldir(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    return stream ? stream->position : REAL(telldir)(dir);
}

EXPORT void seekdir(DIR *dir, long position)
{
    struct stream *stream = stream_of(dir);
    if (stream)
        stream->position = position < 0 ? 0 : position;
    else
        REAL(seekdir)(dir, position);
}

EXPORT int dirfd(DIR *dir)
{
    struct stream *stream = stream_of(dir);
    if (!stream)
        return REAL(dirfd)(dir);
    if (stream->fd < 0)
        stream->fd = vfs_open(stream->node, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return stream->fd;
}

struct name_list {
    struct dirent **entry;
    size_t count, room;
};

static bool list_add(struct name_list *list, const struct dirent *entry)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        struct dirent **grown = realloc(list->entry, room * sizeof *grown);
        if (!grown)
            return false;
        list->entry = grown;
        list->room = room;
    }
    struct dirent *copy = malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *entry;
    list->entry[list->count++] = copy;
    return true;
}

typedef int scan_filter(const struct dirent *);
typedef int scan_order(const struct dirent **, const struct dirent **);

/* The C library's own scandir() calls its own opendir(), so it is written again over ours. */
static int node_scan(const struct vnode *node, struct dirent ***out, scan_filter *filter,
                     scan_order *order)
{
    DIR *dir = stream_open(node, -1);
    if (!dir)
        return -1;
    struct stream *stream = (struct stream *)dir;
    struct name_list list = {0};
    struct dirent *entry;
    bool room = true;
    while (room && (entry = stream_read(stream)))
        if (!filter || filter(entry))
            room = list_add(&list, entry);
    stream_close(stream);
    if (!room) {
        while (list.count)
            free(list.entry[--list.count]);
        free(list.entry);
        errno = ENOMEM;
        return -1;
    }
    if (order && list.count)
        qsort(list.entry, list.count, sizeof *list.entry,
              (int (*)(const void *, const void *))order);
    *out = list.entry;
    return (int)list.count;
}

EXPORT int scandir(const char *restrict path, struct dirent ***restrict out, scan_filter *filter,
                   scan_order *order)
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(scandir)(path, out, filter, order);
    return where == VTREE_FOUND ? node_scan(node, out, filter, order) : -1;
}

EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict out,
                     int (*filter)(const struct dirent64 *),
                     int (*order)(const struct dirent64 **, const struct dirent64 **))
{
    const struct vnode *node;
    enum vtree_where where = vfs_find(AT_FDCWD, path, 0, &node);
    if (where == VTREE_ELSEWHERE)
        return REAL(scandir64)(path, out, filter, order);
    return where == VTREE_FOUND
               ? node_scan(node, (struct dirent ***)out, (scan_filter *)filter, (scan_order *)order)
               : -1;
}
