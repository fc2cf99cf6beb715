/*
 * late_codes_test LIBRARY LIST [NAME]: numbers of HIP's functions that a tool asked for before HIP
 * came, and a HIP that has another function by that number. The LIBRARY is played: it numbers its
 * functions as the LIST does, but has none of that NAME.
 */
#include <roctracer/roctracer.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("late_codes_test.c:%d: %s\n", __LINE__, #condition);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { TEXT_BYTES = 4096 };

static const char *const asked[] = {"__hipPopCallConfiguration", "hipMalloc", "hipFree"};
enum { ASKED = sizeof asked / sizeof asked[0] };

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
}

/* What the library said on stderr while HIP came. */
static void hip_comes(const char *path, char *text)
{
    FILE *file = tmpfile();
    CHECK(file && dup2(fileno(file), STDERR_FILENO) >= 0);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL));
    CHECK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, on_call, NULL) ==
          ROCTRACER_STATUS_SUCCESS);
    rewind(file);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = 0;
}

int main(int argc, char **argv)
{
    const char *missing = argc > 3 ? argv[3] : "";
    char text[TEXT_BYTES], said[256];
    uint32_t numbers[ASKED];
    CHECK(argc >= 3);
    setenv("DOUBLE_TRACER_LIST", argv[2], 1);
    setenv("DOUBLE_TRACER_WRONG", missing, 1);
    for (int i = 0; i < ASKED; i++)
        CHECK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, asked[i], &numbers[i], NULL) ==
              ROCTRACER_STATUS_SUCCESS);
    CHECK(numbers[0] == 1); /* the first there is */
    hip_comes(argv[1], text);
    printf("%s", text);
    for (int i = 0; i < ASKED; i++) {
        snprintf(said, sizeof said, "the operation of %s was said to be %u;", asked[i], numbers[i]);
        CHECK((strstr(text, said) != NULL) == !strcmp(asked[i], missing));
    }
    return 0;
}
