/* Packed records, with a file of symbols that may be damaged too. */
#define _GNU_SOURCE
#include <fcntl.h>

#include "fuzz.h"

#define RECORD "\1\0\0\0\0\0\0\0" "\0\0\0\0" "\0\0\0\0\0\0\xf8\x3f" "\2\0\0\0" "\1" "xy\0\0\0\0"

static const dfrt_slice samples[] = {
    SLICE(RECORD RECORD),
    SLICE("\377\377\377\377\377\377\377\377" "\1\0\0\0" "\0\0\0\0\0\0\xf8\x7f" "\0\0\0\200" "\0" "sixsix" RECORD),
    SLICE(RECORD "half of it"),
};
static const dfrt_slice words[] = {
    SLICE("\0"), SLICE("\1\0\0\0"), SLICE("\2\0\0\0"), SLICE("\377\377\377\377"), SLICE("\xc3\xa9"), SLICE("\xed\xa0\x80"),
    SLICE("\2"), SLICE("x"), SLICE(RECORD),
};
static const dfrt_slice symbols[] = {SLICE("A\nB\n"), SLICE("\"a,\"\"b\nc\"\nB"), SLICE(""), SLICE("A,B\n"), SLICE("\"A\n"),
                                     SLICE("\xff\n")};
static const dfrt_slice *present; /* what the file of symbols holds */
static fuzz_file in = {.path = "in.bin"};
static fuzz_result result, again;

static void check(const fuzz_input *input, dfrt_random *random)
{
    size_t choice = below(random, 8 * COUNT(symbols));
    const dfrt_slice *beside = &symbols[choice < COUNT(symbols) ? choice : 0];
    fill_file(&in, input->bytes, input->size);
    if (beside != present) write_file("in.bin.symbols", beside->data, beside->size);
    present = beside;
    read_everything("binary:in.bin", &result);
    if (result.opened && below(random, 8) == 0) check_round_trip("binary:out.bin", &result, &again);
    CHECK(!result.opened || result.good + result.malformed == (input->size + TRADE_PACKED - 1) / TRADE_PACKED);
}

int main(int argc, char **argv)
{
    in.fd = open(in.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(in.fd >= 0);
    return fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
}
