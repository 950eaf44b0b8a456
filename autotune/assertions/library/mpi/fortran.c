/* What differs in Fortran: where its functions are, constants that are addresses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "counting.h"

typedef void initialized_function(MPI_Fint *flag, MPI_Fint *ierror);

static int seen_in_c;

/* --- symbols ----------------------------------------------------------------------------------- */

struct search {
    const char *name;
    void *address;
};

static int look_into(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    if (!object->dlpi_name || !*object->dlpi_name) return 0;
    void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return 0;
    search->address = dlsym(library, search->name);
    dlclose(library);
    return search->address != NULL;
}

/* The symbol, also where its library was loaded by dlopen for one module only, as of Python. */
static void *symbol(const char *name)
{
    struct search search = {name, dlsym(RTLD_DEFAULT, name)};
    if (!search.address) dl_iterate_phdr(look_into, &search);
    return search.address;
}

void *ma_real(const char *name)
{
    char profiled[64];
    snprintf(profiled, sizeof profiled, "p%s", name);
    void *address = symbol(profiled);
    if (!address) address = dlsym(RTLD_NEXT, name); /* some lack the names of the profiled ones */
    if (!address) {
        fprintf(stderr, "autotune assert: no library of this process defines %s\n", name);
        abort();
    }
    return address;
}

/* --- whether Fortran calls C ------------------------------------------------------------------- */

MA_EXPORT int MPI_Initialized(int *flag)
{
    seen_in_c = 1;
    return PMPI_Initialized(flag);
}

int ma_counted_in_c(enum ma_module module)
{
    static int in_c[] = {[MA_MPIF] = -1, [MA_F08] = -1};
    static const char *const names[] = {"mpi_initialized_", "mpi_initialized_f08_"};
    if (in_c[module] < 0) {
        MPI_Fint flag, code;
        seen_in_c = 0;
        ((initialized_function *)ma_real(names[module]))(&flag, &code);
        in_c[module] = seen_in_c;
    }
    return in_c[module];
}

/* --- constants --------------------------------------------------------------------------------- */

enum { IN_PLACE, FIRST_IGNORED, CONSTANTS = 5 };

/* Of Open MPI, and of the module mpi_f08 of MPICH and its kin, whose other functions call C. */
static const char *const constants[CONSTANTS] = {
    "mpi_fortran_in_place_",          "mpi_fortran_status_ignore_",
    "mpi_fortran_statuses_ignore_",   "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
    "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
};

static const void *constant(int which)
{
    static const void *addresses[CONSTANTS];
    static int asked[CONSTANTS];
    if (!asked[which]) {
        addresses[which] = symbol(constants[which]);
        asked[which] = 1;
    }
    return addresses[which];
}

const void *fortran_buffer(const void *buffer)
{
    return buffer == constant(IN_PLACE) ? MPI_IN_PLACE : buffer;
}

int fortran_ignored(const void *status)
{
    if (status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE) return 1;
    for (int i = FIRST_IGNORED; i < CONSTANTS; i++)
        if (status == constant(i)) return 1;
    return 0;
}
