/* Memory in whole pages. */
#ifndef AUTOTUNE_PAGES_H
#define AUTOTUNE_PAGES_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "thread.h"

/* So many doubles from the start of a page on, untouched; NULL: there is no such memory. */
static inline double *claim_pages(long doubles)
{
    const size_t page = PAGE_DOUBLES * sizeof(double);
    void *memory = NULL;
    if (doubles < 0 || (size_t)doubles > (SIZE_MAX - page) / sizeof(double))
        return NULL;
    const size_t bytes = ((size_t)doubles * sizeof(double) + page - 1) / page * page;
    const long most = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (most > 0 && size > 0 && bytes / (size_t)size > (size_t)most)
        return NULL; /* more than this machine has, whatever the system promises */
    if (posix_memalign(&memory, page, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    /* large arrays in large pages, where the system gives them: it walks its tables less often */
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

#endif
