/* Whose tables these are: this process, and the devices that it has. */
#ifndef COLLECT_HEAD_H
#define COLLECT_HEAD_H

#include <stdio.h>

/* For tables_print(). */
void head_print(FILE *file, const void *nothing);

#endif
