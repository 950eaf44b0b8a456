#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_lc_ji(long first, long last, double *restrict Y_l, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        const double *restrict y, double A_l_0, double A_l_1, double A_l_2, double A_l_3, double h);

void sweep_lc_ji(long first, long last, double *restrict Y_l, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        const double *restrict y, double A_l_0, double A_l_1, double A_l_2, double A_l_3, double h)
{
    INDEPENDENT
    for (long j = first; j < last; j++) {
        const double sum = A_l_0*F_0[j] + A_l_1*F_1[j] + A_l_2*F_2[j] + A_l_3*F_3[j];
        Y_l[j] = h*sum + y[j];
    }
}
