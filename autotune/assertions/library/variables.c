/* Variables with their domains, and formulas that are computed anew when a variable changes. */
#include "recorder.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMULA_BUCKETS 4096

static struct ma_variable *variables[MA_MOST_VARIABLES];
static int variable_count;

struct ma_variable *const *ma_variables(int *count)
{
    *count = variable_count;
    return variables;
}

/* The variable of a name, made where it is new; NULL where there are too many. */
static struct ma_variable *variable_of(const char *name)
{
    for (int i = 0; i < variable_count; i++)
        if (strcmp(variables[i]->name, name) == 0)
            return variables[i];
    struct ma_variable *made =
        variable_count == MA_MOST_VARIABLES ? NULL : calloc(1, sizeof *made);
    if (made == NULL) {
        ma_loss("values of variables beyond the first 1,024", 1);
        return NULL;
    }
    ma_mark_start();
    made->name = ma_intern(name);
    made->unit = made->domain_text = made->expression = made->outside = "";
    made->domain.least = -INFINITY;
    made->domain.most = INFINITY;
    made->slot.fault = MA_UNSET;
    variables[variable_count++] = made;
    return made;
}

/* --- domains -------------------------------------------------------------------------------- */

static int is_exact_root(const struct ma_value *value, enum ma_function function)
{
    struct ma_value root;
    return ma_apply(function, value, &root) == MA_FINE && ma_is_whole(&root) && root.top >= 0;
}

/* The whole number that a value is, if it is one; a real number may be. */
static int whole_of(const struct ma_value *value, struct ma_value *whole)
{
    if (value->number == MA_REAL) {
        if (value->real != trunc(value->real) || fabs(value->real) >= 9.2e18)
            return 0;
        *whole = ma_whole_value((int64_t)value->real);
        return 1;
    }
    *whole = *value;
    return value->bottom == 1;
}

static int is_inside(const struct ma_domain *domain, const struct ma_value *value)
{
    struct ma_value whole, least = ma_real_value(domain->least), most = ma_real_value(domain->most);
    if (ma_compare(value, &least) < 0 || ma_compare(value, &most) > 0)
        return 0;
    if (!domain->whole && !domain->power_of_two && !domain->square && !domain->even)
        return 1;
    return whole_of(value, &whole) && (!domain->even || whole.top % 2 == 0) &&
           (!domain->power_of_two || is_exact_root(&whole, MA_LOG2)) &&
           (!domain->square || is_exact_root(&whole, MA_SQRT));
}

/* The number between two places of a text; ``none`` where only blanks are there. */
static int read_bound(const char *first, const char *last, double none, double *bound)
{
    char *end;
    first += strspn(first, " ");
    while (last > first && last[-1] == ' ')
        last--;
    if (first >= last) {
        *bound = none;
        return 1;
    }
    if (strspn(first, "-+.0123456789eE") != (size_t)(last - first))
        return 0;
    *bound = ma_read_number(first, &end);
    return end == last && isfinite(*bound);
}

static int read_range(const char *text, size_t length, struct ma_domain *domain)
{
    const char *comma = memchr(text, ',', length), *last = text + length - 1;
    double least, most;
    if (comma == NULL || *text != '[' || *last != ']' ||
        !read_bound(text + 1, comma, -INFINITY, &least) ||
        !read_bound(comma + 1, last, INFINITY, &most))
        return 0;
    domain->least = fmax(domain->least, least);
    domain->most = fmin(domain->most, most);
    return domain->least <= domain->most;
}

static int is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncmp(text, word, length) == 0;
}

static int read_part(const char *text, size_t length, struct ma_domain *domain)
{
    if (length == 0)
        return 1;
    if (is_word(text, length, "power of two"))
        return domain->power_of_two = 1;
    if (is_word(text, length, "square"))
        return domain->square = 1;
    if (is_word(text, length, "whole"))
        return domain->whole = 1;
    if (is_word(text, length, "even"))
        return domain->even = 1;
    return read_range(text, length, domain);
}

