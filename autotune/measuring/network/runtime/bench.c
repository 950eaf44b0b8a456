/* Times MPI operations over the size of their messages.

   bench LEAST UNTIL TRIES BUSY BUFFERS OPERATION:BYTES...

   One sample is taken of each argument, in their order: as many operations in a row as take about
   LEAST seconds, the slowest rank's time divided by their number. No sample is begun after UNTIL
   seconds. A sample in which a rank had its core for less than the share BUSY of the time is
   repeated, up to TRIES in all. Rank 0 prints one JSON object per line: the start, each sample, the
   end.

   Operations with a message take turns with BUFFERS buffers to send from and as many to receive
   into, as programs exchange one row after another: large messages lie in memory, not in a cache.

   BYTES is what one rank contributes to one operation:
     barrier    nothing
     allgather  its block of a vector that every rank has in the end: MPI_Allgatherv in place, as
                programs do whose blocks differ by a remainder
     neighbour  a message to each of rank - 1 and rank + 1; the first and last rank have one each
     sparse     all that it sends, in equal parts to the ranks 1, 2, 4, ... places up, cyclically
     pingpong   a message from the first rank to the last; half the time there and back */

#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { MOST_PARTNERS = 32, TAG = 7, FIRST = 6 /* OPERATION:BYTES */, LINE = 64 };

static int rank, ranks;
static int buffers;
static char *out_memory, *in_memory; /* all buffers, one behind the other */
static char *out_buffer, *in_buffer; /* whose turn it is */
static int *counts, *starts; /* of an Allgather */

static double at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return at(CLOCK_MONOTONIC); }

/* --- operations ------------------------------------------------------------------------------- */

typedef enum { BARRIER, ALLGATHER, NEIGHBOUR, SPARSE, PINGPONG, NONE } operation;
static const char *const NAMES[] = {"barrier", "allgather", "neighbour", "sparse", "pingpong"};

