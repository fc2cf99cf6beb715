/*
 * Names of a process's files: NAME_..., or NAME-2_... and so on where files of that number are
 * somebody else's: with NAME made of the process's number, of a process with the same number on
 * another host, in another container or earlier, or of the program that this process was before an
 * exec.
 */
#ifndef OUT_PLACE_H
#define OUT_PLACE_H

#include <limits.h>

enum { PLACE_NUMBER_MAX = 1000000 };

/* The first number, from 1, behind those that have files now; `stem` is "DIR/NAME". Another process
 * may take it at the same time: files are then created exclusively, and the next number is tried.
 */
unsigned place_number(const char *stem);

/* "DIR/PID", cut if it is too long, which place_prefix() then says. */
void place_stem(const char *directory, long pid, char stem[PATH_MAX + 32]);

/* "DIR/NAME" or "DIR/NAME-NUMBER". 0 or -ENAMETOOLONG. */
int place_prefix(const char *stem, unsigned number, char prefix[PATH_MAX]);

/* "DIR/./SUB//NAME" is "DIR/SUB/NAME". ".." stays, since links may be before it, and so does a
 * leading "./". */
void place_tidy(char *path);

/* Removes a file, or a directory with everything in it; no link is followed. */
void place_tree_remove(const char *path);

/* Removes the files "PREFIX_...", and directories of such names. */
void place_remove(const char *prefix);

/* Removes those of them that are files without a byte. */
void place_empty_remove(const char *prefix);

/* Makes the directory and those above it that are not there. 0 or -errno. */
int place_directory_make(const char *path);

/* The same for the directory that the file is to stand in. */
int place_parent_make(const char *path);

#endif
