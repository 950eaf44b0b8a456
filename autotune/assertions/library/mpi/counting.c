/* Ranks of communicators and windows, bytes of lists, completed receives. */
#include "counting.h"
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local int ma_depth __attribute__((tls_model("initial-exec")));

_Thread_local int ma_pickled __attribute__((tls_model("initial-exec")));

static struct ma_ranks world = {.neighbours = -1, .uses = 1};
static int comm_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;

/* The communicator that was looked up last; forgotten where any is freed. */
static MPI_Comm last_comm = MPI_COMM_NULL;
static struct ma_ranks *last_ranks;

/* --- pickled objects --------------------------------------------------------------------------- */

/* Whether this thread is within a pickled call; for Python. */
MA_EXPORT void ma_pickled_1(int within)
{
    ma_pickled = within;
}

const char *ma_pickled_name(const char *call)
{
    char name[80];
    snprintf(name, sizeof name, "%s (pickled)", call);
    return ma_intern(name);
}

/* --- ranks ------------------------------------------------------------------------------------- */

void ma_share_ranks(struct ma_ranks *ranks)
{
    if (ranks) __atomic_add_fetch(&ranks->uses, 1, __ATOMIC_RELAXED);
}

void ma_drop_ranks(struct ma_ranks *ranks)
{
    if (!ranks || __atomic_sub_fetch(&ranks->uses, 1, __ATOMIC_ACQ_REL)) return;
    free(ranks->world);
    free(ranks->there);
    free(ranks);
}

static int drop_comm(MPI_Comm comm, int key, void *ranks, void *extra)
{
    (void)comm, (void)key, (void)extra;
    last_comm = MPI_COMM_NULL;
    ma_drop_ranks(ranks);
    return MPI_SUCCESS;
}

static int drop_window(MPI_Win win, int key, void *ranks, void *extra)
{
    (void)win, (void)key, (void)extra;
    ma_drop_ranks(ranks);
    return MPI_SUCCESS;
}

/* The ranks of a group in that of MPI_COMM_WORLD, -1 where a process is outside; frees the group. */
static int *in_world(MPI_Group group)
{
    MPI_Group all_processes;
    int size;
    PMPI_Group_size(group, &size);
    int *from = malloc(2 * (size_t)(size ? size : 1) * sizeof *from), *to = from + size;
    for (int i = 0; i < size; i++) from[i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &all_processes);
    PMPI_Group_translate_ranks(group, size, from, all_processes, to);
    PMPI_Group_free(&all_processes);
    PMPI_Group_free(&group);
    for (int i = 0; i < size; i++) from[i] = to[i] == MPI_UNDEFINED ? NO_PEER : to[i];
    return from;
}

static struct ma_ranks *new_ranks(MPI_Comm comm)
{
    struct ma_ranks *ranks = calloc(1, sizeof *ranks);
    MPI_Group group;
    PMPI_Comm_size(comm, &ranks->here);
    PMPI_Comm_rank(comm, &ranks->rank);
    PMPI_Comm_test_inter(comm, &ranks->between);
    ranks->all = ranks->here;
    ranks->neighbours = -1;
    ranks->uses = 1;
    if (ranks->between) {
        PMPI_Comm_remote_size(comm, &ranks->all);
        PMPI_Comm_remote_group(comm, &group);
    } else {
        PMPI_Comm_group(comm, &group);
    }
    ranks->world = in_world(group);
    return ranks;
}

struct ma_ranks *ranks_of(MPI_Comm comm)
{
    int there;
    struct ma_ranks *ranks;
    if (comm == MPI_COMM_WORLD) {
        if (!world.here) {
            PMPI_Comm_size(comm, &world.here);
            PMPI_Comm_rank(comm, &world.rank);
            world.all = world.here;
        }
        return &world;
    }
    if (comm == last_comm) return last_ranks;
    if (comm_key == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_comm, &comm_key, NULL);
    PMPI_Comm_get_attr(comm, comm_key, &ranks, &there);
    if (!there) {
        ranks = new_ranks(comm);
        PMPI_Comm_set_attr(comm, comm_key, ranks);
    }
    last_ranks = ranks;
    last_comm = comm;
    return ranks;
}

