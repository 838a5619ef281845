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

static void check(const fuzz_input *input, dfrt_random *random)
{
    char spec[80];
    fill_file(&in, input->bytes, input->size);
    (void)snprintf(spec, sizeof spec, "csv:%s", in.path);
    read_everything(spec, &result);
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
