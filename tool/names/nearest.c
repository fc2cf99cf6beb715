#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LENGTH_MAX = 63, FAR = LENGTH_MAX + 1 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The table of the shortest way from each beginning of one to each beginning of the other, of which
 * three rows are needed at a time: swapping looks two back. */
unsigned nearest_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][LENGTH_MAX + 1];
    if (a_length > LENGTH_MAX || b_length > LENGTH_MAX)
        return FAR;
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            row[j] =
                least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void nearest_begin(struct nearest *nearest, const char *wanted)
{
    size_t length = strlen(wanted);
    /* A third of the letters may be wrong, and one of the shortest names. */
    *nearest = (struct nearest){.wanted = wanted, .distance = (unsigned)(length / 3) + 2};
}

void nearest_add(struct nearest *nearest, const char *candidate)
{
    unsigned distance = nearest_distance(nearest->wanted, candidate);
    if (distance >= nearest->distance || distance >= strlen(candidate))
        return;
    nearest->distance = distance;
    nearest->best = candidate;
}
