/* The XML file of ROCP_INPUT. */
#ifndef ROCTRACER_TOOL_INPUT_H
#define ROCTRACER_TOOL_INPUT_H

#include "settings.h"

/*
 * Adds what the file asks for. A file with a mistake is reported with its line and asks for what
 * stands before the mistake; text between the elements, such as lines that begin with #, is
 * skipped, and there may be several elements without a common root.
 */
void input_read(struct settings *settings, const char *path);

#endif
