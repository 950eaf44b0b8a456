#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

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
    INDEPENDENT
    for (long j = first; j < last; j += 2) {
        F[j] = y[j + 1];
        F[j + 1] = K2*(y[j - 2] - 2.0*y[j] + y[j + 2])/dx2;
    }
}
