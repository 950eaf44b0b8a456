/* Every function of MPI that carries messages, with sizes that are stated beside each call.
 *
 * Argument: a folder. What a rank ought to have counted goes to FOLDER/expected.RANK, a line a
 * message: kind, function, bytes, rank of MPI_COMM_WORLD (-1: of a collective, none). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static FILE *expected;
static int rank, ranks, next, previous;
static double out[ROOM], in[ROOM];

static void expect(const char *kind, const char *call, long long bytes, int peer)
{
    fprintf(expected, "%s MPI_%s %lld %d\n", kind, call, bytes, peer);
}

#define COLL(call, bytes) expect("coll", call, bytes, -1)

/* --- point to point ---------------------------------------------------------------------------- */

static void receive_later(MPI_Request *request)
{
    MPI_Irecv(in, ROOM, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, request);
}

static void blocking_sends(void)
{
    MPI_Request r;
    char *attached = malloc(1 << 16);
    void *detached;
    int size;
    receive_later(&r), MPI_Send(out, 1, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Send", 8, next), expect("recv", "Irecv", 8, previous);
    receive_later(&r), MPI_Ssend(out, 2, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Ssend", 16, next), expect("recv", "Irecv", 16, previous);
    receive_later(&r), MPI_Barrier(MPI_COMM_WORLD);
    COLL("Barrier", 0);
    MPI_Rsend(out, 3, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Rsend", 24, next), expect("recv", "Irecv", 24, previous);
    MPI_Buffer_attach(attached, 1 << 16);
    receive_later(&r), MPI_Bsend(out, 4, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Bsend", 32, next), expect("recv", "Irecv", 32, previous);
    MPI_Buffer_detach(&detached, &size);
    free(attached);
    MPI_Send(out, 5, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD); /* moves nothing */
    MPI_Recv(in, 5, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void nonblocking(void)
{
    MPI_Request r[8];
    MPI_Status status;
    int index, flag, number, indices[8], left;
    MPI_Isend(out, 5, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Recv(in, ROOM, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    expect("send", "Isend", 40, next), expect("recv", "Recv", 40, previous);
    receive_later(&r[0]), MPI_Issend(out, 6, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    expect("send", "Issend", 48, next), expect("recv", "Irecv", 48, previous);
    receive_later(&r[1]), MPI_Barrier(MPI_COMM_WORLD), COLL("Barrier", 0);
    MPI_Irsend(out, 7, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[0]);
    for (left = 2; left; left--) MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    expect("send", "Irsend", 56, next), expect("recv", "Irecv", 56, previous);
    for (int i = 0; i < 4; i++) receive_later(&r[i]);
    for (int i = 0; i < 4; i++) {
        MPI_Isend(out, 8 + i, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[4 + i]);
        expect("send", "Isend", 64 + 8 * i, next), expect("recv", "Irecv", 64 + 8 * i, previous);
    }
    for (left = 8; left; left -= number) MPI_Waitsome(8, r, &number, indices, MPI_STATUSES_IGNORE);
    receive_later(&r[0]), MPI_Isend(out, 12, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    for (flag = 0; !flag;) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Test(&r[1], &flag, &status);
    expect("send", "Isend", 96, next), expect("recv", "Irecv", 96, previous);
    receive_later(&r[0]), MPI_Isend(out, 13, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    for (flag = 0; !flag;) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    expect("send", "Isend", 104, next), expect("recv", "Irecv", 104, previous);
    receive_later(&r[0]), MPI_Isend(out, 14, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    for (left = 2; left; left -= flag) MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
    expect("send", "Isend", 112, next), expect("recv", "Irecv", 112, previous);
    receive_later(&r[0]), MPI_Isend(out, 15, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    for (left = 2; left; left -= number) MPI_Testsome(2, r, &number, indices, MPI_STATUSES_IGNORE);
    expect("send", "Isend", 120, next), expect("recv", "Irecv", 120, previous);
    MPI_Irecv(in, ROOM, MPI_DOUBLE, previous, 99, MPI_COMM_WORLD, &r[0]); /* nothing arrives */
    MPI_Cancel(&r[0]), MPI_Wait(&r[0], &status);
    MPI_Irecv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

static void paired(void)
{
    MPI_Sendrecv(out, 20, MPI_DOUBLE, next, 7, in, ROOM, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("send", "Sendrecv", 160, next), expect("recv", "Sendrecv", 160, previous);
    MPI_Sendrecv_replace(out, 21, MPI_INT, next, 7, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("send", "Sendrecv_replace", 84, next), expect("recv", "Sendrecv_replace", 84, previous);
    MPI_Sendrecv(out, 22, MPI_DOUBLE, rank ? MPI_PROC_NULL : 0, 7, in, ROOM, MPI_DOUBLE,
                 rank ? MPI_PROC_NULL : 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!rank) expect("send", "Sendrecv", 176, 0), expect("recv", "Sendrecv", 176, 0);
}

static void matched(void)
{
    MPI_Request r, late;
    MPI_Message message;
    MPI_Status status;
    int flag;
    MPI_Isend(out, 23, MPI_DOUBLE, next, 9, MPI_COMM_WORLD, &r);
    MPI_Mprobe(previous, 9, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, ROOM, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Isend", 184, next), expect("recv", "Mrecv", 184, previous);
    MPI_Isend(out, 24, MPI_DOUBLE, next, 9, MPI_COMM_WORLD, &r);
    for (flag = 0; !flag;) MPI_Improbe(previous, 9, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Imrecv(in, ROOM, MPI_DOUBLE, &message, &late);
    MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Isend", 192, next), expect("recv", "Imrecv", 192, previous);
}

static void persistent(void)
{
    MPI_Request r[5];
    char *attached = malloc(1 << 16);
    void *detached;
    int size;
    MPI_Buffer_attach(attached, 1 << 16);
    MPI_Recv_init(in, ROOM, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out, 30, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(out, 31, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[2]);
    MPI_Bsend_init(out, 32, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[3]);
    MPI_Rsend_init(out, 33, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &r[4]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, r), MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        expect("send", "Send_init", 240, next), expect("recv", "Recv_init", 240, previous);
    }
    MPI_Start(&r[0]), MPI_Start(&r[2]), MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    expect("send", "Ssend_init", 248, next), expect("recv", "Recv_init", 248, previous);
    MPI_Start(&r[0]), MPI_Start(&r[3]), MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    expect("send", "Bsend_init", 256, next), expect("recv", "Recv_init", 256, previous);
    MPI_Start(&r[0]), MPI_Barrier(MPI_COMM_WORLD), COLL("Barrier", 0);
    MPI_Start(&r[4]), MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    expect("send", "Rsend_init", 264, next), expect("recv", "Recv_init", 264, previous);
    MPI_Buffer_detach(&detached, &size);
    free(attached);
    for (int i = 0; i < 5; i++) MPI_Request_free(&r[i]);
    MPI_Irecv(in, ROOM, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, &r[0]); /* a handle again */
    MPI_Send(out, 34, MPI_DOUBLE, next, 7, MPI_COMM_WORLD), MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    expect("send", "Send", 272, next), expect("recv", "Irecv", 272, previous);
}

/* --- collectives ------------------------------------------------------------------------------- */

#define BOTH(call, bytes, ...) \
    do { \
        MPI_##call(__VA_ARGS__); \
        COLL(#call, bytes); \
    } while (0)
#define LATER(call, bytes, ...) \
    do { \
        MPI_Request started; \
        MPI_##call(__VA_ARGS__, &started), MPI_Wait(&started, MPI_STATUS_IGNORE); \
        COLL(#call, bytes); \
    } while (0)

static int one[64], place[64], offset[64]; /* rank i has i + 1 elements */
static MPI_Datatype doubles[64];

static void collectives(MPI_Comm c, int me, int p)
{
    MPI_Datatype d = MPI_DOUBLE;
    int all = p * (p + 1) / 2, mine = me + 1;
    BOTH(Bcast, 80, out, 10, d, p - 1, c);
    LATER(Ibcast, 88, out, 11, d, 0, c);
    LATER(Ibarrier, 0, c);
    BOTH(Reduce, 80, out, in, 10, d, MPI_SUM, 0, c);
    LATER(Ireduce, 80, out, in, 10, d, MPI_SUM, 0, c);
    BOTH(Reduce, 88, me ? out : MPI_IN_PLACE, me ? NULL : in, 11, d, MPI_SUM, 0, c);
    BOTH(Allreduce, 8, out, in, 1, d, MPI_SUM, c);
    BOTH(Allreduce, 16, MPI_IN_PLACE, in, 2, d, MPI_SUM, c);
    LATER(Iallreduce, 8, out, in, 1, d, MPI_SUM, c);
    BOTH(Scan, 24, out, in, 3, d, MPI_SUM, c);
    LATER(Iscan, 24, out, in, 3, d, MPI_SUM, c);
    BOTH(Exscan, 32, out, in, 4, d, MPI_SUM, c);
    LATER(Iexscan, 32, out, in, 4, d, MPI_SUM, c);
    BOTH(Reduce_scatter, 8 * all, out, in, one, d, MPI_SUM, c);
    LATER(Ireduce_scatter, 8 * all, out, in, one, d, MPI_SUM, c);
    BOTH(Reduce_scatter_block, 40 * p, out, in, 5, d, MPI_SUM, c);
    LATER(Ireduce_scatter_block, 40 * p, out, in, 5, d, MPI_SUM, c);
    BOTH(Gather, 48, out, 6, d, in, 6, d, 0, c);
    BOTH(Gather, 56, me ? out : MPI_IN_PLACE, 7, d, in, 7, d, 0, c);
    LATER(Igather, 48, out, 6, d, in, 6, d, 0, c);
    BOTH(Gatherv, 8 * mine, out, mine, d, in, one, place, d, p - 1, c);
    BOTH(Gatherv, 8 * mine, me ? out : MPI_IN_PLACE, mine, d, in, one, place, d, 0, c);
    LATER(Igatherv, 8 * mine, out, mine, d, in, one, place, d, 0, c);
    BOTH(Scatter, 48, out, 6, d, in, 6, d, 0, c);
    BOTH(Scatter, 56, out, 7, d, me ? in : MPI_IN_PLACE, 7, d, 0, c);
    LATER(Iscatter, 48, out, 6, d, in, 6, d, p - 1, c);
    BOTH(Scatterv, 8 * mine, out, one, place, d, in, mine, d, 0, c);
    LATER(Iscatterv, 8 * mine, out, one, place, d, in, mine, d, 0, c);
    BOTH(Allgather, 48, out, 6, d, in, 6, d, c);
    BOTH(Allgather, 56, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 7, d, c);
    LATER(Iallgather, 48, out, 6, d, in, 6, d, c);
    BOTH(Allgatherv, 8 * mine, out, mine, d, in, one, place, d, c);
    BOTH(Allgatherv, 8 * mine, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, one, place, d, c);
    LATER(Iallgatherv, 8 * mine, out, mine, d, in, one, place, d, c);
    BOTH(Alltoall, 24 * p, out, 3, d, in, 3, d, c);
    BOTH(Alltoall, 32 * p, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 4, d, c);
    LATER(Ialltoall, 24 * p, out, 3, d, in, 3, d, c);
    int count[64];
    for (int i = 0; i < p; i++) count[i] = mine; /* mine elements to everybody */
    BOTH(Alltoallv, 8 * mine * p, out, count, place, d, in, one, place, d, c);
    LATER(Ialltoallv, 8 * mine * p, out, count, place, d, in, one, place, d, c);
    BOTH(Alltoallw, 8 * mine * p, out, count, offset, doubles, in, one, offset, doubles, c);
    LATER(Ialltoallw, 8 * mine * p, out, count, offset, doubles, in, one, offset, doubles, c);
    for (int i = 0; i < p; i++) count[i] = 2;
    BOTH(Alltoallv, 16 * p, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, count, place, d, c);
}

static void in_other_communicators(void)
{
    MPI_Comm reversed, halves, bridge, copy;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    int me = ranks - 1 - rank, to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    collectives(reversed, me, ranks);
    for (int i = 0; i < 20; i++) { /* communicators that come and go */
        MPI_Comm_dup(i % 2 ? reversed : MPI_COMM_WORLD, &copy);
        int target = i % 2 ? to : next, source = i % 2 ? from : previous;
        MPI_Sendrecv(out, 25, MPI_DOUBLE, target, 1, in, ROOM, MPI_DOUBLE, source, 1, copy,
                     MPI_STATUS_IGNORE);
        expect("send", "Sendrecv", 200, i % 2 ? ranks - 1 - target : target);
        expect("recv", "Sendrecv", 200, i % 2 ? ranks - 1 - source : source);
        MPI_Comm_free(&copy);
    }
    if (ranks > 1) { /* rank 0, and all others */
        MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &halves);
        MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, rank ? 0 : 1, 3, &bridge);
        BOTH(Bcast, 40, out, 5, MPI_DOUBLE, rank ? 0 : MPI_ROOT, bridge);
        BOTH(Alltoall, rank ? 16 : 16 * (ranks - 1), out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, bridge);
        MPI_Datatype sent = rank ? MPI_DOUBLE : MPI_DATATYPE_NULL; /* matters at one end only */
        MPI_Datatype received = rank ? MPI_DATATYPE_NULL : MPI_DOUBLE;
        MPI_Gather(out, 2 * (rank > 0), sent, in, 2, received, rank ? 0 : MPI_ROOT, bridge);
        COLL("Gather", rank ? 16 : 0);
        if (rank < 2) {
            MPI_Sendrecv(out, 26, MPI_DOUBLE, 0, 1, in, ROOM, MPI_DOUBLE, 0, 1, bridge,
                         MPI_STATUS_IGNORE);
            expect("send", "Sendrecv", 208, 1 - rank), expect("recv", "Sendrecv", 208, 1 - rank);
        }
        if (rank > 0) { /* others of the root's group take no part */
            MPI_Bcast(out, 6, MPI_DOUBLE, rank == 1 ? MPI_ROOT : MPI_PROC_NULL, bridge);
            if (rank == 1) COLL("Bcast", 48);
        } else {
            BOTH(Bcast, 48, out, 6, MPI_DOUBLE, 0, bridge);
        }
        MPI_Comm_free(&bridge), MPI_Comm_free(&halves);
    }
    MPI_Comm_free(&reversed);
}

static void topologies(void)
{
    MPI_Comm line, graph;
    MPI_Datatype d = MPI_DOUBLE;
    int flat = 0, two[2] = {3, 4}, at[2] = {0, 8};
    MPI_Aint offsets[2] = {0, 64};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &flat, 0, &line); /* a line: its ends lack a side */
    int left = rank > 0, right = rank < ranks - 1;
    BOTH(Neighbor_allgather, 16, out, 2, d, in, 2, d, line);
    LATER(Ineighbor_allgather, 16, out, 2, d, in, 2, d, line);
    int same[2] = {2, 2};
    BOTH(Neighbor_allgatherv, 16, out, 2, d, in, same, at, d, line);
    LATER(Ineighbor_allgatherv, 16, out, 2, d, in, same, at, d, line);
    BOTH(Neighbor_alltoall, 16 * (left + right), out, 2, d, in, 2, d, line);
    LATER(Ineighbor_alltoall, 16 * (left + right), out, 2, d, in, 2, d, line);
    int swapped[2] = {4, 3}; /* 3 to the left, 4 to the right */
    BOTH(Neighbor_alltoallv, 24 * left + 32 * right, out, two, at, d, in, swapped, at, d, line);
    LATER(Ineighbor_alltoallv, 24 * left + 32 * right, out, two, at, d, in, swapped, at, d, line);
    MPI_Datatype crossed[2] = {MPI_INT, MPI_DOUBLE};
    BOTH(Neighbor_alltoallw, 24 * left + 16 * right, out, two, offsets, types, in, swapped, offsets,
         crossed, line);
    LATER(Ineighbor_alltoallw, 24 * left + 16 * right, out, two, offsets, types, in, swapped,
          offsets, crossed, line);
    MPI_Comm_free(&line);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    BOTH(Neighbor_alltoall, 40, out, 5, d, in, 5, d, graph);
    MPI_Comm_free(&graph);
}

/* --- one-sided --------------------------------------------------------------------------------- */

static void one_sided(void)
{
    MPI_Comm reversed;
    MPI_Win win;
    MPI_Request r;
    MPI_Datatype d = MPI_DOUBLE;
    double zero = 0, fetched, *base;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Win_allocate(ROOM * 8, 8, MPI_INFO_NULL, reversed, &base, &win);
    int to = (ranks - 1 - rank + 1) % ranks, there = ranks - 1 - to;
    MPI_Win_lock_all(0, win);
    MPI_Put(out, 2, d, to, 0, 2, d, win), expect("send", "Put", 16, there);
    MPI_Rput(out, 3, d, to, 8, 3, d, win, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Rput", 24, there);
    MPI_Win_flush_all(win);
    MPI_Get(in, 4, d, to, 16, 4, d, win), expect("recv", "Get", 32, there);
    MPI_Rget(in + 8, 5, d, to, 16, 5, d, win, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("recv", "Rget", 40, there);
    MPI_Accumulate(out, 6, d, to, 32, 6, d, MPI_SUM, win), expect("send", "Accumulate", 48, there);
    MPI_Raccumulate(out, 7, d, to, 32, 7, d, MPI_SUM, win, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Raccumulate", 56, there);
    MPI_Get_accumulate(out, 8, d, in + 64, 8, d, to, 32, 8, d, MPI_SUM, win);
    expect("send", "Get_accumulate", 64, there), expect("recv", "Get_accumulate", 64, there);
    MPI_Rget_accumulate(out, 9, d, in + 96, 9, d, to, 32, 9, d, MPI_SUM, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Rget_accumulate", 72, there), expect("recv", "Rget_accumulate", 72, there);
    MPI_Fetch_and_op(&zero, &fetched, d, to, 64, MPI_SUM, win);
    expect("send", "Fetch_and_op", 8, there), expect("recv", "Fetch_and_op", 8, there);
    long long a = 1, b = 0, c;
    MPI_Compare_and_swap(&a, &b, &c, MPI_LONG_LONG, to, 65, win);
    expect("send", "Compare_and_swap", 16, there), expect("recv", "Compare_and_swap", 8, there);
    MPI_Put(out, 2, d, MPI_PROC_NULL, 0, 2, d, win); /* moves nothing */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win), MPI_Comm_free(&reversed);
}

/* --- more -------------------------------------------------------------------------------------- */

static void large(void)
{
    MPI_Datatype wide;
    MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &wide), MPI_Type_commit(&wide);
    BOTH(Bcast, 3LL << 33, out, 3, wide, 0, MPI_COMM_SELF); /* alone: nothing is touched */
    MPI_Type_free(&wide);
#ifdef WIDE_COUNTS
    BOTH(Bcast_c, 5LL << 32, out, 5LL << 32, MPI_BYTE, 0, MPI_COMM_SELF);
    MPI_Count counts[64];
    MPI_Aint places[64];
    for (int i = 0; i < ranks; i++) counts[i] = i + 1, places[i] = 8 * i;
    BOTH(Allgatherv_c, 8 * (rank + 1), out, rank + 1, MPI_DOUBLE, in, counts, places, MPI_DOUBLE,
         MPI_COMM_WORLD);
#endif
}

#ifdef NEW_CALLS
static void paired_later(void)
{
    MPI_Request r;
    MPI_Isendrecv(out, 27, MPI_DOUBLE, next, 7, in, ROOM, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD,
                  &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("send", "Isendrecv", 216, next), expect("recv", "Isendrecv", 216, previous);
}

static void prepared_collectives(void)
{
    MPI_Request r;
    MPI_Allreduce_init(out, in, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < 4; i++) {
        MPI_Start(&r), MPI_Wait(&r, MPI_STATUS_IGNORE);
        COLL("Allreduce_init", 72);
    }
    MPI_Request_free(&r);
}

static void partitioned(void)
{
    MPI_Request r[2];
    int flag;
    if (ranks == 1) return;
    MPI_Psend_init(out, 4, 5, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 2, 10, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, r), MPI_Pready_range(0, 3, r[0]);
        MPI_Parrived(r[1], 0, &flag), MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        expect("send", "Psend_init", 160, next), expect("recv", "Precv_init", 160, previous);
    }
    MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
}
#endif

int main(int argc, char **argv)
{
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    snprintf(name, sizeof name, "%s/expected.%d", argv[1], rank);
    expected = fopen(name, "w");
    setvbuf(expected, NULL, _IOLBF, 0);
    for (int i = 0; i < 64; i++) {
        one[i] = i + 1, place[i] = 16 * i, offset[i] = 128 * i, doubles[i] = MPI_DOUBLE;
    }
    blocking_sends(), nonblocking(), paired(), matched(), persistent();
    collectives(MPI_COMM_WORLD, rank, ranks);
    in_other_communicators(), topologies(), one_sided(), large();
#ifdef NEW_CALLS
    paired_later(), prepared_collectives(), partitioned();
#endif
    fclose(expected);
    MPI_Finalize();
    return 0;
}
