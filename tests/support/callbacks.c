/* Right-hand sides of shipped IVPs and wrong ones, as a program would hand them to a library; data:
   the number of components. */
#include <math.h>

static double level(const double *y, long j, long n)
{
    return j < 0 || j >= n ? 1.0 : y[j];
}

int wave1d(long first, long last, double t, const double *y, double *dy, void *data)
{
    const long n = *(const long *)data;
    const double dx = 500.0 / (double)(n - 1);
    (void)t;
    for (long j = first; j < last; j++)
        dy[j] = -1.0 / dx
                * (-4.0 / 5.0 * (level(y, j - 1, n) - level(y, j + 1, n))
                   + 1.0 / 5.0 * (level(y, j - 2, n) - level(y, j + 2, n))
                   - 4.0 / 105.0 * (level(y, j - 3, n) - level(y, j + 3, n))
                   + 1.0 / 280.0 * (level(y, j - 4, n) - level(y, j + 4, n)));
    return 0;
}

int inverterchain(long first, long last, double t, const double *y, double *dy, void *data)
{
    const double input = fmax(0.0, fmin(1.0e9 * t - 5.0, fmin(5.0, 2.5 * (17.0 - 1.0e9 * t))));
    (void)data;
    for (long j = first; j < last; j++) {
        const double before = j > 0 ? y[j - 1] : input;
        const double a = fmax(before - 1.0, 0.0), b = fmax(before - y[j] - 1.0, 0.0);
        dy[j] = ((5.0 - y[j]) / 5.0e3 - 2.0e-4 * (a * a - b * b)) / 0.2e-12;
    }
    return 0;
}

int flock(long first, long last, double t, const double *y, double *dy, void *data)
{
    const long N = *(const long *)data / 2;
    (void)t;
    for (long j = first; j < last; j++) {
        double pull = 0.0;
        for (long k = 0; j >= N && k < N; k++) {
            const double x = y[k] - y[j - N];
            pull += (y[k + N] - y[j]) / (1.0 + x * x);
        }
        dy[j] = j < N ? y[j + N] : 10.0 / (double)N * pull;
    }
    return 0;
}

/* Fails for the component in the middle, in one thread, at times after 0.3. */
int failing(long first, long last, double t, const double *y, double *dy, void *data)
{
    const long middle = *(const long *)data / 2;
    for (long j = first; j < last; j++)
        dy[j] = -y[j];
    return t > 0.3 && first <= middle && middle < last ? 7 : 0;
}

/* Gives no number there and then. */
int none(long first, long last, double t, const double *y, double *dy, void *data)
{
    const long middle = *(const long *)data / 2;
    for (long j = first; j < last; j++)
        dy[j] = t > 0.3 && j == middle ? NAN : -y[j];
    return 0;
}
