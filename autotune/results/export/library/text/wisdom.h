/* Remembers in a small text file which code was chosen on line, for every machine, build of the
   library, class of sizes and number of threads:

       autotune.library-wisdom/1
       SUM LIBRARY BUILD MACHINE CLASS THREADS CODE SECONDS # processor

   SUM, BUILD and MACHINE are 16 hexadecimal digits; SUM is that of the rest of the line. The file is
   replaced as a whole: who reads it sees the old one or the new one. Of two that replace it at once
   one loses its line. Nothing but such a file is ever replaced. */
#ifndef AUTOTUNE_WISDOM_H
#define AUTOTUNE_WISDOM_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "processor.h"

static const char WISDOM_MARK[] = "autotune.library-wisdom/1\n";
enum { MOST_WISDOM = 1 << 20, LONGEST_LINE = 512, SUM_DIGITS = 16, WISDOM_WORDS = 7 };
static const double LONGEST_STEP = 1e9; /* seconds */

struct wisdom_key {
    const char *library;
    char build[SUM_DIGITS + 1], machine[SUM_DIGITS + 1];
    char processor[256];
    int size_class, threads;
};

/* Of what a file says: the code and its seconds a step; or why nothing of it is used. */
struct remembered {
    char code[128]; /* empty: nothing */
    double seconds;
    const char *refusal; /* empty: none */
    int foreign;         /* it is no wisdom file: it stays as it is */
};

/* FNV-1a: every change of a single byte changes it. */
static uint64_t sum_of(const char *text, size_t length)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
    return sum;
}

static void write_sum(char digits[SUM_DIGITS + 1], const char *text, size_t length)
{
    snprintf(digits, SUM_DIGITS + 1, "%016" PRIx64, sum_of(text, length));
}

/* Sizes within the same half octave count as one. */
static int class_of(long components)
{
    return (int)lround(2.0 * log2((double)components));
}

static struct wisdom_key wisdom_key(const char *library, const char *build, long components,
                                    long threads)
{
    struct wisdom_key key = {.library = library, .threads = (int)threads};
    char machine[sizeof key.processor + 64];
    name_processor(key.processor, sizeof key.processor);
    snprintf(machine, sizeof machine, "%s, %ld processors", key.processor,
             sysconf(_SC_NPROCESSORS_ONLN));
    write_sum(key.machine, machine, strlen(machine));
    write_sum(key.build, build, strlen(build));
    key.size_class = class_of(components);
    return key;
}

/* --- lines ------------------------------------------------------------------------------ */

/* One line without its sum and end, cut at spaces: six words, the seconds, the comment. */
struct wisdom_line {
    char text[LONGEST_LINE];
    char *word[WISDOM_WORDS];
};

/* Returns whether the line, without its end, is whole. */
static int read_line(struct wisdom_line *line, const char *text, size_t length)
{
    char sum[SUM_DIGITS + 1];
    if (length < SUM_DIGITS + 1 || length >= LONGEST_LINE || memchr(text, '\0', length))
        return 0;
    const char *const rest = text + SUM_DIGITS + 1;
    write_sum(sum, rest, length - SUM_DIGITS - 1);
    if (memcmp(sum, text, SUM_DIGITS) || text[SUM_DIGITS] != ' ')
        return 0;
    memcpy(line->text, rest, length - SUM_DIGITS - 1);
    line->text[length - SUM_DIGITS - 1] = '\0';
    char *at = line->text;
    for (int i = 0; i < WISDOM_WORDS; i++) {
        line->word[i] = at;
        at += strcspn(at, " ");
        if (*at != ' ' || at == line->word[i])
            return 0;
        *at++ = '\0';
    }
    return *at == '#';
}

/* How many of the words that make a key are alike, in their order; 5: all. */
static int likeness(const struct wisdom_line *line, const struct wisdom_key *key)
{
    char size_class[16], threads[16];
    snprintf(size_class, sizeof size_class, "%d", key->size_class);
    snprintf(threads, sizeof threads, "%d", key->threads);
    const char *const wanted[] = {key->library, key->build, key->machine, size_class, threads};
    int alike = 0;
    while (alike < 5 && !strcmp(line->word[alike], wanted[alike]))
        alike++;
    return alike;
}

/* Takes what a line says for this key; returns whether it can be true. */
static int take_line(struct remembered *of, const struct wisdom_line *line)
{
    char *end;
    const double seconds = strtod(line->word[6], &end);
    if (*end || !(seconds > 0.0 && seconds < LONGEST_STEP) || strlen(line->word[5]) >= sizeof of->code)
        return 0;
    strcpy(of->code, line->word[5]);
    of->seconds = seconds;
    return 1;
}

/* --- the file --------------------------------------------------------------------------- */

/* The text of a file; NULL, with the refusal, where there is none. The caller frees it. */
static char *read_file(const char *path, size_t *length, struct remembered *of)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    *length = 0;
    of->foreign = 1;
    if (file < 0) {
        of->foreign = errno != ENOENT;
        of->refusal = of->foreign ? "it cannot be read" : "there is no such file yet";
    } else if (fstat(file, &about) || !S_ISREG(about.st_mode)) {
        of->refusal = "it is no regular file";
    } else if (about.st_size > MOST_WISDOM) {
        of->refusal = "it is larger than 1 MiB";
    } else if (!(text = malloc(MOST_WISDOM))) {
        of->refusal = "there is no memory to read it";
    } else {
        ssize_t got;
        while ((got = read(file, text + *length, MOST_WISDOM - *length)) > 0)
            *length += (size_t)got;
        of->foreign = got < 0;
        of->refusal = of->foreign ? "it cannot be read" : "";
    }
    if (file >= 0)
        close(file);
    if (text && of->foreign) {
        free(text);
        text = NULL;
    }
    return text;
}

