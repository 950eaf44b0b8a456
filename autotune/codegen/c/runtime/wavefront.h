/* Planes of a grid that lie between the first and the last of several sweeps, in rings of a thread.

   Sweep 0 is the state before the first. A plane of a ring has the rows of a block and those around
   it, at the distance that rows have in the grid. */
#ifndef AUTOTUNE_WAVEFRONT_H
#define AUTOTUNE_WAVEFRONT_H

#include <string.h>

#include "pages.h"

/* Each plane begins this much later in its page than the one before, for the same reason as arrays. */
enum { RING_SHIFT_LINES = 24 };

static inline long most(long one, long other)
{
    return one > other ? one : other;
}

static inline long least(long one, long other)
{
    return one < other ? one : other;
}

/* Memory for so many planes of so many doubles, touched by the thread that will use it; returns
   whether there was any. */
static inline int claim_rings(struct thread *me, long planes, long doubles)
{
    long size, bytes;
    me->plane = round_up(doubles, PAGE_DOUBLES) + RING_SHIFT_LINES * LINE_DOUBLES;
    if (__builtin_mul_overflow(planes, me->plane, &size)
        || __builtin_mul_overflow(size, (long)sizeof(double), &bytes))
        return 0;
    me->ring = claim_pages(size);
    if (me->ring)
        memset(me->ring, 0, (size_t)bytes);
    return me->ring != NULL;
}

/* A plane as a sweep leaves it, as a pointer to its interior point 0. Planes of ghosts are those of
   the grid. In a ring the first element lies `corner` after the interior point 0. */
static inline double *plane_of(const struct thread *me, int source, int target, long sweep, long plane,
                               long depth, long corner)
{
    const long at = plane * me->stride[0];
    if (sweep == 0 || plane < 0 || plane >= me->extent[0])
        return me->array[source] + at;
    if (sweep == me->sweeps)
        return me->array[target] + at;
    return me->ring + ((sweep - 1) * depth + plane % depth) * me->plane - corner;
}

/* Copies the ghosts at both ends of a row, where the computed points [begin, end) reach them. */
static inline void keep_ends(double *row, const double *u, long begin, long end, long extent,
                             long ghosts)
{
    if (begin == 0)
        for (long g = -ghosts; g < 0; g++)
            row[g] = u[g];
    if (end == extent)
        for (long g = extent; g < extent + ghosts; g++)
            row[g] = u[g];
}

/* The same for the rows [first, last) of a plane, with whole rows of ghosts before and behind. */
static inline void keep_frame(double *plane, const double *u, long first, long last, long rows,
                              long line, long begin, long end, long extent, long ghosts)
{
    const size_t bytes = (size_t)(end - begin + 2 * ghosts) * sizeof(double);
    for (long row = -ghosts; first == 0 && row < 0; row++)
        memcpy(plane + row * line + begin - ghosts, u + row * line + begin - ghosts, bytes);
    for (long row = rows; last == rows && row < rows + ghosts; row++)
        memcpy(plane + row * line + begin - ghosts, u + row * line + begin - ghosts, bytes);
    for (long row = first; row < last; row++)
        keep_ends(plane + row * line, u + row * line, begin, end, extent, ghosts);
}

#endif
