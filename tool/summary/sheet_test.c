#include "sheet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 5, LINES = 1000 };

/* A line is printed in two parts, as tables do. */
static void sheet_print(FILE *target, int who)
{
    struct sheet sheet;
    sheet_begin(&sheet, target);
    for (int line = 0; line < LINES; line++) {
        fprintf(sheet.file, "%d ", who);
        fprintf(sheet.file, "%d\n", line);
    }
    assert_true(sheet_end(&sheet));
}

/* The sheets in `text`, in any order, each in one piece. */
static void sheets_check(const char *text)
{
    bool seen[PROCESSES] = {0};
    for (int sheet = 0; sheet < PROCESSES; sheet++) {
        int who = *text - '0';
        assert_in_range(who, 0, PROCESSES - 1);
        assert_false(seen[who]);
        seen[who] = true;
        for (int line = 0; line < LINES; line++) {
            char wanted[32];
            size_t length = (size_t)snprintf(wanted, sizeof wanted, "%d %d\n", who, line);
            assert_memory_equal(text, wanted, length);
            text += length;
        }
    }
    assert_string_equal(text, "");
}

static size_t all_read(int from, char *text, size_t bytes)
{
    size_t used = 0;
    ssize_t got;
    while ((got = read(from, text + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = 0;
    return used;
}

/* Each sheet is twice what the pipe holds, so that nobody's fits. */
static void sheets_of_processes_do_not_mix_in_a_pipe(void **state)
{
    static char text[PROCESSES * LINES * 8];
    int ends[2], status;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    for (int who = 0; who < PROCESSES; who++)
        if (fork() == 0) {
            FILE *target = fdopen(ends[1], "w");
            setvbuf(target, NULL, _IONBF, 0);
            sheet_print(target, who);
            _exit(0);
        }
    close(ends[1]);
    all_read(ends[0], text, sizeof text);
    close(ends[0]);
    for (int who = 0; who < PROCESSES; who++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    sheets_check(text);
}

/* A socket of packets shows each write. */
static void a_sheet_is_one_write(void **state)
{
    static char text[LINES * 8];
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    FILE *target = fdopen(ends[1], "w");
    setvbuf(target, NULL, _IONBF, 0);
    sheet_print(target, 0);
    ssize_t first = recv(ends[0], text, sizeof text, 0);
    assert_true(first > LINES * 4);
    assert_int_equal(text[first - 1], '\n');
    assert_int_equal(recv(ends[0], text, sizeof text, MSG_DONTWAIT), -1);
    fclose(target);
    close(ends[0]);
}

/* What was printed before stands before it; what fails is said. */
static void sheets_keep_their_place(void **state)
{
    char text[64];
    int ends[2];
    struct sheet sheet;
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    FILE *target = fdopen(ends[1], "w");
    fputs("before ", target);
    sheet_begin(&sheet, target);
    fputs("sheet ", sheet.file);
    assert_true(sheet_end(&sheet));
    fputs("behind", target);
    fflush(target);
    text[read(ends[0], text, sizeof text - 1)] = 0;
    assert_string_equal(text, "before sheet behind");
    close(ends[0]);
    sheet_begin(&sheet, target);
    fputs("nobody reads", sheet.file);
    assert_false(sheet_end(&sheet));
    fclose(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_of_processes_do_not_mix_in_a_pipe),
        cmocka_unit_test(a_sheet_is_one_write),
        cmocka_unit_test(sheets_keep_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
