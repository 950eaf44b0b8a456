/* A right-hand side that the caller of a library gives. */
#ifndef AUTOTUNE_CALLBACK_H
#define AUTOTUNE_CALLBACK_H

#include <stdatomic.h>

struct callback {
    int (*f)(long first, long last, double t, const double *y, double *dy, void *data);
    void *data;
    long distance; /* f reads components so far from its range at most; 0: it may read all */
    double bound;  /* of |lambda| of the Jacobian; 0: not known */
    atomic_int failed;
};

/* dy = f(t, y) for a range of components. Once f has failed it is not called any more: threads go on
   to the end of the step, where they find that it has. */
static inline void call_back(struct callback *of, long first, long last, double t, const double *y,
                             double *dy)
{
    if (first < last && !atomic_load_explicit(&of->failed, memory_order_relaxed)
        && of->f(first, last, t, y, dy, of->data))
        atomic_store_explicit(&of->failed, 1, memory_order_relaxed);
}

#endif
