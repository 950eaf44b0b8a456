/* Solves with SUNDIALS the problem of an exported library, whose right-hand side it calls.

   METHOD VECTOR CLOCK SIZE THREADS RTOL ATOL T1 STATE: prints the seconds, those of them inside the
   right-hand side, and its evaluations; writes the state at T1. VECTOR: serial or openmp. CLOCK:
   wall, or cpu for the CPU time of the main thread.
   vectors COUNT: prints the time of N_VLinearSum over that of a plain loop.
   Compiled with -DNAME=heat2d and -DHEADER='"heat2d.h"'. */
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_openmp.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

#include HEADER

#define JOIN(one, other) one##_##other
#define NAMED(one, other) JOIN(one, other)
#define OF(what) NAMED(NAME, what)

struct problem {
    OF(solver) *solver;
    double t0, t1, rtol, atol;
    clockid_t clock;
    double inside; /* seconds in the right-hand side */
};

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int rhs(double t, N_Vector y, N_Vector dy, void *data)
{
    struct problem *const problem = data;
    const double begun = now(problem->clock);
    const int code = OF(rhs)(problem->solver, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    problem->inside += now(problem->clock) - begun;
    return code;
}

/* Changes nothing. After it ERKStep evaluates f at the new state. Without it, version 6.4 takes any
   method whose last node is 1 for one whose last stage is that evaluation, which of these tableaus
   is true of Dormand-Prince 5(4) alone: the others lose their order. */
static int as_it_is(double t, N_Vector y, void *data)
{
    (void)t;
    (void)y;
    (void)data;
    return 0;
}

static void must(int done, const char *what)
{
    if (!done) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static long with_arkode(N_Vector y, struct problem *p, int table, SUNContext context)
{
    double t;
    long evaluations;
    void *memory = ERKStepCreate(rhs, p->t0, y, context);
    must(memory && !ERKStepSStolerances(memory, p->rtol, p->atol), "ERKStepCreate");
    must(!ERKStepSetUserData(memory, p) && !ERKStepSetTableNum(memory, table), "ERKStepSet");
    must(!ERKStepSetMaxNumSteps(memory, 10000000) && !ERKStepSetStopTime(memory, p->t1), "ERKSet");
    must(table == ARKODE_DORMAND_PRINCE_7_4_5 || !ERKStepSetPostprocessStepFn(memory, as_it_is),
         "ERKStepSetPostprocessStepFn");
    must(ERKStepEvolve(memory, p->t1, y, &t, ARK_NORMAL) >= 0, "ERKStepEvolve");
    ERKStepGetNumRhsEvals(memory, &evaluations);
    ERKStepFree(&memory);
    return evaluations;
}

static long with_cvode(N_Vector y, struct problem *p, SUNContext context)
{
    double t;
    long evaluations;
    void *memory = CVodeCreate(CV_ADAMS, context);
    must(memory && !CVodeInit(memory, rhs, p->t0, y), "CVodeCreate");
    SUNNonlinearSolver fixed = SUNNonlinSol_FixedPoint(y, 0, context);
    must(!CVodeSetUserData(memory, p) && !CVodeSStolerances(memory, p->rtol, p->atol), "CVodeSet");
    must(!CVodeSetNonlinearSolver(memory, fixed) && !CVodeSetStopTime(memory, p->t1), "CVodeSet");
    must(!CVodeSetMaxNumSteps(memory, 10000000), "CVodeSet");
    must(CVode(memory, p->t1, y, &t, CV_NORMAL) >= 0, "CVode");
    CVodeGetNumRhsEvals(memory, &evaluations);
    CVodeFree(&memory);
    SUNNonlinSolFree(fixed);
    return evaluations;
}

static long solved(const char *method, N_Vector y, struct problem *problem, SUNContext context)
{
    static const struct {
        const char *name;
        int table;
    } tables[] = {{"arkode-dp5", ARKODE_DORMAND_PRINCE_7_4_5},
                  {"arkode-verner6", ARKODE_VERNER_8_5_6},
                  {"arkode-fehlberg8", ARKODE_FEHLBERG_13_7_8}};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (!strcmp(method, tables[k].name))
            return with_arkode(y, problem, tables[k].table, context);
    must(!strcmp(method, "cvode-adams"), "METHOD");
    return with_cvode(y, problem, context);
}

static void plain(long n, double a, const double *x, double b, const double *y, double *z)
{
    for (long i = 0; i < n; i++)
        z[i] = a * x[i] + b * y[i];
}

static void compare_vectors(long n, SUNContext context)
{
    enum { TIMES = 2000 };
    N_Vector x = N_VNew_Serial(n, context), y = N_VClone(x), z = N_VClone(x);
    must(x && y && z, "N_VNew_Serial");
    N_VConst(1.0, x);
    N_VConst(2.0, y);
    N_VConst(3.0, z);
    const clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    const double begun = now(clock);
    for (int k = 0; k < TIMES; k++)
        N_VLinearSum(1.5, x, 0.5, y, z);
    const double middle = now(clock);
    for (int k = 0; k < TIMES; k++)
        plain(n, 1.5, N_VGetArrayPointer(x), 0.5 + k, N_VGetArrayPointer(y), N_VGetArrayPointer(z));
    printf("%.3g\n", (middle - begun) / (now(clock) - middle));
    N_VDestroy(x);
    N_VDestroy(y);
    N_VDestroy(z);
}

int main(int count, char **arguments)
{
    SUNContext context;
    must(!SUNContext_Create(NULL, &context), "SUNContext_Create");
    if (count == 3 && !strcmp(arguments[1], "vectors")) {
        compare_vectors(atol(arguments[2]), context);
        return 0;
    }
    must(count == 10, "METHOD VECTOR CLOCK SIZE THREADS RTOL ATOL T1 STATE");
    const long size = atol(arguments[4]), n = OF(components)(size);
    const int threads = atoi(arguments[5]), serial = !strcmp(arguments[2], "serial");
    struct problem problem = {
        .rtol = atof(arguments[6]), .atol = atof(arguments[7]), .t1 = atof(arguments[8]),
        .clock = strcmp(arguments[3], "cpu") ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID};
    must(!OF(create)(&problem.solver, size, threads), "create");
    N_Vector y = serial ? N_VNew_Serial(n, context) : N_VNew_OpenMP(n, threads, context);
    must(y && !OF(initial)(problem.solver, &problem.t0, N_VGetArrayPointer(y)), "initial");
    must(!(serial ? N_VEnableFusedOps_Serial : N_VEnableFusedOps_OpenMP)(y, 1), "N_VEnableFusedOps");
    const double begun = now(problem.clock);
    const long evaluations = solved(arguments[1], y, &problem, context);
    printf("%.9g %.9g %ld\n", now(problem.clock) - begun, problem.inside, evaluations);
    FILE *const file = fopen(arguments[9], "wb");
    must(file && fwrite(N_VGetArrayPointer(y), sizeof(double), (size_t)n, file) == (size_t)n
             && !fclose(file),
         "the state");
    N_VDestroy(y);
    OF(destroy)(problem.solver);
    SUNContext_Free(&context);
    return 0;
}
