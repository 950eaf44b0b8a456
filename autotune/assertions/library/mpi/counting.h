/* What the wrappers around MPI's functions use to count messages.
 *
 * A wrapper enters, calls the real function, leaves and counts. Functions of MPI that the real one
 * calls in turn are not counted again. */
#ifndef MA_COUNTING_H
#define MA_COUNTING_H

#include <mpi.h>
#include <stddef.h>

#include "internal.h"

enum { NO_PEER = -1, NOBODY = -2 }; /* all take part; MPI_PROC_NULL: nothing moves */

/* --- entering and leaving ---------------------------------------------------------------------- */

extern int ma_running; /* MPI_COMM_WORLD is known and the library is on */
extern _Thread_local int ma_depth __attribute__((tls_model("initial-exec")));

/* 1 where the messages of this call are to be counted: the program calls, and the thread that
 * records. */
static inline int ma_enter(void)
{
    if (!ma_running || ma_depth || !ma_recording()) return 0;
    ma_depth = 1;
    return 1;
}

extern size_t ma_kept_requests;

/* The same of a function that completes requests; any thread may complete what another started. */
static inline int ma_enter_completion(void)
{
    if (ma_depth || !ma_kept_requests) return 0;
    ma_depth = 1;
    return 1;
}

/* 1 where the function succeeded. */
static inline int ma_leave(int code)
{
    ma_depth = 0;
    return code == MPI_SUCCESS;
}

/* --- ranks ------------------------------------------------------------------------------------- */

/* The ranks of a communicator or window as ranks of MPI_COMM_WORLD, and whom collectives reach. */
struct ma_ranks {
    int here;             /* size of the communicator; of an intercommunicator, of the local group */
    int all;              /* whom a collective reaches: the remote group of an intercommunicator */
    int rank;             /* of this process */
    int between;          /* 1: an intercommunicator */
    int *world;           /* by rank of the communicator (the remote group); NULL: the same */
    int neighbours;       /* of a topology, to which this process sends; -1: not asked yet */
    unsigned char *there; /* of every neighbour, whether it is more than MPI_PROC_NULL */
    int uses;
};

struct ma_ranks *ranks_of(MPI_Comm comm);
int rank_in(const struct ma_ranks *ranks, int rank);
int rank_in_window(MPI_Win win, int rank);
void ma_share_ranks(struct ma_ranks *ranks);
void ma_drop_ranks(struct ma_ranks *ranks);

static inline int taking_part(int root)
{
    return root == MPI_PROC_NULL ? NOBODY : NO_PEER;
}

/* --- bytes ------------------------------------------------------------------------------------- */

/* A type that does not matter, as at the root of an intercommunicator, may be none. */
static inline int64_t bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size;
    if (type == MPI_DATATYPE_NULL) return 0;
    PMPI_Type_size_x(type, &size);
    return (int64_t)count * (int64_t)size;
}

static inline int in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE;
}

/* The partners of a collective: ``there`` marks those that are more than MPI_PROC_NULL. */
struct ma_group {
    int size;
    const unsigned char *there;
};

static inline struct ma_group all(MPI_Comm comm)
{
    return (struct ma_group){ranks_of(comm)->all, NULL};
}

static inline struct ma_group here(MPI_Comm comm)
{
    return (struct ma_group){ranks_of(comm)->here, NULL};
}

struct ma_group neighbours(MPI_Comm comm);

static inline int is_root(MPI_Comm comm, int root)
{
    return root == MPI_ROOT || (root == ranks_of(comm)->rank && !ranks_of(comm)->between);
}

/* What goes to every partner, of ``size`` bytes each. */
int64_t to_every(struct ma_group group, int64_t size);

/* Sums over a group, of int and of wide counts; what this process has of such a list. */
int64_t ma_sum_int(struct ma_group group, const int *counts);
int64_t ma_sum_wide(struct ma_group group, const MPI_Count *counts);
#define sum(group, counts) \
    _Generic((counts), int *: ma_sum_int, const int *: ma_sum_int, \
             MPI_Count *: ma_sum_wide, const MPI_Count *: ma_sum_wide)(group, counts)
#define own(comm, counts) \
    (ranks_of(comm)->between ? sum(all(comm), counts) : (int64_t)(counts)[ranks_of(comm)->rank])

