/* Conjugate gradients of the NAS parallel benchmarks, for MPI on a grid of processes.
 *
 * Inverse power iteration finds the eigenvalue zeta of a sparse symmetric matrix that lies next to
 * a shift; each iteration solves A z = x by 25 steps of conjugate gradients. Written from the
 * published description: D. Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.3.
 *
 *     mpicc -O2 $(autotune assert flags) cg.c -o cg -lm
 *     mpiexec -n 4 ./cg W            class S, W, A, B or C
 *     mpiexec -n 4 ./cg W 1          with 1 iteration; zeta is not checked then
 *     mpiexec -n 4 ./cg W 0 4        all iterations of the class, on a grid of 4 columns
 *     autotune assert run -- mpiexec -n 4 ./cg W     on 8, every assertion is reached
 *
 * The lines with ma_ say what the program does; names are those of S. Alam and J. Vetter, A
 * Framework to Develop Symbolic Performance Models of Parallel Applications, 2006. Two counts of
 * their Figure 8 are too large, by l and by 1; -DFIGURE_8 asserts them as they are there.
 *
 * P processes, a power of two, form nprows x npcols; unless it is given, npcols = nprows or
 * 2 nprows. Process (i, j) holds rows i and columns j of A: m = na/nprows rows, n = na/npcols
 * columns. Vectors are spread over the columns, equal in all rows of the grid.
 */
#include "modeling_assertions.h"
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIGURE_8
#define FLOPBETA "2*n + 1 + l"
#define FLOPZNX "n + 3"
#else
#define FLOPBETA "2*n + 1"
#define FLOPZNX "n + 2"
#endif

enum { STEPS = 25 };

struct class {
    char letter;
    int na, nonzer, niter;
    double shift, zeta;
};

static const struct class classes[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},
    {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},
    {'B', 75000, 13, 75, 60, 22.712745482631},
    {'C', 150000, 15, 75, 110, 28.973605592845},
};

static int me, processes;
static int nprows, npcols, l; /* l = log2(npcols) */
static int width, height;     /* npcols/nprows and nprows/npcols, but at least 1 */
static int n, m;              /* columns and rows of the block */
static int partner;           /* that holds the transposed block */

/* The block of A in compressed rows. */
static int *start, *column, nnz;
static double *value;

static double *x, *z, *p, *q, *r, *w, *received;

