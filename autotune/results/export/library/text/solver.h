/* Takes time steps with the code of one choice: of a given size, or of sizes that keep the error of
   each step within a tolerance. Everything that it keeps belongs to one solver. */
#ifndef AUTOTUNE_SOLVER_H
#define AUTOTUNE_SOLVER_H

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "callback.h"
#include "dense.h"
#include "ranks.h"
#include "stepper.h"

/* In the order of the public header. */
enum code {
    DONE,
    NO_MEMORY,
    BAD_ARGUMENT,
    BAD_SIZE,
    BAD_TOLERANCE,
    MISALIGNED,
    TOO_SMALL,
    NOT_FINITE,
    TOO_MANY_STEPS,
    FEW_THREADS,
    BUSY,
    STOPPED,
    OVERLAP,
    NO_CONTROL,
    BAD_TIMES,
    CALLBACK_FAILED,
    NO_INITIAL,
    NO_CHOICE,
    RANKS_DIFFER,
    FEW_COMPONENTS,
    THREAD_LEVEL,
    BAD_COMMUNICATOR,
    ONE_PROCESS,
    MPI_FAILED
};

enum rule { PI_RULE, I_RULE };

/* What a thread adds to a sum over all components; of two that take turns, so that one barrier
   between writing and reading is enough. */
struct part {
    double sum[2];
} __attribute__((aligned(FLAG_BYTES)));

struct solver {
    const struct stepper *code;
    struct constants *constants;
    struct thread *team;
    struct flag *flags;
    struct part *parts;
    double *base;  /* the rows of all arrays, and one more: */
    double *saved; /* the state at the beginning of a step */
    double *dense; /* rows of dense output; NULL until it is asked for */
    const struct interpolant *interpolant;
    double *spare; /* of solvers that have a callback: a row more */
    struct callback *given; /* NULL: the right-hand side is generated */
    struct ranks *ranks; /* NULL: this process is alone */
    long size, n, ld, threads;
    long first, count; /* the block of this rank */
    int order;     /* of the embedded approximation */
    double limit;  /* of h |lambda| on the negative real axis, beyond which steps are unstable */
    long evaluations; /* of the right-hand side in a step */
    size_t bytes;     /* of the arrays */
    struct rivalry *rivalry; /* of several codes, on line; NULL: the code is given */
    struct solver *fixed; /* takes steps of a given size, over the same arrays; NULL: this does */
    atomic_flag busy;
};

struct wishes {
    double rtol, atol;
    double first_step, largest_step; /* 0: as the solver chooses; none */
    long most_steps;                 /* 0: no limit */
    enum rule rule;
    const double *times; /* between the ends, at which the states are wanted, in order */
    long count;
    double *states; /* at these times, one after the other; NULL: for output only */
    int (*output)(double t, const double *y, void *data);
    void *data;
};

struct work {
    double t;         /* as far as the solver came */
    double next_step; /* the size that it would take next */
    long accepted, rejected;
    long outputs;     /* of the times, those whose states were handed out */
    long evaluations; /* of the right-hand side, also for first steps and states between ends */
    int stiff; /* a stretch of steps was as long as stability allows */
};

enum kind { STEPS, SOLUTION, DERIVATIVE, START, REFUSAL }; /* of a job */

/* Defined in rivals.h. */
static struct solver *owner(struct solver *s);
static void begin_job(struct solver *s, enum kind kind);
static struct solver *running(struct solver *s, enum kind kind);
static struct solver *next_code(struct solver *s, enum kind kind, struct thread **me, double *y);
static void step_done(struct solver *s, enum kind kind);
static void settle(struct solver *s);
static void close_rivalry(struct solver *s);

/* --- storage ---------------------------------------------------------------------------- */

/* Frees all but the arrays. */
static void close_code(struct solver *s)
{
    for (long i = 0; s->team && i < s->threads; i++)
        s->code->release(&s->team[i]);
    if (s->constants)
        s->code->discard(s->constants);
    free(s->team);
    free(s->flags);
    free(s->parts);
    if (s->fixed)
        close_code(s->fixed);
    free(s->fixed);
}

