/*
 * Whose the files of a name are. Beside the files NAME_... lies .NAME.crocprof, which says of each
 * which one it is (its number and birth) and how it was left, so that the next run of that name may
 * take it away; what somebody else has put there, has changed or replaced, stays. Processes of a
 * run hold a lock on it for as long as they may write (decision 0018).
 */
#ifndef LAUNCH_MANIFEST_H
#define LAUNCH_MANIFEST_H

/* In crocprof, before a run: removes what earlier runs have made under "DIR/NAME" and left as it
 * is, and makes the list for this one. Where the owner of one file cannot be told, all of that
 * number stay (place.h); all stays while an earlier run may still write. */
void manifest_renew(const char *stem);
/* After a run: a list of no files goes, too. */
void manifest_settle(const char *stem);

/* In a process of the run; nothing happens where crocprof has made no list. Before its first file;
 * when it has made one; when files "PREFIX_..." are as they will stay; in a forked child. */
void manifest_hold(const char *stem);
void manifest_add(const char *path);
void manifest_finish(const char *prefix);
void manifest_forget(void);

#endif
