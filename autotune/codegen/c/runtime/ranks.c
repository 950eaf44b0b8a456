/* Ranks with MPI: who fetches what from whom, and everything else that ranks do together. */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

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

static struct {
    int rank, count;
    const struct constants *constants; /* of the problem */
    struct pieces pieces;
    long n; /* doubles of all pieces */
    enum scheme scheme;
    struct range *block; /* of each rank */
    int *counts, *starts; /* the blocks, as MPI wants them */
    struct ranges remote; /* what this rank fetches */
    struct message *sends, *receives;
    int send_count, receive_count;
    MPI_Request *requests;
    long row_bytes; /* that this rank contributes to the exchange of a row */
    long messages, bytes, operations; /* sent so far */
    int *cpus; /* of each thread; none where they are left alone */
} us;

static void *room(size_t count, size_t size)
{
    void *const memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("cannot allocate %zu x %zu bytes", count, size);
    return memory;
}

/* --- beginning and end ------------------------------------------------------------------ */

void ranks_begin(int *count, char ***arguments)
{
    int provided;
    MPI_Init_thread(count, arguments, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &us.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &us.count);
    if (provided < MPI_THREAD_FUNNELED)
        fail("this MPI does not support threads (MPI_THREAD_FUNNELED)");
}

void ranks_end(void)
{
    MPI_Finalize();
}

void leave(int code)
{
    int running = 0;
    MPI_Initialized(&running);
    if (running)
        MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

int rank(void)
{
    return us.rank;
}

int rank_count(void)
{
    return us.count;
}

/* --- what a rank fetches ---------------------------------------------------------------- */

static void add(struct ranges *list, long first, long last)
{
    if (first >= last)
        return;
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->at = realloc(list->at, (size_t)list->room * sizeof *list->at);
        if (!list->at)
            fail("cannot allocate %ld ranges", list->room);
    }
    list->at[list->count++] = (struct range){first, last};
}

static long larger(long a, long b)
{
    return a > b ? a : b;
}

static long smaller(long a, long b)
{
    return a < b ? a : b;
}

/* What one reading takes from outside the block. */
static void add_outside(struct ranges *list, const struct reading *r, struct range block)
{
    const long below = r->shift < 0 ? block.first : larger(block.first, block.last - r->shift);
    const long above = r->shift > 0 ? block.last : smaller(block.last, block.first - r->shift);
    const long a = larger(r->lower, below), b = smaller(r->upper, above);
    if (!r->row) {
        add(list, a + r->shift, b + r->shift);
        return;
    }
    for (long start = a / r->row * r->row; start < b; start += r->row)
        add(list, larger(a, start + r->begin) + r->shift,
            smaller(b, start + r->end) + r->shift);
}

static int by_first(const void *a, const void *b)
{
    const long one = ((const struct range *)a)->first, other = ((const struct range *)b)->first;
    return (one > other) - (one < other);
}

/* Disjoint and ascending. */
static void merge(struct ranges *list)
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

/* The remote components that a rank fetches; they replace what is in the list. */
static void wanted(struct ranges *list, int of, const struct reading *all)
{
    const struct range block = us.block[of];
    list->count = 0;
    if (block.first == block.last)
        return;
    if (us.scheme == ALLGATHER) {
        add(list, 0, block.first);
        add(list, block.last, us.n);
    } else if (us.scheme == NEIGHBOUR) {
        const long distance = access_distance(us.constants) * us.pieces.doubles;
        add(list, larger(0, block.first - distance), block.first);
        add(list, block.last, smaller(us.n, block.last + distance));
    } else {
        for (int i = 0; i < reading_count; i++)
            add_outside(list, &all[i], block);
    }
    merge(list);
}

/* --- messages --------------------------------------------------------------------------- */

/* The part of ascending ranges that lies in a block, as a type over a row; false: nothing. */
static bool inside(const struct ranges *list, struct range block, MPI_Datatype *type, long *total)
{
    int *const lengths = room((size_t)list->count, sizeof *lengths);
    int *const starts = room((size_t)list->count, sizeof *starts);
    int count = 0;
    *total = 0;
    for (long i = 0; i < list->count; i++) {
        const long first = larger(list->at[i].first, block.first);
        const long last = smaller(list->at[i].last, block.last);
        if (first >= last)
            continue;
        starts[count] = (int)first;
        lengths[count++] = (int)(last - first);
        *total += last - first;
    }
    if (count) {
        MPI_Type_indexed(count, lengths, starts, MPI_DOUBLE, type);
        MPI_Type_commit(type);
    }
    free(lengths);
    free(starts);
    return count > 0;
}

