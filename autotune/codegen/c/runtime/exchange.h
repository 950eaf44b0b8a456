/* The exchange of rows between the ranks of a communicator: who fetches what from whom.

   Every rank has rows of full length, of which it owns a block. Everything that is planned belongs to
   one exchange, so that there can be several at once. Only the plan takes memory; it communicates
   nothing, since every rank finds out by itself what the others fetch. */
#ifndef AUTOTUNE_EXCHANGE_H
#define AUTOTUNE_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "reading.h"
#include "thread.h"

struct range {
    long first, last;
};

struct ranges {
    struct range *at;
    long count, room;
};

/* The components of one row that go to another rank or come from it. */
struct message {
    int peer;
    MPI_Datatype components;
};

enum scheme { ALLGATHER, NEIGHBOUR, SPARSE };

struct exchange {
    MPI_Comm comm;
    int rank, count;
    long n; /* doubles of a row */
    enum scheme scheme;
    struct range *block; /* of each rank */
    int *counts, *starts; /* the blocks, as MPI wants them */
    struct ranges remote; /* what this rank fetches */
    struct message *sends, *receives;
    int send_count, receive_count;
    int farthest; /* rank from which this rank receives: so many ranks away */
    MPI_Request *requests;
    long row_bytes; /* that this rank contributes to the exchange of a row */
};

static inline long larger(long a, long b)
{
    return a > b ? a : b;
}

static inline long smaller(long a, long b)
{
    return a < b ? a : b;
}

/* Zeros; NULL: there is no memory. */
static inline void *zeros(long count, size_t size)
{
    return calloc(count ? (size_t)count : 1, size);
}

/* --- what a rank fetches ---------------------------------------------------------------- */

/* These return false where there is no memory. */

static inline bool add_range(struct ranges *list, long first, long last)
{
    if (first >= last)
        return true;
    if (list->count == list->room) {
        const long room = list->room ? 2 * list->room : 64;
        struct range *const at = realloc(list->at, (size_t)room * sizeof *at);
        if (!at)
            return false;
        list->room = room;
        list->at = at;
    }
    list->at[list->count++] = (struct range){first, last};
    return true;
}

/* What one reading takes from outside the block. */
static inline bool add_outside(struct ranges *list, const struct reading *r, struct range block)
{
    const long below = r->shift < 0 ? block.first : larger(block.first, block.last - r->shift);
    const long above = r->shift > 0 ? block.last : smaller(block.last, block.first - r->shift);
    const long a = larger(r->lower, below), b = smaller(r->upper, above);
    if (!r->row)
        return add_range(list, a + r->shift, b + r->shift);
    bool added = true;
    for (long start = a / r->row * r->row; added && start < b; start += r->row)
        added = add_range(list, larger(a, start + r->begin) + r->shift,
                          smaller(b, start + r->end) + r->shift);
    return added;
}

static inline int by_first(const void *a, const void *b)
{
    const long one = ((const struct range *)a)->first, other = ((const struct range *)b)->first;
    return (one > other) - (one < other);
}

/* Disjoint and ascending. */
static inline void merge_ranges(struct ranges *list)
{
    if (!list->count)
        return;
    qsort(list->at, (size_t)list->count, sizeof *list->at, by_first);
    long kept = 0;
    for (long i = 1; i < list->count; i++) {
        if (list->at[i].first <= list->at[kept].last)
            list->at[kept].last = larger(list->at[kept].last, list->at[i].last);
        else
            list->at[++kept] = list->at[i];
    }
    list->count = kept + 1;
}

/* What the ranks read of each other: the readings, and how far they reach at most. */
struct readings {
    const struct reading *at;
    int count;
    long distance; /* in doubles */
};

/* The remote components that a rank fetches; they replace what is in the list. */
static inline bool list_wanted(const struct exchange *e, struct ranges *list, int of,
                               const struct readings *all)
{
    const struct range block = e->block[of];
    bool added = true;
    list->count = 0;
    if (block.first == block.last)
        return true;
    if (e->scheme == SPARSE) {
        for (int i = 0; added && i < all->count; i++)
            added = add_outside(list, &all->at[i], block);
    } else {
        const long distance = e->scheme == ALLGATHER ? e->n : all->distance;
        added = add_range(list, larger(0, block.first - distance), block.first)
                && add_range(list, block.last, smaller(e->n, block.last + distance));
    }
    merge_ranges(list);
    return added;
}

/* --- messages --------------------------------------------------------------------------- */

/* The part of ascending ranges that lies in a block, as a type over a row. Returns how many doubles
   that are; 0: there is no type; -1: there is no memory. */
