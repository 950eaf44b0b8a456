/* Points of a tile of a grid, and those around it, between the first and the last of several sweeps.

   Sweep 0 is the state before the first. Two buffers of a thread take turns. Their rows and planes
   are as far apart as those of the grid, and begin at the same place of a cache line. */
#ifndef AUTOTUNE_OVERLAP_H
#define AUTOTUNE_OVERLAP_H

#include <stdbool.h>

#include "pages.h"

/* The second buffer begins this much later in its page than the first, for the same reason as arrays. */
enum { BUFFER_SHIFT_LINES = 24 };

/* A box of points of the grid, slowest dimension first. */
struct box {
    long begin[MAX_DIMENSIONS], end[MAX_DIMENSIONS];
};

static inline long most(long one, long other)
{
    return one > other ? one : other;
}

static inline long least(long one, long other)
{
    return one < other ? one : other;
}

/* Memory for the boxes of tiles: so many points in each dimension (0: as the thread has), and
   `around` on both sides; returns whether there was any. What the first touch of a page decides, the
   thread decides by its work. */
static inline int claim_buffers(struct thread *me, const long *tile, long around)
{
    long size = LINE_DOUBLES + radius, part, bytes;
    bool large = false;
    for (int d = 0; d < dimensions; d++) {
        const long whole = d == 0 ? me->last - me->first : me->extent[d];
        const long points = (tile[d] > 0 ? least(tile[d], whole) : whole) + 2 * around;
        large |= __builtin_mul_overflow(points, me->stride[d], &part);
        large |= __builtin_add_overflow(size, part, &size);
    }
    me->plane = round_up(size, PAGE_DOUBLES) + BUFFER_SHIFT_LINES * LINE_DOUBLES;
    if (large || __builtin_mul_overflow(2 * me->plane, (long)sizeof(double), &bytes))
        return 0;
    me->ring = claim_pages(2 * me->plane);
    return me->ring != NULL;
}

/* The points that a sweep computes for a tile: its own, and those around it that later sweeps need. */
static inline struct box computed(const struct thread *me, const struct box *tile, long sweep)
{
    const long beyond = radius * (me->sweeps - sweep);
    struct box box;
    for (int d = 0; d < dimensions; d++) {
        box.begin[d] = most(0, tile->begin[d] - beyond);
        box.end[d] = least(me->extent[d], tile->end[d] + beyond);
    }
    return box;
}

/* Where points lie as a sweep leaves them, as a pointer to the interior point 0: in the grid before
   the first sweep and after the last, else in a buffer, which need not hold that point. */
static inline double *points_of(const struct thread *me, int source, int target, long sweep,
                                const struct box *tile)
{
    if (sweep == 0 || sweep == me->sweeps)
        return me->array[sweep ? target : source];
    double *at = me->ring + sweep % 2 * me->plane + radius;
    for (int d = 0; d < dimensions - 1; d++)
        at -= (tile->begin[d] - radius * me->sweeps) * me->stride[d];
    const long before = tile->begin[dimensions - 1] - radius * me->sweeps;
    return at - (before - ((before % LINE_DOUBLES) + LINE_DOUBLES) % LINE_DOUBLES);
}

/* Copies the ghosts beside a box, from one place to another, dimension by dimension; `outside`: all
   points are ghosts already. */
static inline void copy_ghosts(const struct thread *me, double *to, const double *from,
                               const struct box *box, int d, bool outside)
{
    const long begin = box->begin[d], end = box->end[d];
    const long first = begin == 0 ? -(long)radius : begin;
    const long last = end == me->extent[d] ? end + radius : end;
    for (long x = first; x < last; x++) {
        const bool ghost = outside || x < begin || x >= end;
        if (d < dimensions - 1)
            copy_ghosts(me, to + x * me->stride[d], from + x * me->stride[d], box, d + 1, ghost);
        else if (ghost)
            to[x] = from[x];
        else
            x = end - 1;
    }
}

/* Copies the ghosts that sweeps between the first and the last read into the buffers. */
static inline void keep_ghosts(const struct thread *me, int source, const struct box *tile)
{
    const struct box box = computed(me, tile, 1);
    bool reached = false;
    for (int d = 0; d < dimensions; d++)
        reached |= box.begin[d] == 0 || box.end[d] == me->extent[d];
    for (long sweep = 1; reached && sweep < me->sweeps && sweep <= 2; sweep++)
        copy_ghosts(me, points_of(me, source, source, sweep, tile), me->array[source], &box, 0,
                    false);
}

#endif
