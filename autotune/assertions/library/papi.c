/* Floating-point operations by a hardware counter, where libpapi is installed and one of its events
 * really starts. Elsewhere, and with AUTOTUNE_ASSERT_PAPI=0, nobody counts during the run. */
#include "recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int (*papi_read)(int set, long long *values);
static int event_set = -1;
static const char *counter;

static void *opened_library(void)
{
    static const char *const names[] = {"libpapi.so", "libpapi.so.7", "libpapi.so.6",
                                        "libpapi.so.5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    return NULL;
}

/* PAPI starts for the caller's version of its header only. */
static int initialised(int (*init)(int))
{
    for (int major = 7; major >= 5; major--) {
        for (int minor = 0; minor < 10; minor++) {
            int version = major << 24 | minor << 16;
            if (init(version) == version)
                return 1;
        }
    }
    return 0;
}

/* Puts the address of a function into a pointer, in the way of POSIX. */
#define FIND(function, library, name) (*(void **)(&(function)) = dlsym(library, name))

static int started(void *library, const char *event)
{
    int (*create)(int *), (*add)(int, const char *), (*start)(int);
    long long value;
    FIND(create, library, "PAPI_create_eventset");
    FIND(add, library, "PAPI_add_named_event");
    FIND(start, library, "PAPI_start");
    event_set = -1;
    return create != NULL && add != NULL && start != NULL && papi_read != NULL &&
           create(&event_set) == 0 && add(event_set, event) == 0 && start(event_set) == 0 &&
           papi_read(event_set, &value) == 0;
}

static void start_counter(void)
{
    static const char *const events[] = {"PAPI_FP_OPS", "PAPI_DP_OPS"};
    static const char *const names[] = {"papi:PAPI_FP_OPS", "papi:PAPI_DP_OPS"};
    int (*init)(int);
    void *library = opened_library();
    if (library == NULL)
        return;
    FIND(init, library, "PAPI_library_init");
    FIND(papi_read, library, "PAPI_read");
    if (init == NULL || !initialised(init))
        return;
    for (size_t i = 0; i < sizeof events / sizeof *events && counter == NULL; i++)
        if (started(library, events[i]))
            counter = names[i];
}

const char *ma_papi_counter(void)
{
    static int tried;
    if (!tried) {
        const char *wanted = getenv("AUTOTUNE_ASSERT_PAPI");
        tried = 1;
        if (wanted == NULL || strcmp(wanted, "0") != 0)
            start_counter();
    }
    return counter;
}

int64_t ma_papi_read(void)
{
    long long value = 0;
    if (papi_read(event_set, &value) != 0)
        ma_loss("readings of the hardware counter that failed", 1);
    return value;
}
