/* Names of traced functions, one after another; generated tables keep places in them. Made by
 * gen/api_names.py. */
#ifndef MODEL_API_TEXTS_H
#define MODEL_API_TEXTS_H

extern const char api_texts[];

#endif
