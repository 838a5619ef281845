/* Framing: the bytes of a connection, in pieces of any size, give what the same bytes in a file give. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HEADER "ts,symbol,price,size,buy,note\n"
#define OBJECT "{\"ts\":1,\"symbol\":\"A\",\"price\":1.5,\"size\":2,\"buy\":true,\"note\":\"x\"}\n"
#define BARE "\1\0\0\0\0\0\0\0" "\0\0\0\0\0\0\xf8\x3f" "\2\0\0\0" "\1" "xy\0\0\0\0"

static const dfrt_slice samples[] = {
    SLICE(HEADER "1,A,1.5,2,true,x\n2,B,-0.25,3,false,\n"),
    SLICE("\n\r\n" HEADER "1,\"a\n\"\"b\",1,1,true,\"\"\r\n"),
    SLICE("\xef\xbb\xbfnote,buy,size,price,\"ex\ntra\",symbol,ts\nn,true,1,1,x,A,7\n"),
    SLICE(OBJECT OBJECT),
    SLICE("\xef\xbb\xbf{\"x\":[1,{}]}\n" OBJECT "\n\n"),
    SLICE(BARE BARE BARE),
    SLICE(BARE "\377\377\377\377\377\377\377\377" "\0\0\0\0\0\0\xf8\x7f" "\0\0\0\200" "\3" "\xc3\xa9\0\0\0\0" BARE),
};
static const dfrt_slice words[] = {
    SLICE(","), SLICE("\n"), SLICE("\r\n"), SLICE("\""), SLICE("\"\""), SLICE("\0"), SLICE("\xef\xbb\xbf"), SLICE("\xef"),
    SLICE("\xff"), SLICE(HEADER), SLICE("1,A,1,1,true,x\n"), SLICE(OBJECT), SLICE("{"), SLICE("}"), SLICE("\\"),
    SLICE("\0\0\0\0"), SLICE("\2"), SLICE(BARE),
};

/* A trade without its symbol, which packed records can't carry through a socket. */
enum { BARE_PACKED = TRADE_PACKED - 4 };

static int bare_decode(const unsigned char *packed, void *record)
{
    unsigned char whole[TRADE_PACKED] = {0};
    memcpy(whole, packed, 8);
    memcpy(whole + 12, packed + 8, BARE_PACKED - 8);
    int wrong = trade_decode(whole, record);
    return wrong > 0 ? wrong - 1 : wrong;
}

static const dfrt_field bare_fields[] = {
    {"ts", DFRT_TIMESTAMP, offsetof(trade, ts), 0, 1000000}, {"price", DFRT_F64, offsetof(trade, price), 0, 0},
    {"size", DFRT_I32, offsetof(trade, size), 0, 0},         {"buy", DFRT_BOOL, offsetof(trade, buy), 0, 0},
    {"note", DFRT_TEXT, offsetof(trade, note), 6, 0},
};
static const dfrt_record bare_record = {
    .name = "Bare", .size = sizeof(trade), .packed_size = BARE_PACKED, .field_count = COUNT(bare_fields),
    .fields = bare_fields, .decode = bare_decode,
};

enum { PACKED = 2, FORMATS };
static dfrt_source *sources[FORMATS];
static const char *const formats[FORMATS] = {"csv", "jsonl", "binary"};
static const dfrt_record *const records[FORMATS] = {&trade_record, &trade_record, &bare_record};
static fuzz_file in;
static fuzz_result from_file, from_socket;

static int call(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Takes what is there. A stop while it waits is never asked for, so nothing but DFRT_AGAIN may end this. */
static void drain(dfrt_source *source)
{
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK) {
        size_t count;
        CHECK(from_socket.good < COUNT(from_socket.trades));
        status = dfrt_source_read(source, from_socket.trades + from_socket.good,
                                  COUNT(from_socket.trades) - from_socket.good, &count);
        for (size_t i = 0; i < count; i++) check_trade(&from_socket.trades[from_socket.good + i]);
        from_socket.good += count;
    }
    CHECK(status == DFRT_AGAIN);
}

static bool more_comes(const dfrt_source *source)
{
    struct pollfd ask = {.fd = dfrt_source_poll_fd(source), .events = POLLIN};
    return poll(&ask, 1, 0) > 0;
}

static void send_in_pieces(dfrt_source *source, const char *path, const fuzz_input *input, dfrt_random *random)
{
    int fd = call(path);
    size_t most = 1 + below(random, below(random, 2) ? 8 : 400);
    for (size_t at = 0; at < input->size;) {
        size_t piece = 1 + below(random, most);
        if (piece > input->size - at) piece = input->size - at;
        /* A caller with a wrong header is sent away while he speaks. */
        if (send(fd, input->bytes + at, piece, MSG_NOSIGNAL) < 0) break;
        at += piece;
        if (below(random, 2) == 0) drain(source);
    }
    CHECK(close(fd) == 0);
    do drain(source);
    while (more_comes(source)); /* of a long row only a part is skipped at a time */
}

static void check(const fuzz_input *input, dfrt_random *random)
{
    unsigned which = (unsigned)below(random, FORMATS);
    char spec[80], path[20];
    from_socket.good = 0;
    uint64_t before = dfrt_source_malformed(sources[which]);
    (void)snprintf(path, sizeof path, "%s.sock", formats[which]);
    send_in_pieces(sources[which], path, input, random);
    from_socket.malformed = dfrt_source_malformed(sources[which]) - before;
    fill_file(&in, input->bytes, input->size);
    (void)snprintf(spec, sizeof spec, "%s:%s", formats[which], in.path);
    read_as(spec, records[which], 0, &from_file);
    /* A file may end without a newline, a connection may not. */
    if (which != PACKED && (input->size == 0 || input->bytes[input->size - 1] != '\n')) return;
    CHECK(from_file.good == from_socket.good && from_file.malformed == from_socket.malformed);
    for (size_t i = 0; i < from_file.good; i++) CHECK(same_trade(&from_file.trades[i], &from_socket.trades[i]));
}

int main(int argc, char **argv)
{
    dfrt_error error;
    dfrt_source_options options = fuzz_options();
    in = memory_file();
    for (unsigned i = 0; i < FORMATS; i++) {
        char spec[80];
        (void)snprintf(spec, sizeof spec, "unix:%s.sock?listen=true&retry=true&format=%s", formats[i], formats[i]);
        CHECK(dfrt_source_open(&sources[i], "fuzz", spec, records[i], &options, &error) == DFRT_OK);
    }
    int code = fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
    for (unsigned i = 0; i < FORMATS; i++) (void)dfrt_source_close(sources[i], &error);
    return code;
}
