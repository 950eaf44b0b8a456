#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_f_medakzo_1(long first, long last, double *restrict F, const double *restrict y, long N,
        double K, double Cx, double dz, double dz2);

void sweep_f_medakzo_1(long first, long last, double *restrict F, const double *restrict y, long N,
        double K, double Cx, double dz, double dz2)
{
    const long lower = 1;
    const long upper = N - 1;
    if (first < lower)
        first = lower;
    if (last > upper)
        last = upper;
    INDEPENDENT
    for (long j = first; j < last; j++) {
        const double z = ((double)(int)j + 1.0)*dz;
        const double w = (z - 1.0)*(z - 1.0)/Cx;
        const double alpha = 2.0*(z - 1.0)*w/Cx;
        const double beta = w*w;
        F[j] = alpha*(y[j + 1] - y[j - 1])/(2.0*dz) + (y[j - 1] - 2.0*y[j] + y[j + 1])*beta/dz2 -
                K*y[j]*y[j + N];
    }
}