static void close_solver(struct solver *s)
{
    close_rivalry(s);
    close_code(s);
    free(s->base);
    free(s->dense);
    if (s->ranks)
        s->ranks->release(s->ranks);
}

static void *aligned(size_t bytes, size_t alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, (bytes + alignment - 1) / alignment * alignment))
        return NULL;
    return memory;
}

/* Doubles of a row of dense output, whatever the code. */
static long dense_ld(const struct solver *s)
{
    return round_up(s->n, LINE_DOUBLES);
}

/* Rows for dense output, which the threads touch first when they write them; 0: no memory. */
static int open_dense(struct solver *s)
{
    const size_t row = (size_t)dense_ld(s) * sizeof(double);
    if (!s->dense)
        s->dense = aligned((size_t)dense_rows(s->interpolant) * row, PAGE_DOUBLES * sizeof(double));
    return s->dense != NULL;
}

static long rows_of_arrays(const struct stepper *code)
{
    long rows = 0;
    for (int a = 0; a < code->array_count; a++)
        rows += code->array_rows[a];
    return rows;
}

/* The block of a thread, and the rows of the arrays. */
static void view(struct solver *s, struct thread *me, long id)
{
    const struct stepper *const code = s->code;
    me->id = id;
    me->threads = s->threads;
    me->constants = s->constants;
    me->flags = s->flags;
    me->ranks = s->ranks;
    me->ld = s->ld;
    me->phase = -1;
    me->at_once = me->sweeps = 1;
    me->first = cut(s->first, s->first + s->count, id, s->threads, code->granule);
    me->last = cut(s->first, s->first + s->count, id + 1, s->threads, code->granule);
    double *row = s->base;
    for (int a = 0; a < code->array_count; a++) {
        me->array[a] = row;
        row += code->array_rows[a] * s->ld;
    }
}

/* The part of a thread of every row, touched first by the thread itself. */
static void touch(const struct solver *s, const struct thread *me)
{
    const long end = me->last == s->n ? s->ld : me->last;
    const size_t rows = s->bytes / ((size_t)s->ld * sizeof(double));
    for (size_t r = 0; r < rows; r++)
        memset(s->base + (long)r * s->ld + me->first, 0,
               (size_t)(end - me->first) * sizeof(double));
}

/* The rows beside the arrays: the state before a step, and of a solver with a callback one more. */
static long rows_beside(const struct solver *s)
{
    return s->given ? 2 : 1;
}

/* The block of the calling rank; all components where there are no others. */
static void take_block(struct solver *s)
{
    const long rank = s->ranks ? s->ranks->rank : 0, ranks = s->ranks ? s->ranks->count : 1;
    s->first = cut(0, s->n, rank, ranks, s->code->granule);
    s->count = cut(0, s->n, rank + 1, ranks, s->code->granule) - s->first;
}

/* Sets n, the block, ld and the bytes of the arrays with the rows beside them. */
static void lay_out(struct solver *s)
{
    const struct stepper *const code = s->code;
    s->n = code->dimension(s->size);
    take_block(s);
    s->ld = code->pad_lines ? round_up(s->n, PAGE_DOUBLES) + LINE_DOUBLES * code->pad_lines
                            : round_up(s->n, LINE_DOUBLES);
    s->bytes = (size_t)(rows_of_arrays(code) + rows_beside(s)) * (size_t)s->ld * sizeof(double);
}

/* The same for the code and, over the same arrays, that of steps of a given size; 0: no memory. */
static int lay_out_both(struct solver *s)
{
    lay_out(s);
    if (!s->code->fixed)
        return 1;
    struct solver *const fixed = malloc(sizeof *fixed);
    if (!fixed)
        return 0;
    *fixed = *s;
    fixed->code = s->code->fixed;
    lay_out(fixed);
    if (fixed->bytes > s->bytes)
        s->bytes = fixed->bytes;
    s->fixed = fixed;
    return 1;
}

static double *arrays(size_t bytes)
{
    double *const base = aligned(bytes, PAGE_DOUBLES * sizeof(double));
#ifdef MADV_HUGEPAGE
    if (base)
        madvise(base, bytes, MADV_HUGEPAGE);
#endif
    return base;
}

