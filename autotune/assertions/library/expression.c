/* Expressions: read by recursive descent (Python's grammar of these few operators), evaluated as a
 * tree. Whatever Python would read otherwise is refused. */
#include "values.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 20000 /* characters */
#define DEEPEST 200   /* levels of the tree */
#define NESTED 190    /* parentheses */
#define SIGNS 500     /* a chain of signs is read by as many calls */

/* The kinds of nodes beside the binary operations, which are their own letters. */
enum { NODE_NUMBER = 'n', NODE_SYMBOL = 's', NODE_NEGATIVE = 'm', NODE_CALL = 'c',
       NODE_CHOICE = '?', NODE_LESS = '<', NODE_LESS_EQUAL = 'l', NODE_MORE = '>',
       NODE_MORE_EQUAL = 'g' };

struct node {
    char operation;
    enum ma_function function;
    enum ma_fault fault; /* of a number that is too large */
    int depth;
    int child[3]; /* of a choice: condition, then, other; of a symbol: its index */
    struct ma_value number;
};

struct ma_expression {
    struct node *nodes;
    int count, room, root;
    char **names;
    int names_count;
    char *wrong;
};

struct parser {
    struct ma_expression *expression;
    const char *text, *at, *token;
    size_t length; /* of the token; 0 at the end */
    int nested, signs;
};

static const struct {
    const char *name;
    int arguments;
} functions[MA_FUNCTIONS] = {
    {"abs", 1}, {"ceil", 1}, {"exp", 1}, {"floor", 1}, {"log", 1},
    {"log2", 1}, {"max", 2}, {"min", 2}, {"sqrt", 1},
};

static const char *const keywords[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
};

/* --- mistakes ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static int mistake(struct parser *parser, const char *format,
                                                         ...)
{
    char words[200], place[240];
    va_list values;
    if (parser->expression->wrong == NULL) {
        va_start(values, format);
        vsnprintf(words, sizeof words, format, values);
        va_end(values);
        long column = parser->token == NULL ? 1 : (long)(parser->token - parser->text) + 1;
        snprintf(place, sizeof place, "column %ld: %s", column, words);
        parser->expression->wrong = strdup(place);
    }
    return -1;
}

/* --- tokens --------------------------------------------------------------------------------- */

static int is_letter(char c)
{
    return isascii((unsigned char)c) && (isalpha((unsigned char)c) || c == '_');
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *at)
{
    size_t length = 0;
    while (is_digit(at[length]) || (length > 0 && at[length] == '_' && is_digit(at[length + 1])))
        length++;
    return length;
}

static size_t number_length(const char *at)
{
    size_t length = digits(at);
    if (at[length] == '.') {
        length++;
        length += digits(at + length);
    }
    if (at[length] == 'e' || at[length] == 'E') {
        size_t sign = at[length + 1] == '+' || at[length + 1] == '-';
        size_t exponent = digits(at + length + 1 + sign);
        if (exponent > 0)
            length += 1 + sign + exponent;
    }
    return length;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_letter(at[length]) || is_digit(at[length]))
        length++;
    return length;
}

static int is_space(char c, int nested)
{
    return c == ' ' || c == '\t' || c == '\f' || (nested > 0 && (c == '\n' || c == '\r'));
}

static void advance(struct parser *parser)
{
    const char *at = parser->at;
    while (is_space(*at, parser->nested))
        at++;
    parser->token = at;
    if (*at == '\0')
        parser->length = 0;
    else if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
        parser->length = number_length(at);
    else if (is_letter(*at))
        parser->length = word_length(at);
    else if (strchr("*/<>", *at) && (at[1] == *at || ((*at == '<' || *at == '>') && at[1] == '=')))
        parser->length = 2;
    else
        parser->length = 1;
    parser->at = at + parser->length;
}

static int is_token(const struct parser *parser, const char *text)
{
    return parser->length == strlen(text) && strncmp(parser->token, text, parser->length) == 0;
}

static int is_keyword(const struct parser *parser)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (is_token(parser, keywords[i]))
            return 1;
    return 0;
}

static int unexpected(struct parser *parser)
{
    if (parser->length == 0)
        return mistake(parser, "it ends here");
    int shown = (int)(parser->length > 40 ? 40 : parser->length);
    return mistake(parser, "%.*s is not allowed here", shown, parser->token);
}

/* --- nodes ---------------------------------------------------------------------------------- */

static int is_comparison(char operation)
{
    return operation == NODE_LESS || operation == NODE_LESS_EQUAL || operation == NODE_MORE ||
           operation == NODE_MORE_EQUAL;
}

