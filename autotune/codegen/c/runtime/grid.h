/* The shape of a program on a grid: extents, storage with ghosts, blocks of threads.
   Programs on the components of a vector have another file of this name. */
#ifndef AUTOTUNE_SHAPE_H
#define AUTOTUNE_SHAPE_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "ranks.h"
#include "storage.h"

enum { TAKES_H = 0 };
static const long MOST_COMPONENTS = LONG_MAX / 16;

struct shape {
    long extent[MAX_DIMENSIONS];
    long n;
};

static inline struct shape read_shape(const char *option, const char *text)
{
    struct shape s = {.n = 1};
    const char *from = text;
    for (int d = 0; d < dimensions; d++) {
        char *end;
        errno = 0;
        s.extent[d] = strtol(from, &end, 10);
        if (errno || end == from || *end != (d + 1 < dimensions ? 'x' : '\0') || s.extent[d] < 1
            || s.extent[d] > INT_MAX)
            fail("%s must be %d whole numbers from 1 to %d joined by x, not '%s'", option,
                 dimensions, INT_MAX, text);
        if (__builtin_mul_overflow(s.n, s.extent[d], &s.n) || s.n > MOST_COMPONENTS)
            fail("%s %s has more points than can be addressed", option, text);
        from = end + 1;
    }
    return s;
}

static inline long components(const struct shape *shape)
{
    return shape->n;
}

static inline struct constants *begin(const struct shape *shape)
{
    return setup_grid(shape->extent);
}

static inline struct grid_form form_of_arrays(void)
{
    return (struct grid_form){.dimensions = dimensions, .radius = radius, .arrays = array_count,
                              .pad_lines = pad_lines};
}

static inline struct storage allocate(const struct shape *shape)
{
    const struct grid_form form = form_of_arrays();
    struct storage s = {.base = NULL};
    if (!lay_out(&s, &form, shape->extent))
        fail("%d arrays of %ld points are more than can be addressed", array_count, shape->n);
    s.base = claim(array_count * s.distance);
    return s;
}

static inline struct pieces pieces_of(const struct shape *shape, const struct storage *s)
{
    return (struct pieces){.count = shape->extent[0], .doubles = s->stride[0],
                           .lead = s->interior - radius * s->stride[0]};
}

/* The block of a thread, and its planes of every array touched, ghosts with the nearest ones. The
   first and the last thread of a rank have the planes of other ranks that it reads as well. */
static inline void place(struct thread *me, const struct storage *s, const struct shape *shape,
                         int id, long threads)
{
    const long planes = shape->extent[0];
    const long from = cut(0, planes, rank(), rank_count(), granule);
    const long to = cut(0, planes, rank() + 1, rank_count(), granule);
    const long reach = ranks_reach(me->constants), low = from - reach, high = to + reach;
    me->first = cut(from, to, id, threads, granule);
    me->last = cut(from, to, id + 1, threads, granule);
    me->begin = id ? me->first : from == 0 || low < -radius ? -radius : low;
    me->end = id + 1 < threads                            ? me->last
            : to == planes || high > planes + radius ? planes + radius
                                                     : high;
    const struct grid_form form = form_of_arrays();
    touch(me, s, &form, shape->extent);
}

static inline struct state state_of(const struct thread *me, const struct shape *shape,
                                    const double *y)
{
    const long *const extent = shape->extent, *const stride = me->stride;
    if (dimensions == 2)
        return (struct state){.y = y, .planes = 1, .lines = extent[0], .length = extent[1],
                              .line = stride[0]};
    return (struct state){.y = y, .planes = extent[0], .lines = extent[1], .length = extent[2],
                          .plane = stride[0], .line = stride[1]};
}

#endif