static void plan_messages(const struct reading *all)
{
    struct ranges theirs = {.at = NULL};
    long total;
    us.sends = room((size_t)us.count, sizeof *us.sends);
    us.receives = room((size_t)us.count, sizeof *us.receives);
    for (int other = 0; other < us.count; other++) {
        if (other == us.rank)
            continue;
        struct message *const to = &us.sends[us.send_count];
        struct message *const from = &us.receives[us.receive_count];
        to->peer = from->peer = other;
        wanted(&theirs, other, all);
        if (inside(&theirs, us.block[us.rank], &to->components, &total)) {
            us.send_count++;
            us.row_bytes += total * (long)sizeof(double);
        }
        if (inside(&us.remote, us.block[other], &from->components, &total)) {
            us.receive_count++;
            if (us.scheme == NEIGHBOUR && abs(other - us.rank) > 1)
                fail("the access distance reaches beyond the neighbours of rank %d", us.rank);
        }
    }
    free(theirs.at);
    us.requests = room((size_t)(us.send_count + us.receive_count), sizeof *us.requests);
}

static enum scheme scheme_of(const char *communication)
{
    if (!communication)
        fail("needs --communication");
    if (!strcmp(communication, "allgather"))
        return ALLGATHER;
    if (!strcmp(communication, "neighbour"))
        return NEIGHBOUR;
    if (!strcmp(communication, "sparse"))
        return SPARSE;
    fail("unknown communication '%s'; known: allgather, neighbour, sparse", communication);
}

static void exchange_row(double *row)
{
    if (us.scheme == ALLGATHER) {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, row, us.counts, us.starts, MPI_DOUBLE,
                       MPI_COMM_WORLD);
    } else {
        int open = 0;
        for (int i = 0; i < us.receive_count; i++)
            MPI_Irecv(row, 1, us.receives[i].components, us.receives[i].peer, 0, MPI_COMM_WORLD,
                      &us.requests[open++]);
        for (int i = 0; i < us.send_count; i++)
            MPI_Isend(row, 1, us.sends[i].components, us.sends[i].peer, 0, MPI_COMM_WORLD,
                      &us.requests[open++]);
        MPI_Waitall(open, us.requests, MPI_STATUSES_IGNORE);
    }
    us.operations++;
    us.messages += us.scheme == ALLGATHER ? 1 : us.send_count;
    us.bytes += us.row_bytes;
}

void communicate(struct thread *me, int array)
{
    for (int r = 0; r < array_rows[array]; r++)
        exchange_row(row(me, array, r) - us.pieces.lead);
}

/* --- CPUs ------------------------------------------------------------------------------- */

/* No allowed CPU before this one shares its core. */
static bool begins_core(int cpu, const cpu_set_t *allowed)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *const file = fopen(path, "r");
    if (!file)
        return true;
    bool begins = true;
    int from;
    while (begins && fscanf(file, "%d", &from) == 1) {
        int to = from;
        if (fscanf(file, "-%d", &to) < 1)
            to = from;
        for (int sibling = from; sibling <= to && sibling < cpu; sibling++)
            begins = begins && !CPU_ISSET(sibling, allowed);
        if (fgetc(file) != ',')
            break;
    }
    fclose(file);
    return begins;
}

/* With AUTOTUNE_PIN=1 each thread gets a core: where the ranks of a node were given the same CPUs
   they share them out, else each stays on its own. With fewer cores than threads all are left
   alone. */
static void plan_cpus(long threads)
{
    const char *const asked = getenv("AUTOTUNE_PIN");
    MPI_Comm node;
    int place, count;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_size(node, &count);
    cpu_set_t mine;
    const bool known = !sched_getaffinity(0, sizeof mine, &mine);
    cpu_set_t *const all = room((size_t)count, sizeof *all);
    if (!known)
        CPU_ZERO(&mine);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, node);
    bool same = true;
    for (int i = 0; i < count; i++)
        same = same && CPU_EQUAL(&all[i], &mine);
    MPI_Comm_free(&node);
    free(all);
    if (!asked || strcmp(asked, "1"))
        return;
    const long first = same ? place * threads : 0, needed = same ? count * threads : threads;
    int *const cpus = room((size_t)threads, sizeof *cpus);
    long core = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &mine) || !begins_core(cpu, &mine))
            continue;
        if (core >= first && core < first + threads)
            cpus[core - first] = cpu;
        core++;
    }
    if (core >= needed)
        us.cpus = cpus;
    else
        free(cpus);
}

