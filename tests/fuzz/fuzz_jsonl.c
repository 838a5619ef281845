/* Lines of JSON: as for CSV. */
#define _GNU_SOURCE
#include "fuzz.h"

#define GOOD "{\"ts\":1,\"symbol\":\"A\",\"price\":1.5,\"size\":2,\"buy\":true,\"note\":\"x\"}\n"

static const dfrt_slice samples[] = {
    SLICE(GOOD GOOD),
    SLICE("{\"note\":\"\\u00e9\\ud83d\\ude00\",\"buy\":false,\"size\":-2147483648,\"price\":\"-inf\",\"symbol\":\"\\\"\\\\\\/"
          "\\b\\f\\n\\r\\t\",\"ts\":-9223372036854775808}\r\n"),
    SLICE(" { \"x\" : [ 1 , { \"y\" : [ ] } , null ] , \"ts\" : 1, \"symbol\":\"\", \"price\":1e-5,\"size\":0,\"buy\":true,"
          "\"note\":\"\" } \n\n"),
    SLICE("{\"ts\":1,\"symbol\":\"\xc3\xa9\xf0\x9f\x98\x80\",\"price\":-0.0,\"size\":2,\"buy\":true,\"note\":\"\\u0000\"}"),
};
static const dfrt_slice words[] = {
    SLICE("{"), SLICE("}"), SLICE("["), SLICE("]"), SLICE("[[[[[[[[[[[[[[[["), SLICE(","), SLICE(":"), SLICE("\""),
    SLICE("\\"), SLICE("\\u"), SLICE("\\ud83d"), SLICE("\\ude00"), SLICE("\\u0000"), SLICE("null"), SLICE("true"),
    SLICE("\"nan\""), SLICE("NaN"), SLICE("1e999"), SLICE("-"), SLICE("01"), SLICE("\"ts\":1,"), SLICE("\"x\":"),
    SLICE("\n"), SLICE("\r\n"), SLICE("\0"), SLICE("\xff"), SLICE("\xef\xbb\xbf"), SLICE(GOOD),
};
static fuzz_file in, out;
static fuzz_result result, again;

static void check(const fuzz_input *input, dfrt_random *random)
{
    char spec[80];
    fill_file(&in, input->bytes, input->size);
    (void)snprintf(spec, sizeof spec, "jsonl:%s", in.path);
    read_everything(spec, &result);
    if (below(random, 8) != 0) return;
    (void)snprintf(spec, sizeof spec, "jsonl:%s", out.path);
    check_round_trip(spec, &result, &again);
}

int main(int argc, char **argv)
{
    in = memory_file();
    out = memory_file();
    return fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
}
