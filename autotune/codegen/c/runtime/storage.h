/* Where the arrays of a grid lie: rows are whole cache lines, and padding; ghosts on both sides of a
   dimension. */
#ifndef AUTOTUNE_STORAGE_H
#define AUTOTUNE_STORAGE_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "thread.h"

/* Each array begins this much later in its page than the one before. Were it the same place, loads
   of one would wait for stores to the other that agree in the last 12 bits of their address. */
enum { SHIFT_LINES = 24 };

struct grid_form {
    int dimensions, radius, arrays;
    long pad_lines;
};

struct storage {
    double *base;
    long ld;
    long stride[MAX_DIMENSIONS];
    long distance; /* from array to array */
    long interior; /* from the start of an array to its interior point 0 */
};

/* Sets all but the base; returns whether that many doubles can be addressed. */
static inline bool lay_out(struct storage *s, const struct grid_form *form, const long *extent)
{
    const int last = form->dimensions - 1;
    const long ghosts = 2L * form->radius;
    s->interior = 0;
    s->stride[last] = 1;
    s->ld = round_up(extent[last] + ghosts, LINE_DOUBLES) + LINE_DOUBLES * form->pad_lines;
    long size = s->ld, bytes;
    bool large = false;
    for (int d = last - 1; d >= 0; d--) {
        s->stride[d] = size;
        large |= __builtin_mul_overflow(size, extent[d] + ghosts, &size);
    }
    large |= __builtin_add_overflow(size, PAGE_DOUBLES + SHIFT_LINES * LINE_DOUBLES, &s->distance);
    large |= __builtin_mul_overflow(s->distance, form->arrays * (long)sizeof(double), &bytes);
    if (large || bytes > LONG_MAX / 2)
        return false;
    s->distance = round_up(size, PAGE_DOUBLES) + SHIFT_LINES * LINE_DOUBLES;
    for (int d = 0; d < form->dimensions; d++)
        s->interior += form->radius * s->stride[d];
    return true;
}

/* The arrays as a thread sees them; its planes begin .. end - 1 are touched first by itself. */
static inline void touch(struct thread *me, const struct storage *s, const struct grid_form *form,
                         const long *extent)
{
    me->ld = s->ld;
    memcpy(me->extent, extent, sizeof me->extent);
    memcpy(me->stride, s->stride, sizeof me->stride);
    const size_t bytes = (size_t)(me->end - me->begin) * (size_t)s->stride[0] * sizeof(double);
    for (int a = 0; a < form->arrays; a++) {
        double *const start = s->base + a * s->distance;
        me->array[a] = start + s->interior;
        memset(start + (me->begin + form->radius) * s->stride[0], 0, bytes);
    }
}

#endif
