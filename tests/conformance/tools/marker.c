/* A program with nothing of ours but markers, opened for itself only: marker LIBRARY [TOOL] */
#include <dlfcn.h>
#include <stdio.h>

static void *open_local(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        puts(dlerror());
    return library;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !open_local(argv[2]))
        return 1;
    void *library = argc > 1 ? open_local(argv[1]) : NULL;
    void (*mark)(const char *) = NULL;
    if (library)
        *(void **)&mark = dlsym(library, "roctxMarkA");
    if (!mark)
        return 1;
    mark("alone");
    return 0;
}
