#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_f_heat2d_1(long first, long last, double *restrict F, const double *restrict y, long N,
        long n, double N12);

void sweep_f_heat2d_1(long first, long last, double *restrict F, const double *restrict y, long N,
        long n, double N12)
{
    const long lower = N;
    const long upper = n - N;
    if (first < lower)
        first = lower;
    if (last > upper)
        last = upper;
    const long row = N;
    for (long start = first / row*row; start < last; start += row) {
        {
            const long j = start;
            if (first <= j && j < last) {
                F[j] = 0.0;
            }
        }
        {
            const long head = start + 1;
            const long tail = start + N - 1;
            const long from = head < first ? first : head;
            const long to = tail < last ? tail : last;
            INDEPENDENT
            for (long j = from; j < to; j++) {
                F[j] = N12*(y[j - N] + y[j - 1] - 4.0*y[j] + y[j + 1] + y[j + N]);
            }
        }
        {
            const long j = start + N - 1;
            if (first <= j && j < last) {
                F[j] = 0.0;
            }
        }
    }
}
