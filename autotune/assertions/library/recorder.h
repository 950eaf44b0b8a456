/* The state of the recorder: variables, call paths, messages, losses. */
#ifndef MA_RECORDER_H
#define MA_RECORDER_H

#include "modeling_assertions.h"
#include "values.h"

#include <stdio.h>
#include <time.h>

/* Bounds of the contract. What lies beyond is counted in losses. */
enum {
    MA_MOST_PATHS = 4096, MA_MOST_DIFFERENCES = 64, MA_MOST_SIZES = 256, MA_MOST_PEERS = 256,
    MA_MOST_VARIABLES = 1024, MA_MOST_FORMULAS = 16384, MA_MOST_REASONS = 16,
    MA_MOST_LOSSES = 256, MA_MOST_FRAMES = 65536, MA_MOST_EXPECTED = 65536, MA_MOST_CALLS = 16384,
    MA_MOST_EVENTS = 1000000
};

/* --- sums and reasons (sums.c) ---------------------------------------------------------------- */

struct ma_sum {
    ma_wide whole;
    double real; /* of what is not whole */
    int is_real;
};
void ma_add(struct ma_sum *sum, const struct ma_value *value, int64_t times);
static inline void ma_add_whole(struct ma_sum *sum, int64_t number)
{
    sum->whole += number; /* 2**64 of the largest fit */
}

struct ma_reasons {
    struct ma_reason {
        const char *text;
        int64_t visits;
    } *list;
    int count;
};
void ma_count_reason(struct ma_reasons *reasons, const char *text, int64_t visits);

/* Numbers of something by value, at most ``most`` values. */
struct ma_histogram {
    struct ma_bar {
        struct ma_value value;
        int64_t number;
    } *bars; /* ascending */
    int count, room;
    int64_t others;
};
void ma_count(struct ma_histogram *histogram, const struct ma_value *value, int64_t number,
              int most);

/* A copy of a text that stays, equal texts once; "" where memory is short. */
const char *ma_intern(const char *text);
uint64_t ma_hash(uint64_t seed, const char *text);

/* --- variables and formulas (variables.c) ----------------------------------------------------- */

struct ma_domain {
    int power_of_two, square, whole, even;
    double least, most;
};

struct ma_formula;

struct ma_variable {
    struct ma_slot slot;
    const char *name, *unit, *domain_text, *expression, *outside;
    struct ma_domain domain;
    struct ma_formula *formula;
    int has_value, feeds; /* feeds: others are derived from it */
    struct ma_value first, last, worst;
    int64_t changes, violations, passes, failures;
    struct ma_reasons reasons;
};

/* An expression with its variables and its last value. Equal texts share it. */
struct ma_formula {
    const char *text;
    struct ma_expression *code;
    struct ma_variable **variables;
    int variable_count;
    uint64_t versions; /* the sum of those that the value was computed of */
    struct ma_value value;
    enum ma_fault fault;
    const char *reason; /* in words where there is no value */
    struct ma_formula *next;
};

struct ma_formula *ma_formula_of(const char *text);
void ma_compute(struct ma_formula *formula);

/* Brings value and fault up to date. */
static inline void ma_refresh(struct ma_formula *formula)
{
    uint64_t versions = 0;
    for (int i = 0; i < formula->variable_count; i++)
        versions += formula->variables[i]->slot.version;
    if (versions != formula->versions) {
        formula->versions = versions;
        ma_compute(formula);
    }
}

void ma_set(struct ma_site *site, const struct ma_value *value);
/* ``value``: what the program computed; NULL: nothing to compare with. */
void ma_derive_value(struct ma_site *site, const struct ma_value *value);
struct ma_variable *const *ma_variables(int *count);

/* --- call paths (paths.c) --------------------------------------------------------------------- */

