/* JSON, as far as the rest of it is not just commas. */
#ifndef OUT_JSON_H
#define OUT_JSON_H

#include "writer.h"

/* The text in quotes. Bytes that are no UTF-8 become U+FFFD: a JSON text has none. */
void json_text(struct writer *writer, const char *text);
/* Length of the UTF-8 character that begins at `at`, 0 if none does. */
size_t json_character_length(const char *at);
/* What is JSON already. */
void json_raw(struct writer *writer, const char *text);
/* "NAME": of a member, and whole ones with the comma behind them. A handle is {"handle":number}. */
void json_member(struct writer *writer, const char *name);
void json_member_u64(struct writer *writer, const char *name, uint64_t value);
void json_member_text(struct writer *writer, const char *name, const char *text);
void json_member_handle(struct writer *writer, const char *name, uint64_t handle);
/* Enough digits to be read back as the same number; null where JSON has none. */
void json_double(struct writer *writer, double value);

#endif
