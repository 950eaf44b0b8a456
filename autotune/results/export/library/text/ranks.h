/* The other ranks of a solver, which take the same steps, each with its block of the components.

   All functions but release are called by the first thread of every rank, in the same order. */
#ifndef AUTOTUNE_RANKS_H
#define AUTOTUNE_RANKS_H

#include "stepper.h"

struct ranks {
    int rank, count;
    int failed; /* a message was not delivered to this rank; of the first thread */
    double sum; /* of the last `add` */
    int lost;   /* by then a message was not delivered to some rank; as `sum` the same on all */
    int (*allows)(long threads); /* whether MPI does, in a solver that this thread calls */
    /* Plans the exchange of rows of a problem; 0: there is no memory. */
    int (*plan)(struct ranks *us, const struct stepper *code, const struct constants *constants,
                long n, int communication);
    /* The largest of each of so many values of all ranks, the same on all; 0: it failed. */
    int (*most)(struct ranks *us, double *values, int count);
    void (*add)(struct ranks *us, double mine); /* to `sum` */
    void (*fetch)(struct ranks *us, double *rows, long count, long ld); /* what others hold of them */
    void (*release)(struct ranks *us);
};

enum { BY_RULE = -1 }; /* in place of the number of a choice */

/* Fetches the remote parts of rows, where there are other ranks. */
static inline void fetch_rows(const struct thread *me, double *rows, long count)
{
    if (me->ranks)
        me->ranks->fetch(me->ranks, rows, count, me->ld);
}

#endif
