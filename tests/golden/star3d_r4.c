#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_star3d_r4(long first_k, long last_k, long first_j, long last_j, long first_i,
        long last_i, double *restrict v, const double *restrict u, long plane, long line, double c0,
        double c1, double c2, double c3, double c4);

void sweep_star3d_r4(long first_k, long last_k, long first_j, long last_j, long first_i,
        long last_i, double *restrict v, const double *restrict u, long plane, long line, double c0,
        double c1, double c2, double c3, double c4)
{
    for (long k = first_k; k < last_k; k++) {
        for (long j = first_j; j < last_j; j++) {
            const long at = k*plane + j*line;
            INDEPENDENT
            for (long i = first_i; i < last_i; i++) {
                v[at + i] = c0*u[at + i] + c1*(u[at + i - 1] + u[at + i + 1] + u[at - line + i] +
                        u[at + line + i] + u[at - plane + i] + u[at + plane + i]) +
                        c2*(u[at + i - 2] + u[at + i + 2] + u[at - 2*line + i] + u[at + 2*line + i]
                        + u[at - 2*plane + i] + u[at + 2*plane + i]) + c3*(u[at + i - 3] +
                        u[at + i + 3] + u[at - 3*line + i] + u[at + 3*line + i] +
                        u[at - 3*plane + i] + u[at + 3*plane + i]) + c4*(u[at + i - 4] +
                        u[at + i + 4] + u[at - 4*line + i] + u[at + 4*line + i] +
                        u[at - 4*plane + i] + u[at + 4*plane + i]);
            }
        }
    }
}
