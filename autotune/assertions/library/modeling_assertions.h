/* Modeling assertions: a program says how often its loops turn, what its blocks count and which
 * messages it sends; a library that is loaded with it checks what it says.
 *
 *     #include "modeling_assertions.h"
 *
 *     ma_var("na", na);                                       an input of the model
 *     ma_var_in("nprocs", p, "processes", "power of two");    with its unit and its domain
 *     ma_derive("npcols", "2**ceil(log2(nprocs)/2)");         the value of an expression
 *     ma_derive_check("npcols", "2**ceil(log2(nprocs)/2)", npcols);   compared with the program's
 *     ma_region_begin("setup");        ma_region_end("setup");
 *     ma_sub_begin("conj_grad");       ma_sub_end("conj_grad");
 *     ma_loop_begin("norm", "l");      ma_loop_end("norm", trips);
 *     ma_flop_begin("rho", "2*n");     ma_flop_end("rho");    ma_load, ma_store (bytes) alike
 *     ma_flop_count("rho", "2*n", counted);                   the program counted itself
 *     ma_send("x", "16");              ma_send_n("x", "16", "l");     ma_recv, ma_recv_n alike
 *     ma_coll("norm", "allreduce", "8");  ma_coll_n("norm", "allreduce", "8", "l");
 *
 * Domains: "power of two", "square", "whole", "even", a range "[1, 64]" or "[1, ]"; several are
 * joined by ";". Names and expressions are string literals. Without the library every line costs a
 * load and a branch; nothing is linked. `autotune assert run -- COMMAND` loads the library
 * (LD_PRELOAD) and sets AUTOTUNE_ASSERT, without which the library is off.
 * -DMODELING_ASSERTIONS_OFF compiles all of it away. C (C99 and later, gnu89), C++; gcc and clang.
 *
 * Programs that are not position-independent (-no-pie) work on x86-64 and aarch64 with GNU ld.
 * Other linkers need -Wl,-z,dynamic-undefined-weak, or the library among what they link. */
#ifndef MODELING_ASSERTIONS_H
#define MODELING_ASSERTIONS_H

#ifndef MODELING_ASSERTIONS_OFF

#include <stdint.h>

/* What a point of a program does, in the order of the library. */
enum ma_point_kind_ {
    MA_POINT_REGION_, MA_POINT_LOOP_, MA_POINT_SUB_, MA_POINT_FLOP_, MA_POINT_LOAD_,
    MA_POINT_STORE_, MA_POINT_SEND_, MA_POINT_RECV_, MA_POINT_COLL_, MA_POINT_VARIABLE_
};

/* A point of a program. The last two fields belong to the library. */
struct ma_site {
    int kind;
    int line; /* 0: not known */
    const char *file;
    const char *name;
    const char *expression;
    const char *repeat;
    const char *operation;
    const char *unit;
    const char *domain;
    void *parent;
    void *path;
};

/* What the library offers; its name ends with the version of this structure and of ma_site. */
struct ma_functions {
    void (*begin)(struct ma_site *site);
    void (*end)(struct ma_site *site);
    void (*end_whole)(struct ma_site *site, int64_t count);
    void (*end_real)(struct ma_site *site, double count);
    void (*count_whole)(struct ma_site *site, int64_t count);
    void (*count_real)(struct ma_site *site, double count);
    void (*message)(struct ma_site *site);
    void (*set_whole)(struct ma_site *site, int64_t value);
    void (*set_real)(struct ma_site *site, double value);
    void (*derive)(struct ma_site *site);
    void (*derive_whole)(struct ma_site *site, int64_t value);
    void (*derive_real)(struct ma_site *site, double value);
    void (*set_program)(const char *name);
    int on; /* 0: the library is loaded but does nothing */
};

