/* Ranks with MPI: what they fetch from each other, and everything else that they do together. */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "ranks.h"

/* Where the header of autotune's modeling assertions lies beside this file, the program states what
   its ranks fetch, by formulas that know nothing of the plan of the messages. */
#ifdef __has_include
#if __has_include("modeling_assertions.h")
#include "modeling_assertions.h"
#define STATED
#endif
#endif

static struct {
    const struct constants *constants; /* of the problem */
    struct pieces pieces;
    struct exchange exchange;
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
    MPI_Comm_rank(MPI_COMM_WORLD, &us.exchange.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &us.exchange.count);
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
    return us.exchange.rank;
}

int rank_count(void)
{
    return us.exchange.count;
}

/* --- messages --------------------------------------------------------------------------- */

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

#ifdef STATED
static void state_inputs(long distance)
{
    ma_var_in("nprocs", us.exchange.count, "processes", "whole");
    ma_var_in("rank", us.exchange.rank, "", "whole");
    ma_var_in("pieces", us.pieces.count, "", "whole");
    ma_var_in("doubles", us.pieces.doubles, "doubles of a piece", "whole");
    ma_var_in("granule", granule, "pieces", "whole");
    ma_var_in("distance", distance, "doubles", "whole");
    ma_derive("granules", "ceil(pieces/granule)");
    ma_derive_check("first", "doubles*min(pieces, granule*(granules*rank//nprocs))",
                    us.exchange.block[us.exchange.rank].first);
    ma_derive_check("last", "doubles*min(pieces, granule*(granules*(rank + 1)//nprocs))",
                    us.exchange.block[us.exchange.rank].last);
    ma_derive("sides", "min(distance, 1)*(min(rank, 1) + min(nprocs - 1 - rank, 1))");
}

/* What the exchange of a row sends; of a sparse one no formula is known. */
static void state_row(void)
{
    if (us.exchange.scheme == ALLGATHER)
        ma_coll("gathered", "allgatherv", "8*(last - first)");
    if (us.exchange.scheme == NEIGHBOUR) {
        ma_recv_n("received", "8*distance", "sides");
        ma_send_n("sent", "8*distance", "sides");
    }
}
#else
#define ma_sub_begin(name)
#define ma_sub_end(name)
#define state_inputs(distance)
#define state_row()
#endif

void communicate(struct thread *me, int array)
{
    ma_sub_begin("communicate");
    for (int r = 0; r < array_rows[array]; r++) {
        state_row();
        exchange_row(&us.exchange, row(me, array, r) - us.pieces.lead);
        us.operations++;
        us.messages += us.exchange.scheme == ALLGATHER ? 1 : us.exchange.send_count;
        us.bytes += us.exchange.row_bytes;
    }
    ma_sub_end("communicate");
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
    struct exchange *const e = &us.exchange;
    us.pieces = pieces;
    us.constants = constants;
    e->comm = MPI_COMM_WORLD;
    e->scheme = scheme_of(communication);
    if (pieces.doubles > 1 && e->scheme == SPARSE)
        fail("ranks of a grid exchange whole planes: --communication neighbour");
    long n;
    if (__builtin_mul_overflow(pieces.count, pieces.doubles, &n) || n > INT_MAX)
        fail("ranks number the doubles of an array from 0 to %d: %ld x %ld are too many", INT_MAX,
             pieces.count, pieces.doubles);
    struct reading *const all = room((size_t)reading_count, sizeof *all);
    readings(constants, all);
    const struct readings read = {all, reading_count, access_distance(constants) * pieces.doubles};
    if (!plan_exchange(e, pieces.count, pieces.doubles, granule, &read))
        fail("cannot allocate the plan of the messages");
    if (e->scheme == NEIGHBOUR && e->farthest > 1)
        fail("the access distance reaches beyond the neighbours of rank %d", e->rank);
    free(all);
    state_inputs(read.distance);
    plan_cpus(threads);
}

void ranks_spoil(struct thread *me, bool everything)
{
    const struct range own = us.exchange.block[us.exchange.rank];
    struct range outside[] = {{0, own.first}, {own.last, us.exchange.n}};
    const struct ranges all = {.at = outside, .count = 2};
    const struct ranges *const list = everything ? &all : &us.exchange.remote;
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
    int *const all = us.exchange.rank ? NULL : room((size_t)(us.exchange.count * count), sizeof *all);
    MPI_Gather(values, (int)count, MPI_INT, all, (int)count, MPI_INT, 0, MPI_COMM_WORLD);
    return all;
}

const double *ranks_state(const double *y)
{
    static double *state;
    if (!us.exchange.rank && !state)
        state = room((size_t)us.exchange.n, sizeof *state);
    const struct exchange *const e = &us.exchange;
    MPI_Gatherv(y - us.pieces.lead + e->starts[e->rank], e->counts[e->rank], MPI_DOUBLE, state,
                e->counts, e->starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return e->rank ? NULL : state + us.pieces.lead;
}

/* --- lines ------------------------------------------------------------------------------ */

void ranks_print_start(void)
{
    printf(",\"ranks\":%d", us.exchange.count);
}

static void print_shares(const char *key, const long *values, long steps)
{
    printf(",\"%s\":[", key);
    for (int r = 0; r < us.exchange.count; r++)
        printf("%s%.17g", r ? "," : "", (double)values[r] / (double)steps);
    printf("]");
}

/* What each rank sent in a time step: exchanges of a row, messages, bytes. */
void ranks_print_end(long steps)
{
    long *const messages = us.exchange.rank ? NULL : room((size_t)us.exchange.count, sizeof *messages);
    long *const bytes = us.exchange.rank ? NULL : room((size_t)us.exchange.count, sizeof *bytes);
    MPI_Gather(&us.messages, 1, MPI_LONG, messages, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Gather(&us.bytes, 1, MPI_LONG, bytes, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (us.exchange.rank || !steps)
        return;
    printf(",\"exchanges\":%.17g", (double)us.operations / (double)steps);
    print_shares("messages", messages, steps);
    print_shares("bytes", bytes, steps);
}
