#define _GNU_SOURCE
#include <dfrt/generate.h>
#include <dfrt/monitor.h>
#include <dfrt/sink.h>
#include <dfrt/source.h>

#include <time.h>

#include "check.h"
#include "sample.h"

static dfrt_error error;

static void copy(const char *spec, const char *to)
{
    dfrt_source *source;
    dfrt_sink *sink;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.event_time = 0;
    dfrt_status status = dfrt_source_open(&source, "in", spec, &trade_record, &options, &error);
    if (status != DFRT_OK) fprintf(stderr, "%s\n", error.text);
    CHECK(status == DFRT_OK && dfrt_sink_open(&sink, "out", to, &trade_record, &error) == DFRT_OK);
    trade batch[7];
    size_t count;
    while ((status = dfrt_source_read(source, batch, 7, &count)) != DFRT_END) {
        for (size_t i = 0; i < count; i++) dfrt_sink_write(sink, &batch[i]);
        if (status == DFRT_AGAIN) status = dfrt_source_wait(source);
        CHECK(status == DFRT_OK);
    }
    CHECK(dfrt_source_close(source, &error) == DFRT_OK && dfrt_sink_close(sink, &error) == DFRT_OK);
}

/* These rows were printed by generate_reference.py. */
static void test_recipe(void)
{
    copy("generate:count=5,rate=3,start=-1000,zipf=1.1,keys=100,disorder=2s,size=-5..5,price=10..20", "csv:a.csv");
    check_file("a.csv",
               "ts,symbol,price,size,buy,note\n"
               "-2134,k19,19.71002753586796,-1,false,k22\n"
               "-2422,k5,12.855086843969666,3,false,k8\n"
               "-1244,k5,14.35965399824725,-4,true,k30\n"
               "-1364,k46,10.659601931455764,-5,false,k0\n"
               "-241,k0,15.155198964114705,2,false,k98\n");
    copy("generate:count=4,rate=1.5k/s,seed=42", "csv:b.csv");
    check_file("b.csv",
               "ts,symbol,price,size,buy,note\n"
               "1700000000000,k741,0.1599103928769201,278,false,k38\n"
               "1700000000000,k868,0.21840519371218436,800,false,k618\n"
               "1700000000001,k204,0.4929891857946924,513,true,k665\n"
               "1700000000002,k203,0.10357423567927071,495,false,k688\n");
}

enum { SOME = 600 }; /* more than two blocks, and not whole ones */

