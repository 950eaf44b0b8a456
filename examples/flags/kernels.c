/* Four small kernels as one program: compilers make different choices in each.

       gcc -O3 -march=native kernels.c -o kernels -lm
       ./kernels 80

   Argument: how often everything is done. Prints the time of the kernels and a check value. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROWS 120
#define BODIES 160
#define KEYS 20000
#define SLOTS 32768
#define TEXT 60000

static double matrix[ROWS][ROWS], x[BODIES], y[BODIES], z[BODIES], pull[BODIES];
static uint32_t keys[KEYS], slots[SLOTS], seed;
static char text[TEXT];

static uint32_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void start(void)
{
    seed = 2463534242u;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            matrix[i][j] = next() / 4294967296.0 + (i == j ? ROWS / 4 : 0);
    for (int i = 0; i < BODIES; i++) {
        x[i] = next() / 4294967296.0;
        y[i] = next() / 4294967296.0;
        z[i] = next() / 4294967296.0;
        pull[i] = 0;
    }
    for (int i = 0; i < KEYS; i++)
        keys[i] = next() % (KEYS / 2) + 1;
    for (int i = 0; i < TEXT; i++)
        text[i] = next() % 6 ? 'a' + next() % 26 : ' ';
}

/* LU decomposition with partial pivoting; the logarithm of the determinant. */
static double decompose(void)
{
    double result = 0;
    for (int k = 0; k < ROWS; k++) {
        int pivot = k;
        for (int i = k + 1; i < ROWS; i++)
            if (fabs(matrix[i][k]) > fabs(matrix[pivot][k]))
                pivot = i;
        for (int j = 0; j < ROWS; j++) {
            double swapped = matrix[k][j];
            matrix[k][j] = matrix[pivot][j];
            matrix[pivot][j] = swapped;
        }
        result += log(fabs(matrix[k][k]));
        for (int i = k + 1; i < ROWS; i++) {
            double factor = matrix[i][k] / matrix[k][k];
            for (int j = k; j < ROWS; j++)
                matrix[i][j] -= factor * matrix[k][j];
        }
    }
    return result;
}

/* Bodies within a distance attract one another. */
static double attract(void)
{
    double result = 0;
    for (int i = 0; i < BODIES; i++)
        for (int j = 0; j < BODIES; j++) {
            double a = x[j] - x[i], b = y[j] - y[i], c = z[j] - z[i];
            double square = a * a + b * b + c * c + 1e-3;
            if (square < 0.5)
                pull[i] += a / (square * sqrt(square));
        }
    for (int i = 0; i < BODIES; i++)
        result += fabs(pull[i]);
    return result;
}

/* Numbers counted in a hash table with open addressing. */
static uint32_t count(void)
{
    uint32_t steps = 0;
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < KEYS; i++) {
        uint32_t place = keys[i] * 2654435761u % SLOTS;
        while (slots[place] != 0 && slots[place] != keys[i]) {
            place = (place + 1) % SLOTS;
            steps++;
        }
        slots[place] = keys[i];
    }
    return steps;
}

/* Words of a text: how many, and a hash over those with more vowels than other letters. */
static uint32_t read_words(void)
{
    uint32_t words = 0, hash = 0, word = 0;
    int vowels = 0, others = 0;
    for (int i = 0; i < TEXT; i++) {
        switch (text[i]) {
        case ' ':
            words += vowels + others > 0;
            if (vowels > others)
                hash = hash * 31 + word;
            vowels = others = 0;
            word = 0;
            break;
        case 'a': case 'e': case 'i': case 'o': case 'u':
            vowels++;
            word = word * 33 + (uint32_t)text[i];
            break;
        default:
            others++;
            word = word * 33 + (uint32_t)text[i];
        }
    }
    return words + hash % 100000;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 80;
    double check = 0, seconds = 0;
    for (int k = 0; k < times; k++) {
        struct timespec begun, ended;
        start();
        clock_gettime(CLOCK_MONOTONIC, &begun);
        for (int again = 0; again < 3; again++)
            check += attract() + count() + read_words();
        check += decompose();
        clock_gettime(CLOCK_MONOTONIC, &ended);
        seconds += (double)(ended.tv_sec - begun.tv_sec)
                   + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
    }
    printf("time %.9f s\ncheck %.12e\n", seconds, check);
    return 0;
}
