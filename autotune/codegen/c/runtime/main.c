/* Runs the generated time step: verifies it, times it, or times its phases.

   verify --size N --n n --h H --threads T --steps K --out FILE
   time   --size N --n n --h H --threads T --check K --samples S --warm W
          --attempts A --busy B --min-seconds X
   phases   like time, in a program compiled with AUTOTUNE_PHASES

   Programs on a grid take its extents as size, slowest dimension first, 24x1600x1600, and no --h.

   Programs of several ranks take --ranks R --communication allgather|neighbour|sparse as well.
   Rank 0 prints: one JSON object per line on standard output. Exit code 2: wrong arguments or
   environment. */
#define _GNU_SOURCE
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"
#include "program.h"
#include "ranks.h"
#include "shape.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states are written as little endian");

/* Seconds. A disturbed sample is followed by one of half as many steps, down to about this time:
   the shorter a sample is, the likelier no other process comes between. */
static const double SHORTEST = 3e-4;

/* At most so many times the wanted samples are tried while they are short. */
enum { MOST_TRIES = 16 };

static const char *self = "program";

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "%s: ", self);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    leave(2);
}

/* --- arguments -------------------------------------------------------------------------- */

enum mode { VERIFY, TIME, PHASES };

struct options {
    enum mode mode;
    struct shape shape;
    const char *size;
    long n, threads, ranks, steps, check, samples, warm, attempts;
    double h, busy, min_seconds;
    const char *out, *communication;
};

long whole(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        fail("%s must be a whole number from %ld to %ld, not '%s'", option, low, high, text);
    return value;
}

static double real(const char *option, const char *text, double low, double high)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (errno == ERANGE || end == text || *end || !(value >= low && value <= high))
        fail("%s must be a number from %g to %g, not '%s'", option, low, high, text);
    return value;
}

static struct options read_options(int count, char **arguments)
{
    struct options o = {
        .size = NULL, .n = -1, .threads = -1, .ranks = 1, .steps = -1, .check = 0, .samples = -1,
        .warm = 0, .attempts = 1, .h = -1.0, .busy = 0.0, .min_seconds = 0.0, .out = NULL,
        .communication = NULL,
    };
    if (count < 2)
        fail("needs a mode: verify, time or phases");
    if (!strcmp(arguments[1], "verify"))
        o.mode = VERIFY;
    else if (!strcmp(arguments[1], "time"))
        o.mode = TIME;
    else if (!strcmp(arguments[1], "phases"))
        o.mode = PHASES;
    else
        fail("unknown mode '%s'; known: verify, time, phases", arguments[1]);
    for (int i = 2; i < count; i += 2) {
        const char *const option = arguments[i];
        if (i + 1 >= count)
            fail("%s needs a value", option);
        const char *const value = arguments[i + 1];
        if (!strcmp(option, "--size"))
            o.shape = read_shape(option, o.size = value);
        else if (!strcmp(option, "--n"))
            o.n = whole(option, value, 1, MOST_COMPONENTS);
        else if (!strcmp(option, "--threads"))
            o.threads = whole(option, value, 1, MAX_THREADS);
        else if (!strcmp(option, "--ranks"))
            o.ranks = whole(option, value, 1, INT_MAX);
        else if (!strcmp(option, "--communication"))
            o.communication = value;
        else if (!strcmp(option, "--steps"))
            o.steps = whole(option, value, 0, LONG_MAX);
        else if (!strcmp(option, "--check"))
            o.check = whole(option, value, 0, LONG_MAX);
        else if (!strcmp(option, "--samples"))
            o.samples = whole(option, value, 1, 1000000);
        else if (!strcmp(option, "--warm"))
            o.warm = whole(option, value, 0, 1000000);
        else if (!strcmp(option, "--attempts"))
            o.attempts = whole(option, value, 1, 1000000);
        else if (TAKES_H && !strcmp(option, "--h"))
            o.h = real(option, value, DBL_MIN, DBL_MAX);
        else if (!strcmp(option, "--busy"))
            o.busy = real(option, value, 0.0, 1.0);
        else if (!strcmp(option, "--min-seconds"))
            o.min_seconds = real(option, value, 0.0, 3600.0);
        else if (!strcmp(option, "--out"))
            o.out = value;
        else
            fail("unknown option '%s'", option);
    }
    if (!o.size || o.n < 0 || o.threads < 0 || (TAKES_H && o.h < 0.0))
        fail("needs --size, --n%s and --threads", TAKES_H ? ", --h" : "");
    if (o.mode == VERIFY && (o.steps < 0 || !o.out))
        fail("verify needs --steps and --out");
    if (o.mode != VERIFY && o.samples < 0)
        fail("%s needs --samples", arguments[1]);
    if (components(&o.shape) != o.n)
        fail("--n is %ld, but size %s has %ld components", o.n, o.size, components(&o.shape));
    if (rank_count() != o.ranks)
        fail("asked for %ld ranks, got %d: is the launcher that of another MPI?", o.ranks,
             rank_count());
#ifndef AUTOTUNE_PHASES
    if (o.mode == PHASES)
        fail("phases needs a program compiled with AUTOTUNE_PHASES");
#endif
    return o;
}

