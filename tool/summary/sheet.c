#include "sheet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wait.h"

/* Memory is taken as it is used. */
enum { SHEET_BYTES = 1 << 20, LOCK_TRIES = 1000, LOCK_STEP_NS = 1000 * 1000 };

void sheet_begin(struct sheet *sheet, FILE *target)
{
    *sheet = (struct sheet){.file = target, .target = target};
    fflush(target);
    int copy = fcntl(fileno(target), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *file = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (copy >= 0 && !file)
        close(copy);
    if (!file)
        return;
    sheet->buffer = malloc(SHEET_BYTES);
    if (sheet->buffer)
        setvbuf(file, sheet->buffer, _IOFBF, SHEET_BYTES);
    sheet->file = file;
}

/*
 * A terminal and a file take one write as a whole. A pipe without room for it takes it in parts,
 * and those of other processes between them: so they wait for each other, by a description of their
 * own, since one that was inherited is one owner. Nobody waits for a process that is stopped for
 * more than a second or so. -1: no pipe, or nobody reads it.
 */
static int pipe_lock(int number)
{
    struct stat status;
    char path[32];
    if (fstat(number, &status) != 0 || !S_ISFIFO(status.st_mode))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    int lock = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    for (int i = 0; lock >= 0 && i < LOCK_TRIES && flock(lock, LOCK_EX | LOCK_NB) != 0; i++)
        wait_pause(LOCK_STEP_NS);
    return lock;
}

bool sheet_end(struct sheet *sheet)
{
    if (sheet->file == sheet->target)
        return !ferror(sheet->file) && fflush(sheet->file) == 0;
    int lock = pipe_lock(fileno(sheet->file));
    bool wrote = fflush(sheet->file) == 0 && !ferror(sheet->file);
    int error = errno;
    if (lock >= 0)
        close(lock);
    if (fclose(sheet->file) != 0 && wrote) {
        error = errno;
        wrote = false;
    }
    free(sheet->buffer);
    errno = error;
    return wrote;
}
