/* Measures what documents do not tell about a host: clock, bandwidth, overlap, costs of events.

   probe THREADS SAMPLE UNTIL ITEM...

   SAMPLE is about the duration of one sample, UNTIL the time after which no further sample is
   begun, both in seconds. An ITEM is KIND:BYTES:STREAMS:EXTRA:RUN; what a kind does not use is 0.
   BYTES is a working set per thread. Each sample is printed as one JSON object on its own line:
     item     the item
     seconds  wall time from the first thread's start to the last thread's end; of the kinds
              ``handed`` and ``kept`` only the time of reading, of ``lent`` and ``owned`` only that
              of writing, of the slowest thread; of ``meet`` how much longer the slowest thread of
              each piece took, all pieces together, than the thread that took longest for all
     count    per thread: how often what the kind counts was done
     busy     processor time of the threads / their wall time, from start to end; each thread reads
              its own clock, because that of the process lags by a tick for threads on other cores

   kind      what it does                                                              counts
   clock     a chain of dependent integer additions                                    additions
   barrier   OpenMP barriers                                                           barriers
   load      reads STREAMS arrays, one vector of each in turn; with one stream,
             EXTRA more vector loads per group from a buffer that stays in L1          groups
   divide    reads one array, with EXTRA independent vector divides per group          groups
   update    reads and writes one array; EXTRA as for load                             groups
   store     writes one array                                                          groups
   clash     as load, with all arrays in the same sets of L1; EXTRA: bytes between     groups
   offset    reads a small array by vectors that begin EXTRA bytes behind a border     vectors
   behind    the same, written                                                         vectors
   apart     writes two small arrays, a vector of EXTRA bytes of each in turn          vectors
   mixed     reads STREAMS small arrays by vectors of EXTRA bytes, at most of WIDTH, and
             adds to that of one and multiplies that of the next, in turn; RUN 1: adds to
             each, and multiplies each                                                 vectors
   taps      reads one array, four neighbours of every component; EXTRA 1: eight       groups
   across    sums over STREAMS - 2 arrays, written to two others by vectors that begin
             8 bytes behind a border; STREAMS is 4 or 8                                groups
   add       a chain of dependent vector additions                                     additions
   forward   the same, every sum stored and loaded again                               additions
   blocked   the same, one number stored and the vector around it loaded               additions
   adds, multiplies, fused, divides
             independent vector operations                                             vectors
   shuffles  independent vector shuffles across the whole vector                       vectors
   calls     independent calls of function EXTRA of the mathematical library           calls
   narrow    unaligned vector loads and stores of 28 rows in L1; EXTRA 1: the pointers
             to eight of them are loaded in each pass                                  passes
   window    chains of RUN dependent vector additions, one after the other             chains
   entry     calls a vectorised loop over RUN doubles in L1, and at random up to
             seven times EXTRA more                                                    calls
   runs      reads stretches of RUN groups in an order without pattern                 stretches
   resume    reads STREAMS arrays, RUN groups of each in turn, going on where it left
             the array                                                                 stretches
   meet      reads one array, over and over, with a barrier after RUN groups           pieces
   wide      the chain of clock, with a vector multiply-add beside every eight         additions
   handed    each thread writes STREAMS arrays in turn, then reads those of another
             thread one by one, neighbours of every component                          groups
   kept      each thread writes such arrays, then reads them again                     groups
   lent      as handed: writing what another thread has read                           groups
   owned     as kept: writing what no other thread has read                            groups

   A group is 64 bytes. WIDTH is the width in bytes of the vectors that the compiler makes of
   loops on this target, and is defined in front of this text. */

#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/prctl.h>
#endif

enum {
    GROUP = 64,
    GROUPS = 4, /* of one stream in a pass of a loop */
    VECTORS = GROUP / WIDTH,
    NARROW = 16, /* bytes of the narrowest vectors */
    HALF = WIDTH < 32 ? WIDTH : 32, /* of those between */
    ACCUMULATORS = 8,
    CHAINS = 12,
    MIXED = 4, /* arrays that an item of kind mixed reads */
    ACROSS = 2, /* arrays that an item of kind across writes */
    FEW = 2, /* arrays that it reads, */
    MANY = 6, /* or so many */
    MOST_EXTRA = 32,
    MOST_STREAMS = 16,
    PAGE = 4096,
    LARGE_PAGE = 2 << 20,
    PIECES = 4096, /* between barriers, that are looked at */
    FEWEST_PIECES = 64, /* of a sample: of a single one, nobody is late beyond the slowest */
    APART = 5 * GROUP, /* arrays begin in different sets of L1 */
    STRIDE = 64
};

typedef uint64_t vec __attribute__((vector_size(WIDTH), may_alias));
typedef double dvec __attribute__((vector_size(WIDTH), may_alias));
typedef double nvec __attribute__((vector_size(NARROW), may_alias));
typedef double hvec __attribute__((vector_size(HALF), may_alias));
typedef int64_t ivec __attribute__((vector_size(WIDTH)));
typedef uint64_t loose __attribute__((vector_size(WIDTH), may_alias, aligned(8)));
typedef double dloose __attribute__((vector_size(WIDTH), may_alias, aligned(8)));
#define AT(row, j) (dvec)(*(const dloose *)((row) + (j)))

static double at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return at(CLOCK_MONOTONIC); }

/* --- items -------------------------------------------------------------------------------------- */

#define KINDS(X)                                                                                   \
    X(clock) X(barrier) X(load) X(divide) X(update) X(store) X(clash) X(offset) X(behind) X(apart) X(mixed) X(taps) X(across) X(add) \
    X(forward) X(blocked) X(adds) X(multiplies) X(fused) X(divides) X(shuffles) X(calls) \
    X(narrow) X(window) X(entry) X(runs) X(resume) X(meet) X(wide) X(handed) X(kept) X(lent) X(owned)
