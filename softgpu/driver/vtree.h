/*
 * A small read-only file tree in memory: what /sys and /dev would hold if the machine had our
 * GPUs. Built once, then immutable, so look-ups need no lock and survive fork. It knows paths and
 * contents and nothing of GPUs; the interposed libc calls serve it.
 */
#ifndef DRIVER_VTREE_H
#define DRIVER_VTREE_H

#include <stddef.h>
#include <stdint.h>

enum vnode_kind { VNODE_DIR, VNODE_FILE, VNODE_LINK, VNODE_DEVICE };

/* Writes what a file holds at this moment, for the GPU of that number, and returns its length. */
typedef size_t vnode_live(int gpu, char *out, size_t size_bytes);
enum { VNODE_LIVE_MAX_BYTES = 256 };

struct vnode {
    char *name;
    struct vnode *parent, *children, *next;
    enum vnode_kind kind;
    int shared;        /* a directory that also exists on the machine: the real one is served */
    char *text;        /* VNODE_FILE: content; VNODE_LINK: absolute target */
    size_t size_bytes; /* of `text` */
    vnode_live *live;  /* VNODE_FILE: called at every open, instead of `text` */
    int gpu;           /* its argument */
    uint32_t device;   /* VNODE_DEVICE: minor number */
    uint64_t inode;
};

struct vtree {
    struct vnode root;
    uint64_t inodes;
};

void vtree_init(struct vtree *tree);
void vtree_clear(struct vtree *tree);

/* Each adds the missing directories above. Directories named here or above an added node belong
 * to us entirely; vtree_share() marks one as the machine's own. Each returns 0 or -ENOMEM. */
int vtree_add_dir(struct vtree *tree, const char *path);
int vtree_add_file(struct vtree *tree, const char *path, const char *text);
/* At most VNODE_LIVE_MAX_BYTES long. */
int vtree_add_live(struct vtree *tree, const char *path, vnode_live *live, int gpu);
int vtree_add_link(struct vtree *tree, const char *path, const char *target);
int vtree_add_device(struct vtree *tree, const char *path, uint32_t minor);
int vtree_share(struct vtree *tree, const char *path);

enum vtree_where {
    VTREE_ELSEWHERE, /* not our business: ask the real file system */
    VTREE_FOUND,
    VTREE_MISSING /* inside a directory of ours, and not there */
};
/* `from` is where a relative path starts (NULL: only absolute paths are ours). Links are
 * followed, the last component too unless `keep_link`. "." and ".." are resolved by name. */
enum vtree_where vtree_find(const struct vtree *tree, const struct vnode *from, const char *path,
                            int keep_link, const struct vnode **node);

/* Writes the absolute path of the node. Returns the length it needs, like snprintf. */
size_t vnode_path(const struct vnode *node, char *out, size_t size_bytes);

#endif
