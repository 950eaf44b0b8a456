/* Several codes for one solver: they share its arrays, and race for its steps on line. Part of
   solver.h. */
#ifndef AUTOTUNE_RIVALS_H
#define AUTOTUNE_RIVALS_H

#include "chooser.h"
#include "wisdom.h"

/* In the order of the public header. */
enum source { BUILT_IN, RACING, ON_LINE, REMEMBERED };

struct rival {
    const struct stepper *code;
    const char *name;
    int row; /* of the table of choices */
    long evaluations;
};

struct rivalry {
    struct chooser chooser;
    struct rival rivals[MOST_RIVALS]; /* the code that the solver had before, and others */
    struct solver *codes[MOST_RIVALS];
    enum source source;
    enum kind raced;        /* of the jobs whose steps are timed: that of the first one */
    int row;                /* of the code that was chosen */
    double seconds;         /* of its step; 0: not known */
    double cost;            /* of the race, in seconds */
    const char *note;       /* why the file is not used; empty: it is, or there is none */
    char *path;             /* of the wisdom file; NULL: none */
    struct wisdom_key key;
};

/* --- the team -------------------------------------------------------------------------------- */

/* The solver of the program, which the codes are for. */
static struct solver *owner(struct solver *s)
{
    return s->rivalry ? s->rivalry->codes[0] : s;
}

/* Before a job: steps that estimate their error take longer than those of a given size, so only one
   kind of them is compared. */
static void begin_job(struct solver *s, enum kind kind)
{
    if (s->rivalry && s->rivalry->chooser.steps == 0)
        s->rivalry->raced = kind;
}

/* Whether steps of this kind are those of a race that goes on. */
static int is_raced(const struct solver *s, enum kind kind)
{
    return s->rivalry && s->rivalry->chooser.racing && s->rivalry->raced == kind;
}

/* Whose code takes the next step of a job. During a race for steps of another kind it is the code
   that the solver had before. */
static struct solver *running(struct solver *s, enum kind kind)
{
    struct rivalry *const r = s->rivalry;
    if (r)
        s = r->codes[!r->chooser.racing || is_raced(s, kind) ? r->chooser.running : 0];
    return kind == STEPS && s->fixed ? s->fixed : s;
}

/* Before a step, on all threads: goes on with the code that is to take it, over y. */
static struct solver *next_code(struct solver *s, enum kind kind, struct thread **me, double *y)
{
    struct solver *const next = running(s, kind);
    struct chooser *const chooser = is_raced(s, kind) ? &s->rivalry->chooser : NULL;
    if (next != s) {
        double begun = 0.0;
#pragma omp master
        begun = clock_seconds();
        copy_block(*me, y, state(s, *me));
#pragma omp barrier
        *me = &next->team[(*me)->id];
        copy_block(*me, state(next, *me), y);
#pragma omp barrier
#pragma omp master
        record(&s->rivalry->chooser.changes, clock_seconds() - begun);
    }
    if (chooser) {
#pragma omp master
        chooser->since = clock_seconds();
    }
    return next;
}

/* After a step, on all threads. */
static void step_done(struct solver *s, enum kind kind)
{
    if (!is_raced(s, kind))
        return;
#pragma omp barrier
#pragma omp master
    step_ended(&s->rivalry->chooser, clock_seconds());
#pragma omp barrier
}

/* --- opening and closing --------------------------------------------------------------------- */

/* Frees all codes but that of the solver. */
static void close_codes(struct solver *s)
{
    struct rivalry *const r = s->rivalry;
    for (int i = 0; i < MOST_RIVALS; i++)
        if (r->codes[i] && r->codes[i] != s) {
            close_code(r->codes[i]);
            free(r->codes[i]);
        }
    memset(r->codes, 0, sizeof r->codes);
    r->codes[0] = s;
}

/* The code, and that of steps of a given size, are of this rivalry. */
static void join(struct solver *s, struct rivalry *r)
{
    for (struct solver *each = s; each; each = each->fixed)
        each->rivalry = r;
}

static void close_rivalry(struct solver *s)
{
    struct rivalry *const r = s->rivalry;
    if (!r)
        return;
    close_codes(s);
    free(r->path);
    free(r);
    join(s, NULL);
}

