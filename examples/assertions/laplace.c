/* A 7-point Laplacian on px x py x pz processes of n^3 points each, by a solver of hypre.
 *
 *     mpicc -O2 -I/usr/include/hypre laplace.c -o laplace -lHYPRE -lm
 *     mpiexec -n 4 ./laplace smg 1 2 2 10          or pfmg, or boomeramg
 *     mpiexec -n 4 ./laplace pfmg 1 2 2 10 3       at most 3 levels, 10 iterations (not smg)
 *     mpiexec -n 4 ./laplace smg 1 2 2 =20         20^3 points of all processes together
 *
 * Not a line of it knows of autotune: MPI_Pcontrol(1) begins the setup, 2 the solution and 0 ends
 * it, so that `autotune assert run` tells their messages apart. What a run with k levels sends more
 * than one with k - 1 is what level k adds: the number of iterations is fixed then.
 */
#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_struct_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int dims[3], n[3], points, levels, iterations; /* n: points of a process, by axis */
static double residual, seconds[2];

/* Calls `setup` and `solve`, as statements, in the two marked parts; keeps the times. */
#define MARKED(setup, solve)                                                                       \
    do {                                                                                           \
        double begin = MPI_Wtime(), middle;                                                        \
        MPI_Pcontrol(1);                                                                           \
        setup;                                                                                     \
        middle = MPI_Wtime();                                                                      \
        MPI_Pcontrol(2);                                                                           \
        solve;                                                                                     \
        MPI_Pcontrol(0);                                                                           \
        seconds[0] = middle - begin;                                                               \
        seconds[1] = MPI_Wtime() - middle;                                                         \
    } while (0)

/* Solves on a structured grid. */
static void solve_struct(int me, int smg)
{
    int place[3] = {me % dims[0], me / dims[0] % dims[1], me / dims[0] / dims[1]};
    int low[3], high[3], entries[7] = {0, 1, 2, 3, 4, 5, 6};
    int offsets[7][3] = {{0},       {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                         {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    double *values = malloc(7 * points * sizeof *values);
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix A;
    HYPRE_StructVector b, x;
    HYPRE_StructSolver solver;

    for (int d = 0; d < 3; d++) {
        low[d] = place[d] * n[d];
        high[d] = low[d] + n[d] - 1;
    }
    HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
    HYPRE_StructGridSetExtents(grid, low, high);
    HYPRE_StructGridAssemble(grid);
    HYPRE_StructStencilCreate(3, 7, &stencil);
    for (int e = 0; e < 7; e++)
        HYPRE_StructStencilSetElement(stencil, e, offsets[e]);
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &A);
    HYPRE_StructMatrixInitialize(A);
    for (int i = 0; i < 7 * points; i++)
        values[i] = i % 7 ? -1 : 6;
    HYPRE_StructMatrixSetBoxValues(A, low, high, 7, entries, values);
    for (int e = 1; e < 7; e++) { /* nothing lies beyond the boundary */
        int d = (e - 1) / 2, upper = e % 2 == 0, first[3], last[3];
        if (place[d] != (upper ? dims[d] - 1 : 0))
            continue;
        memcpy(first, low, sizeof low);
        memcpy(last, high, sizeof high);
        first[d] = last[d] = upper ? high[d] : low[d];
        memset(values, 0, points * sizeof *values);
        HYPRE_StructMatrixSetBoxValues(A, first, last, 1, &e, values);
    }
    HYPRE_StructMatrixAssemble(A);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &b);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &x);
    HYPRE_StructVectorInitialize(b);
    HYPRE_StructVectorInitialize(x);
    HYPRE_StructVectorSetConstantValues(b, 1);
    HYPRE_StructVectorSetConstantValues(x, 0);
    HYPRE_StructVectorAssemble(b);
    HYPRE_StructVectorAssemble(x);
    if (smg) {
        HYPRE_StructSMGCreate(MPI_COMM_WORLD, &solver);
        HYPRE_StructSMGSetTol(solver, 1e-6);
        HYPRE_StructSMGSetLogging(solver, 1);
        MARKED(HYPRE_StructSMGSetup(solver, A, b, x), HYPRE_StructSMGSolve(solver, A, b, x));
        HYPRE_StructSMGGetNumIterations(solver, &iterations);
        HYPRE_StructSMGGetFinalRelativeResidualNorm(solver, &residual);
    } else {
        HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &solver);
        HYPRE_StructPFMGSetTol(solver, levels ? 0 : 1e-6);
        HYPRE_StructPFMGSetLogging(solver, 1);
        if (levels) {
            HYPRE_StructPFMGSetMaxLevels(solver, levels);
            HYPRE_StructPFMGSetMaxIter(solver, 10);
        }
        MARKED(HYPRE_StructPFMGSetup(solver, A, b, x), HYPRE_StructPFMGSolve(solver, A, b, x));
        HYPRE_StructPFMGGetNumIterations(solver, &iterations);
        HYPRE_StructPFMGGetFinalRelativeResidualNorm(solver, &residual);
    }
    free(values);
}

