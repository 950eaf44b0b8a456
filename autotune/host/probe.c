/* Measures what documents do not tell about a host: clock, load bandwidth, barrier, overlap.

   probe clock   THREADS SAMPLE UNTIL
   probe barrier THREADS SAMPLE UNTIL
   probe stream  THREADS SAMPLE UNTIL EXTRA:BYTES...

   SAMPLE is about the duration of one sample, UNTIL the time after which no further sample is
   begun, both in seconds. Each sample is printed as one JSON object on a line of its own:
     seconds  wall time from the first thread's start to the last thread's end
     count    per thread: additions of the chain, barriers, or groups of 64 bytes streamed
     busy     processor time of the threads / their wall time, from start to end; each thread reads its
              own clock, because that of the process lags by a tick for threads on other cores
   A stream reads BYTES per thread over and over with the widest vector loads of the target, and
   EXTRA more vector loads per 64 bytes from a buffer that stays in L1: the work that transfers from
   the outer levels may or may not overlap with. */

#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX2__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

enum { GROUP = 64, GROUPS = 4, ACCUMULATORS = 8, MOST_EXTRA = 32, PAGE = 4096, STRIDE = 64 };

typedef uint64_t vec __attribute__((vector_size(WIDTH), may_alias));

static double at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return at(CLOCK_MONOTONIC); }

typedef struct {
    double seconds, busy;
} timing;

/* --- clock: each addition needs the one before it, one cycle each --------------------------- */

#define ADD asm volatile("" : "+r"(x)); x += y;
#define ADD8 ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD64 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8 ADD8

static uint64_t chain(uint64_t rounds, uint64_t y)
{
    uint64_t x = 1;
    /* a register operand: processors that add small constants at renaming do not add registers */
    asm volatile("" : "+r"(y));
    for (uint64_t i = 0; i < rounds; ++i) {
        ADD64
    }
    return x;
}

/* --- stream ----------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) vec sweep(
    const vec *p, size_t blocks, const vec *hot, const int extra)
{
    vec a[ACCUMULATORS] = {{0}};
    for (size_t b = 0; b < blocks; ++b) {
        /* opaque, so that loads of the hot buffer are not moved out of the loop */
        asm volatile("" : "+r"(hot));
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * GROUP / WIDTH; ++i)
            a[i % ACCUMULATORS] ^= p[i];
#pragma GCC unroll 128
        for (int i = 0; i < GROUPS * extra; ++i)
            a[i % ACCUMULATORS] ^= hot[i];
        p += GROUPS * GROUP / WIDTH;
    }
#pragma GCC unroll 8
    for (int i = 1; i < ACCUMULATORS; ++i)
        a[0] ^= a[i];
    return a[0];
}

#define FOR_EACH_EXTRA(X) X(0) X(1) X(2) X(3) X(4) X(6) X(8) X(12) X(16) X(24) X(32)

#define DEFINE(E)                                                                                  \
    static __attribute__((noinline)) vec sweep_##E(const vec *p, size_t n, const vec *hot)         \
    {                                                                                              \
        return sweep(p, n, hot, E);                                                                \
    }
FOR_EACH_EXTRA(DEFINE)

typedef vec (*kernel)(const vec *, size_t, const vec *);

static kernel choose(int extra)
{
#define CASE(E)                                                                                    \
    case E:                                                                                        \
        return sweep_##E;
    switch (extra) {
        FOR_EACH_EXTRA(CASE)
    default:
        return NULL;
    }
}

/* --- one sample ----------------------------------------------------------------------------- */

typedef enum { CLOCK, BARRIER, STREAM } kind;

typedef struct {
    kind kind;
    int threads;
    kernel sweep;
    size_t bytes;
    char **buffer; /* per thread */
    char **hot;
} job;

/* one slot per thread and cache line */
typedef struct {
    double start, end, cpu;
    uint64_t sink;
    char unused[STRIDE - 32];
} slot;

static timing sample(const job *job, slot *slots, uint64_t count)
{
#pragma omp parallel num_threads(job->threads)
    {
        slot *mine = &slots[omp_get_thread_num()];
        uint64_t sink = 0;
#pragma omp barrier
        double cpu = at(CLOCK_THREAD_CPUTIME_ID);
        mine->start = now();
        if (job->kind == CLOCK) {
            sink = chain(count / 64, mine->sink);
        } else if (job->kind == BARRIER) {
            for (uint64_t i = 0; i < count; ++i) {
#pragma omp barrier
            }
        } else {
            const vec *p = (const vec *)job->buffer[omp_get_thread_num()];
            const vec *hot = (const vec *)job->hot[omp_get_thread_num()];
            for (uint64_t i = 0; i < count; ++i) {
                vec a = job->sweep(p, job->bytes / (GROUPS * GROUP), hot);
                sink += a[0];
            }
        }
        mine->end = now();
        mine->cpu = at(CLOCK_THREAD_CPUTIME_ID) - cpu;
        mine->sink = sink;
    }
    double first = slots[0].start, last = slots[0].end, cpu = 0, wall = 0;
    for (int t = 0; t < job->threads; ++t) {
        cpu += slots[t].cpu;
        wall += slots[t].end - slots[t].start;
        first = slots[t].start < first ? slots[t].start : first;
        last = slots[t].end > last ? slots[t].end : last;
    }
    return (timing){last - first, cpu / wall};
}

