/* What a page of a whole job gets besides rows. `sink` is one of out_html_ops. */
#ifndef OUT_HTML_HTML_H
#define OUT_HTML_HTML_H

#include "out/out.h"

/* The page's own number of the process whose rows come just now (out/process.h). */
uint64_t out_html_process(struct out_sink *sink);
/* A chunk of names and values, two after the other; NULL ends them. */
void out_html_pairs(struct out_sink *sink, const char *kind, const char *const *pairs);
/* Not every row will come: the page shows rows of statistics instead of sums of its own. */
void out_html_short(struct out_sink *sink);

#endif
