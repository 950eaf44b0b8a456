void sweep_f_string_mix_1(long first, long last, double *restrict F, const double *restrict y,
        long n, double K2, double dx2);

void sweep_f_string_mix_1(long first, long last, double *restrict F, const double *restrict y,
        long n, double K2, double dx2)
{
    const long lower = 2;
    const long upper = n - 2;
    if (first < lower)
        first = lower;
    if (last > upper)
        last = upper;
    #pragma GCC ivdep
    for (long j = first; j < last; j += 2) {
        F[j] = y[j + 1];
        F[j + 1] = K2*(y[j + 1 - 3] - 2.0*y[j + 1 - 1] + y[j + 1 + 1])/dx2;
    }
}
