/* The tree of call paths, and the open blocks. */
#include "recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192

struct frame {
    struct ma_path *path;
    uint64_t begun;
    uint64_t hash; /* of kind and name, where the path is ma_lost */
    struct ma_value asserted;
    const char *reason; /* why it has no value; NULL: it has one, or asserts nothing */
    int64_t counter;
};

struct ma_path ma_root = {.id = -1, .name = "", .expression = "", .counter = ""};
struct ma_path ma_lost = {.id = -2, .name = "", .expression = "", .counter = ""};
struct ma_path *ma_top = &ma_root;
struct ma_path *ma_paths[MA_MOST_PATHS];
int ma_path_count;

static struct ma_path *table[BUCKETS];
static struct frame *frames;
static int frame_count, frame_room;
static int64_t beyond; /* open blocks nested too deeply to be kept */

static const char *const kind_names[MA_KINDS] = {
    "region", "loop", "sub", "flop", "load", "store", "send", "recv", "coll",
};

int ma_frame_count(void)
{
    return frame_count;
}

struct ma_path *ma_frame(int index, uint64_t *begun)
{
    *begun = frames[index].begun;
    return frames[index].path;
}

/* --- paths ---------------------------------------------------------------------------------- */

/* Regions and subroutines are the same by their name; points also by what they assert and where. */
static int is_named(enum ma_kind kind)
{
    return kind == MA_REGION || kind == MA_SUB;
}

static int is_point(const struct ma_path *path, const struct ma_site *site)
{
    if ((int)path->kind != site->kind || strcmp(path->name, site->name) != 0)
        return 0;
    if (is_named(path->kind))
        return 1;
    return path->first_line == site->line && strcmp(path->expression, site->expression) == 0 &&
           strcmp(path->repeat, site->repeat) == 0 &&
           strcmp(path->operation, site->operation) == 0 && strcmp(path->file, site->file) == 0;
}

static uint64_t hash_of(const struct ma_site *site)
{
    uint64_t hash = ma_hash((uint64_t)site->kind, site->name);
    if (is_named((enum ma_kind)site->kind))
        return hash;
    return ma_hash(hash, site->expression) + (uint64_t)site->line;
}

static struct ma_path *made(const struct ma_site *site, uint64_t hash)
{
    struct ma_path *path = ma_path_count == MA_MOST_PATHS ? NULL : calloc(1, sizeof *path);
    if (path == NULL)
        return &ma_lost;
    if (ma_path_count == 0)
        ma_mark_start();
    ma_process.busy++;
    path->id = ma_path_count;
    path->kind = (enum ma_kind)site->kind;
    path->parent = ma_top;
    path->name = ma_intern(site->name);
    path->expression = ma_intern(site->expression);
    path->repeat = ma_intern(site->repeat);
    path->operation = ma_intern(site->operation);
    path->file = ma_intern(site->file);
    path->first_line = path->last_line = site->line;
    path->counter = path->kind == MA_LOOP ? "trips" : "";
    if (!is_named(path->kind))
        path->formula = ma_formula_of(path->expression);
    if (path->kind >= MA_SEND)
        path->repetition = ma_formula_of(path->repeat);
    path->hash = hash;
    path->same_hash = table[(hash >> 20) % BUCKETS];
    table[(hash >> 20) % BUCKETS] = path;
    ma_paths[ma_path_count++] = path;
    ma_process.busy--;
    return path;
}

static struct ma_path *searched(const struct ma_site *site)
{
    uint64_t hash = hash_of(site) + (uint64_t)(ma_top->id + 2) * 0x9e3779b97f4a7c15u;
    for (struct ma_path *path = table[(hash >> 20) % BUCKETS]; path; path = path->same_hash)
        if (path->hash == hash && path->parent == ma_top && is_point(path, site))
            return path;
    if (site->kind < MA_SEND) /* recursion: an open block of the same name is visited again */
        for (struct ma_path *path = ma_top; path != NULL && path != &ma_root; path = path->parent)
            if (is_point(path, site))
                return path;
    return made(site, hash);
}

struct ma_path *ma_path_at(struct ma_site *site)
{
    if (__builtin_expect(site->parent == ma_top, 1))
        return site->path;
    struct ma_path *path = ma_top == &ma_lost ? &ma_lost : searched(site);
    if (path != &ma_lost) {
        site->parent = ma_top;
        site->path = path;
    }
    return path;
}

/* --- counts --------------------------------------------------------------------------------- */

