/* Messages of a skeleton: sent and counted with MPI; or only counted, where `real` is 0.

   Receives are either posted as the model states them, or taken as they come: then a rank counts
   before the start what the others will send to it. Numbers are doubles; those that count are
   checked to be whole. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MA_SEND, MA_RECV, MA_COLL };
static const char *const ma_kinds[] = {"send", "recv", "coll"};

struct ma_size {
    int kind;
    const char *operation;
    long long size, messages;
};

struct ma_run {
    int rank, ranks, real, posted;
    int receiver;           /* messages to this rank are counted */
    long long to_receiver, arrived;
    struct ma_size *sizes;
    size_t kinds, room;
    MPI_Request *pending;
    void **buffers;
    int started, places;
    double partial[MA_NODES];
};

static void ma_stop(const char *path, const char *what, double value)
{
    fprintf(stderr, "skeleton: %s: %s: %.17g\n", path, what, value);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void *ma_memory(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        ma_stop("memory", "not enough, bytes", (double)bytes);
    return memory;
}

/* A real number so near a whole one that exact arithmetic would give the whole one. */
static double ma_near(double x)
{
    double nearest = nearbyint(x);
    return fabs(x - nearest) <= 1e-9 * fmax(1.0, fabs(x)) ? nearest : x;
}

static long long ma_whole(const char *path, double value)
{
    double near = ma_near(value);
    if (!(near >= 0) || near != floor(near) || near > 9e15)
        ma_stop(path, "no whole number from 0 on", value);
    return (long long)near;
}

static inline double ma_floor(double x) { return floor(ma_near(x)); }
static inline double ma_ceil(double x) { return ceil(ma_near(x)); }

static inline double ma_divided(double a, double b)
{
    if (b == 0)
        ma_stop("expression", "division by zero of", a);
    return a / b;
}

static inline double ma_floored(double a, double b) { return floor(ma_divided(a, b)); }
static inline double ma_modulo(double a, double b) { return a - b * ma_floored(a, b); }

/* The visits that are due: with a repeat of 1/2 every other time. */
static long long ma_times(struct ma_run *run, int node, const char *path, double repeat)
{
    double due, visits;
    if (!(repeat >= 0))
        ma_stop(path, "the repeat is negative", repeat);
    due = ma_near(run->partial[node] + repeat);
    visits = floor(due);
    run->partial[node] = due - visits;
    return (long long)visits;
}

static void ma_count(struct ma_run *run, int kind, const char *operation, long long size)
{
    size_t place;
    for (place = 0; place < run->kinds; place++) {
        struct ma_size *known = &run->sizes[place];
        if (known->kind == kind && known->size == size && !strcmp(known->operation, operation)) {
            known->messages++;
            return;
        }
    }
    if (run->kinds == run->room) {
        run->room = 2 * run->room + 16;
        run->sizes = ma_memory(run->sizes, run->room * sizeof *run->sizes);
    }
    run->sizes[run->kinds++] = (struct ma_size){kind, operation, size, 1};
}

static MPI_Request *ma_start(struct ma_run *run, long long size)
{
    if (size > 0x7fffffff)
        ma_stop("message", "larger than 2 GiB", (double)size);
    if (run->started == run->places) {
        run->places = 2 * run->places + 16;
        run->pending = ma_memory(run->pending, (size_t)run->places * sizeof *run->pending);
        run->buffers = ma_memory(run->buffers, (size_t)run->places * sizeof *run->buffers);
    }
    run->buffers[run->started] = memset(ma_memory(NULL, (size_t)size), 0, (size_t)size);
    return &run->pending[run->started++];
}

static inline void ma_send(struct ma_run *run, const char *path, double bytes, double partner)
{
    long long size = ma_whole(path, bytes), peer = ma_whole(path, partner);
    ma_count(run, MA_SEND, "", size);
    run->to_receiver += peer == run->receiver;
    if (run->real) {
        MPI_Request *request = ma_start(run, size);
        MPI_Isend(run->buffers[run->started - 1], (int)size, MPI_BYTE, (int)peer, 0,
                  MPI_COMM_WORLD, request);
    }
}

static inline void ma_recv(struct ma_run *run, const char *path, double bytes, double partner)
{
    long long size, peer;
    if (!run->posted)
        return;
    size = ma_whole(path, bytes);
    peer = ma_whole(path, partner);
    ma_count(run, MA_RECV, "", size);
    if (run->real) {
        MPI_Request *request = ma_start(run, size);
        MPI_Irecv(run->buffers[run->started - 1], (int)size, MPI_BYTE, (int)peer, 0,
                  MPI_COMM_WORLD, request);
    }
}

static void ma_take(struct ma_run *run)
{
    MPI_Message message;
    MPI_Status status;
    int there, size;
    void *buffer;
    if (run->posted)
        return;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
    if (!there)
        return;
    MPI_Get_count(&status, MPI_BYTE, &size);
    buffer = ma_memory(NULL, (size_t)size);
    MPI_Mrecv(buffer, size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    free(buffer);
    ma_count(run, MA_RECV, "", size);
    run->arrived++;
}

/* Complete all that was started. Where messages are taken as they come, sends may stay open: their
   receiver may be in a collective operation that waits for this rank. */
static void ma_complete(struct ma_run *run, int most_open)
{
    int done = 0, place;
    if (!run->real)
        return;
    while (MPI_Testall(run->started, run->pending, &done, MPI_STATUSES_IGNORE), !done) {
        ma_take(run);
        if (!run->posted && run->started < most_open)
            return;
    }
    for (place = 0; place < run->started; place++)
        free(run->buffers[place]);
    run->started = 0;
}

static inline void ma_wait(struct ma_run *run) { ma_complete(run, 1000); }

static inline void ma_coll(struct ma_run *run, const char *path, const char *operation, double bytes)
{
    long long size = ma_whole(path, bytes);
    int count = (int)size, part = count / run->ranks;
    char *mine, *every;
    MPI_Comm world = MPI_COMM_WORLD;
    ma_count(run, MA_COLL, operation, size);
    if (!run->real)
        return;
    mine = memset(ma_memory(NULL, (size_t)size), 0, (size_t)size);
    every = memset(ma_memory(NULL, (size_t)(size * run->ranks)), 0, (size_t)(size * run->ranks));
    if (!strcmp(operation, "barrier"))
        MPI_Barrier(world);
    else if (!strcmp(operation, "bcast"))
        MPI_Bcast(mine, count, MPI_BYTE, 0, world);
    else if (!strcmp(operation, "reduce"))
        MPI_Reduce(mine, every, count, MPI_BYTE, MPI_BOR, 0, world);
    else if (!strcmp(operation, "allreduce"))
        MPI_Allreduce(mine, every, count, MPI_BYTE, MPI_BOR, world);
    else if (!strcmp(operation, "scan"))
        MPI_Scan(mine, every, count, MPI_BYTE, MPI_BOR, world);
    else if (!strcmp(operation, "exscan"))
        MPI_Exscan(mine, every, count, MPI_BYTE, MPI_BOR, world);
    else if (!strcmp(operation, "gather"))
        MPI_Gather(mine, count, MPI_BYTE, every, count, MPI_BYTE, 0, world);
    else if (!strcmp(operation, "allgather"))
        MPI_Allgather(mine, count, MPI_BYTE, every, count, MPI_BYTE, world);
    else if (!strcmp(operation, "scatter"))
        MPI_Scatter(every, count, MPI_BYTE, mine, count, MPI_BYTE, 0, world);
    else if (!strcmp(operation, "alltoall"))
        MPI_Alltoall(mine, part, MPI_BYTE, every, part, MPI_BYTE, world);
    free(mine);
    free(every);
}

static void ma_histogram(const struct ma_run *run, const char *folder)
{
    char path[4096];
    size_t place;
    FILE *file;
    snprintf(path, sizeof path, "%s/%d.json", folder, run->rank);
    file = fopen(path, "w");
    if (!file)
        ma_stop(path, "cannot be written; rank", run->rank);
    fprintf(file, "{\"rank\": %d, \"ranks\": %d, \"sizes\": [", run->rank, run->ranks);
    for (place = 0; place < run->kinds; place++) {
        const struct ma_size *size = &run->sizes[place];
        fprintf(file, "%s{\"kind\": \"%s\", \"operation\": \"%s\", \"size\": %lld, \"messages\": %lld}",
                place ? ", " : "", ma_kinds[size->kind], size->operation, size->size,
                size->messages);
    }
    fprintf(file, "]}\n");
    fclose(file);
}

typedef void ma_walk_function(struct ma_run *run, int rank, const double *inputs);

/* Walk through the model on every rank. Arguments of the program: name=value for inputs,
   --histogram=FOLDER for a file a rank with the messages by size. */
static int ma_main(int argc, char **argv, ma_walk_function *walk, int inputs,
                   const char *const *names, double *values, int ranks_place, int posted,
                   int ring)
{
    struct ma_run run = {0};
    const char *folder = NULL;
    long long expected = 0, sent = 0, volume = 0;
    int argument, place, other;
    size_t size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    for (argument = 1; argument < argc; argument++) {
        const char *text = strchr(argv[argument], '=');
        size_t length = text ? (size_t)(text - argv[argument]) : strlen(argv[argument]);
        if (text && length == 11 && !strncmp(argv[argument], "--histogram", length)) {
            folder = text + 1;
            continue;
        }
        for (place = 0; place < inputs; place++)
            if (text && strlen(names[place]) == length &&
                !strncmp(argv[argument], names[place], length))
                break;
        if (place == inputs)
            ma_stop(argv[argument], "unknown argument; place", argument);
        values[place] = strtod(text + 1, NULL);
    }
    if (ranks_place >= 0)
        values[ranks_place] = run.ranks;
    for (other = 0; !posted && other < run.ranks; other++) {
        struct ma_run counted = {0};
        if (ring && other != (run.rank + run.ranks - 1) % run.ranks)
            continue;
        counted.rank = other;
        counted.ranks = run.ranks;
        counted.receiver = run.rank;
        walk(&counted, other, values);
        expected += counted.to_receiver;
        free(counted.sizes);
    }
    run.real = 1;
    run.posted = posted;
    walk(&run, run.rank, values);
    ma_complete(&run, 0);
    while (!posted && run.arrived < expected)
        ma_take(&run);
    if (folder)
        ma_histogram(&run, folder);
    for (size = 0; size < run.kinds; size++)
        if (run.sizes[size].kind == MA_SEND) {
            sent += run.sizes[size].messages;
            volume += run.sizes[size].messages * run.sizes[size].size;
        }
    printf("rank %d: sent %lld messages, %lld B\n", run.rank, sent, volume);
    MPI_Finalize();
    return 0;
}