static void read_domain(struct ma_variable *variable)
{
    const char *text = variable->domain_text;
    while (1) {
        size_t length = strcspn(text, ";");
        size_t first = strspn(text, " "), last = length;
        while (last > first && text[last - 1] == ' ')
            last--;
        first = first > last ? last : first;
        if (!read_part(text + first, last - first, &variable->domain)) {
            char words[400];
            snprintf(words, sizeof words,
                     "domain '%.80s' of variable '%.80s' cannot be read; expected power of two,"
                     " square, whole, even, or a range such as [1, 64]",
                     variable->domain_text, variable->name);
            ma_loss(words, 1);
        }
        if (text[length] == '\0')
            return;
        text += length + 1;
    }
}

/* --- values --------------------------------------------------------------------------------- */

static int is_same(const struct ma_value *first, const struct ma_value *second)
{
    return first->number == second->number && ma_compare(first, second) == 0;
}

static void violate(struct ma_variable *variable, const struct ma_value *value)
{
    if (variable->violations++ == 0)
        variable->worst = *value;
}

/* A value that the variable has already is checked against a domain that is named only now. */
static void describe(struct ma_variable *variable, const struct ma_site *site)
{
    if (*site->unit != '\0' && *variable->unit == '\0')
        variable->unit = ma_intern(site->unit);
    if (*site->domain == '\0' || strcmp(site->domain, variable->domain_text) == 0)
        return;
    if (*variable->domain_text != '\0') {
        char words[200];
        snprintf(words, sizeof words, "variable '%.80s' has several domains", variable->name);
        ma_loss(words, 1);
        return;
    }
    variable->domain_text = ma_intern(site->domain);
    read_domain(variable);
    if (variable->changes > 0)
        ma_loss("values of variables before their domain was named", variable->changes);
    if (variable->slot.fault == MA_FINE && !is_inside(&variable->domain, &variable->slot.value)) {
        violate(variable, &variable->slot.value);
        variable->slot.version++;
        variable->slot.fault = MA_OUTSIDE;
    }
}

static void no_value(struct ma_variable *variable, enum ma_fault fault)
{
    if (variable->slot.fault != fault)
        variable->slot.version++;
    variable->slot.fault = fault;
}

/* Variables that are derived from one that changed have no value until they are derived anew. */
static void outdate_derived(const struct ma_variable *changed)
{
    for (int i = 0; i < variable_count; i++) {
        const struct ma_formula *formula = variables[i]->formula;
        for (int k = 0; formula != NULL && k < formula->variable_count; k++)
            if (formula->variables[k] == changed && variables[i] != changed &&
                variables[i]->slot.fault == MA_FINE)
                no_value(variables[i], MA_OUTDATED);
    }
}

static void store(struct ma_variable *variable, const struct ma_value *value)
{
    int inside = is_inside(&variable->domain, value);
    if (!inside)
        violate(variable, value);
    if (!variable->has_value)
        variable->first = *value;
    else if (!is_same(&variable->last, value)) {
        variable->changes++;
        if (variable->feeds)
            outdate_derived(variable);
    }
    variable->has_value = 1;
    variable->last = *value;
    variable->slot.value = *value;
    variable->slot.version++;
    variable->slot.fault = inside ? MA_FINE : MA_OUTSIDE;
}

/* The variable of a site; NULL where there are too many. */
static struct ma_variable *variable_at(struct ma_site *site)
{
    if (site->path == NULL) {
        site->path = variable_of(site->name);
        if (site->path != NULL)
            describe(site->path, site);
    }
    return site->path;
}

void ma_set(struct ma_site *site, const struct ma_value *value)
{
    struct ma_variable *variable = variable_at(site);
    if (variable == NULL)
        return;
    if (variable->slot.fault == MA_FINE && is_same(&variable->slot.value, value))
        return;
    if (value->number == MA_REAL && !isfinite(value->real)) {
        no_value(variable, MA_UNSET);
        ma_count_reason(&variable->reasons, "the program gave no finite number", 1);
        return;
    }
    if (variable->formula != NULL)
        ma_loss("variables that are derived and also set", 1);
    store(variable, value);
}

static void define(struct ma_variable *variable, const struct ma_site *site)
{
    if (variable->formula != NULL && strcmp(variable->expression, site->expression) == 0)
        return;
    if (variable->formula != NULL) {
        char words[200];
        snprintf(words, sizeof words, "variable '%.80s' is derived by several expressions",
                 variable->name);
        ma_loss(words, 1);
    } else {
        variable->expression = ma_intern(site->expression);
    }
    variable->formula = ma_formula_of(site->expression);
    for (int i = 0; i < variable->formula->variable_count; i++)
        variable->formula->variables[i]->feeds = 1;
}

