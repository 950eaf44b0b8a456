/* One thread of a generated program: its block of the components, its view of the arrays. */
#ifndef AUTOTUNE_THREAD_H
#define AUTOTUNE_THREAD_H

enum { MAX_ARRAYS = 16, MAX_PHASES = 16, MAX_DIMENSIONS = 3, MAX_THREADS = 4096 };
enum { LINE_DOUBLES = 8, PAGE_DOUBLES = 512, FLAG_BYTES = 128 };

struct constants; /* of the problem */
struct own;       /* what the generated program keeps for a thread */
struct flag;      /* by which a thread says how far it is, FLAG_BYTES of zeros at first */
struct ranks;     /* of a library: those that solve a problem together */

/* One thread: its block [first, last) of the long or slowest dimension and its view of the arrays. */
struct thread {
    long first, last;
    long id, threads; /* its number in the team, from 0; how many the team has */
    const struct constants *constants;
    struct own *own;
    struct flag *flags; /* of all threads of the team */
    struct ranks *ranks; /* of a library; NULL: there are no others */
    long ld; /* distance of two rows of an array, in doubles */
    long extent[MAX_DIMENSIONS]; /* of a grid: interior points of each dimension, slowest first */
    long stride[MAX_DIMENSIONS]; /* doubles from a point to the next in each dimension */
    long begin, end; /* the block with the ghosts of the slowest dimension that the thread sets */
    double h;
    double cpu; /* seconds of CPU time in the last sample */
    long made;  /* time steps so far */
    double *array[MAX_ARRAYS]; /* exchanged where a program swaps buffers */
    long at_once; /* time steps that one call of step can make; 1 unless initial says otherwise */
    long sweeps;  /* time steps that the next call of step makes: 1 to at_once */
    double *ring; /* of programs with wavefront.h: planes between the first and the last sweep */
    long plane;   /* doubles from one plane of a ring to the next */
    double since;
    double seconds[MAX_PHASES];
    int phase;
} __attribute__((aligned(256)));

static inline double *row(const struct thread *me, int array, long index)
{
    return me->array[array] + index * me->ld;
}

static inline void exchange(struct thread *me, int one, int other)
{
    double *const saved = me->array[one];
    me->array[one] = me->array[other];
    me->array[other] = saved;
}

/* Where part `part` of `parts` of the components [first, last) begins: whole granules. */
static inline long cut(long first, long last, long part, long parts, long granule)
{
    const long blocks = (last - first + granule - 1) / granule;
    const long at = first + granule * (long)((long long)blocks * part / parts);
    return at < last ? at : last;
}

static inline long round_up(long value, long unit)
{
    return (value + unit - 1) / unit * unit;
}

/* With AUTOTUNE_PHASES the time since the last mark goes to the phase that it began. */
#ifdef AUTOTUNE_PHASES
void enter_phase(struct thread *me, int phase);
#define PHASE(number) enter_phase(me, number)
#else
#define PHASE(number) ((void)0)
#endif

#endif
