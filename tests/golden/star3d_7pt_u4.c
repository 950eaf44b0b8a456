#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_star3d_7pt_u4(long first_k, long last_k, long first_j, long last_j, long first_i,
        long last_i, double *restrict v, const double *restrict u, long plane, long line, double c0,
        double c1);

void sweep_star3d_7pt_u4(long first_k, long last_k, long first_j, long last_j, long first_i,
        long last_i, double *restrict v, const double *restrict u, long plane, long line, double c0,
        double c1)
{
    const long whole_i = last_i - (last_i - first_i) % 4;
    for (long k = first_k; k < last_k; k++) {
        for (long j = first_j; j < last_j; j++) {
            const long at = k*plane + j*line;
            INDEPENDENT
            for (long i = first_i; i < whole_i; i += 4) {
                v[at + i] = c0*u[at + i] + c1*(u[at + i - 1] + u[at + i + 1] + u[at - line + i] +
                        u[at + line + i] + u[at - plane + i] + u[at + plane + i]);
                v[at + i + 1] = c0*u[at + i + 1] + c1*(u[at + i] + u[at + i + 2] +
                        u[at - line + i + 1] + u[at + line + i + 1] + u[at - plane + i + 1] +
                        u[at + plane + i + 1]);
                v[at + i + 2] = c0*u[at + i + 2] + c1*(u[at + i + 1] + u[at + i + 3] +
                        u[at - line + i + 2] + u[at + line + i + 2] + u[at - plane + i + 2] +
                        u[at + plane + i + 2]);
                v[at + i + 3] = c0*u[at + i + 3] + c1*(u[at + i + 2] + u[at + i + 4] +
                        u[at - line + i + 3] + u[at + line + i + 3] + u[at - plane + i + 3] +
                        u[at + plane + i + 3]);
            }
            for (long i = whole_i; i < last_i; i++) {
                __asm__("");
                v[at + i] = c0*u[at + i] + c1*(u[at + i - 1] + u[at + i + 1] + u[at - line + i] +
                        u[at + line + i] + u[at - plane + i] + u[at + plane + i]);
            }
        }
    }
}