static void fill(const char *spec, const bool *used, trade *trades)
{
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.event_time = 0;
    options.used = used;
    memset(trades, 0, SOME * sizeof *trades);
    CHECK(dfrt_source_open(&source, "in", spec, &trade_record, &options, &error) == DFRT_OK);
    for (size_t total = 0, count; total < SOME; total += count) {
        size_t room = SOME - total < 300 ? SOME - total : 300;
        CHECK(dfrt_source_read(source, trades + total, room, &count) == DFRT_OK && count == room);
    }
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

/* Every choice of fields: those have the values that they always have, the others are left alone. */
static void test_unused_fields(void)
{
    static const char *const specs[] = {"generate:rate=3,disorder=2s,size=-5..2000000000,zipf=1.1,keys=100",
                                        "generate:rate=1M,keys=50,price=1..2"};
    static trade all[SOME], some[SOME];
    static const trade none;
    for (size_t s = 0; s < 2; s++) {
        fill(specs[s], NULL, all);
        for (unsigned choice = 0; choice < 64; choice++) {
            bool used[6];
            for (unsigned i = 0; i < 6; i++) used[i] = (choice >> i & 1) != 0;
            fill(specs[s], used, some);
            for (size_t t = 0; t < SOME; t++) {
                CHECK(some[t].ts == (used[0] ? all[t].ts : 0) && some[t].symbol == (used[1] ? all[t].symbol : 0));
                CHECK(some[t].price == (used[2] ? all[t].price : 0) && some[t].size == (used[3] ? all[t].size : 0));
                CHECK(some[t].buy == (used[4] && all[t].buy));
                CHECK(memcmp(&some[t].note, used[5] ? &all[t].note : &none.note, sizeof none.note) == 0);
            }
        }
    }
}

static void test_small_bounds(void)
{
    static const uint64_t bounds[] = {1, 2, 3, 1000, 65537, UINT64_C(0x80000001), UINT32_MAX};
    dfrt_random random = dfrt_random_seed(9);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (int i = 0; i < 10000; i++) {
            uint64_t draw = dfrt_random_next(&random);
            CHECK(dfrt__below_small_of(draw, bounds[b]) == dfrt__below_of(draw, bounds[b]));
        }
        CHECK(dfrt__below_small_of(UINT64_MAX, bounds[b]) == bounds[b] - 1 && dfrt__below_small_of(0, bounds[b]) == 0);
    }
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* tests/compiler/test_interpret_sources.py has the same rates, and what follows from them. */
static void test_rates(void)
{
    put_file("rates.txt", "# seconds and rates\n3\n10 4\n10.5 0\n11.5 2.6\n");
    copy("generate:rates=rates.txt,start=0,keys=1,price=1..1,size=7..7", "csv:r.csv");
    FILE *file = fopen("r.csv", "r");
    char row[128];
    CHECK(file != NULL && fgets(row, sizeof row, file) != NULL);
    static const char *const times[] = {"0,", "250,", "1500,", "1833,", "2166,"};
    for (size_t i = 0; i < 5; i++)
        CHECK(fgets(row, sizeof row, file) != NULL && strncmp(row, times[i], strlen(times[i])) == 0);
    CHECK(fgets(row, sizeof row, file) == NULL && fclose(file) == 0);
    dfrt_rates rates;
    CHECK(dfrt_rates_read(&rates, "rates.txt", &error) == DFRT_OK && rates.count == 3);
    CHECK(rates.steps[0].tuples == 2 && rates.steps[1].tuples == 0 && rates.steps[2].tuples == 3);
    CHECK(rates.steps[2].start_ns == 1500000000 && rates.steps[2].end_ns == 2500000000 && rates.steps[2].rate == 3);
    dfrt_rates_free(&rates);
    put_file("one.txt", "5 100");
    CHECK(dfrt_rates_read(&rates, "one.txt", &error) == DFRT_OK && rates.count == 1);
    CHECK(rates.steps[0].tuples == UINT64_MAX && rates.steps[0].start_ns == 0);
    dfrt_rates_free(&rates);
    put_file("lines.txt", "4\n# a pause\n0\n2.6\n");
    CHECK(dfrt_rates_read(&rates, "lines.txt", &error) == DFRT_OK && rates.count == 3);
    CHECK(rates.steps[0].tuples == 4 && rates.steps[1].tuples == 0 && rates.steps[2].tuples == 3);
    CHECK(rates.steps[2].start_ns == 2000000000 && rates.steps[2].end_ns == 3000000000);
    dfrt_rates_free(&rates);
    put_file("single.txt", "100");
    CHECK(dfrt_rates_read(&rates, "single.txt", &error) == DFRT_OK && rates.count == 1 && rates.steps[0].rate == 100);
    dfrt_rates_free(&rates);
    static const char *const wrong[] = {"", "# nothing", "1\n2\n3 4", "0 1\n2", "3\n0 1\n2", "x", "1 2 3", "-1\n2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_file("wrong.txt", wrong[i]);
        CHECK(dfrt_rates_read(&rates, "wrong.txt", &error) == DFRT_USAGE && rates.steps == NULL);
    }
}

/* Read in small pieces, with and without times: chance has one answer. */
static void test_chance(void)
{
    static trade all[SOME], some[SOME];
    put_file("steps.txt", "0 1000\n0.2 0\n0.3 100000\n0.4 2000\n");
    static const bool without_time[6] = {false, true, true, true, true, true};
    fill("generate:rates=steps.txt,arrivals=poisson,disorder=1ms,start=0", NULL, all);
    fill("generate:rates=steps.txt,arrivals=poisson,disorder=1ms,start=0", without_time, some);
    unsigned early = 0, between = 0;
    for (size_t i = 0; i < SOME; i++) {
        CHECK(some[i].symbol == all[i].symbol && some[i].price == all[i].price);
        early += all[i].ts < 200;
        between += all[i].ts >= 200 && all[i].ts < 299;
    }
    CHECK(early > 150 && early < 250 && between == 0);
}

static void test_weights(void)
{
    put_file("weights.txt", "0 6\n3\n1 0\n");
    static trade trades[SOME];
    fill("generate:weights=weights.txt,size=0..9", NULL, trades);
    unsigned hits[5] = {0};
    for (size_t i = 0; i < SOME; i++) hits[trades[i].note.data[1] - '0']++;
    CHECK(hits[0] == 0 && hits[4] == 0 && hits[1] > 300 && hits[1] < 420 && hits[3] > 20 && hits[3] < 110);
}

static void test_pace(void)
{
    struct timespec from, to;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &from) == 0);
    copy("generate:count=50,rate=500,paced=true", "discard:");
    CHECK(clock_gettime(CLOCK_MONOTONIC, &to) == 0);
    /* Tuple 49 is due after 98 ms; that nothing comes early is not a matter of speed. */
    CHECK((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec >= 98000000L);
}

