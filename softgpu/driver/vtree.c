#include "driver/vtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_FOLLOWED_MAX = 8 };

void vtree_init(struct vtree *tree)
{
    memset(tree, 0, sizeof *tree);
    tree->root.kind = VNODE_DIR;
    tree->root.shared = 1;
    tree->root.inode = tree->inodes = 1;
}

static void children_free(struct vnode *node)
{
    while (node->children) {
        struct vnode *child = node->children;
        node->children = child->next;
        children_free(child);
        free(child->name);
        free(child->text);
        free(child);
    }
}

void vtree_clear(struct vtree *tree)
{
    children_free(&tree->root);
    vtree_init(tree);
}

static struct vnode *child_find(const struct vnode *node, const char *name, size_t length)
{
    for (struct vnode *child = node->children; child; child = child->next)
        if (strncmp(child->name, name, length) == 0 && child->name[length] == 0)
            return child;
    return NULL;
}

/* Appends, so that directories list in the order of creation. */
static struct vnode *child_add(struct vtree *tree, struct vnode *node, const char *name,
                               size_t length)
{
    struct vnode *child = calloc(1, sizeof *child);
    char *copy = strndup(name, length);
    if (!child || !copy) {
        free(child);
        free(copy);
        return NULL;
    }
    child->name = copy;
    child->parent = node;
    child->kind = VNODE_DIR;
    child->inode = ++tree->inodes;
    struct vnode **end = &node->children;
    while (*end)
        end = &(*end)->next;
    *end = child;
    return child;
}

static struct vnode *node_make(struct vtree *tree, const char *path)
{
    struct vnode *node = &tree->root;
    while (node) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length == 0)
            return node;
        struct vnode *child = child_find(node, path, length);
        node = child ? child : child_add(tree, node, path, length);
        path += length;
    }
    return NULL;
}

static int text_add(struct vtree *tree, const char *path, const char *text, enum vnode_kind kind)
{
    struct vnode *node = node_make(tree, path);
    char *copy = strdup(text);
    if (!node || !copy) {
        free(copy);
        return -ENOMEM;
    }
    free(node->text);
    node->text = copy;
    node->size_bytes = strlen(copy);
    node->kind = kind;
    return 0;
}

int vtree_add_dir(struct vtree *tree, const char *path)
{
    return node_make(tree, path) ? 0 : -ENOMEM;
}

int vtree_add_file(struct vtree *tree, const char *path, const char *text)
{
    return text_add(tree, path, text, VNODE_FILE);
}

int vtree_add_live(struct vtree *tree, const char *path, vnode_live *live, int gpu)
{
    struct vnode *node = node_make(tree, path);
    if (!node)
        return -ENOMEM;
    node->kind = VNODE_FILE;
    node->size_bytes = VNODE_LIVE_MAX_BYTES; /* sysfs too names a size that no content has */
    node->live = live;
    node->gpu = gpu;
    return 0;
}

int vtree_add_link(struct vtree *tree, const char *path, const char *target)
{
    return text_add(tree, path, target, VNODE_LINK);
}

int vtree_add_device(struct vtree *tree, const char *path, uint32_t minor)
{
    struct vnode *node = node_make(tree, path);
    if (!node)
        return -ENOMEM;
    node->kind = VNODE_DEVICE;
    node->device = minor;
    return 0;
}

int vtree_share(struct vtree *tree, const char *path)
{
    struct vnode *node = node_make(tree, path);
    if (!node)
        return -ENOMEM;
    node->shared = 1;
    return 0;
}

static const struct vnode *step(const struct vnode *node, const char *name, size_t length)
{
    if (length == 1 && name[0] == '.')
        return node;
    if (length == 2 && name[0] == '.' && name[1] == '.')
        return node->parent ? node->parent : node;
    return child_find(node, name, length);
}

static enum vtree_where find(const struct vtree *tree, const struct vnode *from, const char *path,
                             int keep_link, int links_left, const struct vnode **out)
{
    const struct vnode *node = path[0] == '/' ? &tree->root : from;
    while (node) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length == 0)
            break;
        if (node->kind != VNODE_DIR)
            return VTREE_MISSING;
        const struct vnode *next = step(node, path, length);
        if (!next)
            return node->shared ? VTREE_ELSEWHERE : VTREE_MISSING;
        path += length;
        int last = path[strspn(path, "/")] == 0;
        if (next->kind == VNODE_LINK && !(last && keep_link)) {
            if (links_left == 0 ||
                find(tree, NULL, next->text, 0, links_left - 1, &next) != VTREE_FOUND)
                return VTREE_MISSING;
        }
        node = next;
    }
    if (!node || node->shared)
        return VTREE_ELSEWHERE;
    *out = node;
    return VTREE_FOUND;
}

enum vtree_where vtree_find(const struct vtree *tree, const struct vnode *from, const char *path,
                            int keep_link, const struct vnode **node)
{
    if (!path || !*path)
        return VTREE_ELSEWHERE;
    return find(tree, from, path, keep_link, LINKS_FOLLOWED_MAX, node);
}

size_t vnode_path(const struct vnode *node, char *out, size_t size_bytes)
{
    size_t used = 0;
    if (node->parent)
        used = vnode_path(node->parent, out, size_bytes);
    else if (size_bytes)
        out[0] = 0;
    if (!node->parent)
        return 0;
    const char *parts[] = {"/", node->name};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(parts[i]);
        if (used + length < size_bytes)
            memcpy(out + used, parts[i], length + 1);
        used += length;
    }
    return used;
}