#define NAME(k) KIND_##k,
#define TEXT(k) #k,
typedef enum { KINDS(NAME) NO_KIND } kind;
static const char *const names[] = {KINDS(TEXT)};

typedef struct {
    kind kind;
    size_t bytes;
    int streams, extra, run;
    const char *text;
} item;

typedef struct {
    item item;
    int threads;
    char **buffer; /* per thread */
    char **small; /* the same for small working sets, in pages of the usual size */
    char **hot;
} job;

/* one slot per thread and cache line */
typedef struct {
    double start, end, cpu, inside;
    uint64_t sink;
    double *pieces; /* seconds of the last pieces of work between barriers */
    char unused[STRIDE - 48];
} slot;

typedef struct {
    double seconds, busy;
} timing;

/* --- chains ------------------------------------------------------------------------------------- */

#define ADD asm volatile("" : "+r"(x)); x += y;
#define TIMES8(X) X X X X X X X X
#define TIMES64(X) TIMES8(TIMES8(X))

/* each addition needs the one before it, one cycle each */
static uint64_t chain(uint64_t rounds, uint64_t y)
{
    uint64_t x = 1;
    /* a register operand: processors that add small constants at renaming do not add registers */
    asm volatile("" : "+r"(y));
    for (uint64_t i = 0; i < rounds; ++i) {
        TIMES64(ADD)
    }
    return x;
}

/* the same while vectors of full width are multiplied: some processors lower their clock then; no
   product waits for the one before it, so that only the additions take time */
static uint64_t wide_chain(uint64_t rounds, uint64_t y, dvec c)
{
    uint64_t x = 1;
    asm volatile("" : "+r"(y));
    for (uint64_t i = 0; i < rounds; ++i) {
        TIMES8(TIMES8(ADD) asm volatile("" : : "x"(c * c + c)); asm volatile("" : "+x"(c));)
    }
    return x;
}

#define SUM asm volatile("" : "+m"(*p)); x += c;
#define THROUGH *(volatile dvec *)p = x; x = *(volatile dvec *)p + c;
#define BESIDE *(volatile double *)p = x[0]; x = *(volatile dvec *)p + c;

static __attribute__((noinline)) double sums(uint64_t rounds, dvec *p, kind kind)
{
    dvec x = *p, c = x;
    if (kind == KIND_add)
        for (uint64_t i = 0; i < rounds; ++i) {
            TIMES8(SUM)
        }
    else if (kind == KIND_forward)
        for (uint64_t i = 0; i < rounds; ++i) {
            TIMES8(THROUGH)
        }
    else
        for (uint64_t i = 0; i < rounds; ++i) {
            TIMES8(BESIDE)
        }
    return x[0];
}

/* chains that start anew: how many run at once shows how many operations can wait */
static __attribute__((noinline)) void chains(uint64_t rounds, int length, const dvec *p)
{
    dvec c = *p;
    for (uint64_t i = 0; i < rounds; ++i) {
        dvec x = c;
        for (int k = 0; k < length / 8; ++k) {
            TIMES8(asm volatile("" : "+x"(x)); x += c;)
        }
        asm volatile("" : : "x"(x));
    }
}

/* written out: of an order that it computes, the compiler makes a shuffle of bytes */
#if WIDTH == 64
#define BACKWARDS (ivec){7, 6, 5, 4, 3, 2, 1, 0}
#elif WIDTH == 32
#define BACKWARDS (ivec){3, 2, 1, 0}
#else
#define BACKWARDS (ivec){1, 0}
#endif

/* independent vector operations: more of them than one's latency times the units that do it */
#define INDEPENDENT(E)                                                                             \
    for (uint64_t i = 0; i < rounds; ++i) {                                                        \
        _Pragma("GCC unroll 16") for (int k = 0; k < CHAINS; ++k) x[k] = (E);                      \
    }

static __attribute__((noinline)) double independent(uint64_t rounds, const dvec *p, kind kind)
{
    /* some processors end divisions early where few digits of the quotient are not 0 */
    dvec x[CHAINS], one = *p + (kind == KIND_divides ? 1.23456789012345678 : 1.0), nothing = *p;
    for (int k = 0; k < CHAINS; ++k)
        x[k] = one;
    asm volatile("" : "+m"(one), "+m"(nothing)); /* unknown */
    dvec c = one, d = nothing;
    if (kind == KIND_divides)
        c *= one * one;
    if (kind == KIND_adds)
        INDEPENDENT(x[k] + d)
    else if (kind == KIND_multiplies)
        INDEPENDENT(x[k] * c)
    else if (kind == KIND_fused)
        INDEPENDENT(x[k] * c + d)
    else if (kind == KIND_divides)
        INDEPENDENT(c / x[k])
    else
        INDEPENDENT(__builtin_shuffle(x[k], BACKWARDS))
    for (int k = 1; k < CHAINS; ++k)
        x[0] += x[k];
    return x[0][0];
}

/* in the order of ``FUNCTIONS`` of host_probe: of any number, of positive ones, of those within
   one of zero, and of two numbers */
#define FUNCTIONS_OF_ONE(ANY, POSITIVE, WITHIN)                                                    \
    ANY(exp) ANY(exp2) ANY(expm1) POSITIVE(log) POSITIVE(log2) POSITIVE(log10) POSITIVE(log1p)     \
    ANY(sin) ANY(cos) ANY(tan) ANY(sinh) ANY(cosh) ANY(tanh) WITHIN(asin) WITHIN(acos) ANY(atan)   \
    ANY(cbrt) ANY(erf)
