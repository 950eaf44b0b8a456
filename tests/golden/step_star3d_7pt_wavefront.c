/* One time step of star3d-7pt. Generated. */
#include <stdlib.h>

#include "program.h"

enum { ARRAY_u, ARRAY_v };
enum { BARRIER = 1 };

_Static_assert(2 <= MAX_ARRAYS && 1 < MAX_PHASES, "thread.h is too small");

const int array_count = 2;
const int solution = ARRAY_u;
const int dimensions = 3;
const int radius = 1;
const long pad_lines = 1;
const long granule = 1;
const double start_time = 0.0;
const int phase_count = 2;
const char *const phase_names[] = {"sweep", "barrier"};

#include "wavefront.h"

void sweep_star3d_7pt_plane(long first_j, long last_j, long first_i, long last_i,
        double *restrict v, const double *restrict u_m1, const double *restrict u_0,
        const double *restrict u_p1, long line, double c0, double c1);
void sweep_initial_star3d_7pt(long first_k, long last_k, long first_j, long last_j, long first_i,
        long last_i, double *restrict v, long plane, long line, long K, long J, long I);

struct constants {
    long K, J, I;
    double c0;
    double c1;
};

struct constants *setup_grid(const long *extent)
{
    const long K = extent[0];
    const long J = extent[1];
    const long I = extent[2];
    const double c0 = 0.4;
    const double c1 = 0.1;
    struct constants *const made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->K = K;
    made->J = J;
    made->I = I;
    made->c0 = c0;
    made->c1 = c1;
    return made;
}

void discard(struct constants *made)
{
    free(made);
}

int ready(struct thread *me)
{
    me->at_once = 4;
    return claim_rings(me, 9, (least(me->extent[1], 16) + 8)*me->stride[1]);
}

void release(struct thread *me)
{
    free(me->ring);
    me->ring = NULL;
}

void initial(struct thread *me)
{
    const struct constants constants = *me->constants;
    (void)constants;
    sweep_initial_star3d_7pt(me->begin, me->end, -1, me->extent[1] + 1, -1, me->extent[2] + 1,
            me->array[ARRAY_u], me->stride[0], me->stride[1], constants.K, constants.J,
            constants.I);
    sweep_initial_star3d_7pt(me->begin, me->end, -1, me->extent[1] + 1, -1, me->extent[2] + 1,
            me->array[ARRAY_v], me->stride[0], me->stride[1], constants.K, constants.J,
            constants.I);
}

void step(struct thread *me, double t)
{
    const struct constants constants = *me->constants;
    (void)constants;
    const long first_k = me->first, last_k = me->last;
    const long first_j = 0, last_j = me->extent[1];
    const long first_i = 0, last_i = me->extent[2];
    (void)t;
    PHASE(0);
    for (long from_j = first_j; from_j < last_j; from_j += 16) {
        const long to_j = from_j + 16 < last_j ? from_j + 16 : last_j;
        const long corner = (from_j - 4)*me->stride[1] - 1;
        const long ahead = 1*(me->sweeps - 1);
        for (long front = first_k - ahead; first_k < last_k && front < last_k + ahead; front++) {
            for (long sweep = 1; sweep <= me->sweeps; sweep++) {
                const long k = front - 1*(sweep - 1);
                const long beyond = 1*(me->sweeps - sweep);
                if (k < most(0, first_k - beyond) || k >= me->extent[0])
                    continue;
                const long begin_j = most(0, from_j - beyond);
                const long end_j = least(me->extent[1], to_j + beyond);
                const long begin_i = most(0, first_i - beyond);
                const long end_i = least(me->extent[2], last_i + beyond);
                double *const result = plane_of(me, ARRAY_u, ARRAY_v, sweep, k, 3, corner);
                sweep_star3d_7pt_plane(begin_j, end_j, begin_i, end_i, result,
                        plane_of(me, ARRAY_u, ARRAY_v, sweep - 1, k - 1, 3, corner),
                        plane_of(me, ARRAY_u, ARRAY_v, sweep - 1, k, 3, corner),
                        plane_of(me, ARRAY_u, ARRAY_v, sweep - 1, k + 1, 3, corner), me->stride[1],
                        constants.c0, constants.c1);
                if (sweep < me->sweeps)
                    keep_frame(result, plane_of(me, ARRAY_u, ARRAY_v, 0, k, 3, corner), begin_j,
                            end_j, me->extent[1], me->stride[1], begin_i, end_i, me->extent[2], 1);
            }
        }
    }
    PHASE(BARRIER);
    #pragma omp barrier
    exchange(me, ARRAY_u, ARRAY_v);
    PHASE(-1);
}
