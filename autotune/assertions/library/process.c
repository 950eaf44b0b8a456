/* The process: whether it records, its rank and run, its losses and events, its end. */
#define _GNU_SOURCE
#include "recorder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define LONGEST_RUN 100
#define SAME_RUN 1000

struct ma_process ma_process = {.ranks = 1};
void (*ma_before_end)(void);
int ma_use_tsc;
__thread int ma_thread __attribute__((tls_model("initial-exec")));

enum { THREAD_NEW, THREAD_MAIN, THREAD_OTHER };

int ma_recording(void)
{
    if (__builtin_expect(!ma_process.on, 0))
        return 0;
    if (__builtin_expect(ma_thread == THREAD_MAIN, 1))
        return 1;
    if (ma_thread == THREAD_NEW)
        ma_thread = syscall(SYS_gettid) == getpid() ? THREAD_MAIN : THREAD_OTHER;
    if (ma_thread == THREAD_OTHER)
        __atomic_fetch_add(&ma_process.other_threads, 1, __ATOMIC_RELAXED);
    return ma_thread == THREAD_MAIN;
}

/* --- losses --------------------------------------------------------------------------------- */

static const char *loss_texts[MA_MOST_LOSSES];
static int64_t loss_numbers[MA_MOST_LOSSES];
static int loss_count;
static pthread_mutex_t loss_lock = PTHREAD_MUTEX_INITIALIZER;

void ma_loss(const char *what, int64_t number)
{
    pthread_mutex_lock(&loss_lock);
    int i = 0;
    while (i < loss_count && strcmp(loss_texts[i], what) != 0)
        i++;
    if (i == MA_MOST_LOSSES) {
        i = MA_MOST_LOSSES - 1;
        loss_texts[i] = "other losses";
    }
    if (i == loss_count) {
        char *copy = strdup(what);
        loss_texts[loss_count++] = copy == NULL ? "a loss" : copy;
    }
    loss_numbers[i] += number;
    pthread_mutex_unlock(&loss_lock);
}

int ma_losses(const char *const **texts, const int64_t **numbers)
{
    *texts = loss_texts;
    *numbers = loss_numbers;
    return loss_count;
}

/* --- clock ---------------------------------------------------------------------------------- */

static int has_constant_tsc(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
#else
    return 0;
#endif
}

double ma_seconds(uint64_t ticks)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - ma_process.first_time.tv_sec) +
                    1e-9 * (double)(now.tv_nsec - ma_process.first_time.tv_nsec);
    if (!ma_use_tsc)
        return 1e-9 * (double)ticks;
    uint64_t all = ma_ticks() - ma_process.first_ticks;
    return all == 0 ? 0.0 : (double)ticks * passed / (double)all;
}

/* --- rank and run --------------------------------------------------------------------------- */

const char *ma_run(void)
{
    return ma_process.run;
}

/* FOLDER/RUN.RANK.ending, of a run whose name may hold any character. */
static void file_name(char *path, size_t size, const char *run, const char *ending)
{
    char safe[LONGEST_RUN + 1];
    snprintf(safe, sizeof safe, "%s", run);
    for (char *c = safe; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("-_+=,.", *c) == NULL)
            *c = '-';
    snprintf(path, size, "%s/%s.%d.%s", ma_process.folder, safe, ma_process.rank, ending);
}

/* Where a program that counts its lines (gcc --coverage) writes these counts when it ends: below
 * RUN.RANK.gcov, unless the user named a place. One in the folder of the records is of an earlier
 * rank, or of the launcher that started this process. */
static void place_line_counts(void)
{
    const char *there = getenv("GCOV_PREFIX");
    size_t length = strlen(ma_process.folder);
    char path[4200];
    if (there != NULL && (strncmp(there, ma_process.folder, length) != 0 || there[length] != '/'))
        return;
    file_name(path, sizeof path, ma_process.run, "gcov");
    setenv("GCOV_PREFIX", path, 1);
}

