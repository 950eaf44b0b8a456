/* Steps of `work` sums over an array: prints the seconds of each of its samples. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    if (count != 5)
        return 2;
    const int work = atoi(arguments[1]), samples = atoi(arguments[2]);
    const int repeats = atoi(arguments[3]), length = atoi(arguments[4]);
    double *const a = malloc((size_t)length * sizeof *a), sum = 0.0;
    if (!a)
        return 1;
    for (int i = 0; i < length; i++)
        a[i] = i % 7;
    for (int k = 0; k < samples; k++) {
        const double begun = now();
        for (int r = 0; r < repeats; r++) {
            double all = 0.0;
#pragma omp parallel for reduction(+ : all) schedule(static)
            for (int j = 0; j < work; j++) {
                double part = 0.0;
                for (int i = 0; i < length; i++)
                    part += a[i];
                all += part;
            }
            sum = all / work;
        }
        printf("seconds: %.9f\n", now() - begun);
    }
    printf("check: %.17g\n", sum);
    return 0;
}
