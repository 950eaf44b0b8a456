/* Values of expressions, and the expressions: the language of autotune/language/counts.py. */
#ifndef MA_VALUES_H
#define MA_VALUES_H

#include "internal.h"

#define MA_LARGEST INT64_MAX

__extension__ typedef __int128 ma_wide;

/* Why an expression has no value. */
enum ma_fault {
    MA_FINE, MA_UNSET, MA_OUTDATED, MA_OUTSIDE, MA_DIVISION, MA_LARGE, MA_NEAR, MA_LOGARITHM,
    MA_SQUARE_ROOT, MA_ROOT, MA_SYNTAX, MA_CROWDED,
    MA_FAULTS
};

/* A fault in words; of MA_UNSET, MA_OUTDATED, MA_OUTSIDE and MA_SYNTAX the words that follow what
 * is named. */
const char *ma_fault_text(enum ma_fault fault);

/* The number of a text in the notation of C, whatever the locale of the program; ``end``: where the
 * text goes on. */
double ma_read_number(const char *text, char **end);

struct ma_value ma_whole_value(int64_t number);
struct ma_value ma_real_value(double number);
double ma_as_double(const struct ma_value *value);
int ma_is_whole(const struct ma_value *value);

/* -1, 0 or 1: how two values compare, exactly. */
int ma_compare(const struct ma_value *first, const struct ma_value *second);

/* The binary operation '+', '-', '*', '/', 'F' (//), '%' or 'P' (**). */
enum ma_fault ma_operate(char operation, const struct ma_value *left, const struct ma_value *right,
                         struct ma_value *result);

enum ma_function {
    MA_ABS, MA_CEIL, MA_EXP, MA_FLOOR, MA_LOG, MA_LOG2, MA_MAX, MA_MIN, MA_SQRT, MA_FUNCTIONS
};
enum ma_fault ma_apply(enum ma_function function, const struct ma_value *given,
                       struct ma_value *result);

/* A variable as expressions see it. */
struct ma_slot {
    struct ma_value value;
    uint64_t version; /* grows with every change */
    enum ma_fault fault; /* MA_FINE: it has a value */
};

struct ma_expression;

/* The expression of a text; never NULL but where memory is short. A text outside the language gives
 * one with ``ma_wrong``. */
struct ma_expression *ma_parse(const char *text);
void ma_discard(struct ma_expression *expression);
/* What is wrong with the text ("column 3: ..."); NULL: nothing. */
const char *ma_wrong(const struct ma_expression *expression);
int ma_names(const struct ma_expression *expression);
const char *ma_name(const struct ma_expression *expression, int index);

/* The value with variables given in the order of ``ma_name``. ``culprit``: the index of the
 * variable at fault where the fault is MA_UNSET, MA_OUTDATED or MA_OUTSIDE. */
enum ma_fault ma_evaluate(const struct ma_expression *expression,
                          const struct ma_slot *const *slots, struct ma_value *result,
                          int *culprit);

#endif
