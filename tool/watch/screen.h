/* The terminal as a page that is drawn anew, and as it was before. Single thread. */
#ifndef WATCH_SCREEN_H
#define WATCH_SCREEN_H

#include <stdbool.h>

/* Whether there is one: standard output is a terminal that can move its cursor. */
bool screen_is_there(void);

/* Another page, no cursor, keys without Enter. Restored at exit() in any case. */
void screen_enter(void);
void screen_leave(void); /* does nothing when it was not entered */

/* Keeps what is printed between the two within the page. */
void screen_draw_begin(void);
__attribute__((format(printf, 1, 2))) void screen_line(const char *format, ...);
void screen_draw_end(void);
/* Lines that still fit. */
int screen_lines_left(void);

#endif