/* --- storage ---------------------------------------------------------------------------- */

double *claim(long doubles)
{
    const size_t bytes = (size_t)round_up(doubles, PAGE_DOUBLES) * sizeof(double);
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (pages > 0 && bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)pages)
        fail("needs %zu bytes, more than this machine has", bytes);
    double *const memory = claim_pages(doubles);
    if (!memory)
        fail("cannot allocate %zu bytes", bytes);
    return memory;
}

/* The block of the thread, its memory touched first by itself, and the initial values. */
static void prepare(struct thread *me, const struct storage *s, const struct options *o, int id)
{
    me->id = id;
    me->threads = o->threads;
    me->h = TAKES_H ? o->h : 0.0;
    me->phase = -1;
    me->at_once = 1;
    place(me, s, &o->shape, id, o->threads);
    if (!ready(me))
        fail("there is no memory for what a thread keeps beside the arrays");
    initial(me);
}

/* --- clocks ----------------------------------------------------------------------------- */

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct stamp {
    double wall;
    long voluntary, involuntary;
};

static struct stamp stamp(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct stamp){
        .wall = seconds(CLOCK_MONOTONIC),
        .voluntary = usage.ru_nvcsw,
        .involuntary = usage.ru_nivcsw,
    };
}

#ifdef AUTOTUNE_PHASES
void enter_phase(struct thread *me, int phase)
{
    if (phase == me->phase)
        return;
    const double now = seconds(CLOCK_MONOTONIC);
    if (me->phase >= 0)
        me->seconds[me->phase] += now - me->since;
    me->phase = phase;
    me->since = now;
}

static void print_phases(const struct thread *threads, long count, double steps)
{
    for (int p = 0; p < phase_count; p++) {
        double most = 0.0;
        for (long i = 0; i < count; i++)
            most = fmax(most, threads[i].seconds[p]);
        most = ranks_most(most);
        if (rank())
            continue;
        printf("{\"kind\":\"phase\",\"name\":\"%s\",\"seconds\":%.9g}\n", phase_names[p],
               most / steps);
    }
}
#endif

/* --- output ----------------------------------------------------------------------------- */

/* The first allowed CPU of the calling thread, or -1 where the kernel does not say. */
static int first_cpu(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    return -1;
}

