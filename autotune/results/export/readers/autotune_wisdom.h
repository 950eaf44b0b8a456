/* Reads the wisdom files of autotune: what to run at a size and a number of threads.
 *
 * One file, C99 or C++11, nothing but the standard library: copy it into an application. In ONE
 * source file define AUTOTUNE_WISDOM_IMPLEMENTATION before including it; include it plainly
 * wherever else it is needed.
 *
 *     #define AUTOTUNE_WISDOM_IMPLEMENTATION
 *     #include "autotune_wisdom.h"
 *
 *     autotune_wisdom *wisdom;
 *     autotune_wisdom_choice choice;
 *     long long tile;
 *     int code = autotune_wisdom_open("heat2d.wisdom.json", &wisdom);
 *     if (code == AUTOTUNE_WISDOM_OK)
 *         code = autotune_wisdom_lookup(wisdom, 65536, 2, &choice);
 *     if (code == AUTOTUNE_WISDOM_OK)
 *         code = autotune_wisdom_integer(&choice, "tile", &tile);
 *     if (code != AUTOTUNE_WISDOM_OK)
 *         fprintf(stderr, "%s\n", autotune_wisdom_message(code));
 *     autotune_wisdom_close(wisdom);
 *
 * A file holds sections, one per machine, problem and number of ranks. With several of them call
 * autotune_wisdom_select before the first lookup.
 *
 * The rule of a lookup is that of the Python reader, autotune_wisdom.py, to the last bit:
 *
 * 1. Two sizes (or numbers of threads) are as far apart as the larger over the smaller, in IEEE
 *    754 double precision: the distance of their logarithms. Of two that are equally near the
 *    smaller one is taken.
 * 2. The entries with the asked number of threads are considered; where there are none, those with
 *    the nearest number.
 * 3. Of these the one of the nearest size is taken; of several at that size the first.
 * 4. 0 threads asks for any number: of all entries those of the nearest size are considered, and
 *    the fastest is taken; of equally fast ones that with fewer threads, then the first. An entry
 *    without a time is slower than any other. Where the objective is another metric, such as a
 *    rate in MB/s, the entry with the best value counts as the fastest.
 *
 * Reading one wisdom from several threads is safe once it is opened and a section is selected.
 * Every text that is handed out lives until autotune_wisdom_close.
 */
#ifndef AUTOTUNE_WISDOM_H
#define AUTOTUNE_WISDOM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AUTOTUNE_WISDOM_OK = 0,
    AUTOTUNE_WISDOM_UNREADABLE = 1,  /* the file cannot be read */
    AUTOTUNE_WISDOM_NO_MEMORY = 2,
    AUTOTUNE_WISDOM_MALFORMED = 3,   /* not JSON, or a field is missing or of another kind */
    AUTOTUNE_WISDOM_VERSION = 4,     /* no wisdom file, or one of another version */
    AUTOTUNE_WISDOM_NO_SECTION = 5,  /* none of this machine, problem and number of ranks */
    AUTOTUNE_WISDOM_SEVERAL = 6,     /* several sections fit: select one */
    AUTOTUNE_WISDOM_RANGE = 7,       /* size below 1 or above 2^53, threads below 0 or above 2^53 */
    AUTOTUNE_WISDOM_NO_PARAMETER = 8,/* no parameter of this name */
    AUTOTUNE_WISDOM_KIND = 9         /* the parameter is of another kind */
};

typedef struct autotune_wisdom autotune_wisdom;

/* What to run: one entry, tuned at `size` and `threads`. */
typedef struct {
    long long size;
    long long threads;
    const char *candidate; /* id in the study that it comes from */
    const char *compiler;
    size_t flags;          /* how many: see autotune_wisdom_flag */
    double seconds;        /* per time step, or per run of a program; negative: not known */
    double low, high;      /* 90 % interval of seconds, or of value; negative: not known */
    const char *metric;    /* the objective, such as speed; NULL: the time */
    const char *unit;      /* of the metric, such as MB/s; NULL: the time */
    double value;          /* of the metric; negative: not known */
    double loss_bound;     /* of a decision map: share of the best time; negative: not known */
    int verified;          /* 1: its result was compared with a reference */
    const void *entry;
} autotune_wisdom_choice;

