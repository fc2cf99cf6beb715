/* roctracer_reload TOOL: opens and closes the tool ten times; it must neither crash nor stay half
 * alive. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 0; argc == 2 && i < 10; i++) {
        void *tool = dlopen(argv[1], RTLD_NOW | (i % 2 ? RTLD_LOCAL : RTLD_GLOBAL));
        if (!tool) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        dlclose(tool);
    }
    return argc != 2;
}
