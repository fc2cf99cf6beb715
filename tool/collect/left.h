/* Programs that a process becomes and where we cannot follow: told to crocprof, for the case that
 * nothing is collected in the end. */
#ifndef COLLECT_LEFT_H
#define COLLECT_LEFT_H

/* Calls only what a child of vfork() may. */
void left_tell(const char *path, char *const environment[]);

#endif
