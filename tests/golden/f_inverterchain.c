#include <math.h>
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double positive(double x) { return 0.5*(x + fabs(x)); }
static inline double power2(double x) { return x*x; }

#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_f_inverterchain_0(long first, long last, double *restrict F, const double *restrict y,
        double Uop, double Uthr, double R, double eta, double C, double t);

void sweep_f_inverterchain_0(long first, long last, double *restrict F, const double *restrict y,
        double Uop, double Uthr, double R, double eta, double C, double t)
{
    const long lower = 0;
    const long upper = 1;
    if (first < lower)
        first = lower;
    if (last > upper)
        last = upper;
    INDEPENDENT
    for (long j = first; j < last; j++) {
        const double Uin = positive(smaller(1000000000.0*t - 5.0, smaller(Uop, 2.5*(17.0 -
                1000000000.0*t))));
        F[j] = ((Uop - y[j])/R - eta*(power2(positive(Uin - Uthr)) - power2(positive(Uin - y[j] -
                Uthr))))/C;
    }
}
