/* Writes a trace as an OTF2 archive. */
#ifndef OUT_OTF2_ARCHIVE_H
#define OUT_OTF2_ARCHIVE_H

#include <stddef.h>

#include "library.h"
#include "trace.h"

/* As DIRECTORY/NAME.otf2, NAME.def and NAME/, where nothing of these names is. The events are
 * taken. 0, or -errno with a message. */
int archive_write(const struct otf2_library *library, const char *directory, const char *name,
                  struct trace *trace, char *error, size_t error_size);

#endif
