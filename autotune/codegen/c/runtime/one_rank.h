/* The ranks of a program that has one: nothing to exchange, nobody to wait for.
   Programs of several ranks have another file of this name. */
#ifndef AUTOTUNE_RANKS_H
#define AUTOTUNE_RANKS_H

#include <stdbool.h>
#include <stdlib.h>

#include "program.h"

static inline void ranks_begin(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
}

static inline void ranks_end(void)
{
}

__attribute__((noreturn)) static inline void leave(int code)
{
    exit(code);
}

static inline int rank(void)
{
    return 0;
}

static inline int rank_count(void)
{
    return 1;
}

static inline long ranks_reach(const struct constants *constants)
{
    (void)constants;
    return 0;
}

static inline void ranks_prepare(const struct constants *constants, struct pieces pieces,
                                 long threads, const char *communication)
{
    (void)constants;
    (void)pieces;
    (void)threads;
    if (communication)
        fail("is a program of one rank: it knows no --communication");
}

static inline void ranks_pin(int thread)
{
    (void)thread;
}

static inline void ranks_spoil(struct thread *me, bool everything)
{
    (void)me;
    (void)everything;
}

static inline void ranks_wait(void)
{
}

static inline void ranks_join(struct trial *trial)
{
    (void)trial;
}

static inline double ranks_most(double value)
{
    return value;
}

static inline void ranks_share(void *data, size_t size)
{
    (void)data;
    (void)size;
}

static inline const int *ranks_list(const int *values, long count)
{
    (void)count;
    return values;
}

static inline const double *ranks_state(const double *y)
{
    return y;
}

static inline void ranks_print_start(void)
{
}

static inline void ranks_print_end(long steps)
{
    (void)steps;
}

#endif