static void use_arrays(struct solver *s, double *base)
{
    s->base = base;
    s->saved = base + rows_of_arrays(s->code) * s->ld;
    s->spare = s->saved + (rows_beside(s) - 1) * s->ld;
    if (s->fixed)
        use_arrays(s->fixed, base);
}

/* What the code needs beside the arrays; returns whether there was memory. */
static int equip(struct solver *s, long threads)
{
    s->flags = aligned((size_t)threads * FLAG_BYTES, FLAG_BYTES);
    s->parts = aligned((size_t)threads * sizeof *s->parts, FLAG_BYTES);
    s->team = aligned((size_t)threads * sizeof *s->team, _Alignof(struct thread));
    if (s->flags)
        memset(s->flags, 0, (size_t)threads * FLAG_BYTES);
    if (s->team)
        memset(s->team, 0, (size_t)threads * sizeof *s->team);
    s->constants = s->code->setup(s->size, s->n, s->given);
    return s->flags && s->parts && s->team && s->constants && (!s->fixed || equip(s->fixed, threads));
}

/* The block of the calling thread, by the code and by that of steps of a given size. */
static void view_both(struct solver *s, long id)
{
    for (struct solver *each = s; each; each = each->fixed)
        view(each, &each->team[id], id);
}

/* What the steps of the calling thread need beside the arrays; returns whether there was memory. */
static int ready_both(struct solver *s, long id)
{
    return s->code->ready(&s->team[id]) && (!s->fixed || s->fixed->code->ready(&s->fixed->team[id]));
}

/* `communication`: how ranks exchange rows, one of enum scheme. */
static enum code open_solver(struct solver *s, const struct stepper *code, long size, long threads,
                             int communication)
{
    s->code = code;
    s->size = size;
    double *const base = lay_out_both(s) ? arrays(s->bytes) : NULL;
    if (!base)
        return NO_MEMORY;
    use_arrays(s, base);
    if (!equip(s, threads))
        return NO_MEMORY;
    if (s->ranks && !s->ranks->plan(s->ranks, code, s->constants, s->n, communication))
        return NO_MEMORY;
    int lacking = 0;
#pragma omp parallel num_threads((int)threads) reduction(+ : lacking)
    {
#pragma omp single
        for (struct solver *each = s; each; each = each->fixed)
            each->threads = omp_get_num_threads();
        const long id = omp_get_thread_num();
        view_both(s, id);
        touch(s, &s->team[id]);
        lacking += !ready_both(s, id);
    }
    return lacking ? NO_MEMORY : DONE;
}

/* --- one thread ------------------------------------------------------------------------- */

static double *state(const struct solver *s, const struct thread *me)
{
    return row(me, s->code->solution, 0);
}

static void copy_block(const struct thread *me, double *to, const double *from)
{
    memcpy(to + me->first, from + me->first, (size_t)(me->last - me->first) * sizeof(double));
}

/* The same between the state and an array of the caller, which holds the block of this rank. */
static void read_block(const struct solver *s, const struct thread *me, double *to, const double *y)
{
    if (me->first < me->last)
        memcpy(to + me->first, y + (me->first - s->first),
               (size_t)(me->last - me->first) * sizeof(double));
}

static void write_block(const struct solver *s, const struct thread *me, double *y)
{
    if (me->first < me->last)
        memcpy(y + (me->first - s->first), state(s, me) + me->first,
               (size_t)(me->last - me->first) * sizeof(double));
}

/* The sum of what all threads give, the same on each; called by all, `turn` by turn. */
static double total(const struct solver *s, const struct thread *me, double mine, long turn)
{
    s->parts[me->id].sum[turn % 2] = mine;
#pragma omp barrier
    double sum = 0.0;
    for (long i = 0; i < s->threads; i++)
        sum += s->parts[i].sum[turn % 2];
    if (!s->ranks)
        return sum;
#pragma omp master
    s->ranks->add(s->ranks, sum);
#pragma omp barrier
    return s->ranks->sum;
}

/* Whether all messages arrived before the last `total`, the same for every thread of every rank. */
static int delivered(const struct solver *s)
{
    return !s->ranks || !s->ranks->lost;
}

