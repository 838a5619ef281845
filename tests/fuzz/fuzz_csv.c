/* Rows of CSV: whatever the bytes are, every row is a record or malformed, and records survive being written. */
#define _GNU_SOURCE
#include "fuzz.h"

#define HEADER "ts,symbol,price,size,buy,note\n"

static const dfrt_slice samples[] = {
    SLICE(HEADER "1,A,1.5,2,true,x\n2,B,-0.25,3,false,\n"),
    SLICE(HEADER "-9223372036854775808,\"a,\"\"b\nc\",nan,-2147483648,true,\"\"\r\n3,,inf,0,false,sixsix\r\n"),
    SLICE("\xef\xbb\xbfnote,buy,size,price,extra,symbol,ts\nn,true,1,1e-300,\"x\",\xc3\xa9,7\n\n8"),
    SLICE(HEADER "1,A,1234567890.12345678901234567890e-5,2,true,\xf0\x9f\x98\x80\n"),
};
static const dfrt_slice words[] = {
    SLICE(","), SLICE("\n"), SLICE("\r\n"), SLICE("\""), SLICE("\"\""), SLICE("\",\""), SLICE("\0"), SLICE("-"),
    SLICE("nan"), SLICE("-inf"), SLICE("1e999"), SLICE("99999999999999999999"), SLICE("true"), SLICE("\xef\xbb\xbf"),
    SLICE("\xed\xa0\x80"), SLICE("\xff"), SLICE(HEADER), SLICE("1,A,1,1,true,x\n"),
};
static fuzz_file in, out;
static fuzz_result result, again;

/* Rows that are read many at a time, and ahead, are those that are read one by one. */
static void check_the_same(const char *spec, unsigned helpers)
{
    static const dfrt_record one_by_one = {.name = "Trade", .size = sizeof(trade), .field_count = COUNT(trade_fields),
                                           .fields = trade_fields, .parse = trade_parse};
    read_as(spec, helpers == 0 ? &one_by_one : &trade_record, helpers, &again);
    CHECK(again.opened == result.opened && again.good == result.good && again.malformed == result.malformed);
    for (size_t i = 0; i < result.good; i++) CHECK(same_trade(&result.trades[i], &again.trades[i]));
}

static void check(const fuzz_input *input, dfrt_random *random)
{
    char spec[80];
    fill_file(&in, input->bytes, input->size);
    (void)snprintf(spec, sizeof spec, "csv:%s", in.path);
    read_everything(spec, &result);
    check_the_same(spec, (unsigned)(below(random, 16) == 0));
    if (!result.opened || below(random, 8) != 0) return;
    (void)snprintf(spec, sizeof spec, "csv:%s", out.path);
    check_round_trip(spec, &result, &again);
}

int main(int argc, char **argv)
{
    in = memory_file();
    out = memory_file();
    return fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
}
