/* The shape of a program on the components of a vector: size, storage, blocks of threads.
   Programs on a grid have another file of this name. */
#ifndef AUTOTUNE_SHAPE_H
#define AUTOTUNE_SHAPE_H

#include <limits.h>
#include <string.h>

#include "program.h"
#include "ranks.h"

enum { TAKES_H = 1 };
static const long MOST_COMPONENTS = INT_MAX;

struct shape {
    long size, n;
};

struct storage {
    double *base;
    long ld;
    long rows;
};

static inline struct shape read_shape(const char *option, const char *text)
{
    const long size = whole(option, text, 1, LONG_MAX / 16);
    return (struct shape){.size = size, .n = dimension(size)};
}

static inline long components(const struct shape *shape)
{
    return shape->n;
}

static inline struct constants *begin(const struct shape *shape)
{
    return setup(shape->size, shape->n);
}

/* All rows of all arrays, one after the other. */
static inline struct storage allocate(const struct shape *shape)
{
    struct storage s = {.rows = 0};
    for (int a = 0; a < array_count; a++)
        s.rows += array_rows[a];
    s.ld = pad_lines ? round_up(shape->n, PAGE_DOUBLES) + LINE_DOUBLES * pad_lines
                     : round_up(shape->n, LINE_DOUBLES);
    if (s.ld > LONG_MAX / (long)sizeof(double) / s.rows - PAGE_DOUBLES)
        fail("%ld rows of %ld components are more than can be addressed", s.rows, s.ld);
    s.base = claim(s.rows * s.ld);
    return s;
}

/* The block of a thread, and its part of every row touched. */
static inline void place(struct thread *me, const struct storage *s, const struct shape *shape,
                         int id, long threads)
{
    const long own = cut(0, shape->n, rank(), rank_count(), granule);
    const long end_of_own = cut(0, shape->n, rank() + 1, rank_count(), granule);
    me->first = cut(own, end_of_own, id, threads, granule);
    me->last = cut(own, end_of_own, id + 1, threads, granule);
    me->ld = s->ld;
    double *row = s->base;
    const long end = me->last == shape->n ? s->ld : me->last;
    for (int a = 0; a < array_count; a++) {
        me->array[a] = row;
        for (int r = 0; r < array_rows[a]; r++, row += s->ld)
            memset(row + me->first, 0, (size_t)(end - me->first) * sizeof(double));
    }
}

static inline struct pieces pieces_of(const struct shape *shape, const struct storage *s)
{
    (void)s;
    return (struct pieces){.count = shape->n, .doubles = 1};
}

static inline struct state state_of(const struct thread *me, const struct shape *shape,
                                    const double *y)
{
    (void)me;
    return (struct state){.y = y, .planes = 1, .lines = 1, .length = shape->n};
}

#endif