/* Open a file, or a text of so many bytes. *wisdom is NULL where the code is not OK. */
int autotune_wisdom_open(const char *path, autotune_wisdom **wisdom);
int autotune_wisdom_parse(const char *text, size_t length, autotune_wisdom **wisdom);
void autotune_wisdom_close(autotune_wisdom *wisdom);

/* Take the one section that fits for the lookups to come. NULL and 0 fit everything; `machine` is
 * an identity, name or title, `problem` an id, name or definition. A file of one section needs no
 * selection. Where the code is not OK the section taken before stays. */
int autotune_wisdom_select(
    autotune_wisdom *wisdom, const char *machine, const char *problem, long long ranks);

/* The entry for a size and a number of threads (0: any), by the rule above. */
int autotune_wisdom_lookup(
    const autotune_wisdom *wisdom, long long size, long long threads,
    autotune_wisdom_choice *choice);

/* The value of a parameter. KIND where it is of another kind: an integer is also a number, a
 * switch is true or false, none is JSON's null: not applied. */
int autotune_wisdom_integer(
    const autotune_wisdom_choice *choice, const char *name, long long *value);
int autotune_wisdom_number(const autotune_wisdom_choice *choice, const char *name, double *value);
int autotune_wisdom_switch(const autotune_wisdom_choice *choice, const char *name, int *value);
int autotune_wisdom_text(
    const autotune_wisdom_choice *choice, const char *name, const char **value);
int autotune_wisdom_none(const autotune_wisdom_choice *choice, const char *name);

/* One of the compiler's flags, from 0; NULL behind the last. */
const char *autotune_wisdom_flag(const autotune_wisdom_choice *choice, size_t index);

/* A code in words. */
const char *autotune_wisdom_message(int code);

#ifdef __cplusplus
}
#endif
#endif /* AUTOTUNE_WISDOM_H */

#ifdef AUTOTUNE_WISDOM_IMPLEMENTATION
#ifndef AUTOTUNE_WISDOM_IMPLEMENTED
#define AUTOTUNE_WISDOM_IMPLEMENTED

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AUTOTUNE_WISDOM_LARGEST 9007199254740992LL /* 2^53 */
#define AUTOTUNE_WISDOM_DEPTH 200
#define AUTOTUNE_WISDOM_DIGITS 400

enum { aw_null, aw_false, aw_true, aw_number, aw_text, aw_list, aw_object };

/* A value of JSON. Texts lie in the buffer of the file, ended by a zero. */
typedef struct aw_node {
    int kind;
    int whole; /* `integer` holds the number */
    long long integer;
    double number;
    const char *text;
    const char *key;        /* within an object */
    struct aw_node *child;  /* of a list or object: the first */
    struct aw_node *next;   /* the next one of the same list or object */
    struct aw_node *older;  /* every node that was made, for freeing */
} aw_node;

struct autotune_wisdom {
    char *buffer;
    aw_node *newest;
    const aw_node *sections;
    const aw_node *section;
};

/* --- JSON ---------------------------------------------------------------------------------- */

typedef struct {
    char *at;
    char *end; /* a zero stands here */
    int depth;
    int code;
    autotune_wisdom *wisdom;
} aw_reader;

static aw_node *aw_value(aw_reader *r);

static int aw_fail(aw_reader *r, int code)
{
    if (r->code == AUTOTUNE_WISDOM_OK) r->code = code;
    return 0;
}

static aw_node *aw_new(aw_reader *r, int kind)
{
    aw_node *node = (aw_node *)calloc(1, sizeof *node);
    if (!node) {
        aw_fail(r, AUTOTUNE_WISDOM_NO_MEMORY);
        return NULL;
    }
    node->kind = kind;
    node->older = r->wisdom->newest;
    r->wisdom->newest = node;
    return node;
}

static void aw_space(aw_reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static int aw_word(aw_reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
    r->at += length;
    return 1;
}

static int aw_hex(const char *at, unsigned *value)
{
    int i;
    *value = 0;
    for (i = 0; i < 4; i++) {
        char c = at[i];
        unsigned digit;
        if (c >= '0' && c <= '9') digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f') digit = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F') digit = (unsigned)(c - 'A') + 10;
        else return 0;
        *value = *value * 16 + digit;
    }
    return 1;
}

