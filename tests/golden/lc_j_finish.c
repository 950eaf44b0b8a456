void sweep_lc_j_finish(long first, long last, double *restrict Y_l, const double *restrict y,
        double h);

void sweep_lc_j_finish(long first, long last, double *restrict Y_l, const double *restrict y,
        double h)
{
    #pragma GCC ivdep
    for (long j = first; j < last; j++) {
        Y_l[j] = h*Y_l[j] + y[j];
    }
}
