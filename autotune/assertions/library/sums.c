/* Sums, histograms of bounded size, reasons, and texts that stay. */
#include "recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BUCKETS 4096

void ma_add(struct ma_sum *sum, const struct ma_value *value, int64_t times)
{
    ma_wide added;
    if (ma_is_whole(value) &&
        !__builtin_add_overflow(sum->whole, (ma_wide)value->top * times, &added)) {
        sum->whole = added;
        return;
    }
    sum->real += ma_as_double(value) * (double)times;
    sum->is_real = 1;
}

void ma_count_reason(struct ma_reasons *reasons, const char *text, int64_t visits)
{
    for (int i = 0; i < reasons->count; i++) {
        if (reasons->list[i].text == text || strcmp(reasons->list[i].text, text) == 0) {
            reasons->list[i].visits += visits;
            return;
        }
    }
    if (reasons->list == NULL)
        reasons->list = calloc(MA_MOST_REASONS, sizeof *reasons->list);
    if (reasons->list == NULL) {
        ma_loss("visits without a value, as memory is short", visits);
        return;
    }
    if (reasons->count == MA_MOST_REASONS - 1)
        text = "other reasons";
    if (reasons->count == MA_MOST_REASONS) {
        reasons->list[MA_MOST_REASONS - 1].visits += visits;
        return;
    }
    reasons->list[reasons->count].text = ma_intern(text);
    reasons->list[reasons->count++].visits = visits;
}

static int position(const struct ma_histogram *histogram, const struct ma_value *value, int *order)
{
    int low = 0, high = histogram->count;
    *order = 1;
    while (low < high) {
        int middle = (low + high) / 2;
        int sense = ma_compare(&histogram->bars[middle].value, value);
        if (sense == 0) {
            *order = 0;
            return middle;
        }
        if (sense < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ma_count(struct ma_histogram *histogram, const struct ma_value *value, int64_t number,
              int most)
{
    int order;
    int place = position(histogram, value, &order);
    if (order == 0) {
        histogram->bars[place].number += number;
        return;
    }
    if (histogram->count == most) {
        histogram->others += number;
        return;
    }
    if (histogram->count == histogram->room) {
        int room = histogram->room * 2 + 2;
        struct ma_bar *bars = realloc(histogram->bars, (size_t)room * sizeof *bars);
        if (bars == NULL) {
            histogram->others += number;
            return;
        }
        histogram->bars = bars;
        histogram->room = room;
    }
    memmove(histogram->bars + place + 1, histogram->bars + place,
            (size_t)(histogram->count - place) * sizeof *histogram->bars);
    histogram->bars[place].value = *value;
    histogram->bars[place].number = number;
    histogram->count++;
}

/* --- texts ---------------------------------------------------------------------------------- */

uint64_t ma_hash(uint64_t seed, const char *text)
{
    for (; *text != '\0'; text++)
        seed = (seed ^ (unsigned char)*text) * 0x100000001b3u;
    return (seed ^ 0xff) * 0x100000001b3u;
}

const char *ma_intern(const char *text)
{
    static struct entry {
        struct entry *next;
        char text[];
    } *table[TEXT_BUCKETS];
    struct entry **bucket;
    if (text == NULL || *text == '\0')
        return "";
    bucket = &table[(ma_hash(0, text) >> 20) % TEXT_BUCKETS];
    for (struct entry *entry = *bucket; entry != NULL; entry = entry->next)
        if (strcmp(entry->text, text) == 0)
            return entry->text;
    struct entry *made = malloc(sizeof *made + strlen(text) + 1);
    if (made == NULL)
        return "";
    strcpy(made->text, text);
    made->next = *bucket;
    *bucket = made;
    return made->text;
}
