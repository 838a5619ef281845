/* A program over its rows, with and without being saved and loaded again on the way; and with saved state that was
 * damaged: driver check|fuzz SEED SLACK… (of each source, -1 for auto). Linked with the program as PROGRAM. */
#include <dfrt/cluster.h>
#include <dfrt/hash.h>
#include <dfrt/program.h>
#include <dfrt/record.h>

#include <stdlib.h>
#include <string.h>

extern const dfrt_program PROGRAM;

enum { MOST_SOURCES = 16, HEADER = 40, VARIANTS = 60 };

typedef struct rows {
    int32_t *offsets;
    uint8_t *bytes;
    int64_t *watermarks;
    uint64_t count, at;
} rows;

typedef struct buffer {
    uint8_t *data;
    size_t size;
} buffer;

static const dfrt_cluster *const api = &dfrt_cluster_functions;
static dfrt_error error;
static uint64_t state;

static uint64_t next_random(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void good(dfrt_status status)
{
    if (status != DFRT_OK) {
        printf("failed: %s\n", error.text);
        exit(1);
    }
}

static void append(buffer *to, const void *data, size_t size)
{
    to->data = realloc(to->data, to->size + size + 1);
    if (size > 0) {
        memcpy(to->data + to->size, data, size);
    }
    to->size += size;
}

static rows read_rows(unsigned source, int64_t slack)
{
    dfrt_range_options options = {.source = source, .spec = PROGRAM.sources[source].spec, .whole = true, .slack = slack,
                                  .progress = {0, INT64_MIN, 0, INT64_MIN}};
    dfrt_range *range;
    buffer offsets = {0}, bytes = {0}, marks = {0};
    rows found = {0};
    dfrt_row_columns part;
    dfrt_status status;
    append(&offsets, &(int32_t){0}, sizeof(int32_t));
    good(api->range_open(&range, &PROGRAM, &options, &error));
    while ((status = api->range_rows(range, &part, &error)) == DFRT_OK) {
        for (uint64_t i = 0; i < part.count; i++) {
            append(&bytes, part.bytes + part.offsets[i], (size_t)(part.offsets[i + 1] - part.offsets[i]));
            append(&offsets, &(int32_t){(int32_t)bytes.size}, sizeof(int32_t));
            append(&marks, &part.watermark[i], sizeof(int64_t));
            found.count++;
        }
    }
    if (status != DFRT_END) {
        good(status);
    }
    api->range_close(range);
    append(&bytes, "", 0);
    append(&marks, "", 0);
    found.offsets = (int32_t *)(void *)offsets.data;
    found.bytes = bytes.data;
    found.watermarks = (int64_t *)(void *)marks.data;
    return found;
}

static void take_results(dfrt_task *task, buffer *out)
{
    for (unsigned sink = 0; sink < PROGRAM.sink_count; sink++) {
        dfrt_row_columns got;
        good(api->task_results(task, sink, &got, &error));
        for (uint64_t i = 0; i < got.count; i++) {
            append(out, &sink, sizeof sink);
            append(out, got.bytes + got.offsets[i], (size_t)(got.offsets[i + 1] - got.offsets[i]));
        }
    }
}

static int push_some(dfrt_task *task, rows *all, unsigned source, uint64_t count, buffer *out)
{
    enum { MOST = 64 };
    int64_t zeros[MOST] = {0};
    int32_t sources[MOST];
    rows *from = &all[source];
    count = from->count - from->at < count ? from->count - from->at : count;
    for (uint64_t i = 0; i < count; i++) {
        sources[i] = (int32_t)source;
    }
    dfrt_row_columns part = {.count = count, .offsets = from->offsets + from->at, .bytes = from->bytes, .order = zeros,
                             .source = sources, .index = zeros, .watermark = from->watermarks + from->at};
    dfrt_status status = api->task_push(task, &part, &error);
    from->at += count;
    if (status == DFRT_OK) {
        take_results(task, out);
    }
    return status == DFRT_OK;
}

static bool rows_left(const rows *all)
{
    for (unsigned i = 0; i < PROGRAM.source_count; i++) {
        if (all[i].at < all[i].count) {
            return true;
        }
    }
    return false;
}

static dfrt_task *reopened(dfrt_task *task)
{
    const uint8_t *bytes;
    uint64_t size;
    dfrt_task *fresh;
    good(api->task_save(task, &bytes, &size, &error));
    good(api->task_open(&fresh, &PROGRAM, &error));
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    api->task_close(task);
    good(api->task_load(fresh, copy, size, &error));
    free(copy);
    return fresh;
}

/* The same seed gives the same parts of rows, whether the task is saved between them or not. */
static buffer run_all(rows *all, uint64_t seed, bool saves)
{
    dfrt_task *task;
    buffer out = {0};
    state = seed;
    good(api->task_open(&task, &PROGRAM, &error));
    for (unsigned i = 0; i < PROGRAM.source_count; i++) {
        all[i].at = 0;
    }
    while (rows_left(all)) {
        unsigned source = (unsigned)next_random(PROGRAM.source_count);
        if (!push_some(task, all, source, 1 + next_random(30), &out)) {
            good(DFRT_USAGE);
        }
        bool now = next_random(3) == 0;
        task = saves && now ? reopened(task) : task;
    }
    good(api->task_end(task, &error));
    take_results(task, &out);
    api->task_close(task);
    return out;
}

static int check(rows *all, uint64_t seed)
{
    buffer plain = run_all(all, seed, false), saved = run_all(all, seed, true);
    size_t same = 0;
    while (same < plain.size && same < saved.size && plain.data[same] == saved.data[same]) {
        same++;
    }
    bool equal = plain.size == saved.size && same == plain.size;
    printf("%s: %zu bytes of results, %zu after saving, equal up to %zu\n", equal ? "equal" : "different", plain.size,
           saved.size, same);
    free(plain.data);
    free(saved.data);
    return equal ? 0 : 1;
}

/* --- damage ----------------------------------------------------------------------------------------- */

static void damage(uint8_t *bytes, uint64_t *size)
{
    static const int64_t telling[] = {0, 1, -1, INT64_MAX, INT64_MIN, UINT32_MAX, 255, 65536, INT64_C(1) << 62};
    uint64_t body = *size - HEADER;
    for (uint64_t times = 1 + next_random(4); times > 0 && body > 8; times--) {
        uint64_t at = HEADER + next_random(body - 8), what = next_random(4);
        if (what == 0) {
            bytes[at] ^= (uint8_t)(1u << next_random(8));
        } else if (what == 1) {
            bytes[at] = (uint8_t)next_random(256);
        } else if (what == 2) {
            memcpy(bytes + at, &telling[next_random(sizeof telling / sizeof *telling)], next_random(2) == 0 ? 4 : 8);
        } else {
            memcpy(bytes + at, bytes + HEADER + next_random(body - 8), 8);
        }
    }
    if (next_random(8) == 0) {
        *size = HEADER + next_random(body + 1);
    }
}

/* As if it had been written so. */
static void sign(uint8_t *bytes, uint64_t size)
{
    uint64_t body = size - HEADER, hash = dfrt_hash_bytes(bytes + HEADER, body);
    dfrt_pack(bytes + 24, &body, 8);
    dfrt_pack(bytes + 32, &hash, 8);
}

static bool goes_on(const uint8_t *bytes, uint64_t size, rows *all)
{
    dfrt_task *task;
    buffer out = {0};
    good(api->task_open(&task, &PROGRAM, &error));
    bool loaded = api->task_load(task, bytes, size, &error) == DFRT_OK;
    rows copy[MOST_SOURCES];
    memcpy(copy, all, PROGRAM.source_count * sizeof *all);
    for (unsigned i = 0; loaded && i < 6; i++) { /* a source that has ended there refuses rows */
        loaded = push_some(task, copy, (unsigned)next_random(PROGRAM.source_count), 30, &out);
    }
    if (loaded && api->task_end(task, &error) == DFRT_OK) {
        take_results(task, &out);
    }
    api->task_close(task);
    free(out.data);
    return loaded;
}

static int fuzz(rows *all, uint64_t seed)
{
    dfrt_task *task;
    buffer out = {0};
    unsigned taken = 0, refused = 0;
    state = seed;
    good(api->task_open(&task, &PROGRAM, &error));
    while (rows_left(all)) {
        (void)push_some(task, all, (unsigned)next_random(PROGRAM.source_count), 1 + next_random(60), &out);
        const uint8_t *saved;
        uint64_t size;
        good(api->task_save(task, &saved, &size, &error));
        for (unsigned i = 0; i < VARIANTS / 4; i++) {
            uint8_t *bytes = malloc(size);
            uint64_t left = size;
            memcpy(bytes, saved, size);
            damage(bytes, &left);
            uint8_t *exact = malloc(left); /* so that a byte too many is seen */
            memcpy(exact, bytes, left);
            free(bytes);
            if (next_random(10) != 0) {
                sign(exact, left);
            }
            *(goes_on(exact, left, all) ? &taken : &refused) += 1;
            free(exact);
        }
    }
    api->task_close(task);
    free(out.data);
    printf("fuzzed: %u taken, %u refused\n", taken, refused);
    return 0;
}

int main(int argc, char **argv)
{
    rows all[MOST_SOURCES];
    if (argc != 3 + (int)PROGRAM.source_count || PROGRAM.source_count > MOST_SOURCES) {
        return 2;
    }
    for (unsigned i = 0; i < PROGRAM.source_count; i++) {
        all[i] = read_rows(i, strtoll(argv[3 + i], NULL, 10));
    }
    uint64_t seed = strtoull(argv[2], NULL, 10) | 1;
    int answer = strcmp(argv[1], "fuzz") == 0 ? fuzz(all, seed) : check(all, seed);
    for (unsigned i = 0; i < PROGRAM.source_count; i++) {
        free(all[i].offsets);
        free(all[i].bytes);
        free(all[i].watermarks);
    }
    return answer;
}