#define FUNCTIONS_OF_TWO(X) X(pow) X(atan2) X(hypot) X(fmod)
#define COUNT(F) +1
enum {
    FUNCTIONS = 0 FUNCTIONS_OF_ONE(COUNT, COUNT, COUNT) FUNCTIONS_OF_TWO(COUNT),
    ARGUMENTS = 512,
    WAVE = 64 /* arguments of one sign in a row */
};

#define EACH(F) for (uint64_t i = 0; i < count; ++i) *result = (F);
#define CASE_OF_ANY(F) if (number == n++) EACH(F(x[i % ARGUMENTS]))
#define CASE_OF_POSITIVE(F) if (number == n++) EACH(F(positive[i % ARGUMENTS]))
#define CASE_OF_WITHIN(F) if (number == n++) EACH(F(x[i % ARGUMENTS] / 2))
#define CASE_OF_TWO(F) \
    if (number == n++) EACH(F(positive[i % ARGUMENTS], positive[(i + 7) % ARGUMENTS]))

/* arguments along a wave that grows from 0 to between -2 and 2, or of its absolute values, smooth as
   the rows of most solvers: libraries take other ways for small, large and negative ones */
static __attribute__((noinline)) double library_calls(uint64_t count, int number)
{
    double x[ARGUMENTS], positive[ARGUMENTS], last = 0;
    volatile double *result = &last;
    int n = 0;
    for (int k = 0; k < ARGUMENTS; ++k) {
        const double across = (double)(k % WAVE) / WAVE, along = (double)(k + 1) / ARGUMENTS;
        x[k] = 2 * along * (k / WAVE % 2 ? -4 : 4) * across * (1 - across);
        positive[k] = x[k] < 0 ? -x[k] : x[k];
        positive[k] += 1e-3;
    }
    FUNCTIONS_OF_ONE(CASE_OF_ANY, CASE_OF_POSITIVE, CASE_OF_WITHIN)
    FUNCTIONS_OF_TWO(CASE_OF_TWO)
    return last;
}

/* a pass of a loop over many rows: ROWS loads and a store after every sixth of them, all 8 bytes
   behind a multiple of the width; RELOADED of the pointers to the rows do not fit in registers */
enum { ROWS = 24, RELOADED = 8, FIRST_STORED = 64 };
_Static_assert(ROWS / 4 + ROWS / 12 == RELOADED, "loads, and stores, through a pointer");

static inline __attribute__((always_inline)) void pass(
    uint64_t rounds, char *p, const int reloaded)
{
    char *first = p + sizeof(double), *volatile row[ROWS / 4], *volatile stored[ROWS / 12];
    for (int k = 0; k < ROWS / 4; ++k)
        row[k] = first + (4 * k + 1) * WIDTH;
    for (int k = 0; k < ROWS / 12; ++k)
        stored[k] = first + (FIRST_STORED + 4 * k + 2) * WIDTH;
    for (uint64_t i = 0; i < rounds; ++i) {
        _Pragma("GCC unroll 24") for (int k = 0; k < ROWS; ++k) {
            loose value = *(const volatile loose *)(
                reloaded && k % 4 == 1 ? row[k / 4] : first + k * WIDTH);
            if (k % 6 == 5)
                *(volatile loose *)(reloaded && k % 12 == 11 ? stored[k / 12]
                                                             : first + (FIRST_STORED + k / 3) * WIDTH)
                    = value;
        }
    }
}

static __attribute__((noinline)) void rows(uint64_t rounds, char *p) { pass(rounds, p, 0); }

static __attribute__((noinline)) void reloaded_rows(uint64_t rounds, char *p)
{
    pass(rounds, p, 1);
}

/* --- streams ------------------------------------------------------------------------------------ */

typedef struct {
    char *base;
    size_t pitch; /* bytes from one array to the next */
    size_t groups; /* of one array */
    char *hot;
} arrays;

static inline __attribute__((always_inline)) vec sweep(
    const arrays *a, const int extra, const int divides)
{
    vec sum[ACCUMULATORS] = {{0}};
    dvec quotient[ACCUMULATORS];
    const vec *p = (const vec *)a->base, *hot = (const vec *)a->hot;
    dvec two = (dvec){0} + 2.0;
    for (int i = 0; i < ACCUMULATORS; ++i)
        quotient[i] = two + ((const dvec *)hot)[i]; /* unknown, so that no two are the same */
    for (size_t b = 0; b < a->groups / GROUPS; ++b) {
        /* opaque, so that loads of the hot buffer are not moved out of the loop */
        asm volatile("" : "+r"(hot));
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * VECTORS; ++i)
            sum[i % ACCUMULATORS] ^= p[i];
#pragma GCC unroll 128
        for (int i = 0; i < GROUPS * extra; ++i)
            sum[i % ACCUMULATORS] ^= hot[i];
#pragma GCC unroll 128
        for (int i = 0; i < GROUPS * divides; ++i)
            quotient[i % ACCUMULATORS] = two / quotient[i % ACCUMULATORS];
        p += GROUPS * VECTORS;
    }
#pragma GCC unroll 8
    for (int i = 1; i < ACCUMULATORS; ++i) {
        sum[0] ^= sum[i];
        quotient[0] += quotient[i];
    }
    return sum[0] ^ (divides ? (vec)quotient[0] : (vec){0});
}

