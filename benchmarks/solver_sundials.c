/* Solves with SUNDIALS the problem of an exported library, whose right-hand side it calls.

   METHOD SIZE THREADS RTOL ATOL T1 STATE: prints seconds and evaluations, writes the state at T1.
   Compiled with -DNAME=heat2d and -DHEADER='"heat2d.h"'. */
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_openmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

#include HEADER

#define JOIN(one, other) one##_##other
#define NAMED(one, other) JOIN(one, other)
#define OF(what) NAMED(NAME, what)

static int rhs(double t, N_Vector y, N_Vector dy, void *data)
{
    return OF(rhs)(data, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
}

static void must(int done, const char *what)
{
    if (!done) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long with_arkode(N_Vector y, double t0, double t1, double rtol, double atol, void *solver,
                        int table, SUNContext context)
{
    double t;
    long evaluations;
    void *memory = ERKStepCreate(rhs, t0, y, context);
    must(memory && !ERKStepSStolerances(memory, rtol, atol), "ERKStepCreate");
    must(!ERKStepSetUserData(memory, solver) && !ERKStepSetTableNum(memory, table), "ERKStepSet");
    must(!ERKStepSetMaxNumSteps(memory, 10000000) && !ERKStepSetStopTime(memory, t1), "ERKStepSet");
    must(ERKStepEvolve(memory, t1, y, &t, ARK_NORMAL) >= 0, "ERKStepEvolve");
    ERKStepGetNumRhsEvals(memory, &evaluations);
    ERKStepFree(&memory);
    return evaluations;
}

static long with_cvode(N_Vector y, double t0, double t1, double rtol, double atol, void *solver,
                       SUNContext context)
{
    double t;
    long evaluations;
    void *memory = CVodeCreate(CV_ADAMS, context);
    must(memory && !CVodeInit(memory, rhs, t0, y), "CVodeCreate");
    SUNNonlinearSolver fixed = SUNNonlinSol_FixedPoint(y, 0, context);
    must(!CVodeSetUserData(memory, solver) && !CVodeSStolerances(memory, rtol, atol), "CVodeSet");
    must(!CVodeSetNonlinearSolver(memory, fixed) && !CVodeSetStopTime(memory, t1), "CVodeSet");
    must(!CVodeSetMaxNumSteps(memory, 10000000), "CVodeSet");
    must(CVode(memory, t1, y, &t, CV_NORMAL) >= 0, "CVode");
    CVodeGetNumRhsEvals(memory, &evaluations);
    CVodeFree(&memory);
    SUNNonlinSolFree(fixed);
    return evaluations;
}

int main(int count, char **arguments)
{
    must(count == 8, "METHOD SIZE THREADS RTOL ATOL T1 STATE");
    const char *const method = arguments[1];
    const long size = atol(arguments[2]);
    const int threads = atoi(arguments[3]);
    const double rtol = atof(arguments[4]), absolute = atof(arguments[5]), t1 = atof(arguments[6]);
    OF(solver) *solver;
    SUNContext context;
    double t0;
    must(!OF(create)(&solver, size, threads) && !SUNContext_Create(NULL, &context), "create");
    const long n = OF(components)(size);
    N_Vector y = N_VNew_OpenMP(n, threads, context);
    must(y && !OF(initial)(solver, &t0, N_VGetArrayPointer(y)), "initial");
    const double begun = now();
    long evaluations;
    if (!strcmp(method, "cvode-adams"))
        evaluations = with_cvode(y, t0, t1, rtol, absolute, solver, context);
    else
        evaluations = with_arkode(y, t0, t1, rtol, absolute, solver,
                                  strcmp(method, "arkode-verner") ? ARKODE_DORMAND_PRINCE_7_4_5
                                                                  : ARKODE_VERNER_8_5_6,
                                  context);
    printf("%.9g %ld\n", now() - begun, evaluations);
    FILE *const file = fopen(arguments[7], "wb");
    must(file && fwrite(N_VGetArrayPointer(y), sizeof(double), (size_t)n, file) == (size_t)n
             && !fclose(file),
         "the state");
    N_VDestroy(y);
    OF(destroy)(solver);
    SUNContext_Free(&context);
    return 0;
}