static int add(struct parser *parser, struct node node, int children)
{
    struct ma_expression *expression = parser->expression;
    for (int i = 0; i < children; i++) {
        const struct node *child = &expression->nodes[node.child[i]];
        int levels = child->depth + !is_comparison(node.operation);
        node.depth = levels > node.depth ? levels : node.depth;
    }
    if (node.depth > DEEPEST)
        return mistake(parser, "nested more than %d levels deep", DEEPEST);
    if (expression->count == expression->room) {
        int room = expression->room * 2 + 8;
        struct node *nodes = realloc(expression->nodes, (size_t)room * sizeof *nodes);
        if (nodes == NULL)
            return mistake(parser, "memory is short");
        expression->nodes = nodes;
        expression->room = room;
    }
    expression->nodes[expression->count] = node;
    return expression->count++;
}

static int symbol(struct parser *parser, const char *text, size_t length)
{
    struct ma_expression *expression = parser->expression;
    struct node node = {.operation = NODE_SYMBOL};
    int i = 0;
    while (i < expression->names_count && (strlen(expression->names[i]) != length ||
                                           strncmp(expression->names[i], text, length) != 0))
        i++;
    if (i == expression->names_count) {
        char **names = realloc(expression->names, (size_t)(i + 1) * sizeof *names);
        char *name = strndup(text, length);
        if (names != NULL)
            expression->names = names;
        if (names == NULL || name == NULL) {
            free(name);
            return mistake(parser, "memory is short");
        }
        names[i] = name;
        expression->names_count++;
    }
    node.child[0] = i;
    return add(parser, node, 0);
}

/* --- grammar -------------------------------------------------------------------------------- */

static int choice(struct parser *parser);
static int factor(struct parser *parser);

/* The node, unless it is a comparison, which has no value. */
static int valued(struct parser *parser, int node)
{
    if (node >= 0 && is_comparison(parser->expression->nodes[node].operation))
        return mistake(parser, "a comparison stands only between if and else");
    return node;
}

static int binary(struct parser *parser, char operation, int left, int right)
{
    struct node node = {.operation = operation};
    if (valued(parser, left) < 0 || valued(parser, right) < 0)
        return -1;
    node.child[0] = left;
    node.child[1] = right;
    return add(parser, node, 2);
}

/* A whole number in its digits; the fault where it is too large is found when it is evaluated. */
static void whole_number(struct node *node, const char *figures)
{
    ma_wide number = 0;
    for (const char *c = figures; *c != '\0'; c++) {
        number = number * 10 + (*c - '0');
        if (number > MA_LARGEST) {
            node->fault = MA_LARGE;
            return;
        }
    }
    node->number = ma_whole_value((int64_t)number);
}

double ma_read_number(const char *text, char **end)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return strtod(text, end);
    locale_t before = uselocale(plain);
    double number = strtod(text, end);
    uselocale(before);
    freelocale(plain);
    return number;
}

static int number(struct parser *parser)
{
    char figures[400];
    size_t count = 0;
    struct node node = {.operation = NODE_NUMBER};
    if (parser->length >= sizeof figures || is_letter(*parser->at) || is_digit(*parser->at) ||
        *parser->at == '.' || !isascii((unsigned char)*parser->at))
        return mistake(parser, "a number that cannot be read");
    for (size_t i = 0; i < parser->length; i++)
        if (parser->token[i] != '_')
            figures[count++] = parser->token[i];
    figures[count] = '\0';
    if (strspn(figures, "0123456789") == count) {
        if (count > 308)
            return mistake(parser, "the number is too large");
        if (figures[0] == '0' && strspn(figures, "0") != count)
            return mistake(parser, "a whole number begins with 0");
        whole_number(&node, figures);
    } else {
        node.number = ma_real_value(ma_read_number(figures, NULL));
        if (!isfinite(node.number.real))
            return mistake(parser, "the number is too large");
    }
    advance(parser);
    return add(parser, node, 0);
}

static int call(struct parser *parser, const char *name, size_t length)
{
    struct node node = {.operation = NODE_CALL};
    int function = 0, arguments = 0;
    while (function < MA_FUNCTIONS && (strlen(functions[function].name) != length ||
                                       strncmp(functions[function].name, name, length) != 0))
        function++;
    if (function == MA_FUNCTIONS)
        return mistake(parser, "unknown function %.*s", (int)(length > 40 ? 40 : length), name);
    node.function = (enum ma_function)function;
    while (!is_token(parser, ")")) {
        int argument = valued(parser, choice(parser));
        if (argument < 0)
            return -1;
        if (arguments < functions[function].arguments)
            node.child[arguments] = argument;
        arguments++;
        if (is_token(parser, ","))
            advance(parser);
        else if (!is_token(parser, ")"))
            return unexpected(parser);
    }
    if (arguments != functions[function].arguments)
        return mistake(parser, "%s takes %d argument(s)", functions[function].name,
                       functions[function].arguments);
    parser->nested--;
    advance(parser);
    return add(parser, node, arguments);
}

