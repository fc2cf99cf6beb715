#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { COLUMNS_MAX = 512, ROWS_DEFAULT = 24, COLUMNS_DEFAULT = 80 };

static struct {
    bool entered, has_keys, at_exit;
    struct termios keys; /* as they were */
    int rows, columns, row;
} screen;

bool screen_is_there(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

static void keys_take(void)
{
    /* From the background a change of the terminal would stop us. */
    screen.has_keys = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                      tcgetattr(STDIN_FILENO, &screen.keys) == 0;
    struct termios keys = screen.keys;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

void screen_enter(void)
{
    if (screen.entered)
        return;
    screen.entered = true;
    if (!screen.at_exit)
        screen.at_exit = atexit(screen_leave) == 0;
    keys_take();
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
    fflush(stdout);
}

void screen_leave(void)
{
    if (!screen.entered)
        return;
    screen.entered = false;
    fputs("\033[0m\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.keys);
}

void screen_draw_begin(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    screen.rows = known ? size.ws_row : ROWS_DEFAULT;
    screen.columns = known && size.ws_col > 0 ? size.ws_col : COLUMNS_DEFAULT;
    screen.row = 0;
    fputs("\033[H", stdout);
}

int screen_lines_left(void)
{
    return screen.rows - screen.row;
}

/* A name with control characters must not move the cursor. */
static void line_clean(char *line, size_t columns)
{
    size_t length = strlen(line);
    if (length > columns)
        line[columns] = 0;
    for (; *line; line++)
        if ((unsigned char)*line < 0x20 || *line == 0x7f)
            *line = '?';
}

void screen_line(const char *format, ...)
{
    char line[COLUMNS_MAX + 1];
    va_list args;
    if (screen_lines_left() <= 0)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    line_clean(line, (size_t)(screen.columns < COLUMNS_MAX ? screen.columns : COLUMNS_MAX));
    printf("%s%s\033[K", screen.row ? "\r\n" : "", line);
    screen.row++;
}

void screen_draw_end(void)
{
    fputs("\033[J", stdout);
    fflush(stdout);
}
