/* Lines: each is a text, or malformed; none is lost. */
#define _GNU_SOURCE
#include "fuzz.h"

typedef struct line {
    struct {
        uint32_t size;
        char data[16];
    } text;
} line;

static int parse(const dfrt_slice *row, void *record)
{
    line *l = record;
    return dfrt_parse_text(row[0].data, row[0].size, &l->text, sizeof l->text.data) ? -1 : 0;
}

static const dfrt_field fields[] = {{.name = "text", .kind = DFRT_TEXT, .offset = 0, .capacity = 16}};
static const dfrt_record record = {.name = "Line", .size = sizeof(line), .packed_size = 16, .field_count = 1,
                                   .fields = fields, .parse = parse};
static const dfrt_slice samples[] = {
    SLICE("one\ntwo\n\nfour"), SLICE("\xef\xbb\xbf\xc3\xa9\r\n\r\nsixteen bytes ok\nseventeen bytes no\n"), SLICE(""),
};
static const dfrt_slice words[] = {
    SLICE("\n"), SLICE("\r"), SLICE("\r\n"), SLICE("\0"), SLICE("\xff"), SLICE("\xef\xbb\xbf"), SLICE("\xc3\xa9"),
    SLICE("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"),
};
static fuzz_file in;

static uint64_t lines_in(const fuzz_input *input)
{
    size_t start = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    uint64_t lines = input->size > start && input->bytes[input->size - 1] != '\n';
    for (size_t i = start; i < input->size; i++) lines += input->bytes[i] == '\n';
    return lines;
}

static void check(const fuzz_input *input, dfrt_random *random)
{
    static line lines[64];
    char spec[80];
    dfrt_error error;
    dfrt_source *source;
    dfrt_source_options options = fuzz_options();
    options.max_row = 8 + below(random, 200); /* a byte-order mark always fits */
    fill_file(&in, input->bytes, input->size);
    (void)snprintf(spec, sizeof spec, "lines:%s", in.path);
    CHECK(dfrt_source_open(&source, "fuzz", spec, &record, &options, &error) == DFRT_OK);
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK) {
        size_t count;
        status = dfrt_source_read(source, lines, 1 + below(random, COUNT(lines)), &count);
        for (size_t i = 0; i < count; i++)
            CHECK(lines[i].text.size <= 16 && dfrt_utf8_valid(lines[i].text.data, lines[i].text.size) &&
                  memchr(lines[i].text.data, '\n', lines[i].text.size) == NULL);
    }
    CHECK(status == DFRT_END && dfrt_source_position(source) == lines_in(input));
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

int main(int argc, char **argv)
{
    in = memory_file();
    return fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
}
