/* What the measuring main program and the generated time step know of each other. */
#ifndef AUTOTUNE_PROGRAM_H
#define AUTOTUNE_PROGRAM_H

#include "thread.h"

/* The generated program. */
extern const int array_count;
extern const int array_rows[];
extern const int solution; /* the array that holds the state */
extern const long pad_lines;
extern const long granule; /* blocks of ranks and threads are multiples of it */
extern const double start_time;
extern const int phase_count;
extern const char *const phase_names[];

/* Of a program on components j: */
long dimension(long N);               /* n */
struct constants *setup(long N, long n); /* before the threads start; NULL: no memory, or an index
                                            array that points outside y */

/* Of a program on a grid: arrays point to the interior point 0. */
extern const int dimensions;
extern const int radius;              /* ghost points on each side of each dimension */
struct constants *setup_grid(const long *extent); /* before the threads start; NULL: no memory */

void discard(struct constants *made);
int ready(struct thread *me);         /* before its first step; 0: there is no memory */
void release(struct thread *me);
void initial(struct thread *me);      /* initial values of the block */
void step(struct thread *me, double t); /* me->sweeps time steps; called by all threads of the team */

/* The components of the state in order, in rows of contiguous ones. */
struct state {
    const double *y;
    long planes, lines, length;
    long plane, line; /* doubles from one to the next */
};

static inline long rows_of(const struct state *s)
{
    return s->planes * s->lines;
}

static inline const double *row_of(const struct state *s, long row)
{
    return s->y + row / s->lines * s->plane + row % s->lines * s->line;
}

/* What ranks divide: an array is so many pieces of so many doubles, the components of a vector or the
   planes of a grid with their ghosts; the first begins `lead` doubles before element 0. */
struct pieces {
    long count, doubles, lead;
};

/* A stretch of time steps: seconds of wall time, CPU time over (threads x wall time), switches. */
struct trial {
    double wall, busy;
    long voluntary, involuntary;
};

/* Prints a message and ends the program, every rank of it, with exit code 2. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

/* The value of an option; fails where it is no whole number in [low, high]. */
long whole(const char *option, const char *text, long low, long high);

/* So many doubles from the start of a page on, untouched; fails where there is no such memory. */
double *claim(long doubles);

#endif
