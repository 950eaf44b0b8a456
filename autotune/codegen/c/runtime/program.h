/* What the measuring main program and the generated time step know of each other. */
#ifndef AUTOTUNE_PROGRAM_H
#define AUTOTUNE_PROGRAM_H

enum { MAX_ARRAYS = 16, MAX_PHASES = 16, MAX_DIMENSIONS = 3, MAX_THREADS = 4096 };
enum { LINE_DOUBLES = 8, PAGE_DOUBLES = 512 };

/* One thread: its block [first, last) of the long or slowest dimension and its view of the arrays. */
struct thread {
    long first, last;
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
void setup(long N, long n);           /* constants of the problem, before the threads start */

/* Of a program on a grid: arrays point to the interior point 0. */
extern const int dimensions;
extern const int radius;              /* ghost points on each side of each dimension */
void setup_grid(const long *extent);  /* constants of the problem, before the threads start */

void initial(struct thread *me);      /* initial values of the block */
void step(struct thread *me, double t); /* me->sweeps time steps; called by all threads of the team */

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
static inline long cut(long first, long last, long part, long parts)
{
    const long blocks = (last - first + granule - 1) / granule;
    const long at = first + granule * (long)((long long)blocks * part / parts);
    return at < last ? at : last;
}

static inline long round_up(long value, long unit)
{
    return (value + unit - 1) / unit * unit;
}

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

/* With AUTOTUNE_PHASES the time since the last mark goes to the phase that it began. */
#ifdef AUTOTUNE_PHASES
void enter_phase(struct thread *me, int phase);
#define PHASE(number) enter_phase(me, number)
#else
#define PHASE(number) ((void)0)
#endif

#endif