/* Doubles the count until a sample lasts an eighth of what is wanted, then takes one of full
   length; what went before has warmed caches and clock, the first sample is for nothing else. One
   that lasted long only because it was interrupted shows in its busy share. 0: the time limit came
   first. */
static uint64_t measure(const job *job, slot *slots, double least, double end, timing *result)
{
    uint64_t count = job->kind == CLOCK ? 1 << 16 : 1;
    sample(job, slots, count);
    while (now() < end) {
        timing t = sample(job, slots, count);
        if (t.seconds >= 0.75 * least) {
            *result = t;
            return count;
        }
        if (t.seconds < least / 8)
            count *= 2;
        else
            count = (uint64_t)((double)count * 1.05 * least / t.seconds) + 1;
    }
    return 0;
}

/* --- buffers: touched first by the thread that reads them ---------------------------------- */

static int provide(job *job, size_t bytes)
{
    int failed = 0;
    job->buffer = calloc((size_t)job->threads, sizeof *job->buffer);
    job->hot = calloc((size_t)job->threads, sizeof *job->hot);
    if (!job->buffer || !job->hot)
        return 1;
#pragma omp parallel num_threads(job->threads) reduction(+ : failed)
    {
        int t = omp_get_thread_num();
        size_t hot = GROUPS * MOST_EXTRA * WIDTH;
        char *p = aligned_alloc(PAGE, bytes), *h = aligned_alloc(PAGE, (hot + PAGE - 1) / PAGE * PAGE);
        failed = !p || !h;
        if (!failed) {
            memset(p, t + 1, bytes);
            memset(h, t + 2, hot);
        }
        job->buffer[t] = p;
        job->hot[t] = h;
    }
    return failed;
}

/* --- main --------------------------------------------------------------------------------------- */

static int usage(const char *what)
{
    fprintf(stderr, "probe: %s\n", what);
    return 2;
}

static void print(const job *job, int extra, uint64_t count, timing t)
{
    static const char *const names[] = {"clock", "barrier", "stream"};
    printf("{\"kind\": \"%s\", \"threads\": %d, \"extra\": %d, \"bytes\": %zu, \"seconds\": %.9g, "
           "\"count\": %llu, \"busy\": %.4f}\n",
           names[job->kind], job->threads, extra, job->bytes, t.seconds, (unsigned long long)count, t.busy);
    fflush(stdout);
}

int main(int argc, char **argv)
{
#ifdef __linux__
    if (getenv("AUTOTUNE_PDEATHSIG"))
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (argc < 5)
        return usage("needs a kind, threads, seconds per sample and a time limit");
    job job = {.threads = atoi(argv[2])};
    double least = atof(argv[3]), end = now() + atof(argv[4]);
    job.kind = !strcmp(argv[1], "clock") ? CLOCK : !strcmp(argv[1], "barrier") ? BARRIER : STREAM;
    if (job.kind == STREAM && strcmp(argv[1], "stream"))
        return usage("the kind is clock, barrier or stream");
    if (job.threads < 1 || least <= 0)
        return usage("threads and seconds per sample must be positive");
    omp_set_dynamic(0);
    slot *slots = aligned_alloc(PAGE, ((size_t)job.threads * sizeof *slots / PAGE + 1) * PAGE);
    if (!slots)
        return usage("no memory");
    memset(slots, 0, (size_t)job.threads * sizeof *slots);

    if (job.kind != STREAM) {
        do {
            timing t;
            uint64_t count = measure(&job, slots, least, end, &t);
            if (job.kind == CLOCK)
                count = count / 64 * 64;
            if (count)
                print(&job, 0, count, t);
        } while (now() < end);
        return 0;
    }
    size_t most = 0;
    for (int i = 5; i < argc; ++i) {
        char *colon = strchr(argv[i], ':');
        size_t bytes = colon ? strtoull(colon + 1, NULL, 10) : 0;
        if (!bytes || bytes % PAGE || !choose(atoi(argv[i])))
            return usage("a stream is EXTRA:BYTES, with bytes in whole pages of 4096");
        most = bytes > most ? bytes : most;
    }
    if (provide(&job, most))
        return usage("no memory for the buffers");
    for (int i = 5; i < argc && now() < end; ++i) {
        timing t;
        job.bytes = strtoull(strchr(argv[i], ':') + 1, NULL, 10);
        job.sweep = choose(atoi(argv[i]));
        uint64_t count = measure(&job, slots, least, end, &t);
        if (count)
            print(&job, atoi(argv[i]), count * (job.bytes / GROUP), t);
    }
    return 0;
}