void ma_derive_value(struct ma_site *site, const struct ma_value *value)
{
    struct ma_variable *variable = variable_at(site);
    if (variable == NULL)
        return;
    if (variable->formula == NULL || strcmp(variable->formula->text, site->expression) != 0)
        define(variable, site);
    struct ma_formula *formula = variable->formula;
    ma_refresh(formula);
    if (formula->fault != MA_FINE) {
        no_value(variable, MA_UNSET);
        ma_count_reason(&variable->reasons, formula->reason, 1);
        return;
    }
    if (value != NULL) {
        if (ma_compare(&formula->value, value) == 0)
            variable->passes++;
        else
            variable->failures++;
    }
    if (variable->slot.fault != MA_FINE || !is_same(&variable->slot.value, &formula->value))
        store(variable, &formula->value);
}

/* --- formulas ------------------------------------------------------------------------------- */

static void bind(struct ma_formula *formula)
{
    int count = ma_names(formula->code);
    if (ma_wrong(formula->code) != NULL || count == 0)
        return;
    formula->variables = calloc((size_t)count, sizeof *formula->variables);
    for (int i = 0; i < count; i++) {
        struct ma_variable *variable =
            formula->variables == NULL ? NULL : variable_of(ma_name(formula->code, i));
        if (variable == NULL) { /* never has a value */
            ma_discard(formula->code);
            formula->code = NULL;
            return;
        }
        formula->variables[i] = variable;
    }
    formula->variable_count = count;
}

static struct ma_formula *made_formula(const char *text)
{
    static struct ma_formula crowded = {.text = "", .fault = MA_CROWDED};
    static int count;
    struct ma_formula *made = count == MA_MOST_FORMULAS ? NULL : calloc(1, sizeof *made);
    if (made == NULL) {
        crowded.reason = ma_fault_text(MA_CROWDED);
        return &crowded;
    }
    count++;
    made->text = ma_intern(text);
    made->code = ma_parse(text);
    made->versions = UINT64_MAX; /* of no computation */
    if (made->code != NULL)
        bind(made);
    return made;
}

struct ma_formula *ma_formula_of(const char *text)
{
    static struct ma_formula *table[FORMULA_BUCKETS];
    struct ma_formula **bucket = &table[(ma_hash(1, text) >> 20) % FORMULA_BUCKETS];
    for (struct ma_formula *formula = *bucket; formula != NULL; formula = formula->next)
        if (strcmp(formula->text, text) == 0)
            return formula;
    struct ma_formula *made = made_formula(text);
    if (made->fault != MA_CROWDED) {
        made->next = *bucket;
        *bucket = made;
    }
    return made;
}

static const char *reason(const struct ma_formula *formula, int culprit)
{
    char words[400];
    const char *text = ma_fault_text(formula->fault);
    switch (formula->fault) {
    case MA_UNSET:
    case MA_OUTDATED:
        snprintf(words, sizeof words, "variable '%.100s' %s",
                 formula->variables[culprit]->name, text);
        return ma_intern(words);
    case MA_OUTSIDE:
        snprintf(words, sizeof words, "variable '%.100s' %s '%.100s'",
                 formula->variables[culprit]->name, text,
                 formula->variables[culprit]->domain_text);
        return ma_intern(words);
    case MA_SYNTAX:
        snprintf(words, sizeof words, "%s: %.300s", text, ma_wrong(formula->code));
        return ma_intern(words);
    default:
        return text;
    }
}

void ma_compute(struct ma_formula *formula)
{
    int culprit = -1;
    const struct ma_slot *slots[formula->variable_count + 1];
    if (formula->code == NULL) {
        formula->fault = MA_CROWDED;
        formula->reason = ma_fault_text(MA_CROWDED);
        return;
    }
    for (int i = 0; i < formula->variable_count; i++)
        slots[i] = &formula->variables[i]->slot;
    formula->fault = ma_evaluate(formula->code, slots, &formula->value, &culprit);
    if (formula->fault != MA_FINE)
        formula->reason = reason(formula, culprit);
}
