/* Runs time steps of a generated program and counts the lines that come into each cache.

       traffic_caches SIZE N H WARM STEPS LINE  SETS WAYS VICTIM HASHED ...

   The program is compiled with -fsanitize=thread, which calls __tsan_readN and __tsan_writeN before
   every load and store; instead of the library behind that option, the caches below answer. They
   are set-associative, LRU, write-allocate and write-back; each sees the misses of the one before
   it and what that writes back. A hashed one takes its set from all bits of the address. A victim
   cache holds what the one before it drops, nothing else.
   WARM and STEPS count calls of the step, which may make several time steps each. Prints for each
   cache the lines that came in, per time step. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "program.h"
#include "ranks.h"
#include "shape.h"

enum { MOST_CACHES = 4 };

struct cache {
    long sets, ways;
    int victim, hashed;
    uint64_t *lines; /* sets x ways, the latest first: number of the line + 1, doubled, + 1 if dirty */
    long inbound;
};

static struct cache caches[MOST_CACHES];
static int cache_count;
static uintptr_t line_bytes;

/* The lowest 63 bits of an entry tell lines apart. */
static uint64_t entry(uint64_t line, int dirty)
{
    return (line + 1) << 1 | (uint64_t)dirty;
}

static void dropped(int level, uint64_t gone);

/* Puts a line before all others of its set, from place `at`; the last place falls out. */
static uint64_t put(uint64_t *set, long at, uint64_t value)
{
    const uint64_t out = set[at];
    memmove(set + 1, set, (size_t)at * sizeof *set);
    set[0] = value;
    return out;
}

static long find(const struct cache *c, const uint64_t *set, uint64_t line)
{
    for (long way = 0; way < c->ways; way++)
        if (set[way] >> 1 == line + 1)
            return way;
    return -1;
}

static uint64_t *set_of(const struct cache *c, uint64_t line)
{
    const uint64_t sets = (uint64_t)c->sets;
    const uint64_t place = c->hashed ? line + line / sets * 5 + line / sets / sets * 3 : line;
    return c->lines + place % sets * (uint64_t)c->ways;
}

/* A line that comes from above, not from below. */
static void write_back(int level, uint64_t line, int dirty)
{
    if (level == cache_count)
        return;
    struct cache *const c = &caches[level];
    uint64_t *const set = set_of(c, line);
    const long way = find(c, set, line);
    if (way >= 0)
        set[way] |= (uint64_t)dirty;
    else
        dropped(level, put(set, c->ways - 1, entry(line, dirty)));
}

static void dropped(int level, uint64_t gone)
{
    const int below = level + 1;
    const int kept = below < cache_count && caches[below].victim;
    if (gone && (gone & 1 || kept))
        write_back(below, (gone >> 1) - 1, (int)(gone & 1));
}

/* Whether the line is dirty in the cache that it comes from, a victim cache. */
static int request(int level, uint64_t line, int dirty)
{
    if (level == cache_count)
        return 0;
    struct cache *const c = &caches[level];
    uint64_t *const set = set_of(c, line);
    const long way = find(c, set, line);
    if (c->victim) {
        if (way < 0) {
            c->inbound++;
            return request(level + 1, line, 0);
        }
        const int was = (int)(set[way] & 1);
        memmove(set + way, set + way + 1, (size_t)(c->ways - 1 - way) * sizeof *set);
        set[c->ways - 1] = 0;
        return was;
    }
    if (way >= 0) {
        put(set, way, set[way] | (uint64_t)dirty);
        return 0;
    }
    c->inbound++;
    const int was = request(level + 1, line, 0);
    dropped(level, put(set, c->ways - 1, entry(line, dirty | was)));
    return 0;
}

/* Windows of pipelines are mapped twice: the pages of the file that lie behind their addresses. */
enum { PAGES = 1 << 16, PAGE_SHIFT = 12 };
static uintptr_t windows_begin, windows_end, page_of[PAGES];

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t from);

void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t from)
{
    void *const found = __real_mmap(at, bytes, rights, flags, file, from);
    if (file < 0 || found == MAP_FAILED)
        return found;
    const uintptr_t begin = (uintptr_t)found;
    if (!windows_begin)
        windows_begin = begin;
    windows_end = begin + bytes;
    if (windows_end - windows_begin > (uintptr_t)PAGES << PAGE_SHIFT)
        fail("windows are larger than expected");
    for (uintptr_t page = 0; page < bytes >> PAGE_SHIFT; page++)
        page_of[((begin - windows_begin) >> PAGE_SHIFT) + page] =
            ((uintptr_t)from >> PAGE_SHIFT) + page;
    return found;
}

