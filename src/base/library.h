/* Libraries of others whose functions we call. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

/* The library that has `code` stays mapped from now on, even when the program closes it: we were
 * given a function of it. Nothing for code of the program itself, or of no library. Takes the
 * dynamic linker's lock. */
void library_keep(const void *code);

/* Where the library begins that has the address; NULL: none has, it is memory of another kind. Who
 * remembers it can tell later whether the library is still there. Takes the dynamic linker's lock.
 */
const void *library_base(const void *address);

#endif
