/* A pipeline that writes the state where it lies.

   Other threads read the components near the ends of a thread's block until they have come to the
   next barrier. New values of these are kept apart, in a copy of the array, until then. */
#ifndef AUTOTUNE_IN_PLACE_H
#define AUTOTUNE_IN_PLACE_H

#include <string.h>

#include "thread.h"

/* Components from..to of a thread's block that are all kept apart, or none of them. */
struct part {
    long from, to;
    int apart;
};

/* The part of the components from..to that begins with the first; `border`: how far others read;
   `n`: all components. */
static inline struct part part_of(const struct thread *me, long from, long to, long border, long n)
{
    const long left = me->first > 0 ? me->first + border : 0;
    const long right = me->last < n ? me->last - border : n;
    const int apart = from < left || from >= right;
    const long end = from < left ? left : right;
    return (struct part){from, from < end && end < to ? end : to, apart};
}

static inline void copy_part(struct thread *me, int array, int copy, const struct part *part)
{
    memcpy(row(me, copy, 0) + part->from, row(me, array, 0) + part->from,
           (size_t)(part->to - part->from) * sizeof(double));
}

/* Until end_part a part that is kept apart lies in the copy, with the values that it has. */
static inline void begin_part(struct thread *me, int array, int copy, const struct part *part)
{
    if (!part->apart)
        return;
    copy_part(me, array, copy, part);
    exchange(me, array, copy);
}

static inline void end_part(struct thread *me, int array, int copy, const struct part *part)
{
    if (part->apart)
        exchange(me, array, copy);
}

/* Puts what is kept apart where it belongs. */
static inline void put_back(struct thread *me, int array, int copy, long border, long n)
{
    struct part part = part_of(me, me->first, me->last, border, n);
    for (; part.from < part.to; part = part_of(me, part.to, me->last, border, n))
        if (part.apart)
            copy_part(me, copy, array, &part);
}

#endif