static uintptr_t in_memory(uintptr_t address)
{
    if (address < windows_begin || address >= windows_end)
        return address;
    const uintptr_t inside = address - windows_begin;
    const uintptr_t offset = inside & (((uintptr_t)1 << PAGE_SHIFT) - 1);
    return windows_begin + (page_of[inside >> PAGE_SHIFT] << PAGE_SHIFT) + offset;
}

/* The line touched last is the latest of its set: to touch it again changes nothing, unless it
   becomes dirty. */
static uint64_t last_entry;

static inline void access_line(uintptr_t address, int dirty)
{
    const uintptr_t line = in_memory(address) / line_bytes;
    const uint64_t now = entry(line, dirty);
    if ((now | (last_entry & 1)) == last_entry)
        return;
    request(0, line, dirty);
    last_entry = now | (last_entry >> 1 == now >> 1 ? last_entry & 1 : 0);
}

static inline void access_bytes(const volatile void *address, long bytes, int dirty)
{
    const uintptr_t first = (uintptr_t)address / line_bytes;
    const uintptr_t last = ((uintptr_t)address + (uintptr_t)bytes - 1) / line_bytes;
    for (uintptr_t line = first; line <= last; line++)
        access_line(line * line_bytes, dirty);
}

#define HOOKS(n)                                                                                 \
    void __tsan_read##n(void *p) { access_bytes(p, n, 0); }                                      \
    void __tsan_write##n(void *p) { access_bytes(p, n, 1); }                                     \
    void __tsan_unaligned_read##n(void *p) { access_bytes(p, n, 0); }                            \
    void __tsan_unaligned_write##n(void *p) { access_bytes(p, n, 1); }                           \
    void __tsan_volatile_read##n(void *p) { access_bytes(p, n, 0); }                             \
    void __tsan_volatile_write##n(void *p) { access_bytes(p, n, 1); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *p, long bytes) { access_bytes(p, bytes, 0); }
void __tsan_write_range(void *p, long bytes) { access_bytes(p, bytes, 1); }
void __tsan_init(void) {}
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    exit(2);
}

long whole(const char *option, const char *text, long low, long high)
{
    const long value = strtol(text, NULL, 10);
    if (value < low || value > high)
        fail("%s must be from %ld to %ld, not %s", option, low, high, text);
    return value;
}

double *claim(long doubles)
{
    void *memory = NULL;
    const size_t bytes = (size_t)round_up(doubles, PAGE_DOUBLES) * sizeof(double);
    if (posix_memalign(&memory, PAGE_DOUBLES * sizeof(double), bytes))
        fail("cannot allocate %zu bytes", bytes);
    return memory;
}

/* Calls of the step, which may make several time steps each; returns the time steps. */
static long steps_made(struct thread *me, long calls)
{
    const long before = me->made;
    for (long call = 0; call < calls; call++) {
        me->sweeps = me->at_once;
        step(me, start_time + (double)me->made * me->h);
        me->made += me->sweeps;
    }
    return me->made - before;
}

/* The sets of a hashed cache depend on addresses: they are the same in every run. */
static void at_fixed_addresses(char **arguments)
{
    const int now = personality(0xffffffff);
    if (now == -1 || now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1)
        return;
    execv("/proc/self/exe", arguments);
}

int main(int count, char **arguments)
{
    if (count < 10 || (count - 7) % 4)
        fail("wrong number of arguments");
    at_fixed_addresses(arguments);
    const struct shape shape = read_shape("SIZE", arguments[1]);
    static struct thread me;
    me.h = strtod(arguments[3], NULL);
    me.threads = 1;
    me.phase = -1;
    me.at_once = 1;
    line_bytes = (uintptr_t)strtol(arguments[6], NULL, 10);
    const struct storage storage = allocate(&shape);
    me.constants = begin(&shape);
    if (!me.constants)
        fail("no memory for the constants of the problem");
    place(&me, &storage, &shape, 0, 1);
    if (!ready(&me))
        fail("no memory for what a thread keeps beside the arrays");
    initial(&me);
    for (int at = 7; at + 3 < count; at += 4) {
        struct cache *const c = &caches[cache_count++];
        c->sets = strtol(arguments[at], NULL, 10);
        c->ways = strtol(arguments[at + 1], NULL, 10);
        c->victim = (int)strtol(arguments[at + 2], NULL, 10);
        c->hashed = (int)strtol(arguments[at + 3], NULL, 10);
        c->lines = calloc((size_t)(c->sets * c->ways), sizeof *c->lines);
        if (!c->lines)
            fail("no memory for the caches");
    }
    steps_made(&me, strtol(arguments[4], NULL, 10));
    for (int level = 0; level < cache_count; level++)
        caches[level].inbound = 0;
    const long made = steps_made(&me, strtol(arguments[5], NULL, 10));
    for (int level = 0; level < cache_count; level++)
        printf("%.3f\n", (double)caches[level].inbound / (double)made);
    return 0;
}
