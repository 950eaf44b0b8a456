/* Bodies that attract one another: every pair once per step, leapfrog.

       gcc -O3 -DREAL=double nbody.c -o nbody -lm
       ./nbody 256 40

   Arguments: number of bodies, number of steps. Prints a table with a row for each of three runs:
   pairs per second, and how far the total energy has drifted, relative to the start. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef REAL
#define REAL double
#endif
typedef REAL real;

#define MOST 4096

static real x[MOST], y[MOST], z[MOST], u[MOST], v[MOST], w[MOST], m[MOST];
static const real soft = (real)1e-2;

static void start(int n)
{
    unsigned state = 1;
    real *fields[] = {x, y, z, u, v, w};
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            fields[f][i] = (real)((f < 3 ? 1.0 : 0.1) * (state / 4294967296.0 - 0.5));
        }
    for (int i = 0; i < n; i++)
        m[i] = (real)1 / n;
}

static void kick(int n, real h)
{
    for (int i = 0; i < n; i++) {
        real ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; j++) {
            const real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            const real r2 = dx * dx + dy * dy + dz * dz + soft;
            const real f = m[j] / (r2 * (real)sqrt(r2));
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        u[i] += h * ax;
        v[i] += h * ay;
        w[i] += h * az;
    }
}

static void drift(int n, real h)
{
    for (int i = 0; i < n; i++) {
        x[i] += h * u[i];
        y[i] += h * v[i];
        z[i] += h * w[i];
    }
}

static double energy(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += 0.5 * m[i] * ((double)u[i] * u[i] + (double)v[i] * v[i] + (double)w[i] * w[i]);
        for (int j = 0; j < i; j++) {
            const double dx = (double)x[j] - x[i], dy = (double)y[j] - y[i];
            const double dz = (double)z[j] - z[i];
            sum -= (double)m[i] * m[j] / sqrt(dx * dx + dy * dy + dz * dz + soft);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0, steps = argc > 2 ? atoi(argv[2]) : 0;
    const real h = (real)1e-4;
    if (n < 2 || n > MOST || steps < 1) {
        fprintf(stderr, "usage: nbody BODIES STEPS, at most %d bodies\n", MOST);
        return 2;
    }
    printf("run,pairs/s,drift\n");
    for (int run = 1; run <= 3; run++) {
        start(n);
        const double before = energy(n);
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        kick(n, h / 2);
        for (int s = 0; s < steps; s++) {
            drift(n, h);
            kick(n, s < steps - 1 ? h : h / 2);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        const double change = fabs(energy(n) / before - 1);
        printf("%d,%.6g,%.3e\n", run, (double)n * n * (steps + 1) / seconds, change);
    }
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fabs(x[i]) + fabs(y[i]) + fabs(z[i]);
    printf("positions %.15g\n", sum);
    return 0;
}