void ma_set_rank(int rank, int ranks, const char *run)
{
    ma_process.rank = rank;
    ma_process.ranks = ranks;
    ma_process.is_mpi = 1;
    if (run != NULL && *run != '\0')
        ma_process.run = ma_intern(run);
    if (ma_process.on)
        place_line_counts();
}

static const char *made_run(void)
{
    char host[40] = "host", name[LONGEST_RUN];
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%.39s-%ld-%.0f", host, (long)getpid(),
             1e6 * ma_process.started);
    return ma_intern(name);
}

void ma_pcontrol_region(int level, const char *name)
{
    static int phase;
    static char words[40];
    struct ma_site site = {.kind = MA_REGION, .file = "", .expression = "", .repeat = "1",
                           .operation = "", .unit = "", .domain = ""};
    if (name != NULL) {
        site.name = name;
        if (level >= 0)
            ma_begin(&site);
        else
            ma_end(&site, NULL);
        return;
    }
    site.name = words;
    if (phase > 0)
        ma_end(&site, NULL);
    phase = level > 0 ? level : 0;
    site.path = NULL;
    if (phase == 0)
        return;
    snprintf(words, sizeof words, "pcontrol %d", level);
    ma_begin(&site);
}

/* --- files ---------------------------------------------------------------------------------- */

static void complain(const char *path)
{
    fprintf(stderr, "autotune assertions: %s cannot be written: %s\n", path, strerror(errno));
}

static FILE *event_file;
static char event_path[4200];

void ma_event(const char *event, const struct ma_path *path, int64_t bytes, int peer)
{
    static int64_t number;
    if (event_file == NULL && number == 0) {
        snprintf(event_path, sizeof event_path, "%s/.events-%ld", ma_process.folder,
                 (long)getpid());
        event_file = fopen(event_path, "w");
        if (event_file == NULL)
            complain(event_path);
    }
    number++;
    if (event_file == NULL || number > MA_MOST_EVENTS) {
        ma_loss("events beyond the first 1,000,000", 1);
        return;
    }
    fprintf(event_file, "{\"ticks\": %llu, \"event\": \"%s\", \"path\": %d",
            (unsigned long long)(ma_ticks() - ma_process.first_ticks), event, path->id);
    if (bytes >= 0)
        fprintf(event_file, ", \"bytes\": %lld, \"peer\": %d", (long long)bytes, peer);
    fputs("}\n", event_file);
}

/* The last line says how long a tick is. */
static void close_events(const char *run)
{
    char path[4200];
    if (event_file == NULL)
        return;
    fprintf(event_file, "{\"event\": \"end of record\", \"seconds_per_tick\": %.17g}\n",
            ma_seconds(1000000) / 1e6);
    file_name(path, sizeof path, run, "events.jsonl");
    if (fflush(event_file) != 0 || (strcmp(event_path, path) != 0 && rename(event_path, path) != 0))
        complain(path);
    else
        snprintf(event_path, sizeof event_path, "%s", path);
}

static char started_path[4200];

/* A file that lies beside the records from the first statement of a process to its record. A program
 * that took the place of another (exec) finds that of the other, whose statements are lost. */
void ma_mark_start(void)
{
    char ending[40];
    int error = errno, mark;
    if (*started_path != '\0' || !ma_process.on)
        return;
    snprintf(ending, sizeof ending, "%ld.started", (long)getpid());
    file_name(started_path, sizeof started_path, ma_process.run, ending);
    mkdir(ma_process.folder, 0777);
    mark = open(started_path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (mark >= 0)
        close(mark);
    else if (errno == EEXIST)
        ma_loss("statements of a program that called exec", 1);
    errno = error;
}

/* Writes the record to a file of its own, which takes its name only when it is whole. */
static int written(const char *path, int complete)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    ma_print_record(file, complete);
    int ok = !ferror(file);
    ok = fclose(file) == 0 && ok;
    if (!ok)
        unlink(path);
    return ok;
}