void ranks_pin(int thread)
{
    if (!us.cpus)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(us.cpus[thread], &set);
    sched_setaffinity(0, sizeof set, &set); /* where it is refused, the start line shows it */
}

/* --- together --------------------------------------------------------------------------- */

long ranks_reach(const struct constants *constants)
{
    return access_distance(constants);
}

void ranks_prepare(const struct constants *constants, struct pieces pieces, long threads,
                   const char *communication)
{
    us.pieces = pieces;
    us.constants = constants;
    us.scheme = scheme_of(communication);
    if (pieces.doubles > 1 && us.scheme == SPARSE)
        fail("ranks of a grid exchange whole planes: --communication neighbour");
    if (__builtin_mul_overflow(pieces.count, pieces.doubles, &us.n) || us.n > INT_MAX)
        fail("ranks number the doubles of an array from 0 to %d: %ld x %ld are too many", INT_MAX,
             pieces.count, pieces.doubles);
    us.block = room((size_t)us.count, sizeof *us.block);
    us.counts = room((size_t)us.count, sizeof *us.counts);
    us.starts = room((size_t)us.count, sizeof *us.starts);
    for (int r = 0; r < us.count; r++) {
        us.block[r] = (struct range){cut(0, pieces.count, r, us.count, granule) * pieces.doubles,
                                     cut(0, pieces.count, r + 1, us.count, granule) * pieces.doubles};
        us.starts[r] = (int)us.block[r].first;
        us.counts[r] = (int)(us.block[r].last - us.block[r].first);
    }
    struct reading *const all = room((size_t)reading_count, sizeof *all);
    readings(us.constants, all);
    wanted(&us.remote, us.rank, all);
    if (us.scheme == ALLGATHER)
        us.row_bytes = us.counts[us.rank] * (long)sizeof(double);
    else
        plan_messages(all);
    free(all);
    plan_cpus(threads);
}

void ranks_spoil(struct thread *me, bool everything)
{
    const struct range own = us.block[us.rank];
    struct range outside[] = {{0, own.first}, {own.last, us.n}};
    const struct ranges all = {.at = outside, .count = 2};
    const struct ranges *const list = everything ? &all : &us.remote;
    for (int a = 0; a < array_count; a++)
        for (int r = 0; r < array_rows[a]; r++)
            for (long i = 0; i < list->count; i++)
                for (long j = list->at[i].first; j < list->at[i].last; j++)
                    row(me, a, r)[j - us.pieces.lead] = NAN;
}

void ranks_wait(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void ranks_join(struct trial *trial)
{
    double most[2] = {trial->wall, -trial->busy};
    long sums[2] = {trial->voluntary, trial->involuntary};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    *trial = (struct trial){most[0], -most[1], sums[0], sums[1]};
}

double ranks_most(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

void ranks_share(void *data, size_t size)
{
    MPI_Bcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

const int *ranks_list(const int *values, long count)
{
    int *const all = us.rank ? NULL : room((size_t)(us.count * count), sizeof *all);
    MPI_Gather(values, (int)count, MPI_INT, all, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
    return all;
}

const double *ranks_state(const double *y)
{
    static double *state;
    if (!us.rank && !state)
        state = room((size_t)us.n, sizeof *state);
    MPI_Gatherv(y - us.pieces.lead + us.starts[us.rank], us.counts[us.rank], MPI_DOUBLE, state, us.counts, us.starts,
                MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return us.rank ? NULL : state + us.pieces.lead;
}

/* --- lines ------------------------------------------------------------------------------ */

void ranks_print_start(void)
{
    printf(",\"ranks\":%d", us.count);
}

static void print_shares(const char *key, const long *values, long steps)
{
    printf(",\"%s\":[", key);
    for (int r = 0; r < us.count; r++)
        printf("%s%.17g", r ? "," : "", (double)values[r] / (double)steps);
    printf("]");
}

/* What each rank sent in a time step: exchanges of a row, messages, bytes. */
void ranks_print_end(long steps)
{
    long *const messages = us.rank ? NULL : room((size_t)us.count, sizeof *messages);
    long *const bytes = us.rank ? NULL : room((size_t)us.count, sizeof *bytes);
    MPI_Gather(&us.messages, 1, MPI_LONG, messages, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Gather(&us.bytes, 1, MPI_LONG, bytes, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (us.rank || !steps)
        return;
    printf(",\"exchanges\":%.17g", (double)us.operations / (double)steps);
    print_shares("messages", messages, steps);
    print_shares("bytes", bytes, steps);
}
