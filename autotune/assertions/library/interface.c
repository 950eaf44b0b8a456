/* The functions that programs reach through modeling_assertions.h. */
#include "recorder.h"

static void begin(struct ma_site *site)
{
    if (ma_recording())
        ma_begin(site);
}

static void end(struct ma_site *site)
{
    if (ma_recording())
        ma_end(site, NULL);
}

static void end_whole(struct ma_site *site, int64_t count)
{
    struct ma_value value = ma_whole_value(count);
    if (ma_recording())
        ma_end(site, &value);
}

static void end_real(struct ma_site *site, double count)
{
    struct ma_value value = ma_real_value(count);
    if (ma_recording())
        ma_end(site, &value);
}

static void count_whole(struct ma_site *site, int64_t count)
{
    struct ma_value value = ma_whole_value(count);
    if (ma_recording())
        ma_count_block(site, &value);
}

static void count_real(struct ma_site *site, double count)
{
    struct ma_value value = ma_real_value(count);
    if (ma_recording())
        ma_count_block(site, &value);
}

static void message(struct ma_site *site)
{
    if (ma_recording())
        ma_foretell(site);
}

static void set_whole(struct ma_site *site, int64_t number)
{
    struct ma_value value = ma_whole_value(number);
    if (ma_recording())
        ma_set(site, &value);
}

static void set_real(struct ma_site *site, double number)
{
    struct ma_value value = ma_real_value(number);
    if (ma_recording())
        ma_set(site, &value);
}

static void derive(struct ma_site *site)
{
    if (ma_recording())
        ma_derive_value(site, NULL);
}

static void derive_whole(struct ma_site *site, int64_t number)
{
    struct ma_value value = ma_whole_value(number);
    if (ma_recording())
        ma_derive_value(site, &value);
}

static void derive_real(struct ma_site *site, double number)
{
    struct ma_value value = ma_real_value(number);
    if (ma_recording())
        ma_derive_value(site, &value);
}

static void set_program(const char *name)
{
    if (ma_recording())
        ma_process.program = ma_intern(name);
}

MA_EXPORT struct ma_functions ma_functions_1 = {
    begin,    end,    end_whole,    end_real,    count_whole, count_real, message, set_whole,
    set_real, derive, derive_whole, derive_real, set_program, 0,
};

void ma_switch_on(void)
{
    ma_functions_1.on = 1;
}

void ma_switch_off(void)
{
    ma_functions_1.on = 0;
}