static int opened(struct parser *parser)
{
    if (++parser->nested > NESTED)
        return mistake(parser, "too many parentheses");
    advance(parser);
    return 0;
}

static int atom(struct parser *parser)
{
    const char *token = parser->token;
    size_t length = parser->length;
    if (length > 0 && (is_digit(*token) || (*token == '.' && length > 1)))
        return number(parser);
    if (length > 0 && is_letter(*token) && !is_keyword(parser)) {
        advance(parser);
        if (is_token(parser, "("))
            return opened(parser) < 0 ? -1 : call(parser, token, length);
        return symbol(parser, token, length);
    }
    if (is_token(parser, "(")) {
        int node = opened(parser) < 0 ? -1 : choice(parser);
        if (node < 0)
            return -1;
        if (!is_token(parser, ")"))
            return unexpected(parser);
        parser->nested--;
        advance(parser);
        return node;
    }
    return unexpected(parser);
}

static int power(struct parser *parser)
{
    int base = atom(parser);
    if (base < 0 || !is_token(parser, "**"))
        return base;
    advance(parser);
    int exponent = factor(parser);
    return exponent < 0 ? -1 : binary(parser, 'P', base, exponent);
}

static int factor(struct parser *parser)
{
    int negative = is_token(parser, "-");
    if (!negative && !is_token(parser, "+"))
        return power(parser);
    if (++parser->signs > SIGNS)
        return mistake(parser, "too many signs");
    advance(parser);
    struct node node = {.operation = NODE_NEGATIVE};
    node.child[0] = valued(parser, factor(parser));
    parser->signs--;
    if (node.child[0] < 0 || !negative)
        return node.child[0];
    return add(parser, node, 1);
}

static int term(struct parser *parser)
{
    int left = factor(parser);
    while (left >= 0) {
        char operation = is_token(parser, "*")    ? '*'
                         : is_token(parser, "/")  ? '/'
                         : is_token(parser, "//") ? 'F'
                         : is_token(parser, "%")  ? '%'
                                                  : '\0';
        if (operation == '\0')
            break;
        advance(parser);
        int right = factor(parser);
        left = right < 0 ? -1 : binary(parser, operation, left, right);
    }
    return left;
}

static int sum(struct parser *parser)
{
    int left = term(parser);
    while (left >= 0 && (is_token(parser, "+") || is_token(parser, "-"))) {
        char operation = *parser->token;
        advance(parser);
        int right = term(parser);
        left = right < 0 ? -1 : binary(parser, operation, left, right);
    }
    return left;
}

static char order(const struct parser *parser)
{
    return (char)(is_token(parser, "<")    ? NODE_LESS
                  : is_token(parser, "<=") ? NODE_LESS_EQUAL
                  : is_token(parser, ">")  ? NODE_MORE
                  : is_token(parser, ">=") ? NODE_MORE_EQUAL
                                           : '\0');
}

static int comparison(struct parser *parser)
{
    int left = sum(parser);
    char operation = order(parser);
    if (left < 0 || operation == '\0')
        return left;
    advance(parser);
    int right = sum(parser);
    if (right >= 0 && order(parser) != '\0')
        return mistake(parser, "one comparison only");
    return right < 0 ? -1 : binary(parser, operation, left, right);
}

static int choice(struct parser *parser)
{
    struct node node = {.operation = NODE_CHOICE};
    int then = comparison(parser);
    if (then < 0 || !is_token(parser, "if"))
        return then;
    if (++parser->signs > SIGNS)
        return mistake(parser, "too many conditions");
    advance(parser);
    int condition = comparison(parser);
    if (condition < 0)
        return -1;
    if (!is_comparison(parser->expression->nodes[condition].operation))
        return mistake(parser, "a comparison is expected between if and else");
    if (!is_token(parser, "else"))
        return unexpected(parser);
    advance(parser);
    int other = choice(parser);
    parser->signs--;
    if (valued(parser, then) < 0 || valued(parser, other) < 0)
        return -1;
    node.child[0] = condition;
    node.child[1] = then;
    node.child[2] = other;
    return add(parser, node, 3);
}