/* The part of a file behind the mark. A file that is cut within the mark has lost all lines. */
static const char *lines_of(const char *text, size_t length, struct remembered *of)
{
    const size_t mark = sizeof WISDOM_MARK - 1;
    of->foreign = memcmp(text, WISDOM_MARK, length < mark ? length : mark) != 0;
    if (of->foreign)
        of->refusal = "it is no wisdom file of a library";
    else if (length < mark && length > 0)
        of->refusal = "it is cut";
    return text + (length < mark ? length : mark);
}

/* What a file says for a key. One line that is not whole, and nothing of the file is used. */
static struct remembered recall(const char *path, const struct wisdom_key *key)
{
    static const char *const others[] = {
        "it holds nothing for this library", "it was written for another build of this library",
        "it was written on another machine", "it holds nothing for this size",
        "it holds nothing for this number of threads"};
    struct remembered of = {.refusal = ""};
    size_t length;
    int nearest = 0;
    char *const text = read_file(path, &length, &of);
    if (!text)
        return of;
    const char *at = lines_of(text, length, &of), *const end = text + length;
    while (!of.refusal[0] && at < end) {
        struct wisdom_line line;
        const char *const stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop || !read_line(&line, at, (size_t)(stop - at))) {
            of.refusal = stop ? "a line is damaged" : "it is cut";
            break;
        }
        const int alike = likeness(&line, key);
        nearest = alike > nearest ? alike : nearest;
        if (alike == 5 && !take_line(&of, &line))
            of.refusal = "a line says what cannot be";
        at = stop + 1;
    }
    free(text);
    if (of.refusal[0])
        of.code[0] = '\0';
    else if (!of.code[0])
        of.refusal = others[nearest];
    return of;
}

static int format_line(char *to, size_t size, const struct wisdom_key *key, const char *code,
                       double seconds)
{
    char rest[LONGEST_LINE], sum[SUM_DIGITS + 1];
    const int length =
        snprintf(rest, sizeof rest, "%s %s %s %d %d %s %.6e # %s", key->library, key->build,
                 key->machine, key->size_class, key->threads, code, seconds, key->processor);
    if (length < 0 || (size_t)length + SUM_DIGITS + 2 >= LONGEST_LINE)
        return 0;
    write_sum(sum, rest, (size_t)length);
    const int written = snprintf(to, size, "%s %s\n", sum, rest);
    return written < 0 || (size_t)written >= size ? 0 : written;
}

/* The new text: the whole lines of the old one for other keys, and this one. */
static size_t renew(char *to, size_t size, const char *at, const char *end,
                    const struct wisdom_key *key, const char *added, size_t added_length)
{
    size_t length = sizeof WISDOM_MARK - 1;
    memcpy(to, WISDOM_MARK, length);
    for (const char *stop; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        struct wisdom_line line;
        const size_t bytes = (size_t)(stop + 1 - at);
        if (read_line(&line, at, bytes - 1) && likeness(&line, key) < 5
            && length + bytes + added_length <= size) {
            memcpy(to + length, at, bytes);
            length += bytes;
        }
    }
    memcpy(to + length, added, added_length);
    return length + added_length;
}

/* Puts a text where a path leads to, at once or not at all; returns whether it did. */
static int put_file(const char *path, const char *text, size_t length)
{
    char *const followed = realpath(path, NULL);
    const char *const target = followed ? followed : path;
    const size_t size = strlen(target) + 64;
    char *const temporary = malloc(size);
    struct stat before;
    int done = 0, file = -1;
    const int writable = followed ? !access(followed, W_OK) : lstat(path, &before) != 0;
    for (int i = 0; temporary && writable && file < 0 && i < 100; i++) {
        snprintf(temporary, size, "%s.%ld-%d-%" PRIxPTR "~", target, (long)getpid(), i,
                 (uintptr_t)&before);
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (file >= 0) {
        size_t written = 0;
        for (ssize_t put = 1; put > 0 && written < length; written += put > 0 ? (size_t)put : 0)
            put = write(file, text + written, length - written);
        done = written == length;
        if (!stat(target, &before))
            done &= !fchmod(file, before.st_mode & 0777);
        done &= !close(file);
        done = done && !rename(temporary, target);
        if (!done)
            unlink(temporary);
    }
    free(temporary);
    free(followed);
    return done;
}

/* Writes down a choice; returns whether it did. */
static int remember(const char *path, const struct wisdom_key *key, const char *code, double seconds)
{
    char added[LONGEST_LINE];
    struct remembered of = {.refusal = ""};
    size_t length;
    const int added_length = format_line(added, sizeof added, key, code, seconds);
    char *const before = read_file(path, &length, &of);
    char *const after = malloc(MOST_WISDOM);
    int done = 0;
    const char *const at = before ? lines_of(before, length, &of) : NULL;
    if (added_length && after && !of.foreign) {
        const size_t bytes = renew(after, MOST_WISDOM, at, before ? before + length : NULL, key, added,
                                   (size_t)added_length);
        done = put_file(path, after, bytes);
    }
    free(before);
    free(after);
    return done;
}

#endif
