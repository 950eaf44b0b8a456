/* The code of one choice: the time step of a variant on a grid, and what it needs. */
#ifndef AUTOTUNE_SWEEPER_H
#define AUTOTUNE_SWEEPER_H

#include "storage.h"

struct sweeper {
    struct grid_form form;
    int solution;      /* the array of the state */
    const int *stored; /* of each array: 0 for the state and its copies, else which coefficient */
    long granule;      /* blocks of threads are multiples of it */
    int alone;         /* 1: points follow one another in an order that only one thread keeps */
    struct constants *(*setup)(const long *extent); /* NULL: no memory */
    void (*discard)(struct constants *made);
    int (*ready)(struct thread *me); /* 0: no memory */
    void (*release)(struct thread *me);
    void (*initial)(struct thread *me);
    void (*step)(struct thread *me, double t);
};

#endif