static void neighbour(int bytes)
{
    MPI_Request requests[4];
    int n = 0;
    for (int side = -1; side <= 1; side += 2) {
        int other = rank + side;
        if (other < 0 || other >= ranks)
            continue;
        MPI_Irecv(in_buffer + (side > 0 ? bytes : 0), bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                  &requests[n++]);
        MPI_Isend(out_buffer, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static int partners(void)
{
    int n = 0;
    for (int distance = 1; distance < ranks && n < MOST_PARTNERS; distance *= 2)
        ++n;
    return n;
}

static void sparse(int bytes)
{
    MPI_Request requests[2 * MOST_PARTNERS];
    int count = partners(), n = 0, begin = 0;
    for (int k = 0; k < count; ++k) {
        int distance = 1 << k, end = (int)((int64_t)bytes * (k + 1) / count);
        MPI_Irecv(in_buffer + begin, end - begin, MPI_BYTE, (rank + ranks - distance) % ranks, TAG,
                  MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(out_buffer + begin, end - begin, MPI_BYTE, (rank + distance) % ranks, TAG,
                  MPI_COMM_WORLD, &requests[n++]);
        begin = end;
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void pingpong(int bytes)
{
    int last = ranks - 1;
    if (rank == 0) {
        MPI_Send(out_buffer, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
        MPI_Recv(in_buffer, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(in_buffer, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out_buffer, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

/* bytes that an operation sends; an Allgather is in place */
static size_t sent(operation what, size_t bytes) { return what == ALLGATHER ? 0 : bytes; }

/* bytes that it receives at most, or has in the end */
static size_t received(operation what, size_t bytes)
{
    return bytes * (size_t)(what == ALLGATHER ? ranks : 2);
}

/* From one buffer to the next: close to each other, so that small messages stay in the caches, and
   a line more than whole lines, so that no power of two puts all of them into the same sets. */
static size_t apart(size_t size) { return (size + LINE - 1) / LINE * LINE + LINE; }

static void take_turns(operation what, int bytes)
{
    static int turn; /* goes on from sample to sample: some have fewer operations than buffers */
    turn = (turn + 1) % buffers;
    out_buffer = out_memory + (size_t)turn * apart(sent(what, (size_t)bytes));
    in_buffer = in_memory + (size_t)turn * apart(received(what, (size_t)bytes));
}

static void repeat(operation what, int bytes, int64_t count)
{
    for (int r = 0; r < ranks; ++r) {
        counts[r] = bytes;
        starts[r] = r * bytes;
    }
    for (int64_t i = 0; i < count; ++i) {
        take_turns(what, bytes);
        switch (what) {
        case BARRIER:
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case ALLGATHER:
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_buffer, counts, starts, MPI_BYTE,
                           MPI_COMM_WORLD);
            break;
        case NEIGHBOUR:
            neighbour(bytes);
            break;
        case SPARSE:
            sparse(bytes);
            break;
        default:
            pingpong(bytes);
        }
    }
}

/* --- one sample ------------------------------------------------------------------------------- */

typedef struct {
    double seconds, busy;
} timing;

/* every rank's time and share of its core; on rank 0 the longest time */
static double sample(operation what, int bytes, int64_t count, timing *all)
{
    timing mine = {0, 1};
    MPI_Barrier(MPI_COMM_WORLD);
    double cpu = at(CLOCK_THREAD_CPUTIME_ID), start = now();
    repeat(what, bytes, count);
    mine.seconds = now() - start;
    /* ranks between the ends of a ping-pong have nothing to do */
    if (what != PINGPONG || rank == 0 || rank == ranks - 1)
        mine.busy = (at(CLOCK_THREAD_CPUTIME_ID) - cpu) / mine.seconds;
    MPI_Gather(&mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double longest = 0;
    if (rank == 0)
        for (int r = 0; r < ranks; ++r)
            longest = all[r].seconds > longest ? all[r].seconds : longest;
    return longest;
}

static int64_t told(int64_t count)
{
    MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return count;
}

/* Doubles the count until a sample lasts an eighth of what is wanted, then takes one of full
   length: what went before has warmed up connections and caches. Returns the count, 0 when the time
   limit came first; all ranks agree on it. */
static int64_t measure(operation what, int bytes, int64_t count, double least, double end,
                       timing *all)
{
    if (count == 0) {
        count = 1;
        repeat(what, bytes, 1);
    }
    for (;;) {
        if (!told(now() < end))
            return 0;
        double seconds = sample(what, bytes, count, all);
        int64_t next = count;
        if (rank == 0 && seconds < 0.75 * least)
            next = seconds < least / 8 ? 2 * count
                                       : (int64_t)((double)count * 1.05 * least / seconds) + 1;
        next = told(next);
        if (next == count)
            return count;
        count = next;
    }
}

static double least_busy(const timing *all)
{
    double least = 1;
    for (int r = 0; r < ranks; ++r)
        least = all[r].busy < least ? all[r].busy : least;
    return least;
}

static void print(operation what, int bytes, int64_t count, const timing *all)
{
    double longest = 0;
    for (int r = 0; r < ranks; ++r)
        longest = all[r].seconds > longest ? all[r].seconds : longest;
    double each = longest / (double)count / (what == PINGPONG ? 2 : 1);
    printf("{\"kind\": \"sample\", \"operation\": \"%s\", \"bytes\": %d, \"seconds\": %.9g, "
           "\"count\": %lld, \"taken\": %.3f, \"busy\": [",
           NAMES[what], bytes, each, (long long)count, at(CLOCK_REALTIME));
    for (int r = 0; r < ranks; ++r)
        printf("%s%.4f", r ? ", " : "", all[r].busy);
    printf("]}\n");
    fflush(stdout);
}

/* --- start ------------------------------------------------------------------------------------ */

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

/* Niceness counts within a scheduler group only, and a group has one of its own: sched(7). */
static const char *raise_priority(void)
{
    const char *wanted = getenv("AUTOTUNE_NICE"), *worked = "none";
    if (!wanted)
        return worked;
    if (!setpriority(PRIO_PROCESS, 0, atoi(wanted)))
        worked = "nice";
    FILE *group = fopen("/proc/self/autogroup", "w");
    if (group) {
        int written = fprintf(group, "%s", wanted) > 0;
        if (!fclose(group) && written)
            worked = "autogroup";
    }
    return worked;
}

static void print_start(const char *priority)
{
    enum { WIDTH = MPI_MAX_PROCESSOR_NAME };
    char name[WIDTH] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_processor_name(name, &length);
    MPI_Get_library_version(library, &length);
    char *names = calloc((size_t)ranks, WIDTH);
    MPI_Gather(name, WIDTH, MPI_CHAR, names, WIDTH, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        library[strcspn(library, "\n\r\"\\,")] = 0;
        printf("{\"kind\": \"start\", \"ranks\": %d, \"cores\": %d, \"library\": \"%s\", "
               "\"priority\": \"%s\", \"hosts\": [", ranks, cores(), library, priority);
        for (int r = 0; r < ranks; ++r) {
            char *host = names + (size_t)r * WIDTH;
            host[strcspn(host, "\"\\\n")] = 0;
            printf("%s\"%s\"", r ? ", " : "", host);
        }
        printf("]}\n");
        fflush(stdout);
    }
    free(names);
}

static int fail(const char *what)
{
    if (rank == 0)
        fprintf(stderr, "bench: %s\n", what);
    MPI_Finalize();
    return 2;
}

static operation parse(const char *text, long *bytes)
{
    const char *colon = strchr(text, ':');
    *bytes = colon ? atol(colon + 1) : -1;
    size_t length = colon ? (size_t)(colon - text) : 0;
    for (int what = BARRIER; what < NONE && *bytes >= 0 && *bytes <= INT32_MAX / 2; ++what)
        if (length == strlen(NAMES[what]) && !strncmp(text, NAMES[what], length))
            return (operation)what;
    return NONE;
}

static int provide(int argc, char **argv)
{
    size_t out_size = LINE, in_size = LINE;
    for (int i = FIRST; i < argc; ++i) {
        long bytes;
        operation what = parse(argv[i], &bytes);
        if (what == NONE)
            return 1;
        size_t in = received(what, (size_t)bytes), out = sent(what, (size_t)bytes);
        if (what == ALLGATHER && in > INT32_MAX)
            return 3;
        out = (size_t)buffers * apart(out);
        in = (size_t)buffers * apart(in);
        out_size = out > out_size ? out : out_size;
        in_size = in > in_size ? in : in_size;
    }
    out_memory = malloc(out_size);
    in_memory = malloc(in_size);
    counts = calloc((size_t)ranks, sizeof *counts);
    starts = calloc((size_t)ranks, sizeof *starts);
    if (!out_memory || !in_memory || !counts || !starts)
        return 2;
    /* not zeros: memory of zeros may get its pages only when a message comes */
    memset(out_memory, rank + 1, out_size);
    memset(in_memory, rank + 1, in_size);
    return 0;
}

int main(int argc, char **argv)
{
#ifdef __linux__
    if (getenv("AUTOTUNE_PDEATHSIG"))
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    const char *priority = raise_priority();
    double begun = now();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    buffers = argc > FIRST ? atoi(argv[FIRST - 1]) : 0;
    if (buffers < 1)
        return fail("needs LEAST UNTIL TRIES BUSY BUFFERS OPERATION:BYTES...");
    double least = atof(argv[1]), end = begun + atof(argv[2]), busy = atof(argv[4]);
    int tries = atoi(argv[3]), failed = provide(argc, argv);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed)
        return fail(failed == 1   ? "an argument is not OPERATION:BYTES"
                    : failed == 2 ? "no memory for the messages"
                                  : "the vector of an Allgather has more than 2 GiB");
    print_start(priority);
    timing *all = calloc((size_t)ranks, sizeof *all);
    int64_t *known = calloc((size_t)argc, sizeof *known);
    for (int i = FIRST; i < argc; ++i) {
        long bytes;
        operation what = parse(argv[i], &bytes);
        int first = i;
        for (int j = FIRST; j < i; ++j)
            if (!strcmp(argv[i], argv[j])) {
                first = j;
                break;
            }
        for (int attempt = 0, again = 1; again && attempt < tries; ++attempt) {
            int64_t count = measure(what, (int)bytes, known[first], least, end, all);
            if (!count)
                break;
            known[first] = count;
            again = 0;
            if (rank == 0) {
                again = least_busy(all) < busy;
                print(what, (int)bytes, count, all);
            }
            again = (int)told(again);
            /* whoever reads the line gets a core for it */
            struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
        }
    }
    if (rank == 0) {
        printf("{\"kind\": \"end\"}\n");
        fflush(stdout);
    }
    free(all);
    free(known);
    free(out_memory);
    free(in_memory);
    free(counts);
    free(starts);
    MPI_Finalize();
    return 0;
}