static void note_worst(struct ma_path *path, const struct ma_value *asserted,
                       const struct ma_value *measured, double difference)
{
    const struct ma_formula *formula = path->formula;
    int count = formula->variable_count;
    if (path->has_worst && fabs(difference) <= fabs(path->worst_difference))
        return;
    if (path->worst_binding == NULL && count > 0)
        path->worst_binding = calloc((size_t)count, sizeof *path->worst_binding);
    if (path->worst_binding == NULL && count > 0)
        return;
    for (int i = 0; i < count; i++)
        path->worst_binding[i] = formula->variables[i]->slot.value;
    path->has_worst = 1;
    path->worst_asserted = *asserted;
    path->worst_measured = *measured;
    path->worst_difference = difference;
}

static void fail(struct ma_path *path, const struct ma_value *asserted,
                 const struct ma_value *measured)
{
    struct ma_value difference;
    if (ma_operate('-', asserted, measured, &difference) != MA_FINE)
        difference = ma_real_value(ma_as_double(asserted) - ma_as_double(measured));
    path->failures++;
    ma_count(&path->differences, &difference, 1, MA_MOST_DIFFERENCES);
    note_worst(path, asserted, measured, ma_as_double(&difference));
}

static void extremes(struct ma_path *path, const struct ma_value *measured)
{
    if (path->counted == 0) {
        path->least = path->most = *measured;
        return;
    }
    if (ma_compare(measured, &path->least) < 0)
        path->least = *measured;
    if (ma_compare(measured, &path->most) > 0)
        path->most = *measured;
}

void ma_compare_counts(struct ma_path *path, const struct ma_value *asserted,
                       const struct ma_value *measured)
{
    if (ma_is_whole(asserted) && ma_is_whole(measured)) {
        ma_add_whole(&path->asserted_counted, asserted->top);
        ma_add_whole(&path->measured, measured->top);
        path->zero += measured->top == 0;
        if (path->counted == 0 || path->least.number != MA_EXACT ||
            path->most.number != MA_EXACT || measured->top < path->least.top ||
            measured->top > path->most.top)
            extremes(path, measured);
        path->counted++;
        if (asserted->top == measured->top) {
            path->passes++;
            return;
        }
        fail(path, asserted, measured);
        return;
    }
    ma_add(&path->asserted_counted, asserted, 1);
    ma_add(&path->measured, measured, 1);
    path->zero += ma_as_double(measured) == 0.0;
    extremes(path, measured);
    path->counted++;
    if (ma_compare(asserted, measured) == 0)
        path->passes++;
    else
        fail(path, asserted, measured);
}

/* --- blocks --------------------------------------------------------------------------------- */

/* The value that a block asserts at this visit, or the reason why there is none. */
static const char *assert_count(struct ma_path *path, struct ma_value *asserted)
{
    struct ma_formula *formula = path->formula;
    ma_refresh(formula);
    if (formula->fault != MA_FINE)
        return formula->reason;
    *asserted = formula->value;
    return NULL;
}

static void settle_count(struct ma_path *path, const char *reason, const struct ma_value *asserted,
                         const struct ma_value *measured)
{
    if (reason != NULL) {
        ma_count_reason(&path->reasons, reason, 1);
        return;
    }
    path->evaluated++;
    if (measured == NULL) {
        ma_add(&path->asserted, asserted, 1);
        return;
    }
    if (measured->number == MA_REAL && !isfinite(measured->real)) {
        path->evaluated--;
        ma_count_reason(&path->reasons, "the count is no finite number", 1);
        return;
    }
    if (ma_as_double(measured) < 0) {
        path->evaluated--;
        ma_count_reason(&path->reasons, "the count is below 0", 1);
        return;
    }
    ma_add(&path->asserted, asserted, 1);
    ma_compare_counts(path, asserted, measured);
}

static int room_for_frame(void)
{
    if (frame_count < frame_room)
        return 1;
    int room = frame_room * 2 + 64;
    struct frame *larger =
        frame_count >= MA_MOST_FRAMES ? NULL : realloc(frames, (size_t)room * sizeof *larger);
    if (larger == NULL) {
        beyond++;
        ma_loss("blocks nested more than 65,536 deep", 1);
        return 0;
    }
    frames = larger;
    frame_room = room;
    return 1;
}

void ma_begin(struct ma_site *site)
{
    if (__builtin_expect(frame_count >= frame_room, 0) && !room_for_frame())
        return;
    struct ma_path *path = ma_path_at(site);
    struct frame *frame = &frames[frame_count];
    frame->path = path;
    frame->reason = NULL;
    path->visits++;
    if (++path->open > path->deepest)
        path->deepest = path->open;
    if (path->formula != NULL) {
        frame->reason = assert_count(path, &frame->asserted);
        if (path->kind == MA_FLOP && ma_papi_counter() != NULL)
            frame->counter = ma_papi_read();
    }
    if (__builtin_expect(path == &ma_lost, 0)) {
        frame->hash = ma_hash((uint64_t)site->kind, site->name);
        ma_loss("visits of paths beyond the first 4,096", 1);
    }
    frame_count++;
    ma_top = path;
    if (__builtin_expect(ma_process.events, 0))
        ma_event("begin", path, -1, -1);
    frame->begun = ma_ticks();
}

