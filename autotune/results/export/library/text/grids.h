/* Sweeps over a grid with the code of one choice. Everything that it keeps belongs to one grid.

   Arrays of the caller are rows without padding, with the border on all sides; inside rows are whole
   cache lines. Every thread copies the planes of its block. */
#ifndef AUTOTUNE_GRIDS_H
#define AUTOTUNE_GRIDS_H

#include <omp.h>
#include <stdatomic.h>

#include "pages.h"
#include "sweeper.h"

/* In the order of the public header. */
enum code { DONE, NO_MEMORY, BAD_ARGUMENT, BAD_SIZE, MISALIGNED, FEW_THREADS, BUSY, OVERLAP };

static const long MOST_POINTS = LONG_MAX / 16;

struct grid {
    const struct sweeper *code;
    struct constants *constants;
    struct thread *team;
    struct storage storage;
    long extent[MAX_DIMENSIONS], elements; /* interior points; of an array of the caller */
    long threads;
    atomic_flag busy;
};

/* What all threads do with their blocks. Arrays: the state, then the coefficients; NULL: none. */
struct job {
    int initial; /* 1: begin with the values of the definition */
    long sweeps;
    const double *in[MAX_ARRAYS];
    double *out[MAX_ARRAYS];
};

/* --- storage ---------------------------------------------------------------------------- */

/* Points of a grid with a border so wide; -1: there is no such grid. */
static long points(const struct sweeper *code, const long *extent, long border)
{
    long count = 1;
    for (int d = 0; d < code->form.dimensions; d++) {
        if (extent[d] < code->form.radius || extent[d] > INT_MAX
            || __builtin_mul_overflow(count, extent[d] + 2 * border, &count)
            || count > MOST_POINTS)
            return -1;
    }
    return count;
}

static void close_grid(struct grid *g)
{
    for (long i = 0; g->team && i < g->threads; i++)
        g->code->release(&g->team[i]);
    if (g->constants)
        g->code->discard(g->constants);
    free(g->team);
    free(g->storage.base);
}

/* The block of a thread; the first and the last have the borders. */
static int place(struct grid *g, struct thread *me, long id)
{
    const struct sweeper *const code = g->code;
    const long planes = g->extent[0];
    me->id = id;
    me->threads = g->threads;
    me->constants = g->constants;
    me->phase = -1;
    me->at_once = me->sweeps = 1;
    me->first = cut(0, planes, id, g->threads, code->granule);
    me->last = cut(0, planes, id + 1, g->threads, code->granule);
    me->begin = id ? me->first : -code->form.radius;
    me->end = id + 1 < g->threads ? me->last : planes + code->form.radius;
    touch(me, &g->storage, &code->form, g->extent);
    if (!code->ready(me))
        return 0;
    code->initial(me);
    return 1;
}

static enum code open_grid(struct grid *g, const struct sweeper *code, const long *extent,
                           long threads)
{
    g->code = code;
    memcpy(g->extent, extent, (size_t)code->form.dimensions * sizeof *extent);
    g->elements = points(code, extent, code->form.radius);
    if (!lay_out(&g->storage, &code->form, extent))
        return NO_MEMORY;
    void *team = NULL;
    g->threads = code->alone ? 1 : threads;
    const size_t bytes = (size_t)g->threads * sizeof *g->team;
    g->storage.base = claim_pages(code->form.arrays * g->storage.distance);
    if (!g->storage.base || posix_memalign(&team, _Alignof(struct thread), bytes))
        return NO_MEMORY;
    g->team = memset(team, 0, bytes);
    g->constants = code->setup(extent);
    if (!g->constants)
        return NO_MEMORY;
    int lacking = 0;
#pragma omp parallel num_threads((int)g->threads) reduction(+ : lacking)
    {
#pragma omp single
        g->threads = omp_get_num_threads();
        const long id = omp_get_thread_num();
        lacking += !place(g, &g->team[id], id);
    }
    return lacking ? NO_MEMORY : DONE;
}

/* --- one thread ------------------------------------------------------------------------- */

/* Rows of a plane with its borders, and elements of a row. */
static long lines_of(const struct grid *g)
{
    return g->code->form.dimensions < 3 ? 1 : g->extent[1] + 2L * g->code->form.radius;
}

static long length_of(const struct grid *g)
{
    return g->extent[g->code->form.dimensions - 1] + 2L * g->code->form.radius;
}