/* What comes late was due all the same: the pause of whoever reads counts. */
static void test_due(void)
{
    trade got[1];
    size_t count;
    dfrt_source *source;
    dfrt_source_options options = {.event_time = -1, .stop_fd = -1};
    CHECK(dfrt_source_open(&source, "t", "generate:count=9,rate=1000,paced=true", &trade_record, &options, &error) == DFRT_OK);
    CHECK(dfrt_source_due_ns(source) == 0);
    uint64_t from = dfrt_now_ns();
    CHECK(dfrt_source_read(source, got, 1, &count) == DFRT_OK && count == 1);
    uint64_t to = dfrt_now_ns(), due = dfrt_source_due_ns(source);
    CHECK(due >= from + 1000000 && due <= to + 1000000);
    CHECK(dfrt_source_due_ns(source) == due); /* whatever time has passed */
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    CHECK(dfrt_source_open(&source, "t", "generate:count=9,rate=1000", &trade_record, &options, &error) == DFRT_OK);
    CHECK(dfrt_source_read(source, got, 1, &count) == DFRT_OK && dfrt_source_due_ns(source) == 0);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_distribution(void)
{
    dfrt_zipf zipf;
    dfrt_random random = dfrt_random_seed(5);
    static unsigned hits[1000];
    CHECK(dfrt_zipf_make(&zipf, 1000, 1.0, &error) == DFRT_OK);
    for (int i = 0; i < 200000; i++) {
        dfrt_random twin = random;
        uint64_t r = dfrt_random_next(&twin) >> 11, k = 0;
        uint64_t drawn = dfrt_zipf_draw(&zipf, &random);
        while (r >= zipf.limits[k]) k++;
        CHECK(drawn == k);
        hits[k]++;
    }
    CHECK(hits[0] > 1.8 * hits[1] && hits[0] < 2.2 * hits[1] && hits[999] < 100);
    dfrt_zipf_free(&zipf);
    CHECK(dfrt_zipf_make(&zipf, 0, 1.0, &error) == DFRT_USAGE && dfrt_zipf_make(&zipf, 5, -1.0, &error) == DFRT_USAGE);
}

static void test_mistakes(void)
{
    static const char *const bad[] = {"count", "count=x", "rate=0", "rate=1.2345k", "rate=1e30", "paced=1", "keys=0", "zipf=-1",
                                      "disorder=5", "disorder=5weeks", "seed=-1", "price=5", "price=2..1", "size=0..3000000000",
                                      "symbol=1..2", "buy=0..1", "ts=1..2", "start=9223372036854775807", "keys=1M", "unknown=1"};
    static const char *const files[][2] = {
        {"rates=bad.txt", ""},       {"rates=bad.txt", "1 2\n1 3"}, {"rates=bad.txt", "1 x"},     {"rates=bad.txt", "1 2 3"},
        {"rates=bad.txt", "1 -1"},   {"rates=bad.txt", "1 1e11"},    {"weights=bad.txt", "0 0"},   {"weights=bad.txt", "1 -2"},
        {"rate=5,rates=bad.txt", "1 2"}, {"weights=bad.txt,keys=3", "1 2"}, {"zipf=1,weights=bad.txt", "1"},
        {"rates=bad.txt,rates=bad.txt", "1 2"}, {"arrivals=soon", ""}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        dfrt_generate_plan plan;
        put_file("bad.txt", files[i][1]);
        CHECK(dfrt_generate_parse(&plan, files[i][0], &trade_record, 0, &error) == DFRT_USAGE);
        CHECK(strncmp(error.text, "generate: ", 10) == 0);
    }
    dfrt_generate_plan absent;
    CHECK(dfrt_generate_parse(&absent, "rates=absent.txt", &trade_record, 0, &error) == DFRT_IO);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dfrt_generate_plan plan;
        CHECK(dfrt_generate_parse(&plan, bad[i], &trade_record, 0, &error) == DFRT_USAGE);
        CHECK(strncmp(error.text, "generate: ", 10) == 0);
    }
}

int main(void)
{
    enter_scratch_folder();
    test_recipe();
    test_unused_fields();
    test_small_bounds();
    test_rates();
    test_chance();
    test_weights();
    test_pace();
    test_due();
    test_distribution();
    test_mistakes();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