/* A second process of one run and rank (a script that starts two programs) gets a run of its own,
 * RUN-2: no record is ever overwritten by another process. */
static int place(const char *temporary, int complete)
{
    static int is_mine;
    char path[4200], run[LONGEST_RUN];
    const char *first = ma_process.run;
    for (int number = 1; number < SAME_RUN; number++) {
        file_name(path, sizeof path, ma_process.run, "json");
        if (is_mine && written(temporary, complete))
            return rename(temporary, path) == 0;
        if (access(path, F_OK) != 0) {
            if (!written(temporary, complete))
                return 0;
            if (link(temporary, path) == 0) {
                unlink(temporary);
                return is_mine = 1;
            }
            if (errno != EEXIST) /* a file system without hard links */
                return is_mine = rename(temporary, path) == 0;
        }
        snprintf(run, sizeof run, "%.80s-%d", first, number + 1);
        ma_process.run = ma_intern(run);
    }
    return 0;
}

static int is_empty(void)
{
    int variables;
    ma_variables(&variables);
    return ma_path_count == 0 && variables == 0 && ma_root.calls == NULL && !ma_process.is_mpi &&
           ma_process.other_threads == 0;
}

void ma_write_record(enum ma_moment moment)
{
    static int aborted;
    char temporary[4200];
    aborted |= moment == MA_ABORTED;
    if (!ma_process.on || is_empty())
        return;
    if (ma_process.busy) {
        fputs("autotune assertions: the program ended within the recorder; no record\n", stderr);
        return;
    }
    ma_process.busy = 1;
    mkdir(ma_process.folder, 0777);
    snprintf(temporary, sizeof temporary, "%s/.record-%ld", ma_process.folder, (long)getpid());
    if (!place(temporary, moment == MA_ENDED && !aborted))
        complain(temporary);
    else
        close_events(ma_process.run);
    if (moment == MA_ENDED && *started_path != '\0')
        unlink(started_path);
    ma_process.busy = 0;
}

/* --- begin and end -------------------------------------------------------------------------- */

static void forked_child(void)
{
    ma_process.on = 0; /* the record is its parent's, and so are events not yet written */
    if (event_file != NULL)
        __fpurge(event_file);
    ma_switch_off();
}

static void forked_parent(void)
{
    ma_process.forks++;
}

__attribute__((constructor)) static void begin_process(void)
{
    struct timespec now;
    const char *folder = getenv("AUTOTUNE_ASSERT"), *run = getenv("AUTOTUNE_ASSERT_RUN");
    const char *events = getenv("AUTOTUNE_ASSERT_EVENTS");
    if (folder == NULL || *folder == '\0')
        return;
    ma_use_tsc = has_constant_tsc();
    clock_gettime(CLOCK_REALTIME, &now);
    ma_process.started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    clock_gettime(CLOCK_MONOTONIC, &ma_process.first_time);
    ma_process.first_ticks = ma_ticks();
    ma_process.folder = realpath(folder, NULL);
    if (ma_process.folder == NULL) { /* not yet there; the program may change its folder */
        char *here = *folder == '/' ? strdup("") : getcwd(NULL, 0);
        char path[4100];
        snprintf(path, sizeof path, "%s%s%s", here == NULL ? "" : here, *folder == '/' ? "" : "/",
                 folder);
        free(here);
        ma_process.folder = ma_intern(path);
    }
    ma_process.run = run == NULL || *run == '\0' ? made_run() : ma_intern(run);
    ma_process.program = program_invocation_short_name;
    ma_process.events = events != NULL && *events != '\0' && strcmp(events, "0") != 0;
    if (ma_process.events)
        mkdir(ma_process.folder, 0777);
    ma_process.on = 1;
    place_line_counts();
    ma_switch_on();
    pthread_atfork(NULL, forked_parent, forked_child);
}

__attribute__((destructor)) static void end_process(void)
{
    if (ma_before_end != NULL && ma_process.on)
        ma_before_end();
    ma_write_record(MA_ENDED);
}
