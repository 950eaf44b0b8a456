/* The record of a rank as JSON text: autotune/domain/assertion_record.py has its shape. */
#include "recorder.h"

#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[MA_KINDS] = {
    "region", "loop", "sub", "flop", "load", "store", "send", "recv", "coll",
};

/* --- parts of JSON -------------------------------------------------------------------------- */

/* The code point at a place of a text in UTF-8, and its length; U+FFFD for what is none. */
static unsigned code_point(const unsigned char *at, int *length)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int bytes = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    unsigned code = bytes < 2 ? *at : *at & (0xffu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if (at[i] >> 6 != 2)
            bytes = 0;
        else
            code = code << 6 | (at[i] & 0x3f);
    }
    if (bytes == 0 || code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        *length = 1;
        return 0xfffd;
    }
    *length = bytes;
    return code;
}

static void text(FILE *file, const char *words)
{
    int length;
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)words; *at != '\0'; at += length) {
        unsigned code = code_point(at, &length);
        if (code == '"' || code == '\\')
            fprintf(file, "\\%c", (char)code);
        else if (code >= 0x20 && code < 0x7f)
            fputc((int)code, file);
        else if (code < 0x10000)
            fprintf(file, "\\u%04x", code);
        else
            fprintf(file, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                    0xdc00 + ((code - 0x10000) & 0x3ff));
    }
    fputc('"', file);
}

static void named_text(FILE *file, const char *name, const char *words)
{
    fprintf(file, "\"%s\": ", name);
    text(file, words == NULL ? "" : words);
    fputs(", ", file);
}

static void real(FILE *file, double number)
{
    char figures[40];
    if (!isfinite(number)) /* a sum of real numbers that left their range */
        number = number > 0 ? 1.7976931348623157e308 : -1.7976931348623157e308;
    snprintf(figures, sizeof figures, "%.17g", number);
    fputs(figures, file);
    if (strpbrk(figures, ".e") == NULL)
        fputs(".0", file);
}

static void whole(FILE *file, ma_wide number)
{
    char figures[50], *at = figures + sizeof figures - 1;
    int negative = number < 0;
    *at = '\0';
    do {
        int digit = (int)(number % 10);
        *--at = (char)('0' + (digit < 0 ? -digit : digit));
        number /= 10;
    } while (number != 0);
    if (negative)
        *--at = '-';
    fputs(at, file);
}

static void count(FILE *file, const struct ma_value *value)
{
    if (ma_is_whole(value))
        whole(file, value->top);
    else
        real(file, ma_as_double(value));
}

static void sum(FILE *file, const struct ma_sum *value)
{
    if (value->is_real)
        real(file, (double)value->whole + value->real);
    else
        whole(file, value->whole);
}

static void number(FILE *file, const char *name, int64_t value)
{
    fprintf(file, "\"%s\": %lld, ", name, (long long)value);
}

static void histogram(FILE *file, const char *name, const struct ma_histogram *bars)
{
    fprintf(file, "\"%s\": [", name);
    for (int i = 0; i < bars->count; i++) {
        fputs(i == 0 ? "[" : ", [", file);
        count(file, &bars->bars[i].value);
        fprintf(file, ", %lld]", (long long)bars->bars[i].number);
    }
    fputs("], ", file);
}

/* The list of reasons, with one that is known only now: ``late`` of ``late_visits`` visits. */
static void reasons(FILE *file, const struct ma_reasons *list, const char *late,
                    int64_t late_visits)
{
    fputs("\"unevaluated\": [", file);
    for (int i = 0; i < list->count; i++) {
        fputs(i == 0 ? "[" : ", [", file);
        text(file, list->list[i].text);
        fprintf(file, ", %lld]", (long long)list->list[i].visits);
    }
    if (late_visits > 0) {
        fputs(list->count == 0 ? "[" : ", [", file);
        text(file, late);
        fprintf(file, ", %lld]", (long long)late_visits);
    }
    fputs("]", file);
}

/* --- calls ---------------------------------------------------------------------------------- */

static void peers(FILE *file, const struct ma_call *call)
{
    fputs("\"peers\": [", file);
    for (int i = 0; i < call->peer_count; i++) {
        fprintf(file, "%s[%d, %lld, ", i == 0 ? "" : ", ", call->peers[i].rank,
                (long long)call->peers[i].messages);
        whole(file, call->peers[i].size);
        fputs("]", file);
    }
    fputs("], ", file);
}

