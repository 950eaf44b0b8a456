/* The beginning and end of MPI, and regions marked by MPI_Pcontrol, in C and Fortran. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counting.h"

int ma_running;
static int over, sessions;

/* --- what is done ------------------------------------------------------------------------------ */

static int is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

/* The first of these variables that is set; ``otherwise`` where none is. */
static int number_of(const char *const *names, int otherwise)
{
    for (; *names; names++)
        if (is_set(*names)) return atoi(getenv(*names));
    return otherwise;
}

/* A name that all ranks of MPI_COMM_WORLD share and no other processes: that of the environment,
 * or that of rank 0. Processes that a program spawned are a run of their own. */
static void agree_on_run(int rank, char *run, size_t room)
{
    MPI_Comm parent = MPI_COMM_NULL;
    *run = '\0';
    PMPI_Comm_get_parent(&parent);
    if (is_set("AUTOTUNE_ASSERT_RUN") && parent == MPI_COMM_NULL) return;
    if (rank == 0 && parent == MPI_COMM_NULL) snprintf(run, room, "%s", ma_run());
    if (rank == 0 && parent != MPI_COMM_NULL)
        snprintf(run, room, "%.80s-spawned-%ld", ma_run(), (long)getpid());
    PMPI_Bcast(run, (int)room, MPI_CHAR, 0, MPI_COMM_WORLD);
}

void ma_started(void)
{
    int rank, ranks;
    char run[128];
    if (ma_running || over || !is_set("AUTOTUNE_ASSERT")) return;
    ma_running = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    agree_on_run(rank, run, sizeof run);
    ma_set_rank(rank, ranks, run);
}

/* At the end of the process: MPI may have been started by a function that is not seen, such as one
 * of Fortran whose name does not end on one underscore, or as a session without MPI_COMM_WORLD. */
static void say_what_was_unseen(void)
{
    int initialized = 0, finalized = 0, rank = 0, ranks = 1;
    if (ma_running || over) return;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!initialized && !sessions) return;
    if (initialized && !finalized) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    } else {
        rank = number_of((const char *const[]){"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL}, 0);
        ranks = number_of((const char *const[]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL}, 1);
    }
    ma_set_rank(rank, ranks > rank ? ranks : rank + 1, NULL);
    ma_loss(initialized ? "MPI was started by a function that is not seen: no message is counted"
                        : "MPI was started as a session: no message is counted", 1);
}

__attribute__((constructor)) static void look_at_the_end(void)
{
    ma_before_end = say_what_was_unseen;
}

void ma_session(void)
{
    sessions = 1;
}

void ma_ending(void)
{
    if (!ma_running) return;
    ma_running = 0;
    over = 1;
    ma_abandon_requests();
    ma_write_record(MA_FINALIZED);
}

void ma_aborting(void)
{
    if (!ma_running) return;
    ma_running = 0;
    over = 1;
    ma_write_record(MA_ABORTED);
}

/* --- C ----------------------------------------------------------------------------------------- */

MA_EXPORT int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) ma_started();
    return code;
}

MA_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) ma_started();
    return code;
}

MA_EXPORT int MPI_Finalize(void)
{
    ma_ending();
    return PMPI_Finalize();
}

MA_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
    ma_aborting();
    return PMPI_Abort(comm, code);
}

/* A caller may pass no second argument, so that a name is read only where the environment says that
 * the program gives one: AUTOTUNE_ASSERT_PCONTROL=named. */
MA_EXPORT int MPI_Pcontrol(const int level, ...)
{
    static int named = -1;
    const char *name = NULL;
    if (named < 0) {
        const char *text = getenv("AUTOTUNE_ASSERT_PCONTROL");
        named = text && !strcmp(text, "named");
    }
    if (named && level) {
        va_list rest;
        va_start(rest, level);
        name = va_arg(rest, const char *);
        va_end(rest);
    }
    if (ma_running && ma_recording()) ma_pcontrol_region(level, name);
    return MPI_SUCCESS;
}

/* --- Fortran: mpif.h and module mpi, module mpi_f08 -------------------------------------------- */

typedef void init_function(MPI_Fint *ierror);
typedef void init_thread_function(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);
typedef void abort_function(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror);

#define FORTRAN(ending) \
    MA_EXPORT void mpi_init_##ending(MPI_Fint *ierror) \
    { \
        ((init_function *)ma_real("mpi_init_" #ending))(ierror); \
        ma_started(); \
    } \
\
    MA_EXPORT void mpi_init_thread_##ending(MPI_Fint *required, MPI_Fint *provided, \
                                            MPI_Fint *ierror) \
    { \
        ((init_thread_function *)ma_real("mpi_init_thread_" #ending))(required, provided, ierror); \
        ma_started(); \
    } \
\
    MA_EXPORT void mpi_finalize_##ending(MPI_Fint *ierror) \
    { \
        ma_ending(); \
        ((init_function *)ma_real("mpi_finalize_" #ending))(ierror); \
    } \
\
    MA_EXPORT void mpi_abort_##ending(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror) \
    { \
        ma_aborting(); \
        ((abort_function *)ma_real("mpi_abort_" #ending))(comm, code, ierror); \
    } \
\
    MA_EXPORT void mpi_pcontrol_##ending(MPI_Fint *level) \
    { \
        if (ma_running && ma_recording()) ma_pcontrol_region(*level, NULL); \
    }

FORTRAN()
FORTRAN(f08_)
