/* What a right-hand side reads of components that another rank may hold. */
#ifndef AUTOTUNE_READING_H
#define AUTOTUNE_READING_H

/* The components j of a stretch, within rows only some columns, read y[j + shift]. */
struct reading {
    long lower, upper, shift;
    long row, begin, end; /* row 0: no rows */
};

#endif
