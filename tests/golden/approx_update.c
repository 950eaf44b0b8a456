#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_approx_update_ji(long first, long last, double *restrict y, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        double h);

void sweep_approx_update_ji(long first, long last, double *restrict y, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        double h)
{
    INDEPENDENT
    for (long j = first; j < last; j++) {
        const double dy = 0.22046221117676837*F_0[j] + 0.3881934688431719*F_1[j] +
                0.32884431998005975*F_2[j] + 0.0625*F_3[j];
        y[j] = y[j] + h*dy;
    }
}
