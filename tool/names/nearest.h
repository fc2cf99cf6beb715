/* The name that somebody meant who has typed another one. */
#ifndef NAMES_NEAREST_H
#define NAMES_NEAREST_H

/* How many letters must be put in, taken out, replaced or swapped with their neighbour to make one
 * of the other; case counts nothing. Of names that are longer than 63 letters: 64. */
unsigned nearest_distance(const char *a, const char *b);

/* Feed it candidates; `best` stays NULL while none is near enough to be worth a question. */
struct nearest {
    const char *wanted;
    const char *best;
    unsigned distance;
};

void nearest_begin(struct nearest *nearest, const char *wanted);
/* Keeps the pointer. */
void nearest_add(struct nearest *nearest, const char *candidate);

#endif