static int has_failed(const struct solver *s)
{
    return s->given && atomic_load_explicit(&s->given->failed, memory_order_relaxed);
}

/* What a thread adds to a sum: no number where a callback has failed, so that the sum of all threads
   is none. Only then do they look whether one has: before the next barrier none calls it again. */
static double unless_failed(const struct solver *s, double sum)
{
    return has_failed(s) ? NAN : sum;
}

static double finite_sum(const struct thread *me, const double *y)
{
    double sum = 0.0;
    for (long j = me->first; j < me->last; j++)
        sum += y[j] * 0.0;
    return sum;
}

/* The weighted squares of the error estimate of the block. */
static double squares(const struct solver *s, const struct thread *me, const struct wishes *w)
{
    const double *const now = state(s, me), *const low = row(me, s->code->embedded, 0);
    const double *const before = s->saved, rtol = w->rtol, atol = w->atol + DBL_MIN;
    double sum = 0.0;
    for (long j = me->first; j < me->last; j++) {
        const double one = fabs(now[j]), other = fabs(before[j]);
        const double error = (now[j] - low[j]) / (atol + rtol * (one > other ? one : other));
        sum += error * error;
    }
    return sum;
}

/* By how much the next step is longer: the rules are I (the classical one) and PI (Gustafsson 1991,
   with the exponents of Hairer and Wanner, Solving ODEs II, section IV.2). */
static double longer(enum rule rule, int order, double error, double before)
{
    if (!(error > 0.0))
        return 5.0;
    const double k = 1.0 / (order + 1);
    const double factor = rule == PI_RULE ? 0.9 * pow(error, -0.7 * k) * pow(before, 0.4 * k)
                                          : 0.9 * pow(error, -k);
    return factor < 0.2 ? 0.2 : factor > 5.0 ? 5.0 : factor;
}

/* What every thread knows of the steps; all compute the same. */
struct course {
    struct work work;
    struct dense dense;
    double h, error, bound;
    long turn, long_steps;
    enum code code;
};

static int vanishes(double h, double t)
{
    return !(fabs(h) > 16.0 * DBL_EPSILON * fabs(t)) || !(fabs(h) > DBL_MIN);
}

/* One step of size h, accepted or not; the state is then what it was. */
static void try_step(const struct solver *s, struct thread *me, const struct wishes *w,
                     struct course *c, double t1)
{
    struct work *const work = &c->work;
    const double left = t1 - work->t;
    const int last = fabs(c->h) >= fabs(left), shortened = fabs(c->h) > fabs(left);
    const double h = last ? left : c->h;
    if (!last && vanishes(h, work->t)) { /* t would stay where it is while the state goes on */
        c->code = TOO_SMALL;
        return;
    }
    copy_block(me, s->saved, state(s, me));
    me->h = h;
    s->code->step(me, work->t);
    work->evaluations += s->evaluations;
    const double mine = unless_failed(s, squares(s, me, w));
    const double error = sqrt(total(s, me, mine, c->turn++) / (double)s->n);
    if (error <= 1.0) {
        const double factor = longer(w->rule, s->order, error, c->error);
        work->t = last ? t1 : work->t + h;
        work->accepted++;
        if (fabs(h) * c->bound > 0.9 * s->limit)
            c->long_steps++;
        else if (c->long_steps > 0)
            c->long_steps--;
        work->stiff |= c->long_steps >= 50;
        if (!shortened || factor < 1.0) {
            c->h = h * factor;
            c->error = error > 1e-4 ? error : 1e-4;
        }
    } else {
        const double factor = isfinite(error) ? longer(I_RULE, s->order, error, 1.0) : 0.2;
        const int failed = !isfinite(error) && has_failed(s);
        work->rejected++;
        copy_block(me, state(s, me), s->saved);
        c->h = h * (factor < 1.0 ? factor : 0.9);
#pragma omp barrier
        if (failed)
            c->code = CALLBACK_FAILED;
        else if (vanishes(c->h, work->t))
            c->code = isfinite(error) ? TOO_SMALL : NOT_FINITE;
    }
    if (w->largest_step > 0.0 && fabs(c->h) > w->largest_step)
        c->h = copysign(w->largest_step, c->h);
}

