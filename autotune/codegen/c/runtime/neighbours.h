/* Threads wait for their neighbours only: for those whose blocks lie within a reach of their own.

   A thread counts in its flag how often it has waited, and goes on when every neighbour has counted
   as far. It publishes by the count what it has written and read before (release), and sees what
   its neighbours published (acquire). Threads without components have no neighbours. */
#ifndef AUTOTUNE_NEIGHBOURS_H
#define AUTOTUNE_NEIGHBOURS_H

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "thread.h"

/* Of a thread; two lines apart, since some processors fetch lines in pairs. */
struct flag {
    _Alignas(2 * LINE_DOUBLES * sizeof(double)) atomic_long count;
};

_Static_assert(sizeof(struct flag) == FLAG_BYTES, "thread.h is wrong");

/* A thread that has looked so often gives its core to others. Where there are more threads than
   cores, one of these may be what it waits for. */
enum { LOOKS = 1000 };

struct neighbours {
    long id, threads;
    long first, last; /* threads first .. last, modulo the number of threads */
    long count, looks;
    struct flag *flags; /* of all threads */
};

/* The neighbours of a thread; `around`: the first component is beside the last one. */
static inline struct neighbours neighbours_of(const struct thread *me, long n, long reach,
                                              int around, long granule)
{
    struct neighbours us = {.id = me->id, .threads = me->threads, .flags = me->flags};
    us.first = us.last = us.id;
    us.looks = us.threads > omp_get_num_procs() ? 0 : LOOKS;
    if (me->first == me->last)
        return us;
    const long least = around ? us.id - us.threads + 1 : 0;
    const long most = around ? us.id + us.threads - 1 : us.threads - 1;
    for (long t = least; t < us.first; t++) {
        const long end = t < 0 ? cut(0, n, t + us.threads + 1, us.threads, granule) - n
                               : cut(0, n, t + 1, us.threads, granule);
        if (end > me->first - reach)
            us.first = t;
    }
    for (long t = most; t > us.last; t--) {
        const long begin = t < us.threads ? cut(0, n, t, us.threads, granule)
                                          : cut(0, n, t - us.threads, us.threads, granule) + n;
        if (begin < me->last + reach)
            us.last = t;
    }
    return us;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void wait_for_neighbours(struct neighbours *us)
{
    const long count = ++us->count;
    atomic_store_explicit(&us->flags[us->id].count, count, memory_order_release);
    for (long t = us->first; t <= us->last; t++) {
        const long id = t < 0 ? t + us->threads : t < us->threads ? t : t - us->threads;
        for (long looks = 0; atomic_load_explicit(&us->flags[id].count, memory_order_acquire) < count;)
            if (looks < us->looks) {
                looks++;
                relax();
            } else {
                sched_yield();
            }
    }
}

#endif