static int allowed_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static void print_list(const char *key, const int *values, long count)
{
    printf(",\"%s\":[", key);
    for (long i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", values[i]);
    printf("]");
}

static void print_start(const struct options *o, long ld, const int *cpus, const int *allowed)
{
    const int *const all_cpus = ranks_list(cpus, o->threads);
    const int *const all_allowed = ranks_list(allowed, o->threads);
    if (rank())
        return;
    printf("{\"kind\":\"start\",\"threads\":%ld", o->threads);
    ranks_print_start();
    print_list("affinity", all_cpus, rank_count() * o->threads);
    print_list("allowed", all_allowed, rank_count() * o->threads);
    printf(",\"ld\":%ld,\"pid\":%ld}\n", ld, (long)getpid());
    fflush(stdout);
}

struct summary {
    double sum, magnitude, most;
    bool finite, denormal;
};

static struct summary summarise(const struct state *state)
{
    struct summary s = {.finite = true};
    long j = 0;
    for (long r = 0; r < rows_of(state); r++) {
        const double *const y = row_of(state, r);
        for (long i = 0; i < state->length; i++, j++) {
            const double size = fabs(y[i]);
            s.finite = s.finite && isfinite(y[i]);
            s.denormal = s.denormal || (size > 0.0 && size < DBL_MIN);
            s.sum += y[i] * (1.0 + (double)(j % 7) / 8.0);
            s.magnitude += size;
            s.most = size > s.most ? size : s.most;
        }
    }
    return s;
}

static void print_soundness(const struct summary *s)
{
    printf(",\"finite\":%s,\"denormal\":%s}\n", s->finite ? "true" : "false",
           s->denormal ? "true" : "false");
    fflush(stdout);
}

static void print_check(const struct state *state, long steps)
{
    const struct summary s = summarise(state);
    printf("{\"kind\":\"check\",\"steps\":%ld", steps);
    if (s.finite)
        printf(",\"sum\":%.17g,\"magnitude\":%.17g,\"max\":%.17g", s.sum, s.magnitude, s.most);
    else
        printf(",\"sum\":null,\"magnitude\":null,\"max\":null");
    print_soundness(&s);
}

/* After the last timed step: its checksum depends on how many there were, its soundness not. */
static void print_final(const struct state *state)
{
    const struct summary s = summarise(state);
    printf("{\"kind\":\"final\"");
    print_soundness(&s);
}

static void print_sample(const struct trial *trial, long steps, bool warm_up, bool undisturbed)
{
    printf("{\"kind\":\"sample\",\"warm_up\":%s,\"seconds\":%.9g,\"steps\":%ld,\"busy\":%.6f,"
           "\"taken\":%.6f,\"voluntary\":%ld,\"involuntary\":%ld,\"undisturbed\":%s}\n",
           warm_up ? "true" : "false", trial->wall / (double)steps, steps, trial->busy,
           seconds(CLOCK_REALTIME), trial->voluntary, trial->involuntary,
           undisturbed ? "true" : "false");
    fflush(stdout);
}

/* With AUTOTUNE_PACED=1: wait until whoever reads the samples has kept this one. When standard
   input ends, nobody does any more: a program that outlived its parent must not go on. */
static void wait_until_kept(void)
{
    const char *const paced = getenv("AUTOTUNE_PACED");
    if (!paced || strcmp(paced, "1"))
        return;
    int read;
    do
        read = getchar();
    while (read != '\n' && read != EOF);
    if (read == EOF) {
        fprintf(stderr, "%s: standard input ended: the launcher must pass it on, or the parent"
                        " is gone\n", self);
        _exit(3); /* at once: the rest of the team is waiting at a barrier */
    }
}

static void write_state(const char *path, const struct state *state)
{
    FILE *const file = fopen(path, "wb");
    if (!file)
        fail("cannot write %s: %s", path, strerror(errno));
    const size_t length = (size_t)state->length;
    bool whole_row = true;
    for (long r = 0; r < rows_of(state) && whole_row; r++)
        whole_row = fwrite(row_of(state, r), sizeof(double), length, file) == length;
    if (fclose(file) || !whole_row)
        fail("cannot write %s: %s", path, strerror(errno));
}

/* --- running ---------------------------------------------------------------------------- */

/* What the master of rank 0 decides and every team reads, always with a barrier between. */
struct control {
    long steps, at_once; /* timed are multiples of the steps that a call of step makes */
    bool more;
    long warm, taken, undisturbed, total;
    double spent;
    bool calibrated, forget;
    struct stamp begun, ended;
};

static double advance(struct thread *me, long steps, double t)
{
    for (long k = 0; k < steps; k += me->sweeps) {
        me->sweeps = steps - k < me->at_once ? steps - k : me->at_once;
        step(me, t);
        t += (double)me->sweeps * me->h;
    }
    me->made += steps;
    return t;
}

/* How many steps the next trial has, so that a sample lasts long enough. */
static long more_steps(long steps, double wall, double wanted)
{
    const double factor = wall > 0.0 ? 1.2 * wanted / wall : 10.0;
    const double bounded = factor > 10.0 ? 10.0 : factor;
    const long next = (long)ceil((double)steps * bounded);
    return next > steps ? next : steps + 1;
}

/* CPU time of the team over threads x wall time. The threads' own clocks are added up: that of
   the process lags behind, by up to a tick of the scheduler, for threads on other CPUs. */
static double busy_share(const struct thread *team, long threads, double wall)
{
    double cpu = 0.0;
    for (long i = 0; i < threads; i++)
        cpu += team[i].cpu;
    return wall > 0.0 ? cpu / ((double)threads * wall) : 0.0;
}

static void forget_phases(struct thread *team, long threads)
{
    for (long i = 0; i < threads; i++)
        memset(team[i].seconds, 0, sizeof team[i].seconds);
}

/* What becomes of a trial: nothing, or a sample that is printed; and whether there is a next. */
static void decide(struct control *c, const struct options *o, const struct trial *trial)
{
    /* a trial that was interrupted looks longer than it is: the first sample tells */
    if (c->taken == 0 && trial->wall < (c->calibrated ? 0.8 : 1.0) * o->min_seconds) {
        c->steps = round_up(more_steps(c->steps, trial->wall, o->min_seconds), c->at_once);
        c->forget = true;
        return;
    }
    if (!c->calibrated) {
        c->calibrated = true;
        c->total = 0;
    } else {
        const bool warm_up = c->warm < o->warm, undisturbed = trial->busy >= o->busy;
        print_sample(trial, c->steps, warm_up, undisturbed);
        wait_until_kept();
        if (warm_up) {
            c->warm++;
        } else {
            c->taken++;
            c->spent += trial->wall;
            c->undisturbed += undisturbed;
            c->total += c->steps;
        }
        if (!undisturbed && c->steps > c->at_once
            && trial->wall * trial->busy > 2.0 * SHORTEST)
            c->steps = round_up(c->steps / 2, c->at_once);
    }
    c->forget = c->warm == o->warm && c->taken == 0;
    const double most_seconds = (double)(o->attempts * o->samples) * o->min_seconds;
    c->more = c->undisturbed < o->samples
        && (c->taken < o->attempts * o->samples
            || (c->spent < most_seconds && c->taken < MOST_TRIES * o->samples));
}

static void judge(struct control *c, const struct options *o, struct thread *team)
{
    const double wall = c->ended.wall - c->begun.wall;
    struct trial trial = {
        .wall = wall,
        .busy = busy_share(team, o->threads, wall),
        .voluntary = c->ended.voluntary - c->begun.voluntary,
        .involuntary = c->ended.involuntary - c->begun.involuntary,
    };
    ranks_join(&trial);
    if (rank() == 0)
        decide(c, o, &trial);
    ranks_share(c, sizeof *c);
    if (c->forget)
        forget_phases(team, o->threads);
}

/* The whole run of one thread of the team. */
static void run(struct thread *me, struct thread *team, const struct options *o, struct control *c)
{
    double t = advance(me, o->mode == VERIFY ? o->steps : o->check, start_time);
#pragma omp barrier
    if (o->mode == VERIFY)
        return;
#pragma omp master
    {
        const struct state state = state_of(me, &o->shape, ranks_state(me->array[solution]));
        if (rank() == 0)
            print_check(&state, o->check);
        c->more = true;
        c->steps = c->at_once = me->at_once;
    }
#pragma omp barrier
    while (c->more) {
#pragma omp master
        ranks_wait();
#pragma omp barrier
#pragma omp master
        c->begun = stamp();
        const double before = seconds(CLOCK_THREAD_CPUTIME_ID);
#pragma omp barrier
        t = advance(me, c->steps, t);
#pragma omp barrier
        me->cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - before;
#pragma omp master
        c->ended = stamp();
#pragma omp barrier
#pragma omp master
        judge(c, o, team);
#pragma omp barrier
    }
}

int main(int count, char **arguments)
{
    const char *const watched = getenv("AUTOTUNE_PDEATHSIG");
    if (watched && !strcmp(watched, "1"))
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count > 0)
        self = arguments[0];
    ranks_begin(&count, &arguments);
    const struct options o = read_options(count, arguments);
    const struct storage s = allocate(&o.shape);
    struct thread *team = NULL;
    int *const cpus = calloc((size_t)o.threads, sizeof *cpus);
    int *const allowed = calloc((size_t)o.threads, sizeof *allowed);
    if (posix_memalign((void **)&team, 256, (size_t)o.threads * sizeof *team) || !cpus || !allowed)
        fail("cannot allocate the data of %ld threads", o.threads);
    memset(team, 0, (size_t)o.threads * sizeof *team);
    const struct constants *const constants = begin(&o.shape);
    if (!constants)
        fail("there is no memory for the constants of the problem");
    ranks_prepare(constants, pieces_of(&o.shape, &s), o.threads, o.communication);
    struct flag *flags = NULL;
    if (posix_memalign((void **)&flags, FLAG_BYTES, (size_t)o.threads * FLAG_BYTES))
        fail("cannot allocate the flags of %ld threads", o.threads);
    memset(flags, 0, (size_t)o.threads * FLAG_BYTES);
    struct control control = {.more = false};
    int started = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads((int)o.threads)
    {
        const int id = omp_get_thread_num();
#pragma omp master
        started = omp_get_num_threads();
#pragma omp barrier
        if (started == o.threads) {
            ranks_pin(id);
            cpus[id] = first_cpu();
            allowed[id] = allowed_cpus();
            team[id].constants = constants;
            team[id].flags = flags;
            prepare(&team[id], &s, &o, id);
#pragma omp barrier
#pragma omp master
            {
                ranks_spoil(&team[id], o.mode == VERIFY);
                if (o.mode != VERIFY)
                    print_start(&o, s.ld, cpus, allowed);
            }
            run(&team[id], team, &o, &control);
        }
    }
    if (started != o.threads)
        fail("asked for %ld threads, got %d", o.threads, started);
    const struct state state =
        state_of(&team[0], &o.shape, ranks_state(team[0].array[solution]));
    if (o.mode == VERIFY) {
        if (rank() == 0)
            write_state(o.out, &state);
        ranks_end();
        return 0;
    }
#ifdef AUTOTUNE_PHASES
    if (control.total)
        print_phases(team, o.threads, (double)control.total);
#endif
    if (rank() == 0) {
        print_final(&state);
        printf("{\"kind\":\"end\"");
    }
    ranks_print_end(team[0].made);
    if (rank() == 0)
        puts("}");
    ranks_end();
    if (fflush(stdout) || ferror(stdout))
        return 2;
    return 0;
}