/* Whether an output function of any rank asked for the end. */
static int asked_to_stop(const struct solver *s, int here)
{
    double anywhere = here != 0;
    return s->ranks ? !s->ranks->most(s->ranks, &anywhere, 1) || anywhere > 0.0 : here;
}

/* Gives output a state that the threads have written; returns whether the solver goes on. */
static int shown(const struct solver *s, const struct wishes *w, double t, const double *y,
                 int *stopped)
{
#pragma omp barrier
#pragma omp master
    *stopped = asked_to_stop(s, w->output(t, y, w->data));
#pragma omp barrier
    return !*stopped;
}

/* The size of a first step where nothing is known of the Jacobian (Hairer, Norsett, Wanner, Solving
   ODEs I, section II.4), at most `most`, which has its sign; none is finite where f is not. */
static double guessed_step(const struct solver *s, struct thread *me, const struct wishes *w,
                           struct course *c, double most)
{
    const double *const y = state(s, me), n = (double)s->n;
    double *const f0 = s->saved, *const f1 = s->spare, *const later = row(me, s->code->embedded, 0);
    double sizes = 0.0, slopes = 0.0, changes = 0.0;
    s->code->derivative(me, c->work.t, y, f0);
    for (long j = me->first; j < me->last; j++) {
        const double scale = w->atol + DBL_MIN + w->rtol * fabs(y[j]);
        sizes += (y[j] / scale) * (y[j] / scale);
        slopes += (f0[j] / scale) * (f0[j] / scale);
    }
    sizes = sqrt(total(s, me, sizes, c->turn++) / n);
    slopes = sqrt(total(s, me, unless_failed(s, slopes), c->turn++) / n);
    c->work.evaluations++;
    if (!isfinite(slopes))
        return NAN;
    double h = sizes < 1e-5 || slopes < 1e-5 ? 1e-6 : 0.01 * sizes / slopes;
    h = fmin(h, fabs(most));
    for (long j = me->first; j < me->last; j++)
        later[j] = y[j] + copysign(h, most) * f0[j];
#pragma omp barrier
    s->code->derivative(me, c->work.t + copysign(h, most), later, f1);
    for (long j = me->first; j < me->last; j++) {
        const double change = (f1[j] - f0[j]) / (w->atol + DBL_MIN + w->rtol * fabs(y[j]));
        changes += change * change;
    }
    changes = sqrt(total(s, me, unless_failed(s, changes), c->turn++) / n) / h;
    c->work.evaluations++;
    if (!isfinite(changes)) {
        const int failed = has_failed(s);
#pragma omp barrier
        return failed ? NAN : 0.01 * h;
    }
    const double steepest = fmax(slopes, changes);
    const double next = steepest <= 1e-15 ? fmax(1e-6, 1e-3 * h)
                                          : pow(0.01 / steepest, 1.0 / (s->order + 1));
    return fmin(100.0 * h, next);
}

/* Hands out the states at the times of the step from t0, h long, that was accepted last; h = 0:
   those at the beginning. */
static void hand_out(const struct solver *s, struct thread *me, const struct wishes *w,
                     struct course *c, double t0, double h, double *y, int *stopped)
{
    struct work *const work = &c->work;
    const double *const now = state(s, me), t1 = work->t;
    const long before = c->dense.evaluations;
    int fitted = 0;
    for (; c->code == DONE && work->outputs < w->count; work->outputs++) {
        const double t = w->times[work->outputs];
        if (h > 0.0 ? t > t1 : h < 0.0 ? t < t1 : t != t1)
            break;
        double *const to = w->states ? w->states + work->outputs * s->n : y;
        if (t == t1) {
            copy_block(me, to, now);
        } else {
            if (!fitted)
                fit(&c->dense, me, s->code, s->saved, now, t0, h);
            fitted = 1;
            interpolate(&c->dense, me, s->saved, now, h, (t - t0) / h, to);
        }
        if (!isfinite(total(s, me, unless_failed(s, finite_sum(me, to)), c->turn++)))
            c->code = NOT_FINITE;
        else if (w->output && !shown(s, w, t, to, stopped))
            c->code = STOPPED;
    }
    c->dense.derived = fitted;
    work->evaluations += c->dense.evaluations - before;
}

