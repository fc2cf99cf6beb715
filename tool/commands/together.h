/* One database of several recordings, for questions in SQL: in memory, with views over all of them.
 */
#ifndef COMMANDS_TOGETHER_H
#define COMMANDS_TOGETHER_H

#include <stddef.h>

#include "inputs.h"
#include "names/texts.h"
#include "window.h"

struct sqlite3;
struct recording;

struct together {
    struct sqlite3 *database; /* that of the one recording, or one that has them attached */
    struct recording *recording;
    struct texts guids; /* of those that are attached */
};

/* `window`: rows outside of it are not there, in tables and in views. 0, or an exit status after a
 * line. */
int together_open(struct together *together, const struct inputs *inputs,
                  const struct window *window);
void together_close(struct together *together);

#endif