static void calls(FILE *file, const struct ma_call *call)
{
    fputs("\"calls\": [", file);
    for (int first = 1; call != NULL; call = call->next, first = 0) {
        fputs(first ? "{" : ", {", file);
        named_text(file, "call", call->call);
        named_text(file, "kind", kind_names[call->kind]);
        number(file, "messages", call->messages);
        fputs("\"size\": ", file);
        whole(file, call->size);
        fputs(", ", file);
        number(file, "to_self", call->to_self);
        histogram(file, "sizes", &call->sizes);
        number(file, "other_sizes", call->sizes.others);
        peers(file, call);
        number(file, "other_peers", call->other_peers);
        fprintf(file, "\"unasserted\": %lld}", (long long)call->unasserted);
    }
    fputs("]", file);
}

/* --- paths ---------------------------------------------------------------------------------- */

static void worst(FILE *file, const struct ma_path *path)
{
    const struct ma_formula *formula = path->formula;
    if (!path->has_worst)
        return;
    fputs("\"worst\": {\"asserted\": ", file);
    count(file, &path->worst_asserted);
    fputs(", \"measured\": ", file);
    count(file, &path->worst_measured);
    fputs(", \"binding\": {", file);
    for (int i = 0; path->worst_binding != NULL && i < formula->variable_count; i++) {
        fputs(i == 0 ? "" : ", ", file);
        text(file, formula->variables[i]->name);
        fputs(": ", file);
        count(file, &path->worst_binding[i]);
    }
    fputs("}}, ", file);
}

static void differences(FILE *file, const struct ma_path *path)
{
    struct ma_histogram all = path->differences;
    struct ma_bar bars[MA_MOST_DIFFERENCES + 1];
    int place = 0;
    if (path->passes == 0) {
        histogram(file, "differences", &all);
    } else {
        struct ma_value zero = ma_whole_value(0);
        while (place < all.count && ma_compare(&all.bars[place].value, &zero) < 0)
            place++;
        for (int i = 0; i < all.count; i++)
            bars[i < place ? i : i + 1] = all.bars[i];
        bars[place].value = zero;
        bars[place].number = path->passes;
        all.bars = bars;
        all.count++;
        histogram(file, "differences", &all);
    }
    number(file, "other_differences", path->differences.others);
}

/* What was asserted and counted. A message is counted where MPI is watched, even if none came. */
static void counts(FILE *file, const struct ma_path *path)
{
    int is_message = path->kind >= MA_SEND, is_counted = path->counted > 0;
    fputs("\"asserted\": ", file);
    sum(file, is_counted && !is_message ? &path->asserted_counted : &path->asserted);
    fputs(", \"measured\": ", file);
    if (is_counted || (is_message ? ma_process.is_mpi : path->kind == MA_LOOP))
        sum(file, &path->measured);
    else
        fputs("null", file);
    fputs(", ", file);
    named_text(file, "counter", is_message ? (ma_process.is_mpi ? "mpi" : "") : path->counter);
    number(file, "passes", path->passes);
    number(file, "failures", path->failures);
    if (is_counted) {
        fputs("\"least\": ", file);
        count(file, &path->least);
        fputs(", \"most\": ", file);
        count(file, &path->most);
        fputs(", ", file);
    }
}

static double seconds(const struct ma_path *path)
{
    uint64_t ticks = path->ticks, begun, now = ma_ticks();
    for (int i = 0; i < ma_frame_count(); i++) {
        if (ma_frame(i, &begun) == path && now > begun) { /* still open: until now */
            ticks += now - begun;
            break;
        }
    }
    return ma_seconds(ticks);
}

static void path_reasons(FILE *file, const struct ma_path *path)
{
    int is_block = path->kind < MA_SEND;
    if (is_block && path->formula != NULL && path->open > 0)
        reasons(file, &path->reasons, "its end was not reached", path->open);
    else if (is_block && path->counted > 0)
        reasons(file, &path->reasons, "nobody counted this visit", path->evaluated - path->counted);
    else
        reasons(file, &path->reasons, "", 0);
    fputs(", ", file);
}

static void path_record(FILE *file, const struct ma_path *path)
{
    number(file, "id", path->id);
    number(file, "parent", path->parent->id);
    named_text(file, "kind", kind_names[path->kind]);
    named_text(file, "name", path->name);
    named_text(file, "expression", path->expression);
    named_text(file, "repeat", path->repeat);
    named_text(file, "operation", path->operation);
    named_text(file, "file", path->file);
    number(file, "first_line", path->first_line);
    number(file, "last_line", path->last_line);
    number(file, "visits", path->visits);
    counts(file, path);
    path_reasons(file, path);
    worst(file, path);
    differences(file, path);
    number(file, "zero", path->zero);
    number(file, "deepest", path->deepest);
    fputs("\"seconds\": ", file);
    real(file, seconds(path));
    fputs(", ", file);
    histogram(file, "asserted_sizes", &path->asserted_sizes);
    number(file, "asserted_other_sizes", path->asserted_sizes.others);
    int is_watched = path->kind >= MA_SEND && ma_process.is_mpi;
    number(file, "missing", is_watched ? path->missing + ma_still_foretold(path) : 0);
    calls(file, path->calls);
}