/* An escaped character as UTF-8; it is never longer than its escape. */
static int aw_escape(aw_reader *r, char **out)
{
    static const char codes[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    unsigned point, low;
    const char *found;
    char c = *r->at++;
    if (c != 'u') {
        found = c ? strchr(codes, c) : NULL;
        if (!found) return aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
        *(*out)++ = meant[found - codes];
        return 1;
    }
    if (!aw_hex(r->at, &point) || point == 0) return aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
    r->at += 4;
    if (point >= 0xD800 && point < 0xDC00 && r->at[0] == '\\' && r->at[1] == 'u'
        && aw_hex(r->at + 2, &low) && low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        r->at += 6;
    }
    if (point < 0x80) {
        *(*out)++ = (char)point;
    } else if (point < 0x800) {
        *(*out)++ = (char)(0xC0 | (point >> 6));
        *(*out)++ = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *(*out)++ = (char)(0xE0 | (point >> 12));
        *(*out)++ = (char)(0x80 | ((point >> 6) & 0x3F));
        *(*out)++ = (char)(0x80 | (point & 0x3F));
    } else {
        *(*out)++ = (char)(0xF0 | (point >> 18));
        *(*out)++ = (char)(0x80 | ((point >> 12) & 0x3F));
        *(*out)++ = (char)(0x80 | ((point >> 6) & 0x3F));
        *(*out)++ = (char)(0x80 | (point & 0x3F));
    }
    return 1;
}

/* A text, decoded where it lies. */
static const char *aw_string(aw_reader *r)
{
    char *start, *out;
    if (!aw_word(r, "\"")) return NULL;
    start = out = r->at;
    while (*r->at != '"') {
        if ((unsigned char)*r->at < 0x20) {
            aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
            return NULL;
        }
        if (*r->at == '\\') {
            r->at++;
            if (!aw_escape(r, &out)) return NULL;
        } else {
            *out++ = *r->at++;
        }
    }
    r->at++;
    *out = '\0';
    return start;
}

static int aw_digits(const char **at)
{
    const char *start = *at;
    while (**at >= '0' && **at <= '9') (*at)++;
    return *at > start;
}

/* strtod with the decimal point of the locale that is set. */
static double aw_double(const char *text, size_t length)
{
    char copy[AUTOTUNE_WISDOM_DIGITS + 16];
    const char *point = localeconv()->decimal_point;
    size_t i, used = 0, width = strlen(point);
    for (i = 0; i < length; i++) {
        if (text[i] == '.' && width <= 8) {
            memcpy(copy + used, point, width);
            used += width;
        } else {
            copy[used++] = text[i];
        }
    }
    copy[used] = '\0';
    return strtod(copy, NULL);
}

static aw_node *aw_numeral(aw_reader *r)
{
    const char *at = r->at, *start = r->at;
    int whole = 1;
    aw_node *node;
    if (*at == '-') at++;
    if (*at == '0') at++;
    else if (!aw_digits(&at)) goto malformed;
    if (*at == '.') {
        at++;
        whole = 0;
        if (!aw_digits(&at)) goto malformed;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        whole = 0;
        if (*at == '+' || *at == '-') at++;
        if (!aw_digits(&at)) goto malformed;
    }
    if (at - start > AUTOTUNE_WISDOM_DIGITS) goto malformed;
    node = aw_new(r, aw_number);
    if (!node) return NULL;
    node->number = aw_double(start, (size_t)(at - start));
    if (whole) {
        errno = 0;
        node->integer = strtoll(start, NULL, 10);
        node->whole = errno == 0;
    }
    r->at += at - start;
    return node;
malformed:
    aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
    return NULL;
}

/* The members of a list or object, the last of which is followed by `close`. */
static int aw_members(aw_reader *r, aw_node *parent, char close)
{
    aw_node **place = &parent->child;
    r->at++;
    aw_space(r);
    if (*r->at == close) {
        r->at++;
        return 1;
    }
    for (;;) {
        const char *key = NULL;
        aw_node *value;
        aw_space(r);
        if (close == '}') {
            key = aw_string(r);
            if (!key) return 0;
            aw_space(r);
            if (!aw_word(r, ":")) return 0;
        }
        value = aw_value(r);
        if (!value) return 0;
        value->key = key;
        *place = value;
        place = &value->next;
        aw_space(r);
        if (*r->at == close) {
            r->at++;
            return 1;
        }
        if (!aw_word(r, ",")) return 0;
    }
}

static aw_node *aw_value(aw_reader *r)
{
    aw_node *node = NULL;
    aw_space(r);
    switch (*r->at) {
    case '{':
    case '[':
        if (++r->depth > AUTOTUNE_WISDOM_DEPTH) {
            aw_fail(r, AUTOTUNE_WISDOM_MALFORMED);
            return NULL;
        }
        node = aw_new(r, *r->at == '{' ? aw_object : aw_list);
        if (!node || !aw_members(r, node, *r->at == '{' ? '}' : ']')) return NULL;
        r->depth--;
        return node;
    case '"':
        node = aw_new(r, aw_text);
        if (node && !(node->text = aw_string(r))) return NULL;
        return node;
    case 't': return aw_word(r, "true") ? aw_new(r, aw_true) : NULL;
    case 'f': return aw_word(r, "false") ? aw_new(r, aw_false) : NULL;
    case 'n': return aw_word(r, "null") ? aw_new(r, aw_null) : NULL;
    default: return aw_numeral(r);
    }
}

/* --- fields -------------------------------------------------------------------------------- */

/* The member of this name, the last of several; NULL: none. */
static const aw_node *aw_get(const aw_node *object, const char *name)
{
    const aw_node *member, *found = NULL;
    for (member = object->child; member; member = member->next)
        if (strcmp(member->key, name) == 0) found = member;
    return found;
}

static const aw_node *aw_of(const aw_node *object, const char *name, int kind)
{
    const aw_node *found = aw_get(object, name);
    return found && found->kind == kind ? found : NULL;
}

static int aw_counts(const aw_node *object, const char *name)
{
    const aw_node *found = aw_of(object, name, aw_number);
    return found && found->whole && found->integer >= 1
        && found->integer <= AUTOTUNE_WISDOM_LARGEST;
}

static int aw_finite(const aw_node *node)
{
    return node->kind == aw_number && node->number - node->number == 0;
}

/* A number, null, or nothing. */
static int aw_optional(const aw_node *object, const char *name)
{
    const aw_node *found = aw_get(object, name);
    return !found || found->kind == aw_null || aw_finite(found);
}

static double aw_known(const aw_node *object, const char *name)
{
    const aw_node *found = aw_of(object, name, aw_number);
    return found ? found->number : -1.0;
}

/* The interval of the objective of an entry. */
static const char *aw_interval(const aw_node *entry)
{
    return aw_get(entry, "metric") ? "interval" : "interval_s";
}

static int aw_more(const aw_node *entry)
{
    const aw_node *better = aw_of(entry, "better", aw_text);
    return better && strcmp(better->text, "more") == 0;
}

static int aw_valid_objective(const aw_node *entry)
{
    const aw_node *better = aw_of(entry, "better", aw_text);
    if (!aw_get(entry, "metric")) return 1;
    return aw_of(entry, "metric", aw_text) && aw_of(entry, "unit", aw_text) && better
        && (aw_more(entry) || strcmp(better->text, "less") == 0) && aw_optional(entry, "value");
}

static int aw_valid_entry(const aw_node *entry)
{
    const aw_node *item, *flags, *parameters, *interval, *verified;
    if (entry->kind != aw_object) return 0;
    parameters = aw_of(entry, "parameters", aw_object);
    flags = aw_of(entry, "flags", aw_list);
    interval = aw_get(entry, aw_interval(entry));
    verified = aw_get(entry, "verified");
    if (!parameters || !flags || !verified) return 0;
    for (item = parameters->child; item; item = item->next)
        if (item->kind == aw_list || item->kind == aw_object) return 0;
    for (item = flags->child; item; item = item->next)
        if (item->kind != aw_text) return 0;
    if (interval && interval->kind != aw_null) {
        if (interval->kind != aw_list || !interval->child || !aw_finite(interval->child)) return 0;
        item = interval->child->next;
        if (!item || !aw_finite(item) || item->next) return 0;
    }
    return (verified->kind == aw_true || verified->kind == aw_false)
        && aw_counts(entry, "size") && aw_counts(entry, "threads")
        && aw_of(entry, "candidate", aw_text) && aw_of(entry, "compiler", aw_text)
        && aw_valid_objective(entry)
        && aw_optional(entry, "seconds") && aw_optional(entry, "loss_bound");
}

static int aw_valid_section(const aw_node *section)
{
    const aw_node *machine, *problem, *entries, *entry;
    if (section->kind != aw_object) return 0;
    machine = aw_of(section, "machine", aw_object);
    problem = aw_of(section, "problem", aw_object);
    entries = aw_of(section, "entries", aw_list);
    if (!machine || !problem || !entries || !entries->child) return 0;
    if (!aw_of(machine, "identity", aw_text) || !aw_of(problem, "id", aw_text)) return 0;
    for (entry = entries->child; entry; entry = entry->next)
        if (!aw_valid_entry(entry)) return 0;
    return aw_counts(section, "ranks");
}

static int aw_check(autotune_wisdom *wisdom, const aw_node *root)
{
    const aw_node *schema, *sections, *section;
    if (root->kind != aw_object) return AUTOTUNE_WISDOM_VERSION;
    schema = aw_of(root, "schema", aw_text);
    if (!schema || strcmp(schema->text, "autotune.wisdom/1") != 0) return AUTOTUNE_WISDOM_VERSION;
    sections = aw_of(root, "sections", aw_list);
    if (!sections || !sections->child) return AUTOTUNE_WISDOM_MALFORMED;
    for (section = sections->child; section; section = section->next)
        if (!aw_valid_section(section)) return AUTOTUNE_WISDOM_MALFORMED;
    wisdom->sections = sections;
    if (!sections->child->next) wisdom->section = sections->child;
    return AUTOTUNE_WISDOM_OK;
}

/* --- opening ------------------------------------------------------------------------------- */

/* Read `buffer`, which has room for a zero behind its `length` bytes and is freed by close. */
static int aw_take(char *buffer, size_t length, autotune_wisdom **wisdom)
{
    aw_reader reader;
    aw_node *root;
    autotune_wisdom *made = (autotune_wisdom *)calloc(1, sizeof *made);
    if (!made) {
        free(buffer);
        return AUTOTUNE_WISDOM_NO_MEMORY;
    }
    made->buffer = buffer;
    buffer[length] = '\0';
    reader.at = buffer;
    reader.end = buffer + length;
    reader.depth = 0;
    reader.code = AUTOTUNE_WISDOM_OK;
    reader.wisdom = made;
    root = aw_value(&reader);
    if (root) {
        aw_space(&reader);
        if (reader.at != reader.end) aw_fail(&reader, AUTOTUNE_WISDOM_MALFORMED);
        else reader.code = aw_check(made, root);
    }
    if (reader.code != AUTOTUNE_WISDOM_OK) {
        autotune_wisdom_close(made);
        return reader.code;
    }
    *wisdom = made;
    return AUTOTUNE_WISDOM_OK;
}

int autotune_wisdom_parse(const char *text, size_t length, autotune_wisdom **wisdom)
{
    char *buffer;
    *wisdom = NULL;
    buffer = (char *)malloc(length + 1);
    if (!buffer) return AUTOTUNE_WISDOM_NO_MEMORY;
    if (length) memcpy(buffer, text, length);
    return aw_take(buffer, length, wisdom);
}

int autotune_wisdom_open(const char *path, autotune_wisdom **wisdom)
{
    FILE *file;
    char *buffer = NULL, *grown;
    size_t length = 0, room = 0, got;
    int failed;
    *wisdom = NULL;
    file = fopen(path, "rb");
    if (!file) return AUTOTUNE_WISDOM_UNREADABLE;
    do {
        if (length + 1 >= room) {
            room = room ? 2 * room : 65536;
            grown = (char *)realloc(buffer, room);
            if (!grown) {
                free(buffer);
                fclose(file);
                return AUTOTUNE_WISDOM_NO_MEMORY;
            }
            buffer = grown;
        }
        got = fread(buffer + length, 1, room - length - 1, file);
        length += got;
    } while (got > 0);
    failed = ferror(file);
    fclose(file);
    if (failed) {
        free(buffer);
        return AUTOTUNE_WISDOM_UNREADABLE;
    }
    return aw_take(buffer, length, wisdom);
}

void autotune_wisdom_close(autotune_wisdom *wisdom)
{
    aw_node *node, *older;
    if (!wisdom) return;
    for (node = wisdom->newest; node; node = older) {
        older = node->older;
        free(node);
    }
    free(wisdom->buffer);
    free(wisdom);
}

/* --- sections ------------------------------------------------------------------------------ */

static int aw_named(const aw_node *object, const char *const keys[3], const char *wanted)
{
    int i;
    if (!wanted) return 1;
    for (i = 0; i < 3; i++) {
        const aw_node *found = aw_of(object, keys[i], aw_text);
        if (found && strcmp(found->text, wanted) == 0) return 1;
    }
    return 0;
}

int autotune_wisdom_select(
    autotune_wisdom *wisdom, const char *machine, const char *problem, long long ranks)
{
    static const char *const of_machine[3] = {"identity", "name", "title"};
    static const char *const of_problem[3] = {"id", "name", "definition"};
    const aw_node *section, *found = NULL;
    int several = 0;
    for (section = wisdom->sections->child; section; section = section->next) {
        if (!aw_named(aw_of(section, "machine", aw_object), of_machine, machine)) continue;
        if (!aw_named(aw_of(section, "problem", aw_object), of_problem, problem)) continue;
        if (ranks != 0 && aw_of(section, "ranks", aw_number)->integer != ranks) continue;
        if (found) several = 1;
        found = section;
    }
    if (!found) return AUTOTUNE_WISDOM_NO_SECTION;
    if (several) return AUTOTUNE_WISDOM_SEVERAL;
    wisdom->section = found;
    return AUTOTUNE_WISDOM_OK;
}

/* --- lookups ------------------------------------------------------------------------------- */

static double aw_distance(long long a, long long b)
{
    volatile double quotient = a > b ? (double)a / (double)b : (double)b / (double)a;
    return quotient; /* volatile: no more digits than a double has, on any processor */
}

static long long aw_whole_of(const aw_node *entry, const char *name)
{
    return aw_of(entry, name, aw_number)->integer;
}

/* The value of `name` nearest to `wanted` among the entries (with so many threads, if not 0). */
static long long aw_nearest(
    const aw_node *entry, const char *name, long long wanted, long long threads)
{
    long long best = 0;
    double least = 0.0;
    for (; entry; entry = entry->next) {
        long long value = aw_whole_of(entry, name);
        double distance = aw_distance(value, wanted);
        if (threads && aw_whole_of(entry, "threads") != threads) continue;
        if (best == 0 || distance < least || (distance == least && value < best)) {
            best = value;
            least = distance;
        }
    }
    return best;
}

static int aw_faster(const aw_node *one, const aw_node *other)
{
    const char *name = aw_get(one, "metric") ? "value" : "seconds";
    const aw_node *a = aw_of(one, name, aw_number), *b = aw_of(other, name, aw_number);
    if (a && b && a->number != b->number) return (a->number < b->number) != aw_more(one);
    if (!a != !b) return a != NULL;
    return aw_whole_of(one, "threads") < aw_whole_of(other, "threads");
}

static const aw_node *aw_choose(const aw_node *first, long long size, long long threads)
{
    const aw_node *entry, *best = NULL;
    long long taken = threads ? aw_nearest(first, "threads", threads, 0) : 0;
    long long there = aw_nearest(first, "size", size, taken);
    for (entry = first; entry; entry = entry->next) {
        if (aw_whole_of(entry, "size") != there) continue;
        if (taken) {
            if (aw_whole_of(entry, "threads") == taken) return entry;
        } else if (!best || aw_faster(entry, best)) {
            best = entry;
        }
    }
    return best;
}

int autotune_wisdom_lookup(
    const autotune_wisdom *wisdom, long long size, long long threads,
    autotune_wisdom_choice *choice)
{
    const aw_node *entry, *item, *interval;
    if (!wisdom->section) return AUTOTUNE_WISDOM_SEVERAL;
    if (size < 1 || size > AUTOTUNE_WISDOM_LARGEST) return AUTOTUNE_WISDOM_RANGE;
    if (threads < 0 || threads > AUTOTUNE_WISDOM_LARGEST) return AUTOTUNE_WISDOM_RANGE;
    entry = aw_choose(aw_of(wisdom->section, "entries", aw_list)->child, size, threads);
    interval = aw_of(entry, aw_interval(entry), aw_list);
    item = aw_of(entry, "metric", aw_text);
    choice->metric = item ? item->text : NULL;
    choice->unit = item ? aw_of(entry, "unit", aw_text)->text : NULL;
    choice->value = item ? aw_known(entry, "value") : -1.0;
    choice->size = aw_whole_of(entry, "size");
    choice->threads = aw_whole_of(entry, "threads");
    choice->candidate = aw_of(entry, "candidate", aw_text)->text;
    choice->compiler = aw_of(entry, "compiler", aw_text)->text;
    choice->flags = 0;
    for (item = aw_of(entry, "flags", aw_list)->child; item; item = item->next) choice->flags++;
    choice->seconds = aw_known(entry, "seconds");
    choice->low = interval ? interval->child->number : -1.0;
    choice->high = interval ? interval->child->next->number : -1.0;
    choice->loss_bound = aw_known(entry, "loss_bound");
    choice->verified = aw_get(entry, "verified")->kind == aw_true;
    choice->entry = entry;
    return AUTOTUNE_WISDOM_OK;
}

static const aw_node *aw_parameter(const autotune_wisdom_choice *choice, const char *name)
{
    return aw_get(aw_of((const aw_node *)choice->entry, "parameters", aw_object), name);
}

int autotune_wisdom_integer(
    const autotune_wisdom_choice *choice, const char *name, long long *value)
{
    const aw_node *found = aw_parameter(choice, name);
    if (!found) return AUTOTUNE_WISDOM_NO_PARAMETER;
    if (found->kind != aw_number || !found->whole) return AUTOTUNE_WISDOM_KIND;
    *value = found->integer;
    return AUTOTUNE_WISDOM_OK;
}

int autotune_wisdom_number(const autotune_wisdom_choice *choice, const char *name, double *value)
{
    const aw_node *found = aw_parameter(choice, name);
    if (!found) return AUTOTUNE_WISDOM_NO_PARAMETER;
    if (found->kind != aw_number) return AUTOTUNE_WISDOM_KIND;
    *value = found->number;
    return AUTOTUNE_WISDOM_OK;
}

int autotune_wisdom_switch(const autotune_wisdom_choice *choice, const char *name, int *value)
{
    const aw_node *found = aw_parameter(choice, name);
    if (!found) return AUTOTUNE_WISDOM_NO_PARAMETER;
    if (found->kind != aw_true && found->kind != aw_false) return AUTOTUNE_WISDOM_KIND;
    *value = found->kind == aw_true;
    return AUTOTUNE_WISDOM_OK;
}

int autotune_wisdom_text(
    const autotune_wisdom_choice *choice, const char *name, const char **value)
{
    const aw_node *found = aw_parameter(choice, name);
    if (!found) return AUTOTUNE_WISDOM_NO_PARAMETER;
    if (found->kind != aw_text) return AUTOTUNE_WISDOM_KIND;
    *value = found->text;
    return AUTOTUNE_WISDOM_OK;
}

int autotune_wisdom_none(const autotune_wisdom_choice *choice, const char *name)
{
    const aw_node *found = aw_parameter(choice, name);
    if (!found) return AUTOTUNE_WISDOM_NO_PARAMETER;
    return found->kind == aw_null ? AUTOTUNE_WISDOM_OK : AUTOTUNE_WISDOM_KIND;
}

const char *autotune_wisdom_flag(const autotune_wisdom_choice *choice, size_t index)
{
    const aw_node *item = aw_of((const aw_node *)choice->entry, "flags", aw_list)->child;
    while (item && index > 0) {
        item = item->next;
        index--;
    }
    return item ? item->text : NULL;
}

const char *autotune_wisdom_message(int code)
{
    switch (code) {
    case AUTOTUNE_WISDOM_OK: return "done";
    case AUTOTUNE_WISDOM_UNREADABLE: return "the wisdom file cannot be read";
    case AUTOTUNE_WISDOM_NO_MEMORY: return "no memory left";
    case AUTOTUNE_WISDOM_MALFORMED: return "the wisdom file is damaged";
    case AUTOTUNE_WISDOM_VERSION: return "no wisdom file of version autotune.wisdom/1";
    case AUTOTUNE_WISDOM_NO_SECTION:
        return "the wisdom file knows no such machine, problem and number of ranks";
    case AUTOTUNE_WISDOM_SEVERAL:
        return "several sections of the wisdom file fit: select machine, problem and ranks";
    case AUTOTUNE_WISDOM_RANGE:
        return "a size must be from 1 to 2^53, a number of threads from 0 to 2^53";
    case AUTOTUNE_WISDOM_NO_PARAMETER: return "the variant has no parameter of this name";
    case AUTOTUNE_WISDOM_KIND: return "the parameter is of another kind";
    default: return "no code of autotune_wisdom";
    }
}

#ifdef __cplusplus
}
#endif
#endif /* AUTOTUNE_WISDOM_IMPLEMENTED */
#endif /* AUTOTUNE_WISDOM_IMPLEMENTATION */