#ifdef __cplusplus
extern "C" {
#endif
extern struct ma_functions ma_functions_1 __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* The library, or NULL where it is not loaded. The address is read from the global offset table, as
 * the linker would set a direct reference of a fixed-position program to NULL for ever. */
static __inline__ const struct ma_functions *ma_functions_(void)
{
#if defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__)
    const struct ma_functions *address;
    __asm__(".weak ma_functions_1\n\tmovq ma_functions_1@GOTPCREL(%%rip), %0" : "=r"(address));
    return address;
#elif defined(__aarch64__) && defined(__ELF__) && !defined(__ILP32__)
    const struct ma_functions *address;
    __asm__(".weak ma_functions_1\n\tadrp %0, :got:ma_functions_1\n\t"
            "ldr %0, [%0, :got_lo12:ma_functions_1]" : "=r"(address));
    return address;
#else
    return &ma_functions_1;
#endif
}

#define MA_SITE_(kind, name, expression, repeat, operation, unit, domain)                          \
    static struct ma_site ma_site_ = {kind, __LINE__,  __FILE__, name,   expression, repeat,       \
                                      operation, unit, domain,   0,      0}

/* Calls a function of the library with the point, where the library is loaded and on. */
#define MA_CALL_(function, kind, name, expression, repeat, operation)                              \
    do {                                                                                           \
        const struct ma_functions *ma_library_ = ma_functions_();                                  \
        if (__builtin_expect(ma_library_ != 0, 0) && ma_library_->on) {                            \
            MA_SITE_(kind, name, expression, repeat, operation, "", "");                           \
            ma_library_->function(&ma_site_);                                                      \
        }                                                                                          \
    } while (0)

/* The same with a number: 1/2 is zero for whole numbers only, so the choice is made when compiling;
 * ``value`` is evaluated once. */
#define MA_NUMBER_(whole, real, kind, name, expression, unit, domain, value)                       \
    do {                                                                                           \
        const struct ma_functions *ma_library_ = ma_functions_();                                  \
        if (__builtin_expect(ma_library_ != 0, 0) && ma_library_->on) {                            \
            MA_SITE_(kind, name, expression, "1", "", unit, domain);                               \
            if ((0 ? (value) : 1) / 2 != 0)                                                        \
                ma_library_->real(&ma_site_, (double)(value));                                     \
            else                                                                                   \
                ma_library_->whole(&ma_site_, (int64_t)(value));                                   \
        }                                                                                          \
    } while (0)

#else

#define MA_CALL_(function, kind, name, expression, repeat, operation)                              \
    do {                                                                                           \
    } while (0)
#define MA_NUMBER_(whole, real, kind, name, expression, unit, domain, value)                       \
    do {                                                                                           \
        if (0)                                                                                     \
            (void)(value);                                                                         \
    } while (0)

#endif

#define ma_var(name, value) ma_var_in(name, value, "", "")
#define ma_var_in(name, value, unit, domain)                                                       \
    MA_NUMBER_(set_whole, set_real, MA_POINT_VARIABLE_, name, "", unit, domain, value)
#define ma_derive(name, expression)                                                                \
    MA_CALL_(derive, MA_POINT_VARIABLE_, name, expression, "1", "")
#define ma_derive_check(name, expression, value)                                                   \
    MA_NUMBER_(derive_whole, derive_real, MA_POINT_VARIABLE_, name, expression, "", "", value)

#define ma_region_begin(name) MA_CALL_(begin, MA_POINT_REGION_, name, "", "1", "")
#define ma_region_end(name) MA_CALL_(end, MA_POINT_REGION_, name, "", "1", "")
#define ma_sub_begin(name) MA_CALL_(begin, MA_POINT_SUB_, name, "", "1", "")
#define ma_sub_end(name) MA_CALL_(end, MA_POINT_SUB_, name, "", "1", "")
#define ma_loop_begin(name, trips) MA_CALL_(begin, MA_POINT_LOOP_, name, trips, "1", "")
#define ma_loop_end(name, trips)                                                                   \
    MA_NUMBER_(end_whole, end_real, MA_POINT_LOOP_, name, "", "", "", trips)

#define ma_flop_begin(name, count) MA_CALL_(begin, MA_POINT_FLOP_, name, count, "1", "")
#define ma_flop_end(name) MA_CALL_(end, MA_POINT_FLOP_, name, "", "1", "")
#define ma_flop_count(name, count, counted)                                                        \
    MA_NUMBER_(count_whole, count_real, MA_POINT_FLOP_, name, count, "", "", counted)
#define ma_load_begin(name, bytes) MA_CALL_(begin, MA_POINT_LOAD_, name, bytes, "1", "")
#define ma_load_end(name) MA_CALL_(end, MA_POINT_LOAD_, name, "", "1", "")
#define ma_load_count(name, bytes, counted)                                                        \
    MA_NUMBER_(count_whole, count_real, MA_POINT_LOAD_, name, bytes, "", "", counted)
#define ma_store_begin(name, bytes) MA_CALL_(begin, MA_POINT_STORE_, name, bytes, "1", "")
#define ma_store_end(name) MA_CALL_(end, MA_POINT_STORE_, name, "", "1", "")
#define ma_store_count(name, bytes, counted)                                                       \
    MA_NUMBER_(count_whole, count_real, MA_POINT_STORE_, name, bytes, "", "", counted)

#define ma_send(name, bytes) ma_send_n(name, bytes, "1")
#define ma_send_n(name, bytes, messages)                                                           \
    MA_CALL_(message, MA_POINT_SEND_, name, bytes, messages, "")
#define ma_recv(name, bytes) ma_recv_n(name, bytes, "1")
#define ma_recv_n(name, bytes, messages)                                                           \
    MA_CALL_(message, MA_POINT_RECV_, name, bytes, messages, "")
#define ma_coll(name, operation, bytes) ma_coll_n(name, operation, bytes, "1")
#define ma_coll_n(name, operation, bytes, calls)                                                   \
    MA_CALL_(message, MA_POINT_COLL_, name, bytes, calls, operation)

#endif