/* Hands out what is wanted of an accepted step. */
static void report(const struct solver *s, struct thread *me, const struct wishes *w,
                   struct course *c, double t0, double *y, int *stopped)
{
    if (w->count > 0) {
        hand_out(s, me, w, c, t0, me->h, y, stopped);
    } else if (w->output) {
        write_block(s, me, y);
        if (!shown(s, w, c->work.t, y, stopped))
            c->code = STOPPED;
    }
}

static struct course solve_block(struct solver *s, struct thread *me,
                                 const struct wishes *w, double t0, double t1, double *y,
                                 int *stopped)
{
    struct course c = {.work = {.t = t0}, .error = 1.0, .bound = s->code->bound(s->constants)};
    double h = w->first_step > 0.0 ? w->first_step : c.bound > 0.0 ? 0.01 * s->limit / c.bound : 0.0;
    read_block(s, me, state(s, me), y);
    if (!isfinite(total(s, me, finite_sum(me, state(s, me)), c.turn++)))
        c.code = NOT_FINITE;
    else if (h == 0.0 && t0 != t1)
        h = guessed_step(s, me, w, &c, t1 - t0);
    if (!isfinite(h))
        c.code = NOT_FINITE;
    if (w->first_step == 0.0) /* an estimate may lie below what t resolves */
        h = fmax(h, 32.0 * DBL_EPSILON * fabs(t0));
    if (w->largest_step > 0.0 && h > w->largest_step)
        h = w->largest_step;
    if (!(h < fabs(t1 - t0)))
        h = fabs(t1 - t0);
    c.h = copysign(h, t1 - t0);
    if (w->count > 0) {
        c.dense = dense_in(owner(s)->interpolant, owner(s)->dense, dense_ld(s));
        hand_out(s, me, w, &c, t0, 0.0, y, stopped);
    }
    while (c.code == DONE && c.work.t != t1) {
        const long before = c.work.accepted, tried = before + c.work.rejected;
        const double from = c.work.t;
        if (w->most_steps > 0 && tried >= w->most_steps) {
            c.code = TOO_MANY_STEPS;
        } else {
            s = next_code(s, SOLUTION, &me, y);
            try_step(s, me, w, &c, t1);
            if (c.work.accepted + c.work.rejected > tried)
                step_done(s, SOLUTION);
        }
        if (!delivered(s))
            c.code = MPI_FAILED;
        if (c.code == DONE && c.work.accepted > before)
            report(s, me, w, &c, from, y, stopped);
    }
    c.work.next_step = fabs(c.h);
    write_block(s, me, y);
    return c;
}

/* --- all threads ------------------------------------------------------------------------ */

/* y may be missing where the block is empty. */
static int usable(const struct solver *s, const double *y, double t, double h)
{
    return s && (y || !s->count) && isfinite(t) && isfinite(h);
}

/* What all threads do with their blocks; every kind uses some of it. */
struct job {
    enum kind kind;
    double t, t1, h;
    long steps;
    const double *read;
    double *y; /* read and written */
    const struct wishes *wishes;
    struct work work; /* what the first thread found, and: */
    enum code code;   /* at first what is wrong with the arguments */
    int stopped, lacking;
};

typedef void part_of_job(struct solver *s, struct thread *me, struct job *job);

/* The largest code of all ranks, where they call for the same; RANKS_DIFFER where they do not. */
static enum code agreed(struct ranks *ranks, const struct job *job)
{
    const struct wishes none = {.rtol = 0.0}, *const w = job->wishes ? job->wishes : &none;
    const double same[] = {
        (double)job->kind, job->t, job->t1, job->h, (double)job->steps, w->rtol, w->atol,
        w->first_step, w->largest_step, (double)w->most_steps, (double)w->rule, w->output != NULL,
    };
    enum { SAME = sizeof same / sizeof *same };
    double most[1 + 2 * SAME] = {(double)job->code};
    for (int i = 0; i < SAME && job->code == DONE; i++) {
        most[1 + i] = same[i];
        most[1 + SAME + i] = -same[i];
    }
    if (!ranks->most(ranks, most, 1 + 2 * SAME))
        return MPI_FAILED;
    for (int i = 0; i < SAME && most[0] == (double)DONE; i++)
        if (most[1 + i] != -most[1 + SAME + i])
            return RANKS_DIFFER;
    return (enum code)most[0];
}