struct ma_expression *ma_parse(const char *text)
{
    struct ma_expression *expression = calloc(1, sizeof *expression);
    struct parser parser = {.expression = expression, .text = text, .at = text};
    if (expression == NULL)
        return NULL;
    if (strlen(text) > LONGEST) {
        mistake(&parser, "more than %d characters", LONGEST);
        return expression;
    }
    char *copy = strdup(text); /* without the white space around it */
    if (copy == NULL) {
        mistake(&parser, "memory is short");
        return expression;
    }
    char *end = copy + strlen(copy);
    while (end > copy && isspace((unsigned char)end[-1]))
        *--end = '\0';
    parser.text = copy;
    parser.at = copy + strspn(copy, " \t\n\r\f\v");
    advance(&parser);
    expression->root = valued(&parser, choice(&parser));
    if (expression->root >= 0 && parser.length > 0)
        unexpected(&parser);
    free(copy);
    return expression;
}

void ma_discard(struct ma_expression *expression)
{
    if (expression == NULL)
        return;
    for (int i = 0; i < expression->names_count; i++)
        free(expression->names[i]);
    free(expression->names);
    free(expression->nodes);
    free(expression->wrong);
    free(expression);
}

const char *ma_wrong(const struct ma_expression *expression)
{
    return expression->wrong;
}

int ma_names(const struct ma_expression *expression)
{
    return expression->names_count;
}

const char *ma_name(const struct ma_expression *expression, int index)
{
    return expression->names[index];
}

/* --- evaluation ----------------------------------------------------------------------------- */

struct evaluation {
    const struct node *nodes;
    const struct ma_slot *const *slots;
    int culprit;
};

static enum ma_fault evaluate(struct evaluation *evaluation, int index, struct ma_value *result);

static enum ma_fault both(struct evaluation *evaluation, const struct node *node,
                          struct ma_value *values)
{
    enum ma_fault fault = evaluate(evaluation, node->child[0], &values[0]);
    return fault != MA_FINE ? fault : evaluate(evaluation, node->child[1], &values[1]);
}

static enum ma_fault choose(struct evaluation *evaluation, const struct node *node,
                            struct ma_value *result)
{
    struct ma_value values[2];
    const struct node *condition = &evaluation->nodes[node->child[0]];
    enum ma_fault fault = both(evaluation, condition, values);
    if (fault != MA_FINE)
        return fault;
    int sense = ma_compare(&values[0], &values[1]);
    int holds = condition->operation == NODE_LESS         ? sense < 0
                : condition->operation == NODE_LESS_EQUAL ? sense <= 0
                : condition->operation == NODE_MORE       ? sense > 0
                                                          : sense >= 0;
    return evaluate(evaluation, node->child[holds ? 1 : 2], result);
}

static enum ma_fault evaluate(struct evaluation *evaluation, int index, struct ma_value *result)
{
    const struct node *node = &evaluation->nodes[index];
    struct ma_value values[2];
    enum ma_fault fault;
    switch (node->operation) {
    case NODE_NUMBER:
        *result = node->number;
        return node->fault;
    case NODE_SYMBOL:
        evaluation->culprit = node->child[0];
        *result = evaluation->slots[node->child[0]]->value;
        return evaluation->slots[node->child[0]]->fault;
    case NODE_CHOICE:
        return choose(evaluation, node, result);
    case NODE_NEGATIVE:
        fault = evaluate(evaluation, node->child[0], result);
        if (fault == MA_FINE) {
            result->top = -result->top;
            result->real = -result->real;
        }
        return fault;
    case NODE_CALL:
        fault = evaluate(evaluation, node->child[0], &values[0]);
        if (fault == MA_FINE && functions[node->function].arguments == 2)
            fault = evaluate(evaluation, node->child[1], &values[1]);
        return fault != MA_FINE ? fault : ma_apply(node->function, values, result);
    default:
        fault = both(evaluation, node, values);
        return fault != MA_FINE ? fault : ma_operate(node->operation, values, values + 1, result);
    }
}

enum ma_fault ma_evaluate(const struct ma_expression *expression,
                          const struct ma_slot *const *slots, struct ma_value *result,
                          int *culprit)
{
    struct evaluation evaluation = {expression->nodes, slots, -1};
    if (expression->wrong != NULL)
        return MA_SYNTAX;
    enum ma_fault fault = evaluate(&evaluation, expression->root, result);
    *culprit = evaluation.culprit;
    return fault;
}
