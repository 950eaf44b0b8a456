/* Windows of a pipeline: rows of which a thread keeps the last components only.

   Where neighbours are read, component j lies at j modulo the length of the window. The memory of a
   row is mapped twice, one after the other, so that neighbouring components are neighbours in memory
   everywhere. So it is where stages that are some lags behind read a row. Other windows hold one
   block, always at the same place. */
#ifndef AUTOTUNE_WINDOWS_H
#define AUTOTUNE_WINDOWS_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "thread.h"

struct window_row {
    long begin, length; /* in components, of memory that is mapped once */
    long shift;         /* components by which the row begins behind the first, within its length */
};

struct windows {
    double *base;
    size_t bytes; /* of memory, with everything twice */
    struct window_row *rows;
    long far_rows, late_rows; /* the first rows, of which neighbours are read; those from here on
                                 are read by stages behind */
    long far;                 /* components of a row of which neighbours are read: whole pages */
    long reach;               /* how far neighbours are read */
};

/* Returns whether there was memory for them, and for mapping it twice; lags: how many stages later
   each row is read at most, in ascending order, or NULL: none is; shift: components by which each
   row begins behind the one before it. */
static inline int open_windows(struct windows *w, long rows, long far_rows, const int *lags,
                               long block, long distance, long lag, long shift)
{
    const long page = sysconf(_SC_PAGESIZE) / (long)sizeof(double);
    w->far_rows = far_rows;
    w->late_rows = rows;
    w->far = round_up(block + distance + (lag > distance ? lag : distance), page);
    w->reach = distance;
    w->rows = malloc((size_t)rows * sizeof(struct window_row));
    long length = 0;
    for (long r = 0; w->rows && r < rows; r++) {
        const long later = lags && r >= far_rows ? lags[r] * lag : 0;
        if (later && w->late_rows > r)
            w->late_rows = r;
        const long most = r < far_rows ? w->far : round_up(block + later, page);
        w->rows[r] = (struct window_row){
            .begin = length, .length = most, .shift = r * shift % most};
        length += most;
    }
    const size_t bytes = (size_t)length * sizeof(double);
    const int file = memfd_create("windows", MFD_CLOEXEC);
    void *const whole = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int open = w->rows && file >= 0 && whole != MAP_FAILED && !ftruncate(file, (off_t)bytes);
    double *at = whole;
    for (long r = 0; open && r < rows; r++) {
        const size_t size = (size_t)w->rows[r].length * sizeof(double);
        for (int twice = 0; twice < 2; twice++, at += size / sizeof(double))
            if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                     w->rows[r].begin * (off_t)sizeof(double)) == MAP_FAILED)
                open = 0;
    }
    if (file >= 0)
        close(file);
    w->bytes = 2 * bytes;
    if (open)
        w->base = whole;
    else if (whole != MAP_FAILED)
        munmap(whole, w->bytes);
    return open;
}

static inline void close_windows(struct windows *w)
{
    if (w->base)
        munmap(w->base, w->bytes);
    free(w->rows);
    w->base = NULL;
    w->rows = NULL;
}

/* Where a block that begins at component `from` lies in a window of neighbours that begins at 0. */
struct place {
    long from, far;
};

static inline struct place place_of(const struct windows *w, long from)
{
    return (struct place){.from = from, .far = from % w->far};
}

/* A row such that element j is component j, for a block that begins at a place. It is asked for some
   rows for every sweep over a block, so it has no branch that depends on the place. */
static inline double *window_row(const struct windows *w, long row, struct place p)
{
    const int neighbours = row < w->far_rows;
    const struct window_row of = w->rows[row];
    const long begin = neighbours ? p.far : row < w->late_rows ? 0 : p.from % of.length;
    long place = begin + of.shift;
    place -= place < of.length ? 0 : of.length;
    place += neighbours && place < w->reach ? of.length : 0;
    return (double *)((uintptr_t)w->base + (size_t)(2 * of.begin + place) * sizeof(double)
                      - (size_t)p.from * sizeof(double));
}

#endif