/* The arrays of all codes, each over the same memory. */
static enum code share_arrays(struct solver *s, int count)
{
    struct rivalry *const r = s->rivalry;
    size_t bytes = s->bytes;
    for (int i = 1; i < count; i++)
        bytes = r->codes[i]->bytes > bytes ? r->codes[i]->bytes : bytes;
    double *const before = s->base, *const base = bytes > s->bytes ? arrays(bytes) : before;
    if (!base)
        return NO_MEMORY;
    const int fresh = base != before;
    int few = 0, lacking = 0;
    for (int i = 0; i < count; i++)
        use_arrays(r->codes[i], base);
#pragma omp parallel num_threads((int)s->threads) reduction(+ : few, lacking)
    {
        const long id = omp_get_thread_num();
        few += omp_get_num_threads() != s->threads;
        for (int i = fresh ? 0 : 1; i < count && !few && !lacking; i++) {
            struct solver *const code = r->codes[i];
            view_both(code, id);
            if (fresh)
                touch(code, &code->team[id]);
            lacking += i > 0 && !ready_both(code, id);
        }
    }
    if (few) /* the blocks of the threads still lie in the arrays that there were */
        use_arrays(s, before);
    else
        s->bytes = bytes;
    if (fresh)
        free(few ? base : before);
    return few ? FEW_THREADS : lacking ? NO_MEMORY : DONE;
}

/* Opens so many codes for a race, the first of which is open. */
static enum code open_codes(struct solver *s, int count)
{
    struct rivalry *const r = s->rivalry;
    for (int i = 1; i < count; i++) {
        struct solver *const code = r->codes[i] = calloc(1, sizeof *code);
        if (!code)
            return NO_MEMORY;
        code->code = r->rivals[i].code;
        code->size = s->size;
        code->threads = s->threads;
        code->order = s->order;
        code->limit = s->limit;
        code->evaluations = r->rivals[i].evaluations;
        code->rivalry = r;
        if (!lay_out_both(code) || !equip(code, s->threads))
            return NO_MEMORY;
    }
    return share_arrays(s, count);
}

static void take_code(struct solver *s, const struct solver *from)
{
    s->code = from->code;
    s->constants = from->constants;
    s->team = from->team;
    s->flags = from->flags;
    s->parts = from->parts;
    s->saved = from->saved;
    s->ld = from->ld;
    s->evaluations = from->evaluations;
    s->fixed = from->fixed;
}

/* Goes on with one of the codes; the others are closed. Between the jobs of a solver. */
static void go_on_with(struct solver *s, int chosen)
{
    struct rivalry *const r = s->rivalry;
    const struct solver before = *s;
    take_code(s, r->codes[chosen]);
    if (chosen)
        take_code(r->codes[chosen], &before);
    r->row = r->rivals[chosen].row;
    r->chooser.running = 0;
    close_codes(s);
}

/* After a race: the winner stays, and is written down. */
static void settle(struct solver *s)
{
    struct rivalry *const r = s->rivalry;
    if (!r || r->source != RACING || r->chooser.racing)
        return;
    const int chosen = r->chooser.running;
    r->source = ON_LINE;
    r->seconds = step_seconds(&r->chooser, chosen);
    r->cost = spent(&r->chooser);
    if (r->path && !remember(r->path, &r->key, r->rivals[chosen].name, r->seconds))
        r->note = "the choice cannot be written to it";
    go_on_with(s, chosen);
}

/* --- the choice ------------------------------------------------------------------------------ */

/* Looks into the wisdom file; returns the number of the code that it names, or -1. */
static int look_up(struct rivalry *r, int count)
{
    const struct remembered said = recall(r->path, &r->key);
    r->note = said.refusal;
    for (int i = 0; said.code[0] && i < count; i++)
        if (!strcmp(said.code, r->rivals[i].name)) {
            r->seconds = said.seconds;
            return i;
        }
    if (said.code[0])
        r->note = "it names a code that this library has not got";
    return -1;
}

/* From now on the codes race for the steps, unless the wisdom file names one. Takes the rivalry,
   with its rivals; path: NULL or empty, none. */
static enum code begin_rivalry(struct solver *s, struct rivalry *r, int count, const char *path)
{
    close_rivalry(s);
    join(s, r);
    r->codes[0] = s;
    r->note = "";
    r->path = path && path[0] ? strdup(path) : NULL;
    r->row = r->rivals[0].row;
    if (path && path[0] && !r->path) {
        close_rivalry(s);
        return NO_MEMORY;
    }
    const int named = r->path ? look_up(r, count) : -1;
    if (named > 0) { /* the only other one */
        r->rivals[1] = r->rivals[named];
        count = 2;
    }
    const enum code code = named == 0 ? DONE : open_codes(s, count);
    if (code != DONE) {
        close_rivalry(s);
        return code;
    }
    if (named >= 0) {
        r->source = REMEMBERED;
        go_on_with(s, named > 0);
    } else if (count > 1) {
        r->source = RACING;
        begin_race(&r->chooser, count);
    }
    return DONE;
}

/* The same between two jobs. */
static enum code choose_code(struct solver *s, struct rivalry *r, int count, const char *path)
{
    if (atomic_flag_test_and_set(&s->busy)) {
        free(r);
        return BUSY;
    }
    const enum code code = begin_rivalry(s, r, count, path);
    atomic_flag_clear(&s->busy);
    return code;
}

#endif