/* Runs a job on the team of the solver, whose arrays are aligned. Where one rank cannot, none does. */
static enum code on_team(struct solver *s, part_of_job *part, struct job *job)
{
    if (!job->code
        && ((uintptr_t)job->y % _Alignof(double) || (uintptr_t)job->read % _Alignof(double)))
        job->code = MISALIGNED;
    if (job->code && !s->ranks)
        return job->code;
    if (atomic_flag_test_and_set(&s->busy))
        return BUSY;
    if (s->given)
        atomic_store(&s->given->failed, 0);
    begin_job(s, job->kind);
#pragma omp parallel num_threads((int)s->threads)
    {
        int able = omp_get_num_threads() == s->threads;
        if (!able) {
#pragma omp master
            job->code = job->code ? job->code : FEW_THREADS;
        }
        if (s->ranks) {
#pragma omp master
            job->code = agreed(s->ranks, job);
#pragma omp barrier
            able = !job->code;
        }
        if (able) {
            struct solver *const first = running(s, job->kind);
            part(first, &first->team[omp_get_thread_num()], job);
        }
    }
    const int failed = has_failed(s);
    settle(s);
    atomic_flag_clear(&s->busy);
    return failed ? CALLBACK_FAILED : job->code;
}

/* What several ranks cannot do; all get the code, whatever they call. */
static enum code refuse_all(struct solver *s, enum code code)
{
    struct job job = {.kind = REFUSAL, .code = code};
    return on_team(s, NULL, &job);
}

static void step_block(struct solver *s, struct thread *me, struct job *job)
{
    read_block(s, me, state(s, me), job->y);
#pragma omp barrier
    long turn = 0;
    int failed = 0;
    for (long k = 0; k < job->steps && !failed; k++) {
        s = next_code(s, STEPS, &me, job->y);
        me->h = job->h;
        s->code->step(me, job->t + (double)k * job->h);
        failed = s->given && !isfinite(total(s, me, unless_failed(s, 0.0), turn++));
        step_done(s, STEPS);
    }
    const double sum = total(s, me, finite_sum(me, state(s, me)), turn);
    if (!failed)
        write_block(s, me, job->y);
#pragma omp master
    job->code = !delivered(s) ? MPI_FAILED : isfinite(sum) ? DONE : NOT_FINITE;
}

static void solve_part(struct solver *s, struct thread *me, struct job *job)
{
    struct course course = {.work = {.t = job->t}, .code = NO_MEMORY};
    if (job->wishes->count > 0) {
#pragma omp master
        job->lacking = !open_dense(owner(s));
#pragma omp barrier
    }
    if (!job->lacking)
        course = solve_block(s, me, job->wishes, job->t, job->t1, job->y, &job->stopped);
#pragma omp master
    {
        job->work = course.work;
        job->code = course.code;
    }
}

static void derive_block(struct solver *s, struct thread *me, struct job *job)
{
    if (!s->ranks) {
        s->code->derivative(me, job->t, job->read, job->y);
        return;
    }
    read_block(s, me, s->saved, job->read); /* a row of full length, for what others hold */
#pragma omp barrier
#pragma omp master
    fetch_rows(me, s->saved, 1);
#pragma omp barrier
    s->code->derivative(me, job->t, s->saved, state(s, me));
    write_block(s, me, job->y);
    total(s, me, 0.0, 0);
#pragma omp master
    job->code = delivered(s) ? DONE : MPI_FAILED;
}

static void start_block(struct solver *s, struct thread *me, struct job *job)
{
    s->code->initial(me);
    write_block(s, me, job->y);
}

static int overlap(const double *one, long size, const double *other, long other_size)
{
    return (uintptr_t)one < (uintptr_t)(other + other_size)
           && (uintptr_t)other < (uintptr_t)(one + size);
}

