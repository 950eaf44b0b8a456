/* Points of the Mandelbrot set, tile by tile, with as many threads as OMP_NUM_THREADS says.

   Tiles differ widely in work, so the schedule decides. It is a run-time parameter:

       gcc -O2 -fopenmp mandelbrot.c -o mandelbrot
       OMP_SCHEDULE=dynamic,4 ./mandelbrot 768 32

   Arguments: pixels of an edge, pixels of the edge of a tile. Prints one line of JSON. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 400

static int steps(double x, double y)
{
    double re = 0, im = 0;
    int step = 0;
    while (step < LIMIT && re * re + im * im <= 4) {
        const double next = re * re - im * im + x;
        im = 2 * re * im + y;
        re = next;
        step++;
    }
    return step;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0, tile = argc > 2 ? atoi(argv[2]) : 0;
    if (n < 1 || tile < 1) {
        fprintf(stderr, "usage: mandelbrot PIXELS TILE\n");
        return 2;
    }
    const int rows = (n + tile - 1) / tile, tiles = rows * rows;
    double seconds[4];
    long long total = 0;
    for (int repetition = 0; repetition < 4; repetition++) {
        const double start = omp_get_wtime();
        total = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : total)
        for (int t = 0; t < tiles; t++) {
            const int i0 = t / rows * tile, j0 = t % rows * tile;
            for (int i = i0; i < i0 + tile && i < n; i++)
                for (int j = j0; j < j0 + tile && j < n; j++)
                    total += steps(-2.2 + 3.2 * j / n, -1.6 + 3.2 * i / n);
        }
        seconds[repetition] = omp_get_wtime() - start;
    }
    printf("{\"seconds\": [%.9f, %.9f, %.9f, %.9f], \"steps\": %lld}\n", seconds[0], seconds[1],
           seconds[2], seconds[3], total);
    return 0;
}