struct ma_call {
    const char *call, *operation;
    enum ma_kind kind;
    int64_t messages, to_self, unasserted, other_peers;
    ma_wide size;
    struct ma_histogram sizes;
    struct ma_peer {
        int rank;
        int64_t messages;
        ma_wide size;
    } *peers; /* ascending */
    int peer_count, peer_room;
    struct ma_call *next;
};

struct ma_queue; /* messages.c: what is foretold, first in, first out */

struct ma_path {
    int id;
    enum ma_kind kind;
    struct ma_path *parent;
    const char *name, *expression, *repeat, *operation, *file;
    int first_line, last_line;
    uint64_t hash;
    struct ma_path *same_hash;
    struct ma_formula *formula, *repetition;

    int64_t visits, open, deepest, zero, passes, failures;
    uint64_t ticks;
    struct ma_sum asserted;         /* of all visits with a value */
    struct ma_sum asserted_counted; /* of those that were counted too */
    struct ma_sum measured;
    int64_t evaluated, counted;
    const char *counter;
    struct ma_value least, most;
    struct ma_reasons reasons;
    struct ma_histogram differences; /* without those of 0 */
    int has_worst;
    struct ma_value worst_asserted, worst_measured;
    double worst_difference;
    struct ma_value *worst_binding; /* of the variables of the formula */

    struct ma_histogram asserted_sizes;
    int64_t missing, claimed;
    struct ma_queue *queues;
    struct ma_call *calls;
};

extern struct ma_path ma_root, ma_lost; /* outside of every path; beyond the bound */
extern struct ma_path *ma_top;
extern struct ma_path *ma_paths[MA_MOST_PATHS];
extern int ma_path_count;

/* The path to a site from the innermost open one, made at its first visit; may be &ma_lost. */
struct ma_path *ma_path_at(struct ma_site *site);
void ma_compare_counts(struct ma_path *path, const struct ma_value *asserted,
                       const struct ma_value *measured);
void ma_begin(struct ma_site *site);
/* ``measured``: NULL where nobody counted. */
void ma_end(struct ma_site *site, const struct ma_value *measured);
void ma_count_block(struct ma_site *site, const struct ma_value *measured);
int ma_frame_count(void);
struct ma_path *ma_frame(int index, uint64_t *begun);

/* --- messages (messages.c) -------------------------------------------------------------------- */

void ma_foretell(struct ma_site *site);
/* What is still foretold within a path is missing, as the path ends. */
void ma_drop_foretold(struct ma_path *path);
/* The messages still foretold by a point. */
int64_t ma_still_foretold(const struct ma_path *point);

/* --- hardware counter of operations (papi.c) -------------------------------------------------- */

/* The name "papi:EVENT" of a counter that has started; NULL: there is none. */
const char *ma_papi_counter(void);
int64_t ma_papi_read(void);

/* --- the process (process.c) ------------------------------------------------------------------ */

extern struct ma_process {
    int on, events, rank, ranks, is_mpi, busy;
    const char *folder, *run, *program;
    double started;               /* seconds since 1970 */
    uint64_t first_ticks;
    struct timespec first_time;
    int64_t other_threads, forks;
} ma_process;
extern __thread int ma_thread;

void ma_event(const char *event, const struct ma_path *path, int64_t bytes, int peer);
int ma_losses(const char *const **texts, const int64_t **numbers);
double ma_seconds(uint64_t ticks);
void ma_switch_on(void);
void ma_switch_off(void);
void ma_print_record(FILE *file, int complete);
void ma_mark_start(void);

/* --- clock ------------------------------------------------------------------------------------ */

extern int ma_use_tsc;

/* Ticks of a clock that goes forward: the time stamp counter where its rate is constant, else
 * nanoseconds. A test puts another clock in its place. */
#ifdef MA_TICKS
uint64_t MA_TICKS(void);
#define ma_ticks MA_TICKS
#else
static inline uint64_t ma_ticks(void)
{
    struct timespec now;
#if defined(__x86_64__)
    if (__builtin_expect(ma_use_tsc, 1))
        return __builtin_ia32_rdtsc();
#endif
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

#endif
