/* C += A B for square matrices of doubles, block by block.

   The order of the three loops inside a block and the unrolling of the innermost one are macros; the
   size, the number of repetitions and the sizes of a block are arguments:

       gcc -O3 -DORDER_IKJ -DUNROLL=4 matmul.c -o matmul && ./matmul 512 3 32 256 32

   Prints the time of each multiplication and, at the end, a weighted sum of the result. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef UNROLL
#define UNROLL 1
#endif

#define TEXT(x) #x
#define PRAGMA_UNROLL(n) _Pragma(TEXT(GCC unroll n))
#define UNROLLED PRAGMA_UNROLL(UNROLL)

#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Rows of C, its columns, and terms of the sum, from the first to behind the last. */
typedef struct {
    int i0, i1, j0, j1, k0, k1;
} Block;

static void block(int n, Block at, const double *restrict a, const double *restrict b,
                  double *restrict c)
{
#if defined(ORDER_IJK)
    for (int i = at.i0; i < at.i1; i++)
        for (int j = at.j0; j < at.j1; j++) {
            double sum = c[i * n + j];
            UNROLLED
            for (int k = at.k0; k < at.k1; k++) /* autotune: loop ijk */
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
#elif defined(ORDER_KIJ)
    for (int k = at.k0; k < at.k1; k++)
        for (int i = at.i0; i < at.i1; i++) {
            const double factor = a[i * n + k];
            UNROLLED
            for (int j = at.j0; j < at.j1; j++) /* autotune: loop kij */
                c[i * n + j] += factor * b[k * n + j];
        }
#else /* IKJ */
    for (int i = at.i0; i < at.i1; i++)
        for (int k = at.k0; k < at.k1; k++) {
            const double factor = a[i * n + k];
            UNROLLED
            for (int j = at.j0; j < at.j1; j++) /* autotune: loop ikj */
                c[i * n + j] += factor * b[k * n + j];
        }
#endif
}

static void multiply(int n, int bi, int bj, int bk, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i += bi)
        for (int k = 0; k < n; k += bk)
            for (int j = 0; j < n; j += bj) {
                const Block at = {i, MIN(i + bi, n), j, MIN(j + bj, n), k, MIN(k + bk, n)};
                block(n, at, a, b, c);
            }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int argument(int argc, char **argv, int place, int otherwise)
{
    return argc > place ? atoi(argv[place]) : otherwise;
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), repetitions = argument(argc, argv, 2, 3);
    const int bi = argument(argc, argv, 3, 64), bj = argument(argc, argv, 4, 64);
    const int bk = argument(argc, argv, 5, 64);
    const size_t elements = (size_t)n * (size_t)n;
    double *a = malloc(3 * elements * sizeof *a), *b = a + elements, *c = b + elements;
    if (n < 1 || bi < 1 || bj < 1 || bk < 1 || a == NULL) {
        fprintf(stderr, "usage: matmul SIZE REPETITIONS ROWS COLUMNS TERMS\n");
        return 2;
    }
    for (size_t e = 0; e < elements; e++) {
        a[e] = 1.0 + (double)(e % 7) / 8;
        b[e] = 1.0 - (double)(e % 5) / 8;
        c[e] = 0;
    }
    for (int repetition = 0; repetition < repetitions; repetition++) {
        const double start = now();
        multiply(n, bi, bj, bk, a, b, c);
        printf("time %.9f s\n", now() - start);
    }
    double sum = 0;
    for (size_t e = 0; e < elements; e++)
        sum += c[e] * (1 + (double)(e % 11) / 16);
    printf("check %.17g\n", sum);
    free(a);
    return 0;
}