static void *allocate(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    if (!memory) {
        fprintf(stderr, "cg: no memory for %zu bytes\n", count * size);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* ---- the matrix ---------------------------------------------------------------------------- */

/* The next number of x' = 5^13 x mod 2^46, divided by 2^46. */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 1220703125u & ((UINT64_C(1) << 46) - 1);
    return ldexp((double)*seed, -46);
}

/* A sparse vector: nonzer random entries at random places, and 0.5 at `middle`. */
static int sparse_vector(uint64_t *seed, int na, int nonzer, int middle, int *place, double *entry)
{
    int range = 1, count = 0, i;
    while (range < na)
        range *= 2;
    while (count < nonzer) {
        double number = uniform(seed);
        int where = (int)(range * uniform(seed));
        for (i = 0; i < count && place[i] != where; i++)
            ;
        if (where >= na || i < count)
            continue;
        place[count] = where;
        entry[count++] = number;
    }
    for (i = 0; i < count && place[i] != middle; i++)
        ;
    place[i] = middle;
    entry[i] = 0.5;
    return i < count ? count : count + 1;
}

/* Adds entries of equal column within each row; where[c] is the last entry of column c. */
static void merge_columns(void)
{
    int *where = allocate(n, sizeof *where), end = 0;
    for (int c = 0; c < n; c++)
        where[c] = -1;
    for (int row = 0; row < m; row++) {
        int first = start[row];
        start[row] = end;
        for (int k = first; k < start[row + 1]; k++) {
            int c = column[k];
            if (where[c] < start[row]) {
                where[c] = end;
                column[end] = c;
                value[end++] = value[k];
            } else {
                value[where[c]] += value[k];
            }
        }
    }
    start[m] = nnz = end;
    free(where);
}

/* This process's block of A = sum of weight_i v_i v_i' + (0.1 - shift) I; the weights fall from 1
 * to 0.1. */
static void make_matrix(int na, int nonzer, double shift)
{
    int wide = nonzer + 1, first_row = me / npcols * m, first_column = me % npcols * n;
    int *length = allocate(na, sizeof *length), *place = allocate((size_t)na * wide, sizeof *place);
    double *entry = allocate((size_t)na * wide, sizeof *entry);
    double weight = 1, ratio = pow(0.1, 1.0 / na);
    uint64_t seed = 314159265;

    start = calloc(m + 2, sizeof *start);
    uniform(&seed);
    for (int i = 0; i < na; i++) {
        int *places = place + (size_t)i * wide, columns = 0;
        length[i] = sparse_vector(&seed, na, nonzer, i, places, entry + (size_t)i * wide);
        for (int b = 0; b < length[i]; b++)
            columns += places[b] >= first_column && places[b] < first_column + n;
        for (int a = 0; a < length[i]; a++)
            if (places[a] >= first_row && places[a] < first_row + m)
                start[places[a] - first_row + 2] += columns;
    }
    for (int row = 0; row < m; row++)
        start[row + 2] += start[row + 1];
    column = allocate(start[m + 1], sizeof *column);
    value = allocate(start[m + 1], sizeof *value);
    for (int i = 0; i < na; i++, weight *= ratio) {
        int *places = place + (size_t)i * wide;
        double *entries = entry + (size_t)i * wide;
        for (int a = 0; a < length[i]; a++) {
            int row = places[a] - first_row;
            if (row < 0 || row >= m)
                continue;
            for (int b = 0; b < length[i]; b++) {
                int c = places[b] - first_column;
                if (c < 0 || c >= n)
                    continue;
                int k = start[row + 1]++;
                column[k] = c;
                value[k] = weight * entries[a] * entries[b];
                if (places[a] == i && places[b] == i)
                    value[k] += 0.1 - shift;
            }
        }
    }
    free(length);
    free(place);
    free(entry);
    merge_columns();
}

/* ---- messages ------------------------------------------------------------------------------ */

static void exchange(const double *out, double *in, int count, int other)
{
    MPI_Request request;
    MPI_Irecv(in, count, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- conjugate gradients ------------------------------------------------------------------- */

/* product = A vector: local rows, their sum over a row of the grid, then the exchange with the
 * process that holds the transposed block. w and `received` have room for m numbers. */
static void multiply(const double *vector, double *product)
{
    int part = me / npcols % height, length = m < n ? m : n, trips = 0;
    double *sums = w;

    ma_sub_begin("multiply");
    ma_flop_begin("flopmv", "2*nnz");
    for (int row = 0; row < m; row++) {
        double sum = 0;
        for (int k = start[row]; k < start[row + 1]; k++)
            sum += value[k] * vector[column[k]];
        w[row] = sum;
    }
    ma_flop_end("flopmv");
    ma_loop_begin("halves", "log2(width)");
    /* the two of a pair keep one half each */
    for (int bit = width / 2; bit > 0; bit /= 2, trips++) {
        int half = bit * n, upper = (me & bit) != 0;
        ma_var("bit", bit);
        ma_recv("l1rcv", "8*n*bit");
        ma_send("l1snd", "8*n*bit");
        exchange(sums + (upper ? 0 : half), received, half, me ^ bit);
        sums += upper ? half : 0;
        ma_flop_begin("flophalf", "n*bit");
        for (int i = 0; i < half; i++)
            sums[i] += received[i];
        ma_flop_end("flophalf");
    }
    ma_loop_end("halves", trips);
    trips = 0;
    ma_loop_begin("row_sum", "l - log2(width)");
    for (int bit = width; bit < npcols; bit *= 2, trips++) {
        ma_recv("l2rcv", "8*min(m, n)");
        ma_send("l2snd", "8*min(m, n)");
        exchange(sums, received, length, me ^ bit);
        ma_flop_begin("flopsum", "min(m, n)");
        for (int i = 0; i < length; i++)
            sums[i] += received[i];
        ma_flop_end("flopsum");
    }
    ma_loop_end("row_sum", trips);
    ma_recv_n("l3rcv", "8*min(m, n)", "min(nprocs - 1, 1)");
    ma_send_n("l3snd", "8*min(m, n)", "min(nprocs - 1, 1)");
    if (processes > 1)
        exchange(sums, product + part * m, length, partner);
    else
        for (int i = 0; i < n; i++)
            product[i] = w[i];
    trips = 0;
    ma_loop_begin("gather", "log2(height)");
    /* each of a pair gets the parts of the other */
    for (int parts = 1; parts < height; parts *= 2, trips++) {
        int group = part / parts;
        ma_var("parts", parts);
        ma_recv("l8rcv", "8*m*parts");
        ma_send("l8snd", "8*m*parts");
        exchange(product + group * parts * m, product + (group ^ 1) * parts * m, parts * m,
                 me ^ parts * npcols);
    }
    ma_loop_end("gather", trips);
    ma_sub_end("multiply");
}

/* Solves A z = x by 25 steps; returns the norm of x - A z. */
static double conj_grad(void)
{
    double rho = 0, other, norm = 0;
    int stage, step;

    ma_sub_begin("conj_grad");
    for (int i = 0; i < n; i++) {
        z[i] = 0;
        r[i] = p[i] = x[i];
    }
    ma_flop_begin("floprho", "2*n");
    for (int i = 0; i < n; i++)
        rho += r[i] * r[i];
    ma_flop_end("floprho");
    ma_loop_begin("cj1", "l");
    for (stage = 0; stage < l; stage++) {
        ma_recv("l4rcv", "8");
        ma_send("l4snd", "8");
        exchange(&rho, &other, 1, me ^ 1 << stage);
        ma_flop_begin("flopcj1", "1");
        rho += other;
        ma_flop_end("flopcj1");
    }
    ma_loop_end("cj1", stage);
    ma_loop_begin("cgmain", "cgitmax");
    for (step = 0; step < STEPS; step++) {
        multiply(p, q);
        double d = 0;
        ma_flop_begin("flopd", "2*n");
        for (int i = 0; i < n; i++)
            d += p[i] * q[i];
        ma_flop_end("flopd");
        ma_loop_begin("cj_d", "l");
        for (stage = 0; stage < l; stage++) {
            ma_recv("l6rcv", "8");
            ma_send("l6snd", "8");
            exchange(&d, &other, 1, me ^ 1 << stage);
            ma_flop_begin("flopcj_d", "1");
            d += other;
            ma_flop_end("flopcj_d");
        }
        ma_loop_end("cj_d", stage);
        double rho0 = rho;
        ma_flop_begin("floprrhopq", "6*n + 1");
        double alpha = rho / d;
        rho = 0;
        for (int i = 0; i < n; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            rho += r[i] * r[i];
        }
        ma_flop_end("floprrhopq");
        ma_loop_begin("cj_rho", "l");
        for (stage = 0; stage < l; stage++) {
            ma_recv("l5rcv", "8");
            ma_send("l5snd", "8");
            exchange(&rho, &other, 1, me ^ 1 << stage);
            ma_flop_begin("flopcj_rho", "1");
            rho += other;
            ma_flop_end("flopcj_rho");
        }
        ma_loop_end("cj_rho", stage);
        ma_flop_begin("flopbeta", FLOPBETA);
        double beta = rho / rho0;
        for (int i = 0; i < n; i++)
            p[i] = r[i] + beta * p[i];
        ma_flop_end("flopbeta");
    }
    ma_loop_end("cgmain", step);
    multiply(z, r);
    ma_flop_begin("flopnorm", "3*n");
    for (int i = 0; i < n; i++) {
        double difference = x[i] - r[i];
        norm += difference * difference;
    }
    ma_flop_end("flopnorm");
    ma_loop_begin("cj_norm", "l");
    for (stage = 0; stage < l; stage++) {
        ma_recv("l7rcv", "8");
        ma_send("l7snd", "8");
        exchange(&norm, &other, 1, me ^ 1 << stage);
        ma_flop_begin("flopcj_norm", "1");
        norm += other;
        ma_flop_end("flopcj_norm");
    }
    ma_loop_end("cj_norm", stage);
    ma_flop_begin("floproot", "1");
    norm = sqrt(norm);
    ma_flop_end("floproot");
    ma_sub_end("conj_grad");
    return norm;
}

/* `niter` iterations from x = 1, after one that is not timed; returns zeta. */
static double iterate(int niter, double shift, double *seconds)
{
    double zeta = 0, begin = 0;
    int it, stage;

    ma_loop_begin("conj_loop", "niter + 1");
    for (it = 0; it <= niter; it++) {
        if (it < 2) {
            begin = MPI_Wtime();
            for (int i = 0; i < n; i++)
                x[i] = 1;
        }
        conj_grad();
        double norms[2] = {0, 0}, others[2];
        ma_flop_begin("flopzeta", "4*na/npcols");
        for (int i = 0; i < n; i++) {
            norms[0] += x[i] * z[i];
            norms[1] += z[i] * z[i];
        }
        ma_flop_end("flopzeta");
        ma_loop_begin("norm_loop", "l");
        for (stage = 0; stage < l; stage++) {
            ma_recv("nrecv", "16");
            ma_send("nsend", "16");
            exchange(norms, others, 2, me ^ 1 << stage);
            ma_flop_begin("flopnsum", "2");
            norms[0] += others[0];
            norms[1] += others[1];
            ma_flop_end("flopnsum");
        }
        ma_loop_end("norm_loop", stage);
        ma_flop_begin("floproot0", "2 if rank < 1 else 0");
        if (me == 0)
            zeta = shift + 1 / norms[0];
        ma_flop_end("floproot0");
        ma_flop_begin("flopznx", FLOPZNX);
        double scale = 1 / sqrt(norms[1]);
        for (int i = 0; i < n; i++)
            x[i] = scale * z[i];
        ma_flop_end("flopznx");
    }
    ma_loop_end("conj_loop", it);
    *seconds = MPI_Wtime() - begin;
    return zeta;
}

/* ---- the program --------------------------------------------------------------------------- */

static void fail(const char *text)
{
    if (me == 0)
        fprintf(stderr, "cg: %s\n", text);
    MPI_Finalize();
    exit(2);
}

/* Sets the grid of processes and the lengths; `columns` of the grid, 0: the usual ones. */
static void make_grid(int na, int columns)
{
    if (processes & (processes - 1))
        fail("the number of processes must be a power of two");
    for (npcols = 1; columns ? npcols < columns : npcols * npcols < processes;)
        npcols *= 2;
    if (npcols > processes || (columns && npcols != columns))
        fail("the columns of the process grid must divide the number of processes");
    nprows = processes / npcols;
    for (l = 0; 1 << l < npcols;)
        l++;
    if (na % npcols || na % nprows)
        fail("the columns and rows of the process grid must divide na");
    width = npcols > nprows ? npcols / nprows : 1;
    height = nprows > npcols ? nprows / npcols : 1;
    n = na / npcols;
    m = na / nprows;
    int row = me / npcols, col = me % npcols;
    if (height > 1)
        partner = (col * height + row % height) * npcols + row / height;
    else
        partner = col / width * npcols + row * width + col % width;
}

int main(int count, char **arguments)
{
    const struct class *chosen = classes, *end = classes + sizeof classes / sizeof *classes;
    char letter = count > 1 ? *arguments[1] : 'S';

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    while (chosen < end && chosen->letter != letter)
        chosen++;
    if (chosen == end)
        fail("the class must be S, W, A, B or C");
    int niter = count > 2 ? atoi(arguments[2]) : 0, columns = count > 3 ? atoi(arguments[3]) : 0;
    if (niter < 0 || columns < 0)
        fail("the number of iterations must not be negative, nor that of columns of the grid");
    niter = niter ? niter : chosen->niter;

    make_grid(chosen->na, columns);
    make_matrix(chosen->na, chosen->nonzer, chosen->shift);
    double **vectors[] = {&x, &z, &p, &q, &r}, seconds;
    for (int i = 0; i < 5; i++)
        *vectors[i] = allocate(n, sizeof(double));
    w = allocate(m, sizeof *w);
    received = allocate(m, sizeof *received);

    ma_var_in("nprocs", processes, "processes", "power of two");
    ma_var_in("rank", me, "", "whole");
    ma_var_in("na", chosen->na, "rows", "whole");
    ma_var_in("nonzer", chosen->nonzer, "", "whole");
    ma_var_in("niter", niter, "iterations", "whole");
    ma_var_in("cgitmax", STEPS, "iterations", "whole");
    ma_var_in("nnz", nnz, "numbers", "whole"); /* of this process */
    if (columns)
        ma_var_in("npcols", npcols, "processes", "power of two");
    else
        ma_derive_check("npcols", "2**ceil(log2(nprocs)/2)", npcols);
    ma_derive_check("nprows", "nprocs/npcols", nprows);
    ma_derive_check("width", "max(npcols/nprows, 1)", width);
    ma_derive_check("height", "max(nprows/npcols, 1)", height);
    ma_derive_check("l", "log2(npcols)", l);
    ma_derive_check("n", "na/npcols", n);
    ma_derive_check("m", "na/nprows", m);
    double zeta = iterate(niter, chosen->shift, &seconds);

    int wrong = niter == chosen->niter && me == 0 && !(fabs(zeta - chosen->zeta) <= 1e-10);
    if (me == 0) {
        printf("class %c, %d processes as %d x %d\n", letter, processes, nprows, npcols);
        printf("zeta %.13f, published %.13f%s\n", zeta, chosen->zeta, wrong ? ": WRONG" : "");
        printf("seconds %.6f\n", seconds);
    }
    MPI_Finalize();
    return wrong;
}
