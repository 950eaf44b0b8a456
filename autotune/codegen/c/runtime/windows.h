/* Windows of a pipeline: rows of which a thread keeps the last components only.

   Where neighbours are read, component j lies at j modulo the length of the window. The memory of a
   row is mapped twice, one after the other, so that neighbouring components are neighbours in memory
   everywhere. Other windows hold one block, always at the same place. */
#ifndef AUTOTUNE_WINDOWS_H
#define AUTOTUNE_WINDOWS_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "thread.h"

struct windows {
    double *base;
    size_t bytes;   /* of memory, with everything twice */
    long far_rows;  /* the first rows, of which neighbours are read */
    long far, near; /* components of a row of either kind: whole pages */
    long reach;     /* how far neighbours are read */
    long shift;     /* components by which each row begins behind the one before it */
};

/* Returns whether there was memory for them, and for mapping it twice. */
static inline int open_windows(struct windows *w, long rows, long far_rows, long block,
                               long distance, long lag, long shift)
{
    const long page = sysconf(_SC_PAGESIZE) / (long)sizeof(double);
    w->far_rows = far_rows;
    w->far = round_up(block + distance + (lag > distance ? lag : distance), page);
    w->near = round_up(block, page);
    w->reach = distance;
    w->shift = shift;
    const long length = far_rows * w->far + (rows - far_rows) * w->near;
    const size_t bytes = (size_t)length * sizeof(double);
    const int file = memfd_create("windows", MFD_CLOEXEC);
    void *const whole = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int open = file >= 0 && whole != MAP_FAILED && !ftruncate(file, (off_t)bytes);
    double *at = whole;
    long from = 0;
    for (long r = 0; open && r < rows; r++) {
        const size_t size = (size_t)(r < far_rows ? w->far : w->near) * sizeof(double);
        for (int twice = 0; twice < 2; twice++, at += size / sizeof(double))
            if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                     from * (off_t)sizeof(double)) == MAP_FAILED)
                open = 0;
        from += (long)(size / sizeof(double));
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
    w->base = NULL;
}

/* Where a block that begins at component `from` lies in a window of neighbours that begins at 0. */
struct place {
    long from, far;
};

static inline struct place place_of(const struct windows *w, long from)
{
    return (struct place){.from = from, .far = from % w->far};
}

/* A row such that element j is component j, for a block that begins at a place. */
static inline double *window_row(const struct windows *w, long row, struct place p)
{
    const int neighbours = row < w->far_rows;
    const long length = neighbours ? w->far : w->near;
    long place = (neighbours ? p.far : 0) + row * w->shift;
    while (place >= length)
        place -= length;
    if (neighbours && place < w->reach)
        place += length;
    const long before = row * w->far - (neighbours ? 0 : (row - w->far_rows) * (w->far - w->near));
    return (double *)((uintptr_t)w->base + (size_t)(2 * before + place) * sizeof(double)
                      - (size_t)p.from * sizeof(double));
}

#endif
