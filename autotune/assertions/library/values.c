/* Exact values: fractions of 64-bit numbers, and real numbers where exactness ends. */
#include "values.h"

#include <math.h>

#define NEAR 1e-9

const char *ma_fault_text(enum ma_fault fault)
{
    static const char *const texts[MA_FAULTS] = {
        "",
        "has no value",
        "was derived before a variable that it depends on changed",
        "is outside its domain",
        "division by zero",
        "a number is too large",
        "a rounded number is too near a whole one to be rounded surely",
        "the logarithm of a number that is not positive",
        "the square root of a negative number",
        "a root of a negative number",
        "not an expression",
        "too many expressions or variables",
    };
    return texts[fault];
}

struct ma_value ma_whole_value(int64_t number)
{
    struct ma_value value = {number, 1, 0.0, MA_EXACT};
    return value;
}

struct ma_value ma_real_value(double number)
{
    struct ma_value value = {0, 1, number, MA_REAL};
    return value;
}

int ma_is_whole(const struct ma_value *value)
{
    return value->number == MA_EXACT && value->bottom == 1;
}

static int bits(uint64_t number)
{
    return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

/* A fraction rounded once, to the nearest double, as Python divides whole numbers. */
static double quotient(int64_t top, int64_t bottom)
{
    uint64_t size = top < 0 ? (uint64_t)-top : (uint64_t)top;
    int shift = 56 + bits((uint64_t)bottom) - bits(size);
    if (shift < 0)
        shift = 0;
    ma_wide dividend = (ma_wide)size << shift;
    uint64_t result = (uint64_t)(dividend / bottom);
    if (dividend % bottom != 0)
        result |= 1; /* at least 55 bits lie above it: it decides ties only */
    double value = ldexp((double)result, -shift);
    return top < 0 ? -value : value;
}

double ma_as_double(const struct ma_value *value)
{
    if (value->number == MA_REAL)
        return value->real;
    return value->bottom == 1 ? (double)value->top : quotient(value->top, value->bottom);
}

/* --- results -------------------------------------------------------------------------------- */

static ma_wide magnitude(ma_wide number)
{
    return number < 0 ? -number : number;
}

static ma_wide common_divisor(ma_wide first, ma_wide second)
{
    while (second != 0) {
        if (first <= INT64_MAX && second <= INT64_MAX) {
            int64_t a = (int64_t)first, b = (int64_t)second;
            while (b != 0) {
                int64_t rest = a % b;
                a = b;
                b = rest;
            }
            return a;
        }
        ma_wide rest = first % second;
        first = second;
        second = rest;
    }
    return first;
}

/* The reduced fraction; MA_LARGE where it does not fit. ``bottom`` is not 0. */
static enum ma_fault exact(ma_wide top, ma_wide bottom, struct ma_value *result)
{
    if (bottom < 0) {
        top = -top;
        bottom = -bottom;
    }
    if (bottom != 1) {
        ma_wide divisor = common_divisor(magnitude(top), bottom);
        top /= divisor;
        bottom /= divisor;
    }
    if (magnitude(top) > MA_LARGEST || bottom > MA_LARGEST)
        return MA_LARGE;
    result->top = (int64_t)top;
    result->bottom = (int64_t)bottom;
    result->real = 0.0;
    result->number = MA_EXACT;
    return MA_FINE;
}

static enum ma_fault real(double number, struct ma_value *result)
{
    if (!isfinite(number))
        return MA_LARGE;
    *result = ma_real_value(number);
    return MA_FINE;
}

/* --- comparisons ---------------------------------------------------------------------------- */

static int sign(const struct ma_value *value)
{
    if (value->number == MA_REAL)
        return (value->real > 0) - (value->real < 0);
    return (value->top > 0) - (value->top < 0);
}

/* How the sizes of a fraction and of a real number compare; neither is zero. */
static int compare_sizes(const struct ma_value *fraction, double number)
{
    int exponent;
    if (isinf(number))
        return -1;
    ma_wide mantissa = (ma_wide)ldexp(frexp(fabs(number), &exponent), 53);
    exponent -= 53; /* |number| = mantissa * 2**exponent, mantissa below 2**53 */
    ma_wide top = magnitude(fraction->top);
    if (exponent > 10)
        return -1; /* at least 2**63 */
    ma_wide scaled = mantissa * fraction->bottom;
    if (exponent >= 0) {
        scaled <<= exponent;
        return (top > scaled) - (top < scaled);
    }
    int shift = -exponent > 126 ? 126 : -exponent;
    ma_wide floor = scaled >> shift;
    if (top != floor)
        return top > floor ? 1 : -1;
    return (floor << shift) != scaled ? -1 : 0;
}

int ma_compare(const struct ma_value *first, const struct ma_value *second)
{
    if (first->number == MA_REAL && second->number == MA_REAL)
        return (first->real > second->real) - (first->real < second->real);
    if (first->number == MA_EXACT && second->number == MA_EXACT) {
        ma_wide left = (ma_wide)first->top * second->bottom;
        ma_wide right = (ma_wide)second->top * first->bottom;
        return (left > right) - (left < right);
    }
    if (first->number == MA_REAL)
        return -ma_compare(second, first);
    int signs = sign(first) - sign(second);
    if (signs != 0 || sign(first) == 0)
        return (signs > 0) - (signs < 0);
    return sign(first) * compare_sizes(first, second->real);
}

/* --- operations ----------------------------------------------------------------------------- */

/* The rest and the quotient of real numbers, rounded towards minus infinity, as Python's. */
static double floor_quotient(double left, double right, double *rest)
{
    double modulus = fmod(left, right);
    double result = (left - modulus) / right;
    if (modulus != 0.0) {
        if ((right < 0) != (modulus < 0)) {
            modulus += right;
            result -= 1.0;
        }
    } else {
        modulus = copysign(0.0, right);
    }
    *rest = modulus;
    if (result == 0.0)
        return copysign(0.0, left / right);
    double whole = floor(result);
    return result - whole > 0.5 ? whole + 1.0 : whole;
}

static enum ma_fault operate_real(char operation, double left, double right,
                                  struct ma_value *result)
{
    double rest;
    if ((operation == '/' || operation == 'F' || operation == '%') && right == 0.0)
        return MA_DIVISION;
    switch (operation) {
    case '+':
        return real(left + right, result);
    case '-':
        return real(left - right, result);
    case '*':
        return real(left * right, result);
    case '/':
        return real(left / right, result);
    case 'F':
        return real(floor_quotient(left, right, &rest), result);
    default:
        floor_quotient(left, right, &rest);
        return real(rest, result);
    }
}

static ma_wide floor_divide(ma_wide top, ma_wide bottom)
{
    ma_wide result = top / bottom;
    return result - (top % bottom != 0 && (top < 0) != (bottom < 0));
}

static enum ma_fault operate_exact(char operation, const struct ma_value *left,
                                   const struct ma_value *right, struct ma_value *result)
{
    /* products of two numbers below 2**63, and sums of two such products, fit 128 bits */
    ma_wide a = (ma_wide)left->top * right->bottom;
    ma_wide b = (ma_wide)right->top * left->bottom;
    ma_wide bottom = (ma_wide)left->bottom * right->bottom;
    switch (operation) {
    case '+':
        return exact(a + b, bottom, result);
    case '-':
        return exact(a - b, bottom, result);
    case '*':
        return exact((ma_wide)left->top * right->top, bottom, result);
    default:
        break;
    }
    if (b == 0)
        return MA_DIVISION;
    if (operation == '/')
        return exact(a, b, result);
    ma_wide whole = floor_divide(a, b);
    return operation == 'F' ? exact(whole, 1, result) : exact(a - whole * b, bottom, result);
}

/* base**exponent; 0 where it is beyond LARGEST. */
static int whole_power(int64_t base, int64_t exponent, int64_t *result)
{
    ma_wide power = 1;
    for (int64_t i = 0; i < exponent; i++) {
        power *= base;
        if (magnitude(power) > MA_LARGEST)
            return 0;
    }
    *result = (int64_t)power;
    return 1;
}

static enum ma_fault exact_power(const struct ma_value *base, int64_t exponent,
                                 struct ma_value *result)
{
    int64_t times = exponent < 0 ? -exponent : exponent, top, bottom;
    if (base->top == 0 && exponent < 0)
        return MA_DIVISION;
    if (base->bottom == 1 && base->top >= -1 && base->top <= 1)
        times = times > 2 ? 2 + times % 2 : times; /* as -1, 0 and 1 repeat */
    else if (times > 63)
        return MA_LARGE;
    if (!whole_power(base->top, times, &top) || !whole_power(base->bottom, times, &bottom))
        return MA_LARGE;
    return exponent < 0 ? exact(bottom, top, result) : exact(top, bottom, result);
}

static enum ma_fault power(const struct ma_value *base, const struct ma_value *exponent,
                           struct ma_value *result)
{
    if (base->number == MA_EXACT && ma_is_whole(exponent))
        return exact_power(base, exponent->top, result);
    if (sign(base) == 0 && sign(exponent) < 0)
        return MA_DIVISION;
    int whole = exponent->number == MA_REAL ? exponent->real == trunc(exponent->real)
                                            : exponent->bottom == 1;
    if (sign(base) < 0 && !whole)
        return MA_ROOT;
    return real(pow(ma_as_double(base), ma_as_double(exponent)), result);
}

enum ma_fault ma_operate(char operation, const struct ma_value *left, const struct ma_value *right,
                         struct ma_value *result)
{
    if (operation == 'P')
        return power(left, right, result);
    if (left->number == MA_EXACT && right->number == MA_EXACT)
        return operate_exact(operation, left, right, result);
    return operate_real(operation, ma_as_double(left), ma_as_double(right), result);
}

/* --- functions ------------------------------------------------------------------------------ */

static enum ma_fault rounded(enum ma_function function, const struct ma_value *given,
                             struct ma_value *result)
{
    if (given->number == MA_EXACT) {
        int64_t down = (int64_t)floor_divide(given->top, given->bottom);
        *result = ma_whole_value(down + (function == MA_CEIL && given->bottom != 1));
        return MA_FINE;
    }
    double value = given->real;
    if (fabs(value - rint(value)) <= NEAR * fmax(1.0, fabs(value)))
        return MA_NEAR;
    *result = ma_whole_value((int64_t)(function == MA_CEIL ? ceil(value) : floor(value)));
    return MA_FINE;
}

static int is_power_of_two(int64_t number)
{
    return (number & (number - 1)) == 0;
}

static enum ma_fault logarithm(enum ma_function function, const struct ma_value *given,
                               struct ma_value *result)
{
    double value = ma_as_double(given);
    if (sign(given) <= 0)
        return MA_LOGARITHM;
    if (function == MA_LOG)
        return real(log(value), result);
    if (given->number == MA_EXACT && is_power_of_two(given->top) &&
        is_power_of_two(given->bottom)) {
        *result = ma_whole_value(bits((uint64_t)given->top) - bits((uint64_t)given->bottom));
        return MA_FINE;
    }
    return real(log2(value), result);
}

static int64_t whole_root(int64_t number)
{
    int64_t root = (int64_t)sqrt((double)number);
    while ((ma_wide)root * root > number)
        root--;
    while ((ma_wide)(root + 1) * (root + 1) <= number)
        root++;
    return root;
}

static enum ma_fault square_root(const struct ma_value *given, struct ma_value *result)
{
    if (sign(given) < 0)
        return MA_SQUARE_ROOT;
    if (given->number == MA_EXACT) {
        int64_t top = whole_root(given->top), bottom = whole_root(given->bottom);
        if (top * top == given->top && bottom * bottom == given->bottom)
            return exact(top, bottom, result);
    }
    return real(sqrt(ma_as_double(given)), result);
}

enum ma_fault ma_apply(enum ma_function function, const struct ma_value *given,
                       struct ma_value *result)
{
    switch (function) {
    case MA_MIN:
        *result = ma_compare(given, given + 1) <= 0 ? given[0] : given[1];
        return MA_FINE;
    case MA_MAX:
        *result = ma_compare(given, given + 1) > 0 ? given[0] : given[1];
        return MA_FINE;
    case MA_ABS:
        *result = given[0];
        if (sign(given) < 0) {
            result->top = -given->top;
            result->real = -given->real;
        }
        return MA_FINE;
    case MA_CEIL:
    case MA_FLOOR:
        return rounded(function, given, result);
    case MA_LOG:
    case MA_LOG2:
        return logarithm(function, given, result);
    case MA_SQRT:
        return square_root(given, result);
    default:
        return real(exp(ma_as_double(given)), result);
    }
}