/* four arrays share a pointer, so that sixteen do not need more registers than there are */
static inline __attribute__((always_inline)) vec several(const arrays *a, const int streams)
{
    vec sum[ACCUMULATORS] = {{0}};
    size_t pitch = a->pitch, thrice = 3 * pitch;
    const char *p[MOST_STREAMS / 4];
    for (int q = 0; q < MOST_STREAMS / 4; ++q)
        p[q] = a->base + 4 * (size_t)q * pitch;
    for (size_t b = 0; b < a->groups; ++b) {
        asm volatile("" : "+r"(pitch), "+r"(thrice));
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; ++i) {
#pragma GCC unroll 16
            for (int s = 0; s < streams; ++s) {
                size_t shift = s % 4 == 3 ? thrice : (size_t)(s % 4) * pitch;
                sum[(i * streams + s) % ACCUMULATORS] ^=
                    *(const vec *)(p[s / 4] + shift + i * WIDTH);
            }
        }
#pragma GCC unroll 4
        for (int q = 0; q < MOST_STREAMS / 4; ++q)
            p[q] += GROUP;
    }
#pragma GCC unroll 8
    for (int i = 1; i < ACCUMULATORS; ++i)
        sum[0] ^= sum[i];
    return sum[0];
}

static inline __attribute__((always_inline)) vec update(const arrays *a, const int extra)
{
    vec sum[ACCUMULATORS] = {{0}};
    dvec *p = (dvec *)a->base, c = (dvec){0} + 1e-9;
    const vec *hot = (const vec *)a->hot;
    for (size_t b = 0; b < a->groups / GROUPS; ++b, p += GROUPS * VECTORS) {
        asm volatile("" : "+r"(hot));
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * VECTORS; ++i)
            p[i] += c;
#pragma GCC unroll 128
        for (int i = 0; i < GROUPS * extra; ++i)
            sum[i % ACCUMULATORS] ^= hot[i];
    }
#pragma GCC unroll 8
    for (int i = 1; i < ACCUMULATORS; ++i)
        sum[0] ^= sum[i];
    return sum[0];
}

#define FOR_EACH_EXTRA(X) X(0) X(1) X(2) X(3) X(4) X(6) X(8) X(12) X(16) X(24) X(32)
#define FOR_EACH_COUNT(X) X(2) X(3) X(4) X(6) X(8) X(12) X(16)

typedef vec (*kernel)(const arrays *);

#define DEFINE(E)                                                                                  \
    static __attribute__((noinline)) vec sweep_##E(const arrays *a) { return sweep(a, E, 0); }     \
    static __attribute__((noinline)) vec divide_##E(const arrays *a) { return sweep(a, 0, E); }    \
    static __attribute__((noinline)) vec update_##E(const arrays *a) { return update(a, E); }
FOR_EACH_EXTRA(DEFINE)

#define DEFINE_SEVERAL(S)                                                                          \
    static __attribute__((noinline)) vec several_##S(const arrays *a) { return several(a, S); }
FOR_EACH_COUNT(DEFINE_SEVERAL)

static __attribute__((noinline)) vec store(const arrays *a)
{
    dvec *p = (dvec *)a->base, c = (dvec){0} + 1e-9;
    for (size_t b = 0; b < a->groups / GROUPS; ++b, p += GROUPS * VECTORS) {
        asm volatile("" : "+r"(p)); /* or it becomes a call of memset */
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * VECTORS; ++i)
            p[i] = c;
    }
    return (vec){0};
}

/* threads write, wait for one another, read, wait */
static int in_turns(kind k)
{
    return k == KIND_handed || k == KIND_kept || k == KIND_lent || k == KIND_owned;
}

/* each count stands for one operation of every chain, or for as many */
static int chained(kind k)
{
    return k == KIND_adds || k == KIND_multiplies || k == KIND_fused || k == KIND_divides
           || k == KIND_shuffles;
}

static kernel choose(const item *item)
{
#define CASE_SWEEP(E) case E: return sweep_##E;
#define CASE_DIVIDE(E) case E: return divide_##E;
#define CASE_UPDATE(E) case E: return update_##E;
#define CASE_SEVERAL(S) case S: return several_##S;
    if ((item->kind == KIND_update || item->kind == KIND_store) && item->streams != 1)
        return NULL;
    if (item->kind == KIND_store)
        return store;
    if (item->kind == KIND_update)
        switch (item->extra) { FOR_EACH_EXTRA(CASE_UPDATE) default: return NULL; }
    if (in_turns(item->kind) || item->kind == KIND_meet)
        return sweep_0;
    if (item->kind == KIND_divide)
        switch (item->extra) { FOR_EACH_EXTRA(CASE_DIVIDE) default: return NULL; }
    if (item->streams != 1)
        switch (item->streams) { FOR_EACH_COUNT(CASE_SEVERAL) default: return NULL; }
    switch (item->extra) { FOR_EACH_EXTRA(CASE_SWEEP) default: return NULL; }
}

/* two loads and a vector of each in turn per pass, from wherever p points */
static __attribute__((noinline)) vec unaligned(const char *p, size_t groups)
{
    vec sum[ACCUMULATORS] = {{0}};
    for (size_t b = 0; b < groups / GROUPS; ++b, p += GROUPS * GROUP) {
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * VECTORS; ++i)
            sum[i % ACCUMULATORS] ^= (vec) * (const loose *)(p + i * WIDTH);
    }
#pragma GCC unroll 8
    for (int i = 1; i < ACCUMULATORS; ++i)
        sum[0] ^= sum[i];
    return sum[0];
}

static __attribute__((noinline)) void unaligned_stores(char *p, size_t groups)
{
    loose value = {0};
    for (size_t b = 0; b < groups / GROUPS; ++b, p += GROUPS * GROUP) {
        asm volatile("" : "+r"(p)); /* or it becomes a call of memset */
#pragma GCC unroll 16
        for (int i = 0; i < GROUPS * VECTORS; ++i)
            *(loose *)(p + i * WIDTH) = value;
    }
}

