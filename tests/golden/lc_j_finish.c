#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_lc_j_finish(long first, long last, double *restrict Y_l, const double *restrict y,
        double h);

void sweep_lc_j_finish(long first, long last, double *restrict Y_l, const double *restrict y,
        double h)
{
    INDEPENDENT
    for (long j = first; j < last; j++) {
        Y_l[j] = h*Y_l[j] + y[j];
    }
}