/* Whether the times lie between t0 and t1, in the order in which the solver comes there. */
static int in_order(const double *times, long count, double t0, double t1)
{
    double before = t0;
    for (long i = 0; i < count; i++) {
        const int in = t0 <= t1 ? times[i] >= before && times[i] <= t1
                                : times[i] <= before && times[i] >= t1;
        if (!in)
            return 0;
        before = times[i];
    }
    return 1;
}

/* Whether states can be handed out as it is wished. */
static enum code times_usable(const struct solver *s, const struct wishes *w, double t0, double t1,
                              const double *y)
{
    if (w->count < 0 || (w->count > 0 && (!w->times || (!w->states && !w->output))))
        return BAD_ARGUMENT;
    if (w->count == 0)
        return DONE;
    if (s->ranks)
        return ONE_PROCESS;
    if ((uintptr_t)w->times % _Alignof(double) || (uintptr_t)w->states % _Alignof(double))
        return MISALIGNED;
    if (!in_order(w->times, w->count, t0, t1))
        return BAD_TIMES;
    const long written = w->count * s->n;
    if (overlap(w->times, w->count, y, s->n))
        return OVERLAP;
    if (w->states
        && (overlap(w->states, written, y, s->n) || overlap(w->states, written, w->times, w->count)))
        return OVERLAP;
    return DONE;
}

static enum code run_steps(struct solver *s, double t, double h, long steps, double *y)
{
    struct job job = {.kind = STEPS, .t = t, .h = h, .steps = steps, .y = y};
    if (!s)
        return BAD_ARGUMENT;
    job.code = usable(s, y, t, h) && steps >= 0 ? DONE : BAD_ARGUMENT;
    return on_team(s, step_block, &job);
}

/* What is wrong with the arguments of a call that controls the error. */
static enum code refused(const struct solver *s, double t0, double t1, const double *y,
                         const struct wishes *w)
{
    if (!usable(s, y, t0, t1) || !(w->first_step >= 0.0) || !isfinite(w->first_step)
        || !(w->largest_step >= 0.0) || w->most_steps < 0 || (w->rule != PI_RULE && w->rule != I_RULE))
        return BAD_ARGUMENT;
    if (s->code->embedded < 0)
        return NO_CONTROL;
    if (!(w->rtol >= 0.0 && w->atol >= 0.0 && isfinite(w->rtol) && isfinite(w->atol))
        || w->rtol + w->atol == 0.0 || (w->rtol < 10.0 * DBL_EPSILON && w->atol == 0.0))
        return BAD_TOLERANCE;
    return times_usable(s, w, t0, t1, y);
}

static enum code run_solver(struct solver *s, double t0, double t1, double *y,
                            const struct wishes *w, struct work *work)
{
    struct job job = {.kind = SOLUTION, .t = t0, .t1 = t1, .y = y, .wishes = w, .work = {.t = t0}};
    *work = job.work;
    if (!s)
        return BAD_ARGUMENT;
    job.code = refused(s, t0, t1, y, w);
    const enum code code = on_team(s, solve_part, &job);
    *work = job.work;
    return code;
}

static enum code right_hand_side(struct solver *s, double t, const double *y, double *dy)
{
    struct job job = {.kind = DERIVATIVE, .t = t, .read = y, .y = dy};
    if (!s)
        return BAD_ARGUMENT;
    if (!usable(s, y, t, 0.0) || !usable(s, dy, t, 0.0))
        job.code = BAD_ARGUMENT;
    else if (overlap(y, s->count, dy, s->count))
        job.code = OVERLAP;
    return on_team(s, derive_block, &job);
}

static enum code first_state(struct solver *s, double *t, double *y)
{
    struct job job = {.kind = START, .y = y};
    if (!s)
        return BAD_ARGUMENT;
    if (!t || !usable(s, y, 0.0, 0.0))
        job.code = BAD_ARGUMENT;
    else if (!s->code->initial)
        job.code = NO_INITIAL;
    if (t)
        *t = s->code->start_time;
    return on_team(s, start_block, &job);
}

#include "rivals.h"

#endif
