/* The ranks of a program: what main.c and the generated step ask of them.

   Every rank has rows of full length and touches its own block of them and what it fetches. All
   functions but ranks_pin are called by the first thread alone (MPI_THREAD_FUNNELED), and those
   marked * by that of every rank. */
#ifndef AUTOTUNE_RANKS_H
#define AUTOTUNE_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"
#include "reading.h"

void ranks_begin(int *count, char ***arguments);             /* * */
void ranks_end(void);                                        /* * */
__attribute__((noreturn)) void leave(int code);              /* ends every rank */

int rank(void);
int rank_count(void);

/* * Plans the messages of an exchange, allgather, neighbour or sparse, and the CPUs of threads. */
void ranks_prepare(const struct constants *constants, struct pieces pieces, long threads,
                   const char *communication);
long ranks_reach(const struct constants *constants);          /* pieces of others that a rank reads */
void ranks_pin(int thread);                                  /* the calling thread, to its CPU */

/* What is to be fetched, or everything outside the block, is not a number until it is fetched, so
   that nobody reads it unnoticed. Everything: more memory is touched than the program needs. */
void ranks_spoil(struct thread *me, bool everything);

/* * Fetches the remote parts of an array, one row after another. */
void communicate(struct thread *me, int array);

void ranks_wait(void);                                       /* * a barrier of all ranks */
void ranks_join(struct trial *trial);                        /* * one trial of all ranks */
double ranks_most(double value);                             /* * the largest of all ranks */
void ranks_share(void *data, size_t size);                   /* * that of rank 0, on every rank */

/* * On rank 0: the lists of all ranks, and the state, each in memory of its own. */
const int *ranks_list(const int *values, long count);
const double *ranks_state(const double *y);

void ranks_print_start(void);                                /* parts of printed lines, on rank 0 */
void ranks_print_end(long steps);                            /* * */

/* The generated program. */
extern const int array_rows[]; /* of each array; 0: ranks set it themselves and never exchange it */
extern const int reading_count;
void readings(const struct constants *constants, struct reading *found); /* all of them */
long access_distance(const struct constants *constants); /* in pieces */

#endif
