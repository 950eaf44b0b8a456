/* The code of one choice: the time step of a variant, and what it needs. */
#ifndef AUTOTUNE_STEPPER_H
#define AUTOTUNE_STEPPER_H

#include "thread.h"

struct callback; /* a right-hand side that the caller gives */
struct reading;

struct stepper {
    int array_count;
    const int *array_rows; /* rows of each array */
    int solution;          /* the array of the state */
    int embedded;          /* the array of the approximation of lower order; -1: none */
    long pad_lines;
    long granule; /* blocks of threads are multiples of it */
    double start_time;
    long (*dimension)(long N);
    struct constants *(*setup)(long N, long n, struct callback *given); /* NULL: no memory */
    void (*discard)(struct constants *made);
    double (*bound)(const struct constants *of); /* of |lambda| of the Jacobian; 0: not known */
    int (*ready)(struct thread *me);             /* 0: no memory */
    void (*release)(struct thread *me);
    void (*initial)(struct thread *me); /* NULL: the caller has the initial values */
    void (*step)(struct thread *me, double t);
    void (*derivative)(const struct thread *of, double t, const double *y, double *dy);
    const struct stepper *fixed; /* of steps of a given size, which leaves out what only that
                                    approximation needs; NULL: this code has none */
    /* Of the code of several ranks: what it reads of components of others. */
    int reading_count;
    void (*readings)(const struct constants *of, struct reading *all);
    long (*access_distance)(const struct constants *of);
};

#endif