/* The number of a point: those of a process one after another. */
static int number_of(const int point[3])
{
    int rank = point[0] / n[0] + dims[0] * (point[1] / n[1] + dims[1] * (point[2] / n[2]));
    return rank * points + point[0] % n[0] + n[0] * (point[1] % n[1] + n[1] * (point[2] % n[2]));
}

/* Solves by algebraic multigrid. */
static void solve_algebraic(int me)
{
    int first = me * points, last = first + points - 1;
    int corner[3] = {me % dims[0] * n[0], me / dims[0] % dims[1] * n[1],
                     me / dims[0] / dims[1] * n[2]};
    HYPRE_IJMatrix matrix;
    HYPRE_IJVector right, left;
    HYPRE_ParCSRMatrix A;
    HYPRE_ParVector b, x;
    HYPRE_Solver solver;

    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &right);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &left);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJVectorSetObjectType(right, HYPRE_PARCSR);
    HYPRE_IJVectorSetObjectType(left, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix);
    HYPRE_IJVectorInitialize(right);
    HYPRE_IJVectorInitialize(left);
    for (int row = first; row <= last; row++) {
        int local = row - first, columns[7] = {row}, count = 1;
        int point[3] = {corner[0] + local % n[0], corner[1] + local / n[0] % n[1],
                        corner[2] + local / n[0] / n[1]};
        double values[7] = {6, -1, -1, -1, -1, -1, -1}, one = 1, zero = 0;
        for (int e = 0; e < 6; e++) {
            int near[3] = {point[0], point[1], point[2]};
            near[e / 2] += e % 2 ? 1 : -1;
            if (near[e / 2] >= 0 && near[e / 2] < n[e / 2] * dims[e / 2])
                columns[count++] = number_of(near);
        }
        HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
        HYPRE_IJVectorSetValues(right, 1, &row, &one);
        HYPRE_IJVectorSetValues(left, 1, &row, &zero);
    }
    HYPRE_IJMatrixAssemble(matrix);
    HYPRE_IJVectorAssemble(right);
    HYPRE_IJVectorAssemble(left);
    HYPRE_IJMatrixGetObject(matrix, (void **)&A);
    HYPRE_IJVectorGetObject(right, (void **)&b);
    HYPRE_IJVectorGetObject(left, (void **)&x);
    HYPRE_BoomerAMGCreate(&solver);
    HYPRE_BoomerAMGSetTol(solver, levels ? 0 : 1e-6);
    if (levels) {
        HYPRE_BoomerAMGSetMaxLevels(solver, levels);
        HYPRE_BoomerAMGSetMaxIter(solver, 10);
    }
    MARKED(HYPRE_BoomerAMGSetup(solver, A, b, x), HYPRE_BoomerAMGSolve(solver, A, b, x));
    HYPRE_BoomerAMGGetNumIterations(solver, &iterations);
    HYPRE_BoomerAMGGetFinalRelativeResidualNorm(solver, &residual);
}

int main(int count, char **arguments)
{
    int me, processes;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    int wrong = count < 6, together = count > 5 && *arguments[5] == '=';
    points = 1;
    for (int d = 0; d < 3 && !wrong; d++) {
        int size = atoi(arguments[5] + together);
        dims[d] = atoi(arguments[2 + d]);
        wrong = dims[d] < 1 || (together && size % dims[d]);
        n[d] = together && !wrong ? size / dims[d] : size;
        points *= n[d];
    }
    levels = count > 6 ? atoi(arguments[6]) : 0;
    if (wrong || points < 1 || dims[0] * dims[1] * dims[2] != processes) {
        if (me == 0)
            fprintf(stderr, "usage: laplace smg|pfmg|boomeramg PX PY PZ N|=N [LEVELS]\n"
                            "PX * PY * PZ must be the number of processes; they divide =N\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Pcontrol(0);
    HYPRE_Init();
    if (!strcmp(arguments[1], "boomeramg"))
        solve_algebraic(me);
    else
        solve_struct(me, !strcmp(arguments[1], "smg"));
    if (me == 0)
        printf("%s: %d iterations, residual %.1e, setup %.4f s, solution %.4f s, together %.6f s\n",
               arguments[1], iterations, residual, seconds[0], seconds[1],
               seconds[0] + seconds[1]);
    HYPRE_Finalize();
    MPI_Finalize();
    return !levels && !(residual <= 1e-6);
}
