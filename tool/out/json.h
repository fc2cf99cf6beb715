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
/* Enough digits to be read back as the same number; null where JSON has none. */
void json_double(struct writer *writer, double value);

#endif
