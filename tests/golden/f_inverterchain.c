#include <math.h>
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double larger(double a, double b) { return b > a ? b : a; }

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
    #pragma GCC ivdep
    for (long j = first; j < last; j++) {
        const double Uin = larger(0.0, smaller(1000000000.0*t - 5.0, smaller(Uop, 2.5*(17.0 -
                1000000000.0*t))));
        F[j] = ((Uop - y[j])/R - eta*(larger(Uin - Uthr, 0.0)*larger(Uin - Uthr, 0.0) - larger(Uin -
                y[j] - Uthr, 0.0)*larger(Uin - y[j] - Uthr, 0.0)))/C;
    }
}
