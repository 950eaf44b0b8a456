/* Chooses on line which of several codes runs, by timing the steps of a computation that goes on
   anyway: a race in which codes that are slower drop out (Maron and Moore 1994), with visits of
   1, 2, 4 and 8 steps. It stops as soon as it has cost what it may. Knows no solver: whoever takes
   the steps asks `running` which code takes the next one, and says when it begins and ends. */
#ifndef AUTOTUNE_CHOOSER_H
#define AUTOTUNE_CHOOSER_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RIVALS = 8, MOST_TIMES = 32, ROUNDS = 4 };
static const double BORNE_STEPS = 10.0; /* of the best code: 1 % of 1,000 */
static const double TRIAL_SHARE = 0.6;  /* of the bound is for the first visits */
static const double BETTER = 0.5;       /* times the best: what a code may take that none has tried */
static const double CLEARLY = 1.25;     /* times the best: slower by a single step */
static const double NEAR = 0.99;        /* times that of the code that ran before: worth a change */

#ifdef AUTOTUNE_CLOCK
double AUTOTUNE_CLOCK(void);
static double clock_seconds(void)
{
    return AUTOTUNE_CLOCK();
}
#else
static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

struct times {
    long count;
    double seconds[MOST_TIMES]; /* the first of them */
};

struct chooser {
    int count;   /* of codes; that of number 0 ran before */
    int running; /* takes the next step */
    int racing;  /* 0: `running` is the choice */
    int visit, round, dropped[MOST_RIVALS];
    long left;   /* steps of this visit */
    long steps;  /* all that were timed */
    double since;
    long cold; /* first steps of a visit, which are not compared, and their seconds: */
    double cold_seconds;
    struct times times[MOST_RIVALS];
    struct times turns;   /* what it takes to decide */
    struct times changes; /* what it takes to go on with another code */
};

static void record(struct times *of, double seconds)
{
    if (of->count < MOST_TIMES)
        of->seconds[of->count] = seconds;
    of->count++;
}

static int ascending(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* The lower median: a step during which the system did something else does not count; and the
   fastest. Of none: 0. */
static double typical(const struct times *of, double *fastest)
{
    double sorted[MOST_TIMES];
    const size_t count = (size_t)(of->count < MOST_TIMES ? of->count : MOST_TIMES);
    if (count == 0)
        return *fastest = 0.0;
    memcpy(sorted, of->seconds, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    *fastest = sorted[0];
    return sorted[(count - 1) / 2];
}

static double all(const struct times *of)
{
    double fastest;
    return (double)of->count * typical(of, &fastest);
}

static double step_seconds(const struct chooser *c, int code)
{
    double fastest;
    return typical(&c->times[code], &fastest);
}

/* The code with the shortest typical step; -1: none was compared yet. */
static int best_code(const struct chooser *c)
{
    int best = -1;
    for (int i = 0; i < c->count; i++)
        if (!c->dropped[i] && c->times[i].count
            && (best < 0 || step_seconds(c, i) < step_seconds(c, best)))
            best = i;
    return best;
}

/* What the race is compared with: a step of the best code, or of one that may be better yet. */
static double reference(const struct chooser *c)
{
    const int best = best_code(c);
    int untried = 0;
    for (int i = 0; i < c->count; i++)
        untried |= !c->dropped[i] && c->times[i].count == 0;
    return best < 0 ? 0.0 : step_seconds(c, best) * (untried ? BETTER : 1.0);
}

/* The seconds that the race took beyond as many steps of the reference. */
static double spent(const struct chooser *c)
{
    const double best = reference(c);
    double sum = c->cold_seconds - (double)c->cold * best + all(&c->turns) + all(&c->changes);
    for (int i = 0; i < c->count; i++)
        sum += all(&c->times[i]) - (double)c->times[i].count * best;
    return sum;
}

/* Whether so many seconds more, and going on with the best code, stay within the bound. */
static int borne(const struct chooser *c, double more, double share)
{
    double fastest;
    const double change = typical(&c->changes, &fastest);
    return spent(c) + more + change <= share * BORNE_STEPS * reference(c);
}

static void begin_race(struct chooser *c, int count)
{
    memset(c, 0, sizeof *c);
    c->count = count;
    c->racing = count > 1;
    c->left = 2;
}

static void end_race(struct chooser *c)
{
    const int best = best_code(c);
    const int stays = !c->dropped[0] && step_seconds(c, best) > NEAR * step_seconds(c, 0);
    c->running = stays ? 0 : best;
    c->racing = 0;
}

/* Whether a code is slower than the best: by far, or its fastest step takes longer than what is
   typical of the best. */
static int is_slower(const struct chooser *c, int code)
{
    const double best = step_seconds(c, best_code(c));
    double fastest;
    const double seconds = typical(&c->times[code], &fastest);
    if (c->times[code].count == 0)
        return 1;
    return c->round == 0 ? seconds > CLEARLY * best : fastest > best;
}

/* Whether a visit can be paid; of a code that was not tried nothing is known. */
static int affordable(const struct chooser *c, int code)
{
    double fastest;
    if (c->times[code].count == 0)
        return borne(c, 0.0, TRIAL_SHARE);
    const double slower = step_seconds(c, code) - step_seconds(c, best_code(c));
    const double steps = (double)(1L + (1L << c->round));
    return borne(c, steps * slower + typical(&c->changes, &fastest), 1.0);
}

static int remaining(const struct chooser *c)
{
    int codes = 0;
    for (int i = 0; i < c->count; i++)
        codes += !c->dropped[i];
    return codes;
}

/* The next code of the race, or its end. */
static void next_visit(struct chooser *c)
{
    for (;;) {
        if (++c->visit == c->count) {
            const int best = best_code(c);
            for (int i = 0; i < c->count; i++)
                c->dropped[i] |= i != best && is_slower(c, i);
            c->visit = 0;
            c->round++;
        }
        if (remaining(c) < 2 || c->round == ROUNDS)
            break;
        if (c->dropped[c->visit])
            continue;
        if (affordable(c, c->visit)) {
            c->running = c->visit;
            c->left = 1L + (1L << c->round);
            return;
        }
        if (c->visit == best_code(c))
            break;
        c->dropped[c->visit] = 1;
    }
    end_race(c);
}

/* A step began at `since` and ended at `now`, on all threads: who takes the next? */
static void step_ended(struct chooser *c, double now)
{
    const double seconds = now - c->since;
    const int code = c->running, first = c->left == 1L + (1L << c->round);
    const int best = best_code(c);
    c->left--;
    if (first && c->steps++ > 0) { /* the very first step would have been taken anyway */
        c->cold++;
        c->cold_seconds += seconds;
    } else if (!first) {
        c->steps++;
        record(&c->times[code], seconds);
    }
    if (best >= 0 && first && c->round == 0
        && !borne(c, seconds - reference(c), TRIAL_SHARE)) { /* one more like it is too much */
        c->dropped[code] = 1;
        c->left = 0;
    }
    if (best >= 0 && !borne(c, 0.0, 1.0))
        end_race(c);
    else if (c->left == 0)
        next_visit(c);
    record(&c->turns, clock_seconds() - now);
}

#endif