/* volatile, so that the stores stay in turn */
#define DEFINE_APART(NAME, TYPE)                                                                   \
    static __attribute__((noinline)) void NAME(uint64_t rounds, const arrays *a)                   \
    {                                                                                              \
        enum { EACH = GROUP / sizeof(TYPE) };                                                      \
        for (uint64_t r = 0; r < rounds; ++r) {                                                    \
            volatile TYPE *p = (TYPE *)a->base, *q = (TYPE *)(a->base + a->pitch);                 \
            for (size_t b = 0; b < a->groups; b += 2, p += 2 * EACH, q += 2 * EACH) {              \
                _Pragma("GCC unroll 8") for (int i = 0; i < 2 * EACH; ++i)                         \
                    p[i] = q[i] = (TYPE){0};                                                       \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_APART(stores_apart, vec)
DEFINE_APART(half_apart, hvec)

/* no sum, so that nothing waits for an earlier result; a pointer to each array, as a load by base and
   index may be issued apart from the arithmetic on it */
#define DEFINE_MIXED(NAME, TYPE, BOTH)                                                             \
    static __attribute__((noinline)) void NAME(uint64_t rounds, const arrays *a)                   \
    {                                                                                              \
        TYPE c = *(const TYPE *)a->hot;                                                            \
        for (uint64_t r = 0; r < rounds; ++r) {                                                    \
            const char *p[MIXED];                                                                  \
            for (int s = 0; s < MIXED; ++s)                                                        \
                p[s] = a->base + (size_t)s * a->pitch;                                             \
            for (size_t b = 0; b < a->groups; ++b) {                                               \
                asm volatile("" : "+r"(p[0]), "+r"(p[1]), "+r"(p[2]), "+r"(p[3]));                 \
                _Pragma("GCC unroll 4") for (size_t i = 0; i < GROUP; i += sizeof(TYPE)) {         \
                    _Pragma("GCC unroll 4") for (int s = 0; s < MIXED; ++s) {                      \
                        TYPE x = *(const TYPE *)(p[s] + i);                                        \
                        if (BOTH)                                                                  \
                            asm volatile("" : "+x"(x)); /* loaded once */                          \
                        TYPE sum = x + c, product = x * c;                                         \
                        if (BOTH || s % 2 == 0)                                                    \
                            asm volatile("" : : "x"(sum));                                         \
                        if (BOTH || s % 2)                                                         \
                            asm volatile("" : : "x"(product));                                     \
                    }                                                                              \
                }                                                                                  \
                _Pragma("GCC unroll 4") for (int s = 0; s < MIXED; ++s)                            \
                    p[s] += GROUP;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_MIXED(mixed, dvec, 0)
DEFINE_MIXED(half_mixed, hvec, 0)
DEFINE_MIXED(narrow_mixed, nvec, 0)
DEFINE_MIXED(dense, dvec, 1)
DEFINE_MIXED(half_dense, hvec, 1)
DEFINE_MIXED(narrow_dense, nvec, 1)

/* A line is on its way from an outer cache when further loads read it. The loop is as short as
   compilers make it: in one that is unrolled, the first load runs further ahead. */
static inline __attribute__((always_inline)) void neighbourhood(const arrays *a, const int wide)
{
    enum { LANES = WIDTH / sizeof(double), LINE = GROUP / sizeof(double) };
    const double *x = (const double *)a->base;
#pragma GCC unroll 1
    for (size_t j = LINE; j < (a->groups - 1) * LINE; j += LANES) {
        dvec y = (AT(x, j + 1) - AT(x, j - 2)) * AT(x, j - 1) - AT(x, j);
        if (wide)
            y += (AT(x, j + 3) - AT(x, j - 4)) * AT(x, j - 3) - AT(x, j + 2);
        asm volatile("" : : "x"(y));
    }
}

static __attribute__((noinline)) void taps(const arrays *a) { neighbourhood(a, 0); }

static __attribute__((noinline)) void more_taps(const arrays *a) { neighbourhood(a, 1); }

/* what a solver does with the rows of its block, a vector of each in turn */
static __attribute__((noinline)) void store_in_turn(const arrays *a, int streams)
{
    dvec c = (dvec){0} + 1e-9;
    for (size_t at = 0; at < a->groups * GROUP; at += sizeof(dvec))
        for (int s = 0; s < streams; ++s) {
            dvec *p = (dvec *)(a->base + (size_t)s * a->pitch + at);
            asm volatile("" : "+r"(p));
            *p = c;
        }
}

/* and with rows of the block beside */
static __attribute__((noinline)) void read_one_by_one(arrays row, int streams)
{
    for (int s = 0; s < streams; ++s, row.base += row.pitch)
        more_taps(&row);
}

/* a line per pass; a part of the sum goes into each array that is written */
static inline __attribute__((always_inline)) void sum_rows(const arrays *a, const int read)
{
    enum { LANES = WIDTH / sizeof(double), LINE = GROUP / sizeof(double) };
    const double *in[MANY];
    double *out[ACROSS];
    for (int k = 0; k < read; ++k)
        in[k] = (const double *)(a->base + (size_t)k * a->pitch);
    for (int k = 0; k < ACROSS; ++k)
        out[k] = (double *)(a->base + (size_t)(read + k) * a->pitch) + 1;
    for (size_t j = LINE; j < (a->groups - 1) * LINE; j += LINE) {
#pragma GCC unroll 4
        for (size_t v = j; v < j + LINE; v += LANES) {
            dvec sum = AT(in[0], v - 1) + AT(in[0], v + 1);
#pragma GCC unroll 6
            for (int k = 0; k < read; ++k)
                sum += (1.1 + k) * AT(in[k], v);
#pragma GCC unroll 2
            for (int k = 0; k < ACROSS; ++k)
                *(dloose *)(out[k] + v) = (1.5 + k) * sum;
        }
    }
}

static __attribute__((noinline)) void few_sums(const arrays *a) { sum_rows(a, FEW); }
static __attribute__((noinline)) void many_sums(const arrays *a) { sum_rows(a, MANY); }

/* as the compiler makes it of any sweep: range at run time, remainder loop; begun at a border, so
   that a pass takes as long wherever the function lies */
static __attribute__((noinline, optimize("align-loops=64"))) void line(
    long first, long last, double *restrict y, const double *restrict x, const double *restrict z,
    double a)
{
    for (long j = first; j < last; ++j)
        y[j] = a * x[j] + z[j];
}

static __attribute__((noinline)) vec stretch(const vec *p, size_t groups)
{
    vec sum[2] = {{0}};
    for (size_t b = 0; b < groups; ++b, p += VECTORS) {
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; ++i)
            sum[i % 2] ^= p[i];
    }
    return sum[0] ^ sum[1];
}

/* Bytes that the arrays of an item take, with those that lie between them. */
static size_t extent(const item *item)
{
    size_t between = item->kind == KIND_clash ? (size_t)item->extra : PAGE + APART;
    return item->bytes + (size_t)item->streams * between + PAGE;
}

/* --- one sample --------------------------------------------------------------------------------- */

static uint64_t work(const job *job, slot *slots, uint64_t count)
{
    const item *item = &job->item;
    int me = omp_get_thread_num();
    char **buffers = extent(item) <= LARGE_PAGE ? job->small : job->buffer;
    char *buffer = buffers[me];
    uint64_t sink = 0;
    arrays a = {.base = buffer, .groups = item->bytes / GROUP / (size_t)(item->streams + !item->streams),
                .hot = job->hot[me]};
    a.pitch = (a.groups * GROUP + PAGE - 1) / PAGE * PAGE + APART;
    switch (item->kind) {
    case KIND_clock:
        return chain(count / 64, slots[me].sink);
    case KIND_wide:
        return wide_chain(count / 64, slots[me].sink, *(const dvec *)job->hot[me]);
    case KIND_barrier:
        for (uint64_t i = 0; i < count; ++i) {
#pragma omp barrier
        }
        return 0;
    case KIND_add:
    case KIND_forward:
    case KIND_blocked:
        return (uint64_t)sums(count / 8, (dvec *)job->hot[me], item->kind);
    case KIND_adds:
    case KIND_multiplies:
    case KIND_fused:
    case KIND_divides:
    case KIND_shuffles:
        return (uint64_t)independent(count, (const dvec *)job->hot[me], item->kind);
    case KIND_calls:
        return library_calls(count, item->extra) > 0;
    case KIND_narrow:
        (item->extra ? reloaded_rows : rows)(count, job->hot[me]);
        return 0;
    case KIND_window:
        chains(count, item->run, (const dvec *)job->hot[me]);
        return 0;
    case KIND_offset:
        for (uint64_t i = 0; i < count; ++i) {
            sink += unaligned(buffer + item->extra, a.groups)[0];
            asm volatile("" ::: "memory"); /* or one call does for all */
        }
        return sink;
    case KIND_behind:
        for (uint64_t i = 0; i < count; ++i)
            unaligned_stores(buffer + item->extra, a.groups);
        return 0;
    case KIND_apart:
        (item->extra <= HALF ? half_apart : stores_apart)(count, &a);
        return 0;
    case KIND_mixed:
        if (item->run)
            (item->extra <= NARROW ? narrow_dense
             : item->extra <= HALF ? half_dense
                                   : dense)(count, &a);
        else
            (item->extra <= NARROW ? narrow_mixed
             : item->extra <= HALF ? half_mixed
                                   : mixed)(count, &a);
        return 0;
    case KIND_taps:
        for (uint64_t i = 0; i < count; ++i)
            (item->extra ? more_taps : taps)(&a);
        return 0;
    case KIND_across:
        for (uint64_t i = 0; i < count; ++i)
            (item->streams == FEW + ACROSS ? few_sums : many_sums)(&a);
        return 0;
    case KIND_entry: {
        /* apart by pages and some lines, so that no load waits for a store of the same last bits */
        size_t apart = item->bytes / 4 / GROUP * (GROUP / sizeof(double)) + 3 * APART / sizeof(double);
        double *y = (double *)buffer, *x = y + apart, *z = x + apart;
        uint64_t dice = 0;
        for (uint64_t i = 0; i < count; ++i) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            line(0, item->run + (long)(dice >> 61) * item->extra, y, x, z, 0.5);
        }
        return (uint64_t)y[0];
    }
    case KIND_runs: {
        /* a full period modulo a power of two: every stretch once, without pattern */
        uint64_t mask = item->bytes / GROUP / (size_t)item->run - 1, at = 0;
        for (uint64_t i = 0; i < count; ++i) {
            at = (at * 1664525 + 1013904223) & mask;
            sink += stretch((const vec *)(buffer + at * GROUP * (size_t)item->run),
                            (size_t)item->run)[0];
        }
        return sink;
    }
    case KIND_resume: {
        size_t run = (size_t)item->run, at = 0, array = 0, streams = (size_t)item->streams;
        for (uint64_t i = 0; i < count; ++i) {
            sink += stretch((const vec *)(a.base + array * a.pitch + at * GROUP), run)[0];
            if (++array == streams) {
                array = 0;
                at = at + 2 * run <= a.groups ? at + run : 0;
            }
        }
        return sink;
    }
    case KIND_meet: {
        arrays piece = a;
        size_t at = 0;
        for (uint64_t i = 0; i < count; ++i) {
            double begun = now();
            for (size_t left = (size_t)item->run; left; left -= piece.groups) {
                piece.base = a.base + at * GROUP;
                piece.groups = left < a.groups - at ? left : a.groups - at;
                sink += sweep_0(&piece)[0];
                at = (at + piece.groups) % a.groups;
            }
            slots[me].pieces[i % PIECES] = now() - begun;
#pragma omp barrier
        }
        return sink;
    }
    case KIND_handed:
    case KIND_kept:
    case KIND_lent:
    case KIND_owned: {
        int reading = item->kind == KIND_handed || item->kind == KIND_kept;
        arrays theirs = a;
        if (item->kind == KIND_handed || item->kind == KIND_lent)
            theirs.base = buffers[(me + 1) % job->threads];
        slots[me].inside = 0;
        for (uint64_t i = 0; i < count; ++i) {
            double begun = now();
            store_in_turn(&a, item->streams);
            slots[me].inside += reading ? 0 : now() - begun;
#pragma omp barrier
            begun = now();
            read_one_by_one(theirs, item->streams);
            slots[me].inside += reading ? now() - begun : 0;
#pragma omp barrier
        }
        return sink;
    }
    case KIND_clash:
        a.pitch = (size_t)item->extra;
        /* falls through */
    default: {
        kernel kernel = choose(item);
        for (uint64_t i = 0; i < count; ++i)
            sink += kernel(&a)[0];
        return sink;
    }
    }
}

#define LEAST 1e-12 /* seconds; a sample of none would count as none */

/* Seconds by which the slowest thread of each piece is slower than the one that is slowest on the
   whole, scaled from the pieces that were kept to all. */
static double lateness(const job *job, const slot *slots, uint64_t count)
{
    uint64_t kept = count < PIECES ? count : PIECES;
    double each = 0, whole = 0;
    for (uint64_t i = 0; i < kept; ++i) {
        double most = 0;
        for (int t = 0; t < job->threads; ++t)
            most = slots[t].pieces[i] > most ? slots[t].pieces[i] : most;
        each += most;
    }
    for (int t = 0; t < job->threads; ++t) {
        double sum = 0;
        for (uint64_t i = 0; i < kept; ++i)
            sum += slots[t].pieces[i];
        whole = sum > whole ? sum : whole;
    }
    double late = (each - whole) * (double)count / (double)kept;
    return late > LEAST ? late : LEAST;
}

static timing sample(const job *job, slot *slots, uint64_t count)
{
#pragma omp parallel num_threads(job->threads)
    {
        slot *mine = &slots[omp_get_thread_num()];
#pragma omp barrier
        double cpu = at(CLOCK_THREAD_CPUTIME_ID);
        mine->start = now();
        mine->sink = work(job, slots, count);
        mine->end = now();
        mine->cpu = at(CLOCK_THREAD_CPUTIME_ID) - cpu;
    }
    double first = slots[0].start, last = slots[0].end, cpu = 0, wall = 0, inside = 0;
    for (int t = 0; t < job->threads; ++t) {
        cpu += slots[t].cpu;
        wall += slots[t].end - slots[t].start;
        first = slots[t].start < first ? slots[t].start : first;
        last = slots[t].end > last ? slots[t].end : last;
        inside = slots[t].inside > inside ? slots[t].inside : inside;
    }
    if (job->item.kind == KIND_meet)
        return (timing){lateness(job, slots, count), cpu / wall};
    return (timing){in_turns(job->item.kind) ? inside : last - first, cpu / wall};
}

/* Doubles the count until a sample lasts an eighth of what is wanted, then takes one of full
   length; what went before has warmed caches and clock, the first sample is for nothing else. One
   that lasted long only because it was interrupted shows in its busy share. 0: the time limit came
   first. */
static uint64_t measure(const job *job, slot *slots, double least, double end, timing *result)
{
    kind kind = job->item.kind;
    int chained = kind == KIND_clock || kind == KIND_wide || kind == KIND_add
                  || kind == KIND_forward || kind == KIND_blocked;
    uint64_t count = chained ? 1 << 13 : 1;
    if (kind == KIND_runs || kind == KIND_resume) /* all stretches once, so that they are where they stay */
        count = job->item.bytes / GROUP / (size_t)job->item.run;
    const uint64_t fewest = kind == KIND_meet ? FEWEST_PIECES : 1;
    count = count < fewest ? fewest : count;
    sample(job, slots, count);
    while (now() < end) {
        double begun = now();
        timing t = sample(job, slots, count);
        double took = now() - begun;
        if (took >= 0.75 * least) {
            *result = t;
            return count;
        }
        if (took < least / 8)
            count *= 2;
        else
            count = (uint64_t)((double)count * 1.05 * least / took) + 1;
        count = count < fewest ? fewest : count;
        if (chained)
            count = (count + 63) / 64 * 64;
    }
    return 0;
}

/* --- buffers ------------------------------------------------------------------------------------ */

/* In large pages where those of programs are, each touched first by the thread that reads it. */

static int provide(job *job, size_t bytes)
{
    int failed = 0;
    job->buffer = calloc((size_t)job->threads, sizeof *job->buffer);
    job->small = calloc((size_t)job->threads, sizeof *job->small);
    job->hot = calloc((size_t)job->threads, sizeof *job->hot);
    if (!job->buffer || !job->small || !job->hot)
        return 1;
#pragma omp parallel num_threads(job->threads) reduction(+ : failed)
    {
        int t = omp_get_thread_num();
        size_t hot = GROUPS * MOST_EXTRA * WIDTH;
        char *p = aligned_alloc(PAGE, bytes), *q = aligned_alloc(PAGE, LARGE_PAGE),
             *h = aligned_alloc(PAGE, (hot + PAGE - 1) / PAGE * PAGE);
        failed = !p || !q || !h;
        if (!failed) {
#ifdef MADV_HUGEPAGE
            madvise(p, bytes, MADV_HUGEPAGE);
#endif
            memset(p, 0, bytes);
            memset(q, 0, LARGE_PAGE);
            memset(h, 0, hot);
        }
        job->buffer[t] = p;
        job->small[t] = q;
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

/* The item of a text; its kind is NO_KIND where it is none or its numbers do not fit together. */
static item parse(const char *text)
{
    item found = {.kind = NO_KIND, .text = text};
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (colon && sscanf(colon, ":%zu:%d:%d:%d", &found.bytes, &found.streams, &found.extra, &found.run) != 4)
        return found;
    kind k = 0;
    while (k < NO_KIND && (strlen(names[k]) != length || strncmp(text, names[k], length)))
        ++k;
    int runs = k == KIND_runs, entry = k == KIND_entry;
    int apart = k == KIND_apart, mixes = k == KIND_mixed;
    int small = k == KIND_offset || k == KIND_behind || apart || mixes || k == KIND_taps || entry, across = k == KIND_across;
    int reads = k == KIND_load || k == KIND_divide || k == KIND_update || k == KIND_store ||
                k == KIND_clash || k == KIND_meet || in_turns(k);
    if ((reads || runs || small || across || k == KIND_resume) && (!found.bytes || found.bytes % PAGE))
        return found;
    if (found.streams < 0 || found.streams > MOST_STREAMS || found.extra < 0 || found.run < 0)
        return found;
    found.kind = k;
    size_t groups = found.run ? found.bytes / GROUP / (size_t)found.run : 0;
    int wrong = (reads && !choose(&found)) || (runs && (!groups || (groups & (groups - 1)))) ||
                (entry && (!found.run || found.bytes / 32 < (size_t)found.run + 7 * (size_t)found.extra)) ||
                (k == KIND_resume && (!found.streams || groups < (size_t)found.streams)) ||
                (k == KIND_meet && (!found.run || found.run % GROUPS)) ||
                (k == KIND_narrow && found.extra > 1) || (k == KIND_calls && found.extra >= FUNCTIONS) ||
                (apart && (found.streams != 2 || !found.extra)) || (k == KIND_taps && (found.extra > 1 || found.streams != 1 || found.bytes / GROUP < 4)) ||
                (mixes && (found.streams != MIXED || !found.extra || found.run > 1)) ||
                (across && ((found.streams != FEW + ACROSS && found.streams != MANY + ACROSS) ||
                            found.bytes / GROUP < (size_t)(4 * found.streams))) ||
                (k == KIND_window && (!found.run || found.run % 8)) ||
                (k == KIND_clash && (found.extra % PAGE || !found.extra));
    if (wrong)
        found.kind = NO_KIND;
    return found;
}

int main(int argc, char **argv)
{
#ifdef __linux__
    if (getenv("AUTOTUNE_PDEATHSIG"))
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (argc < 5)
        return usage("needs threads, seconds per sample, a time limit and items");
    job job = {.threads = atoi(argv[1])};
    double least = atof(argv[2]), end = now() + atof(argv[3]);
    if (job.threads < 1 || least <= 0)
        return usage("threads and seconds per sample must be positive");
    omp_set_dynamic(0);
    slot *slots = aligned_alloc(PAGE, ((size_t)job.threads * sizeof *slots / PAGE + 1) * PAGE);
    if (!slots)
        return usage("no memory");
    memset(slots, 0, (size_t)job.threads * sizeof *slots);
    for (int t = 0; t < job.threads; ++t)
        if (!(slots[t].pieces = calloc(PIECES, sizeof(double))))
            return usage("no memory");
    size_t most = PAGE;
    for (int i = 4; i < argc; ++i) {
        item item = parse(argv[i]);
        if (item.kind == NO_KIND)
            return usage("an item is KIND:BYTES:STREAMS:EXTRA:RUN, with bytes in whole pages of 4096");
        most = extent(&item) > most ? extent(&item) : most;
    }
    if (provide(&job, (most + PAGE - 1) / PAGE * PAGE))
        return usage("no memory for the buffers");
    for (int i = 4; i < argc && now() < end; ++i) {
        timing t;
        job.item = parse(argv[i]);
        uint64_t count = measure(&job, slots, least, end, &t);
        if (!count)
            break;
        size_t per = 1;
        if (job.item.streams)
            per = job.item.bytes / GROUP / (size_t)job.item.streams * (size_t)job.item.streams;
        if (job.item.kind == KIND_across)
            per -= 2 * (size_t)job.item.streams; /* without the first and last lines */
        if (job.item.kind == KIND_taps)
            per -= 2;
        if (job.item.kind == KIND_meet || job.item.kind == KIND_resume)
            per = 1;
        if (job.item.kind == KIND_offset || job.item.kind == KIND_behind)
            per = job.item.bytes / WIDTH;
        if (job.item.kind == KIND_apart)
            per = job.item.bytes / (size_t)(job.item.extra <= HALF ? HALF : WIDTH);
        if (job.item.kind == KIND_mixed)
            per = job.item.bytes / (size_t)(job.item.extra <= NARROW ? NARROW : job.item.extra <= HALF ? HALF : WIDTH);
        if (chained(job.item.kind))
            per = CHAINS;
        printf("{\"item\": \"%s\", \"threads\": %d, \"seconds\": %.9g, \"count\": %llu, \"busy\": %.4f}\n",
               job.item.text, job.threads, t.seconds, (unsigned long long)(count * per), t.busy);
        fflush(stdout);
    }
    return 0;
}