/* --- variables ------------------------------------------------------------------------------ */

static void variable_record(FILE *file, const struct ma_variable *variable)
{
    fputs("{\"variable\": {", file);
    named_text(file, "name", variable->name);
    named_text(file, "unit", variable->unit);
    named_text(file, "domain", variable->domain_text);
    fputs("\"expression\": ", file);
    text(file, variable->expression);
    fputs("}, \"first\": ", file);
    count(file, &variable->first);
    fputs(", \"last\": ", file);
    count(file, &variable->last);
    fputs(", ", file);
    number(file, "changes", variable->changes);
    number(file, "violations", variable->violations);
    if (variable->violations > 0) {
        fputs("\"worst_value\": ", file);
        count(file, &variable->worst);
        fputs(", ", file);
    }
    number(file, "passes", variable->passes);
    number(file, "failures", variable->failures);
    reasons(file, &variable->reasons, "", 0);
    fputs("}", file);
}

/* A variable that was named, and never had a value, has no place in the record but a loss. */
static void variables(FILE *file)
{
    int all, first = 1;
    struct ma_variable *const *list = ma_variables(&all);
    fputs("\"variables\": [", file);
    for (int i = 0; i < all; i++) {
        if (!list[i]->has_value)
            continue;
        fputs(first ? "\n" : ",\n", file);
        variable_record(file, list[i]);
        first = 0;
    }
    fputs("],\n", file);
}

/* --- losses --------------------------------------------------------------------------------- */

static void loss(FILE *file, int *first, const char *what, int64_t lost)
{
    if (lost == 0)
        return;
    fputs(*first ? "[" : ", [", file);
    text(file, what);
    fprintf(file, ", %lld]", (long long)lost);
    *first = 0;
}

static void losses(FILE *file)
{
    const char *const *texts;
    const int64_t *numbers;
    char words[200];
    int all, first = 1, named = ma_losses(&texts, &numbers);
    struct ma_variable *const *list = ma_variables(&all);
    fputs("\"losses\": [", file);
    for (int i = 0; i < named; i++)
        loss(file, &first, texts[i], numbers[i]);
    loss(file, &first, "points that other threads than the main one reached",
         ma_process.other_threads);
    loss(file, &first, "child processes, which record nothing", ma_process.forks);
    for (int i = 0; i < all; i++) {
        if (list[i]->has_value)
            continue;
        snprintf(words, sizeof words, "variable '%.80s' never had a value%s%.80s", list[i]->name,
                 list[i]->reasons.count > 0 ? ": " : "",
                 list[i]->reasons.count > 0 ? list[i]->reasons.list[0].text : "");
        loss(file, &first, words, 1);
    }
    for (int i = 0; i < ma_frame_count(); i++) {
        uint64_t begun;
        const struct ma_path *path = ma_frame(i, &begun);
        if (i > 32 || path == &ma_lost)
            continue;
        snprintf(words, sizeof words, "open when the record was written: %s '%.80s'",
                 kind_names[path->kind], path->name);
        loss(file, &first, words, 1);
    }
    fputs("]", file);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void head(FILE *file, int complete)
{
    char host[100] = "";
    gethostname(host, sizeof host - 1);
    fputs("{\"schema\": \"autotune.assertion-record/1\", ", file);
    named_text(file, "run", ma_process.run);
    number(file, "rank", ma_process.rank);
    number(file, "ranks", ma_process.ranks);
    named_text(file, "program", ma_process.program);
    named_text(file, "host", host);
    fputs("\"started\": ", file);
    real(file, ma_process.started);
    fputs(", \"seconds\": ", file);
    real(file, ma_seconds(ma_ticks() - ma_process.first_ticks));
    fprintf(file, ", \"complete\": %s,\n", complete ? "true" : "false");
}

void ma_print_record(FILE *file, int complete)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain == (locale_t)0 ? plain : uselocale(plain);
    head(file, complete);
    variables(file);
    fputs("\"paths\": [", file);
    for (int i = 0; i < ma_path_count; i++) {
        fputs(i == 0 ? "\n{" : ",\n{", file);
        path_record(file, ma_paths[i]);
        fputs("}", file);
    }
    fputs("],\n", file);
    calls(file, ma_root.calls);
    fputs(",\n", file);
    losses(file);
    fputs("}\n", file);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
}
