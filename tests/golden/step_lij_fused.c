/* One time step of radau-iia-7 for heat2d, 6 corrector steps. Generated. */
static inline double power2(double x) { return x*x; }

#include <stdlib.h>
#include "program.h"

enum { ARRAY_y, ARRAY_Y, ARRAY_Y_next, ARRAY_F };
enum { BARRIER = 4 };

_Static_assert(4 <= MAX_ARRAYS && 4 < MAX_PHASES, "thread.h is too small");

const int array_count = 4;
const int array_rows[] = {1, 4, 4, 4};
const int solution = ARRAY_y;
const long pad_lines = 5;
const long granule = 8;
const double start_time = 0.0;
const int phase_count = 5;
const char *const phase_names[] = {"rhs_first", "lc", "rhs", "approx+update", "barrier"};

__attribute__((unused)) static const double A[4][4] = {
    {0.11299947932315618, -0.04030922072352221, 0.025802377420336392, -0.009904676507266424},
    {0.23438399574740026, 0.2068925739353589, -0.04785712804854072, 0.016047422806516273},
    {0.21668178462325033, 0.4061232638673733, 0.18903651817005634, -0.02418210489983294},
    {0.22046221117676837, 0.3881934688431719, 0.32884431998005975, 0.0625}};
__attribute__((unused)) static const double b[4] = {
    0.22046221117676837,
    0.3881934688431719,
    0.32884431998005975,
    0.0625};
__attribute__((unused)) static const double c[4] = {
    0.08858795951270394,
    0.4094668644407347,
    0.787659461760847,
    1.0};
void sweep_f_heat2d_0(long first, long last, double *restrict F, long N);
void sweep_f_heat2d_1(long first, long last, double *restrict F, const double *restrict y, long N,
        long n, double N12);
void sweep_f_heat2d_2(long first, long last, double *restrict F, long N, long n);
void sweep_lc_j_set(long first, long last, double *restrict Y_l, const double *restrict F_i,
        double A_l_i);
void sweep_lc_j_add(long first, long last, double *restrict Y_l, const double *restrict F_i,
        double A_l_i);
void sweep_lc_j_finish(long first, long last, double *restrict Y_l, const double *restrict y,
        double h);
void sweep_approx_update_ji(long first, long last, double *restrict y, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        double h);
void sweep_initial_heat2d_0(long first, long last, double *restrict y, long N, double pi);

struct constants {
    long N, n;
    double pi;
    double N12;
};

long dimension(long N)
{
    return N*N;
}

struct constants *setup(long N, long n)
{
    const double pi = 3.141592653589793;
    const double N12 = power2((double)N - 1.0);
    struct constants *const made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->N = N;
    made->n = n;
    made->pi = pi;
    made->N12 = N12;
    return made;
}

void discard(struct constants *made)
{
    free(made);
}

int ready(struct thread *me)
{
    (void)me;
    return 1;
}

void release(struct thread *me)
{
    (void)me;
}

void initial(struct thread *me)
{
    const struct constants constants = *me->constants;
    const long first = me->first, last = me->last;
    (void)constants;
    sweep_initial_heat2d_0(first, last, row(me, ARRAY_y, 0), constants.N, constants.pi);
}

void step(struct thread *me, double t)
{
    const struct constants constants = *me->constants;
    const long first = me->first, last = me->last;
    const double h = me->h;
    (void)constants;
    (void)t;
    (void)h;
    for (long from = first; from < last; from += 256) {
        const long to = from + 256 < last ? from + 256 : last;
        PHASE(0);
        for (int l = 0; l < 4; l++) {
            if (from < constants.N && to > 0)
                sweep_f_heat2d_0(from, to, row(me, ARRAY_F, l), constants.N);
            if (from < constants.n - constants.N && to > constants.N)
                sweep_f_heat2d_1(from, to, row(me, ARRAY_F, l), row(me, ARRAY_y, 0), constants.N,
                        constants.n, constants.N12);
            if (from < constants.n && to > constants.n - constants.N)
                sweep_f_heat2d_2(from, to, row(me, ARRAY_F, l), constants.N, constants.n);
        }
        PHASE(1);
        for (int l = 0; l < 4; l++) {
            sweep_lc_j_set(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_F, 0), A[l][0]);
            for (int i = 1; i < 4; i++) {
                sweep_lc_j_add(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_F, i), A[l][i]);
            }
            sweep_lc_j_finish(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_y, 0), h);
        }
    }
    exchange(me, ARRAY_Y, ARRAY_Y_next);
    PHASE(BARRIER);
    #pragma omp barrier
    for (int k = 0; k < 5; k++) {
        for (long from = first; from < last; from += 256) {
            const long to = from + 256 < last ? from + 256 : last;
            PHASE(2);
            for (int l = 0; l < 4; l++) {
                if (from < constants.N && to > 0)
                    sweep_f_heat2d_0(from, to, row(me, ARRAY_F, l), constants.N);
                if (from < constants.n - constants.N && to > constants.N)
                    sweep_f_heat2d_1(from, to, row(me, ARRAY_F, l), row(me, ARRAY_Y, l),
                            constants.N, constants.n, constants.N12);
                if (from < constants.n && to > constants.n - constants.N)
                    sweep_f_heat2d_2(from, to, row(me, ARRAY_F, l), constants.N, constants.n);
            }
            PHASE(1);
            for (int l = 0; l < 4; l++) {
                sweep_lc_j_set(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_F, 0), A[l][0]);
                for (int i = 1; i < 4; i++) {
                    sweep_lc_j_add(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_F, i),
                            A[l][i]);
                }
                sweep_lc_j_finish(from, to, row(me, ARRAY_Y_next, l), row(me, ARRAY_y, 0), h);
            }
        }
        exchange(me, ARRAY_Y, ARRAY_Y_next);
        PHASE(BARRIER);
        #pragma omp barrier
    }
    PHASE(2);
    for (int l = 0; l < 4; l++) {
        sweep_f_heat2d_0(first, last, row(me, ARRAY_F, l), constants.N);
        sweep_f_heat2d_1(first, last, row(me, ARRAY_F, l), row(me, ARRAY_Y, l), constants.N,
                constants.n, constants.N12);
        sweep_f_heat2d_2(first, last, row(me, ARRAY_F, l), constants.N, constants.n);
    }
    PHASE(3);
    sweep_approx_update_ji(first, last, row(me, ARRAY_y, 0), row(me, ARRAY_F, 0),
            row(me, ARRAY_F, 1), row(me, ARRAY_F, 2), row(me, ARRAY_F, 3), h);
    PHASE(BARRIER);
    #pragma omp barrier
    PHASE(-1);
}