/* Where a row lies in an array of the caller. */
static long given_row(const struct grid *g, long plane, long line)
{
    return ((plane + g->code->form.radius) * lines_of(g) + line) * length_of(g);
}

/* The same row in an array of the grid. */
static double *stored_row(const struct grid *g, const struct thread *me, int array, long plane,
                          long line)
{
    const struct grid_form *const form = &g->code->form;
    const long within = form->dimensions < 3 ? 0 : (line - form->radius) * me->stride[1];
    return me->array[array] + plane * me->stride[0] + within - form->radius;
}

/* Copies the planes of a thread into an array; `whole`: 0 for the border only. */
static void take(const struct grid *g, const struct thread *me, int array, const double *from,
                 int whole)
{
    const long lines = lines_of(g), length = length_of(g), radius = g->code->form.radius;
    for (long plane = me->begin; plane < me->end; plane++)
        for (long line = 0; line < lines; line++) {
            double *const to = stored_row(g, me, array, plane, line);
            const double *const row = from + given_row(g, plane, line);
            const int outside = plane < 0 || plane >= g->extent[0]
                                || (lines > 1 && (line < radius || line >= lines - radius));
            if (whole || outside) {
                memcpy(to, row, (size_t)length * sizeof(double));
            } else {
                memcpy(to, row, (size_t)radius * sizeof(double));
                memcpy(to + length - radius, row + length - radius,
                       (size_t)radius * sizeof(double));
            }
        }
}

static void give(const struct grid *g, const struct thread *me, int array, double *to)
{
    const long lines = lines_of(g), length = length_of(g);
    for (long plane = me->begin; plane < me->end; plane++)
        for (long line = 0; line < lines; line++)
            memcpy(to + given_row(g, plane, line), stored_row(g, me, array, plane, line),
                   (size_t)length * sizeof(double));
}

static void do_block(const struct grid *g, struct thread *me, const struct job *job)
{
    const struct sweeper *const code = g->code;
    if (job->initial)
        code->initial(me);
    for (int a = 0; a < code->form.arrays; a++)
        if (job->in[code->stored[a]])
            take(g, me, a, job->in[code->stored[a]], code->stored[a] || a == code->solution);
#pragma omp barrier
    for (long k = 0; k < job->sweeps; k += me->sweeps) {
        me->sweeps = job->sweeps - k < me->at_once ? job->sweeps - k : me->at_once;
        code->step(me, 0.0);
    }
#pragma omp barrier
    for (int a = 0; a < code->form.arrays; a++)
        if (job->out[code->stored[a]] && (code->stored[a] || a == code->solution))
            give(g, me, a, job->out[code->stored[a]]);
}

/* --- all threads ------------------------------------------------------------------------ */

static int share(const double *one, const double *other, long elements)
{
    return one && other && (uintptr_t)one < (uintptr_t)(other + elements)
           && (uintptr_t)other < (uintptr_t)(one + elements);
}

/* What is wrong with the arrays of a job: only the array that goes in may come out. */
static enum code wrong_arrays(const struct grid *g, const struct job *job)
{
    for (int a = 0; a < MAX_ARRAYS; a++)
        if ((uintptr_t)job->in[a] % _Alignof(double) || (uintptr_t)job->out[a] % _Alignof(double))
            return MISALIGNED;
    for (int a = 0; a < MAX_ARRAYS; a++)
        for (int b = 0; b < MAX_ARRAYS; b++)
            if (a != b && (share(job->out[a], job->out[b], g->elements)
                           || share(job->out[a], job->in[b], g->elements)))
                return OVERLAP;
    return DONE;
}

/* Runs a job on the team of the grid. */
static enum code run_job(struct grid *g, const struct job *job)
{
    if (!g || job->sweeps < 0)
        return BAD_ARGUMENT;
    const enum code wrong = wrong_arrays(g, job);
    if (wrong != DONE)
        return wrong;
    if (atomic_flag_test_and_set(&g->busy))
        return BUSY;
    int few = 0;
#pragma omp parallel num_threads((int)g->threads)
    {
        if (omp_get_num_threads() != g->threads) {
#pragma omp master
            few = 1;
        } else {
            do_block(g, &g->team[omp_get_thread_num()], job);
        }
    }
    atomic_flag_clear(&g->busy);
    return few ? FEW_THREADS : DONE;
}

#endif
