#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_lc_jl_add(long first, long last, double *restrict Y_0, double *restrict Y_1,
        double *restrict Y_2, double *restrict Y_3, const double *restrict F_i, double A_0_i,
        double A_1_i, double A_2_i, double A_3_i);

void sweep_lc_jl_add(long first, long last, double *restrict Y_0, double *restrict Y_1,
        double *restrict Y_2, double *restrict Y_3, const double *restrict F_i, double A_0_i,
        double A_1_i, double A_2_i, double A_3_i)
{
    INDEPENDENT
    for (long j = first; j < last; j++) {
        Y_0[j] += A_0_i*F_i[j];
        Y_1[j] += A_1_i*F_i[j];
        Y_2[j] += A_2_i*F_i[j];
        Y_3[j] += A_3_i*F_i[j];
    }
}