static inline long type_inside(const struct ranges *list, struct range block, MPI_Datatype *type)
{
    int *const lengths = zeros(list->count, sizeof *lengths);
    int *const starts = zeros(list->count, sizeof *starts);
    int count = 0;
    long total = lengths && starts ? 0 : -1;
    for (long i = 0; total >= 0 && i < list->count; i++) {
        const long first = larger(list->at[i].first, block.first);
        const long last = smaller(list->at[i].last, block.last);
        if (first >= last)
            continue;
        starts[count] = (int)first;
        lengths[count++] = (int)(last - first);
        total += last - first;
    }
    if (count
        && (MPI_Type_indexed(count, lengths, starts, MPI_DOUBLE, type) != MPI_SUCCESS
            || MPI_Type_commit(type) != MPI_SUCCESS))
        total = -1;
    free(lengths);
    free(starts);
    return total;
}

static inline bool plan_messages(struct exchange *e, const struct readings *all)
{
    struct ranges theirs = {.at = NULL};
    e->sends = zeros(e->count, sizeof *e->sends);
    e->receives = zeros(e->count, sizeof *e->receives);
    bool planned = e->sends && e->receives;
    for (int other = 0; planned && other < e->count; other++) {
        if (other == e->rank)
            continue;
        struct message *const to = &e->sends[e->send_count];
        struct message *const from = &e->receives[e->receive_count];
        to->peer = from->peer = other;
        planned = list_wanted(e, &theirs, other, all);
        const long sent = planned ? type_inside(&theirs, e->block[e->rank], &to->components) : -1;
        const long got = type_inside(&e->remote, e->block[other], &from->components);
        if (sent > 0) {
            e->send_count++;
            e->row_bytes += sent * (long)sizeof(double);
        }
        if (got > 0) {
            e->receive_count++;
            e->farthest = (int)larger(e->farthest, abs(other - e->rank));
        }
        planned = sent >= 0 && got >= 0;
    }
    free(theirs.at);
    e->requests = zeros(e->send_count + e->receive_count, sizeof(MPI_Request));
    return planned && e->requests;
}

/* Cuts rows of so many pieces of so many doubles into the blocks of the ranks, whole granules of
   pieces, and plans the messages. `e` holds the communicator, its rank and count, the scheme, and
   zeros. Returns false where there is no memory. */
static inline bool plan_exchange(struct exchange *e, long pieces, long doubles, long granule,
                                 const struct readings *all)
{
    e->n = pieces * doubles;
    e->block = zeros(e->count, sizeof *e->block);
    e->counts = zeros(e->count, sizeof *e->counts);
    e->starts = zeros(e->count, sizeof *e->starts);
    if (!e->block || !e->counts || !e->starts)
        return false;
    for (int r = 0; r < e->count; r++) {
        e->block[r] = (struct range){cut(0, pieces, r, e->count, granule) * doubles,
                                     cut(0, pieces, r + 1, e->count, granule) * doubles};
        e->starts[r] = (int)e->block[r].first;
        e->counts[r] = (int)(e->block[r].last - e->block[r].first);
    }
    if (!list_wanted(e, &e->remote, e->rank, all))
        return false;
    if (e->scheme != ALLGATHER)
        return plan_messages(e, all);
    e->row_bytes = e->counts[e->rank] * (long)sizeof(double);
    return true;
}

static inline void free_messages(struct message *messages, int count)
{
    for (int i = 0; i < count; i++)
        MPI_Type_free(&messages[i].components);
    free(messages);
}

static inline void discard_exchange(struct exchange *e)
{
    free_messages(e->sends, e->send_count);
    free_messages(e->receives, e->receive_count);
    free(e->block);
    free(e->counts);
    free(e->starts);
    free(e->remote.at);
    free(e->requests);
}

/* Fetches the remote components of a row; returns an error code of MPI. */
static inline int exchange_row(struct exchange *e, double *row)
{
    if (e->scheme == ALLGATHER)
        return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, row, e->counts, e->starts,
                              MPI_DOUBLE, e->comm);
    int open = 0, code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS && i < e->receive_count; i++)
        code = MPI_Irecv(row, 1, e->receives[i].components, e->receives[i].peer, 0, e->comm,
                         &e->requests[open++]);
    for (int i = 0; code == MPI_SUCCESS && i < e->send_count; i++)
        code = MPI_Isend(row, 1, e->sends[i].components, e->sends[i].peer, 0, e->comm,
                         &e->requests[open++]);
    return code == MPI_SUCCESS ? MPI_Waitall(open, e->requests, MPI_STATUSES_IGNORE) : code;
}

#endif
