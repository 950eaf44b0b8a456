/* The state at times between the ends of a step, by the interpolant whose weights the library has:
   y at theta = y0 + v (y1 - y0) + h (u0 f0 + u1 f1 + sum_i u_i F_i), where f0 and f1 are the
   right-hand side at the ends of the step and F_i at nodes inside. */
#ifndef AUTOTUNE_DENSE_H
#define AUTOTUNE_DENSE_H

#include "stepper.h"

enum { CUBIC = 3, MOST_DEGREE = 31, CHUNK = 512 };

struct interpolant {
    int degree;
    const double *stages;    /* for each evaluation inside a step in turn: its node, and v, u0, u1,
                                u_i of the polynomial of one degree less */
    const double *expansion; /* degree + 1 coefficients of Legendre polynomials of 2 theta - 1 for
                                each of v, u0, u1, u_i */
};

/* What a thread keeps for dense output; all have the same but for the blocks of the rows. */
struct dense {
    const struct interpolant *of;
    double *f0, *f1;
    double *argument[2]; /* of evaluations, in turns: one barrier for each is enough */
    double *inner, *next; /* f at the inner nodes, of this degree and the next: rows */
    long ld;
    int derived; /* f1 is that at the state with which the next step begins */
    long evaluations;
};

/* So many rows does dense output need beside the arrays of a code. */
static long dense_rows(const struct interpolant *of)
{
    return of->degree == CUBIC ? 2 : 4 + 2 * (of->degree - CUBIC);
}

static struct dense dense_in(const struct interpolant *of, double *base, long ld)
{
    struct dense d = {.of = of, .ld = ld, .f0 = base, .f1 = base + ld};
    if (of->degree > CUBIC) {
        d.argument[0] = base + 2 * ld;
        d.argument[1] = base + 3 * ld;
        d.next = base + 4 * ld;
        d.inner = d.next + (of->degree - CUBIC) * ld;
    }
    return d;
}

/* y of the block with weights v, u0, u1, u_i of a polynomial. */
static void combine(const struct dense *d, const struct thread *me, const double *y0,
                    const double *y1, double h, const double *weights, int degree, double *y)
{
    const double *const f0 = d->f0, *const f1 = d->f1;
    const double v = weights[0], u0 = h * weights[1], u1 = h * weights[2];
    for (long first = me->first; first < me->last; first += CHUNK) {
        const long last = first + CHUNK < me->last ? first + CHUNK : me->last;
        for (long j = first; j < last; j++)
            y[j] = y0[j] + (v * (y1[j] - y0[j]) + u0 * f0[j] + u1 * f1[j]);
        for (int i = 0; i < degree - CUBIC; i++) {
            const double *const F = d->inner + i * d->ld, u = h * weights[3 + i];
            for (long j = first; j < last; j++)
                y[j] += u * F[j];
        }
    }
}

/* Evaluates the right-hand side for the step from y0 at t, h long, to y1; called by all threads. */
static void fit(struct dense *d, const struct thread *me, const struct stepper *code,
                const double *y0, const double *y1, double t, double h)
{
    const double *at = d->of->stages;
    double *const before = d->f0;
    d->f0 = d->f1;
    d->f1 = before;
    if (!d->derived) {
        code->derivative(me, t, y0, d->f0);
        d->evaluations++;
    }
    code->derivative(me, t + h, y1, d->f1);
    d->evaluations++;
    for (int degree = CUBIC; degree < d->of->degree; degree++) {
        for (int i = 0; i <= degree - CUBIC; i++, at += degree + 1) {
            double *const argument = d->argument[d->evaluations++ % 2];
            combine(d, me, y0, y1, h, at + 1, degree, argument);
#pragma omp barrier
            code->derivative(me, t + at[0] * h, argument, d->next + i * d->ld);
        }
        double *const inner = d->inner;
        d->inner = d->next;
        d->next = inner;
    }
    d->derived = 1;
#pragma omp barrier
}

/* y of the block at theta, from 0 to 1 over a step that is fitted. */
static void interpolate(const struct dense *d, const struct thread *me, const double *y0,
                        const double *y1, double h, double theta, double *y)
{
    const int degree = d->of->degree;
    const double x = 2.0 * theta - 1.0, *expansion = d->of->expansion;
    double legendre[MOST_DEGREE + 1] = {1.0, x}, weights[MOST_DEGREE];
    for (int k = 1; k < degree; k++)
        legendre[k + 1] = ((2 * k + 1) * x * legendre[k] - k * legendre[k - 1]) / (k + 1);
    for (int i = 0; i < degree; i++) {
        weights[i] = 0.0;
        for (int k = 0; k <= degree; k++)
            weights[i] += *expansion++ * legendre[k];
    }
    combine(d, me, y0, y1, h, weights, degree, y);
}

#endif