int rank_in(const struct ma_ranks *ranks, int rank)
{
    if (rank == MPI_PROC_NULL) return NOBODY;
    if (rank < 0 || rank >= ranks->all) return NO_PEER;
    return ranks->world ? ranks->world[rank] : rank;
}

int rank_in_window(MPI_Win win, int rank)
{
    int there;
    struct ma_ranks *ranks;
    if (window_key == MPI_KEYVAL_INVALID)
        PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, drop_window, &window_key, NULL);
    PMPI_Win_get_attr(win, window_key, &ranks, &there);
    if (!there) {
        MPI_Group group;
        ranks = calloc(1, sizeof *ranks);
        PMPI_Win_get_group(win, &group);
        PMPI_Group_size(group, &ranks->all);
        ranks->uses = 1;
        ranks->world = in_world(group);
        PMPI_Win_set_attr(win, window_key, ranks);
    }
    return rank_in(ranks, rank);
}

/* --- neighbours -------------------------------------------------------------------------------- */

/* The neighbours to which this process sends, in the order of its buffers; their number. */
static int targets(MPI_Comm comm, int rank, int **list)
{
    int topology, number = 0, sources, weighted;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &number);
        *list = malloc((size_t)(2 * number + 1) * sizeof **list);
        for (int i = 0; i < number; i++)
            PMPI_Cart_shift(comm, i, 1, *list + 2 * i, *list + 2 * i + 1);
        return 2 * number;
    }
    if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &number);
        *list = malloc((size_t)(number + 1) * sizeof **list);
        PMPI_Graph_neighbors(comm, rank, number, *list);
        return number;
    }
    if (topology != MPI_DIST_GRAPH) return 0;
    PMPI_Dist_graph_neighbors_count(comm, &sources, &number, &weighted);
    *list = malloc((size_t)(number + 1) * sizeof **list);
    int *ignored = malloc((size_t)(2 * (sources + number) + 1) * sizeof *ignored);
    PMPI_Dist_graph_neighbors(comm, sources, ignored, weighted ? ignored + sources : MPI_UNWEIGHTED,
                              number, *list,
                              weighted ? ignored + 2 * sources : MPI_UNWEIGHTED);
    free(ignored);
    return number;
}

struct ma_group neighbours(MPI_Comm comm)
{
    struct ma_ranks *ranks = ranks_of(comm);
    if (ranks->neighbours < 0) {
        int *list = NULL;
        int number = targets(comm, ranks->rank, &list);
        ranks->there = malloc((size_t)number + 1);
        for (int i = 0; i < number; i++) ranks->there[i] = list[i] != MPI_PROC_NULL;
        ranks->neighbours = number;
        free(list);
    }
    return (struct ma_group){ranks->neighbours, ranks->there};
}

/* --- bytes of lists ---------------------------------------------------------------------------- */

int64_t to_every(struct ma_group group, int64_t size)
{
    int64_t number = 0;
    for (int i = 0; i < group.size; i++) number += !group.there || group.there[i];
    return number * size;
}

#define SUMS(name, type) \
    int64_t ma_sum_##name(struct ma_group group, const type *counts) \
    { \
        int64_t total = 0; \
        for (int i = 0; i < group.size; i++) \
            if (!group.there || group.there[i]) total += counts[i]; \
        return total; \
    } \
\
    int64_t ma_typed_##name(struct ma_group group, const type *counts, const MPI_Datatype *types, \
                            const MPI_Fint *of_fortran) \
    { \
        int64_t total = 0; \
        for (int i = 0; i < group.size; i++) \
            if (!group.there || group.there[i]) \
                total += bytes(counts[i], types ? types[i] : PMPI_Type_f2c(of_fortran[i])); \
        return total; \
    }

SUMS(int, int)
SUMS(wide, MPI_Count)
