/* Numbers with units, for people; `text` is returned. */
#ifndef ANALYZE_TEXT_H
#define ANALYZE_TEXT_H

const char *text_bytes(double bytes, char text[32]);
const char *text_seconds(double seconds, char text[32]);

#endif