/* Bytes of a list with a datatype for each partner, given in C or in Fortran. */
int64_t ma_typed_int(struct ma_group, const int *, const MPI_Datatype *, const MPI_Fint *);
int64_t ma_typed_wide(struct ma_group, const MPI_Count *, const MPI_Datatype *, const MPI_Fint *);
#define typed_sum(group, counts, ...) \
    _Generic((counts), int *: ma_typed_int, const int *: ma_typed_int, \
             MPI_Count *: ma_typed_wide, const MPI_Count *: ma_typed_wide)(group, counts, \
                                                                            __VA_ARGS__)

/* --- counting ---------------------------------------------------------------------------------- */

/* mpi4py sends a pickled object by the functions of MPI; the calls of one are recorded as such. */
extern _Thread_local int ma_pickled __attribute__((tls_model("initial-exec")));
const char *ma_pickled_name(const char *call);

static inline const char *named(const char *call)
{
    return ma_pickled ? ma_pickled_name(call) : call;
}

/* A message that is complete, or whose bytes are known and that will be. */
static inline void ma_count_message(enum ma_kind kind, const char *call, const char *operation,
                                    int64_t size, int peer)
{
    if (peer != NOBODY) ma_message(kind, named(call), operation, size, 1, peer);
}

/* A receive that is complete. */
void ma_received(const char *call, const struct ma_ranks *ranks, const void *status, int fortran);

/* --- requests and matched messages (requests.c) ------------------------------------------------ */

/* A persistent message of known size, counted whenever it is started. */
void ma_keep(MPI_Request request, enum ma_kind kind, const char *call, const char *operation,
             int64_t size, int peer);

/* A receive that was posted; a persistent one is posted whenever it is started. */
void ma_expect(MPI_Request request, const char *call, struct ma_ranks *ranks, int persistent);

/* Requests are passed as a list of C or as one of Fortran; the other is NULL. */
void ma_start(int number, const MPI_Request *requests, const MPI_Fint *of_fortran);
void ma_release(const MPI_Request *request, const MPI_Fint *of_fortran);

/* At the end of MPI: what is under way still will not arrive. */
void ma_abandon_requests(void);

/* The ranks among which a message was matched by MPI_Mprobe, until it is received. */
void ma_probed(MPI_Message message, struct ma_ranks *ranks);
struct ma_ranks *ma_unprobed(MPI_Message message);

enum { MA_BATCH = 16 };

/* What is known of the requests that a function completes, taken out while it does so: a request
 * that is complete is another thread's to reuse. */
struct ma_batch {
    int number;
    int receives; /* those whose status is needed */
    int succeeded;
    struct ma_kept **kept;
    void *statuses;
    struct ma_kept *few[MA_BATCH];
};

void ma_take_batch(struct ma_batch *batch, int number, const MPI_Request *requests,
                   const MPI_Fint *of_fortran);
void *ma_batch_statuses(struct ma_batch *batch);
void ma_settle_batch(struct ma_batch *batch, int complete, const int *indices, int first,
                     const void *statuses, int fortran);
void ma_end_batch(struct ma_batch *batch);

/* Where the program ignores a status that is needed, ``status`` is one of ours. */
#define OWN_STATUS(needed, room, status, fortran) \
    do { \
        if ((needed) && ((fortran) ? fortran_ignored(status) : c_ignored(status))) \
            status = (room); \
    } while (0)

static inline int c_ignored(const void *status)
{
    return status == (void *)MPI_STATUS_IGNORE || status == (void *)MPI_STATUSES_IGNORE;
}

/* --- Fortran (fortran.c) ----------------------------------------------------------------------- */

enum ma_module { MA_MPIF, MA_F08 };

/* 1 where the functions of this binding call those of C, which count then. */
int ma_counted_in_c(enum ma_module module);

/* The function of this name in MPI's library for Fortran. Ends the process where there is none. */
void *ma_real(const char *name);

int fortran_ignored(const void *status);
const void *fortran_buffer(const void *buffer);

/* --- the process (session.c) ------------------------------------------------------------------- */

void ma_started(void);  /* MPI was initialised */
void ma_session(void);  /* MPI was started without MPI_COMM_WORLD */
void ma_ending(void);   /* MPI is about to be finalised */
void ma_aborting(void); /* the program ends itself by MPI_Abort */

#endif
