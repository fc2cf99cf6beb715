/* What CROCGPU_TRANSLATE asks for, in a process each; a word that nobody knows is said to be none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "translate/translate.h"
#include "wave/wave.h"

enum { SAID_BYTES = 4096 };

/* The child's choice; `said` is what it wrote to its standard error. */
static int mode_with(const char *word, char said[SAID_BYTES])
{
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (word)
            setenv("CROCGPU_TRANSLATE", word, 1);
        else
            unsetenv("CROCGPU_TRANSLATE");
        _exit((int)translate_mode());
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, SAID_BYTES - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void words_choose(void **state)
{
    static const struct {
        const char *word;
        enum translate_mode mode;
        bool is_known;
    } words[] = {{NULL, TRANSLATE_HOT, true},       {"", TRANSLATE_HOT, true},
                 {"0", TRANSLATE_OFF, true},        {"always", TRANSLATE_AT_ONCE, true},
                 {"never", TRANSLATE_HOT, false},   {"00", TRANSLATE_HOT, false},
                 {"always ", TRANSLATE_HOT, false}, {"%s%n", TRANSLATE_HOT, false}};
    const bool can = strcmp(valu_isa_name(), "portable") != 0;
    char said[SAID_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(mode_with(words[i].word, said), can ? words[i].mode : TRANSLATE_OFF);
        assert_int_equal(!strstr(said, "CROCGPU_TRANSLATE="), words[i].is_known);
        assert_true(words[i].is_known || strstr(said, words[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
