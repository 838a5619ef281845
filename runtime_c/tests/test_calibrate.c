/* Timers of the calibrating build: nested calls, results, keys, and the file that they end in. */
#define _GNU_SOURCE
#include <dfrt/calibrate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { EVENTS = 100000, WINDOW = 10, PERIOD = 5000, RELEASED = 50 };

static const char *const path = "calibrate.json";

/* Step 0 passes each tuple on to step 1, which gives a result to step 2 for every tenth, and passes all watermarks on. A
 * watermark comes after each tuple; few of them release many results. */
static void run(void)
{
    for (int i = 0; i < EVENTS; i++) {
        dfrt_calibrate_enter(0, true);
        dfrt_calibrate_key(1, (uint64_t)(i % 4 == 0 ? 7 : i % 3));
        dfrt_calibrate_enter(1, true);
        if (i % WINDOW == 0) {
            dfrt_calibrate_enter(2, true);
            dfrt_calibrate_leave();
        }
        dfrt_calibrate_leave();
        dfrt_calibrate_leave();
        dfrt_calibrate_enter(1, false);
        for (int result = 0; i % PERIOD == 0 && result < RELEASED; result++) {
            dfrt_calibrate_enter(2, true);
            dfrt_calibrate_leave();
        }
        dfrt_calibrate_enter(2, false);
        dfrt_calibrate_leave();
        dfrt_calibrate_leave();
    }
}

static char *read_all(void)
{
    static char text[1 << 16];
    FILE *in = fopen(path, "r");
    CHECK(in != NULL);
    size_t size = fread(text, 1, sizeof text - 1, in);
    CHECK(size > 0 && fclose(in) == 0);
    text[size] = '\0';
    return text;
}

static unsigned long number_after(const char *text, const char *step, const char *name)
{
    const char *at = strstr(text, step);
    CHECK(at != NULL && (at = strstr(at, name)) != NULL);
    return strtoul(at + strlen(name), NULL, 10);
}

int main(void)
{
    CHECK(unsetenv("DFC_CALIBRATE") == 0 && dfrt_calibrate_write(3) != 0);
    run();
    CHECK(setenv("DFC_CALIBRATE", path, 1) == 0 && dfrt_calibrate_write(3) == 0);
    const char *text = read_all();
    CHECK(strstr(text, "\"inside_ns\":") != NULL && text[0] == '{');
    unsigned long calls = number_after(text, "{\"step\":0", "\"push_with_results\":{\"calls\":");
    CHECK(calls > EVENTS * 8 / 10 && calls < EVENTS * 12 / 10); /* each that is timed stands for those that are not */
    unsigned long with = number_after(text, "{\"step\":1", "\"push_with_results\":{\"calls\":");
    unsigned long without = number_after(text, "{\"step\":1", "\"push\":{\"calls\":");
    CHECK(with > 0 && without > 5 * with && with + without >= calls * 9 / 10);
    /* What calls inside of a call cost in timers is theirs, be they tuples or watermarks. */
    unsigned long marks = number_after(text, "{\"step\":1", "\"watermark\":{\"calls\":");
    const char *step = strstr(text, "{\"step\":1");
    CHECK(marks > 0 && number_after(step, "\"watermark\":", "\"watermarks\":") == marks);
    CHECK(number_after(step, "\"watermark\":", "\"results\":") == 0);
    CHECK(number_after(step, "\"push_with_results\":", "\"watermarks\":") == 0);
    CHECK(number_after(text, "{\"step\":2", "\"watermarks\":") == 0);
    unsigned long released = number_after(step, "\"watermark_with_results\":", "\"results\":");
    unsigned long all = EVENTS / PERIOD * RELEASED;
    CHECK(released > all / 2 && released < all * 2);
    CHECK(marks > EVENTS * 9 / 10 && marks < EVENTS * 11 / 10);
    CHECK(number_after(text, "{\"step\":1", "\"keys\":") == 4);
    CHECK(number_after(text, "{\"step\":2", "\"keys\":") == 0);
    unsigned long tuples = number_after(text, "{\"step\":1", "\"key_tuples\":");
    CHECK(tuples > EVENTS * 9 / 10 && tuples <= EVENTS);
    CHECK(dfrt_calibrate_write(DFRT_CALIBRATE_STEPS) != 0);
    CHECK(remove(path) == 0);
    return 0;
}