static void add_time(struct ma_path *path, uint64_t begun, uint64_t now)
{
    if (now < begun) {
        ma_loss("times at which the clock ran backwards", 1);
        return;
    }
    if (path->ticks + (now - begun) < path->ticks || now - begun > UINT64_MAX / 4) {
        ma_loss("times beyond the range of the clock", 1);
        return;
    }
    path->ticks += now - begun;
}

/* Closes the innermost block. */
static void close_block(uint64_t now)
{
    struct frame *frame = &frames[--frame_count];
    struct ma_path *path = frame->path;
    if (--path->open == 0) {
        add_time(path, frame->begun, now);
        if (path->queues != NULL)
            ma_drop_foretold(path);
    }
    ma_top = frame_count == 0 ? &ma_root : frames[frame_count - 1].path;
    if (__builtin_expect(ma_process.events, 0))
        ma_event("end", path, -1, -1);
}

static int is_block(const struct frame *frame, const struct ma_site *site)
{
    if (frame->path == &ma_lost)
        return frame->hash == ma_hash((uint64_t)site->kind, site->name);
    return (int)frame->path->kind == site->kind && strcmp(frame->path->name, site->name) == 0;
}

static void lose(const char *what, enum ma_kind kind, const char *name)
{
    char words[200];
    snprintf(words, sizeof words, "%s: %s '%.80s'", what, kind_names[kind], name);
    ma_loss(words, 1);
}

/* Ends the blocks within the one that a site ends; 0 where no such block is open. */
static int unwind(const struct ma_site *site, uint64_t now)
{
    int index = frame_count - 1;
    while (index >= 0 && !is_block(&frames[index], site))
        index--;
    if (index < 0) {
        lose("end without begin", (enum ma_kind)site->kind, site->name);
        return 0;
    }
    while (frame_count - 1 > index) {
        struct frame *frame = &frames[frame_count - 1];
        lose("begin without end", frame->path->kind, frame->path->name);
        if (frame->path->formula != NULL)
            ma_count_reason(&frame->path->reasons,
                            frame->reason != NULL ? frame->reason : "its end was not reached", 1);
        close_block(now);
    }
    return 1;
}

/* Counts of two counters are not added: only those of the first one are compared. */
static void settle_counted(struct ma_path *path, const char *counter, const char *reason,
                           const struct ma_value *asserted, const struct ma_value *measured)
{
    if (*path->counter == '\0')
        path->counter = counter;
    if (reason == NULL && strcmp(path->counter, counter) != 0)
        reason = "another counter counted this visit";
    settle_count(path, reason, asserted, measured);
}

static void settle_block(const struct frame *frame, const struct ma_value *measured)
{
    struct ma_path *path = frame->path;
    if (measured != NULL) {
        const char *counter = path->kind == MA_LOOP ? "trips" : "program";
        settle_counted(path, counter, frame->reason, &frame->asserted, measured);
    } else if (path->kind == MA_FLOP && ma_papi_counter() != NULL) {
        struct ma_value counted = ma_whole_value(ma_papi_read() - frame->counter);
        settle_counted(path, ma_papi_counter(), frame->reason, &frame->asserted, &counted);
    } else {
        settle_count(path, frame->reason, &frame->asserted, NULL);
    }
}

void ma_end(struct ma_site *site, const struct ma_value *measured)
{
    uint64_t now = ma_ticks();
    if (__builtin_expect(beyond > 0, 0)) {
        beyond--;
        return;
    }
    if (frame_count == 0 || frames[frame_count - 1].path != site->path ||
        site->path == (void *)&ma_lost) {
        if (!unwind(site, now))
            return;
        site->path = frames[frame_count - 1].path;
    }
    struct frame *frame = &frames[frame_count - 1];
    struct ma_path *path = frame->path;
    if (site->line > path->last_line)
        path->last_line = site->line;
    if (path->formula != NULL)
        settle_block(frame, measured);
    close_block(now);
}

void ma_count_block(struct ma_site *site, const struct ma_value *measured)
{
    struct ma_path *path = ma_path_at(site);
    struct ma_value asserted;
    path->visits++;
    if (path == &ma_lost) {
        ma_loss("visits of paths beyond the first 4,096", 1);
        return;
    }
    const char *reason = assert_count(path, &asserted);
    path->deepest = path->deepest > 1 ? path->deepest : 1;
    settle_counted(path, "program", reason, &asserted, measured);
    if (ma_process.events)
        ma_event("count", path, -1, -1);
}
