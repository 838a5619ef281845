/* Sources and sinks over sockets, with the other side played in the same thread. */
#define _GNU_SOURCE
#include <dfrt/sink.h>
#include <dfrt/source.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "other_side.h"
#include "sample.h"

static dfrt_error error;
#define HEADER "ts,symbol,price,size,buy,note\n"

/* --- sources --- */

static dfrt_source *open_source(const char *spec, const dfrt_record *record)
{
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    options.quiet = true;
    dfrt_status status = dfrt_source_open(&source, "in", spec, record, &options, &error);
    if (status != DFRT_OK) CHECK_TEXT(error.text, "");
    return source;
}

/* Reads until there are `count` records, or nothing more comes; the status of the last read. */
static dfrt_status take(dfrt_source *source, trade *trades, size_t count, size_t *total)
{
    dfrt_status status = DFRT_OK;
    *total = 0;
    while (status == DFRT_OK || (status == DFRT_AGAIN && *total < count)) {
        size_t got;
        if (status == DFRT_AGAIN) CHECK(dfrt_source_wait(source) == DFRT_OK);
        status = dfrt_source_read(source, trades + *total, 8 - *total, &got);
        *total += got;
        if (*total == count && status == DFRT_OK) break;
    }
    return status;
}

/* Lets the source look at what was sent, without waiting for a record. */
static dfrt_status look(dfrt_source *source)
{
    trade ignored[8];
    size_t count;
    dfrt_status status = dfrt_source_read(source, ignored, 8, &count);
    CHECK(count == 0);
    return status;
}

static void test_csv_source(void)
{
    trade got[8];
    size_t count;
    struct stat about;
    dfrt_source *source = open_source("unix:in.sock?listen=true&retry=true", &trade_record);
    CHECK(dfrt_source_is_live(source) && look(source) == DFRT_AGAIN);
    CHECK(stat("in.sock", &about) == 0 && S_ISSOCK(about.st_mode) && (about.st_mode & 0777) == 0600);
    int first = call("in.sock");
    say(first, "\n\nts,symbol,pri");
    CHECK(look(source) == DFRT_AGAIN); /* the header comes in pieces, and holds nobody up */
    say(first, "ce,size,buy,note\n1,A,1.5,1,true,");
    CHECK(look(source) == DFRT_AGAIN);
    say(first, "x\n2,B,2.5,");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 1);
    hang_up(first);
    int second = call("in.sock"); /* with a header of its own, in another order */
    say(second, "note,buy,size,price,symbol,ts\ny,false,3,3.5,C,3\n");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 3 && got[0].size == 3);
    CHECK(dfrt_source_malformed(source) == 1); /* half of row 2 */
    hang_up(second);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK && stat("in.sock", &about) != 0);
}

static void test_other_formats(void)
{
    trade got[8];
    size_t count;
    dfrt_source *source = open_source("unix:j.sock?listen=true&format=jsonl&max_row=120", &trade_record);
    int fd = call("j.sock");
    char line[400];
    (void)snprintf(line, sizeof line, "{\"ts\":7,\"symbol\":\"%0200d\"}\n", 1);
    say(fd, line);
    say(fd, "{\"ts\":1,\"symbol\":\"A\",\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\"}\n{\"ts\":2");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 1);
    hang_up(fd);
    CHECK(take(source, got, 1, &count) == DFRT_END && count == 0); /* nobody asked for another connection */
    CHECK(dfrt_source_malformed(source) == 2 && dfrt_source_close(source, &error) == DFRT_OK);
}

/* The end of what is skipped comes together with good rows: they do not wait for what is sent next. */
static void test_rows_behind_a_long_one(void)
{
    const char *const specs[] = {"unix:b.sock?listen=true&max_row=120", "unix:b.sock?listen=true&format=jsonl&max_row=120"};
    const char *const headers[] = {HEADER, ""};
    const char *const rows[] = {"5,A,1.5,1,true,x\n",
                                "{\"ts\":5,\"symbol\":\"A\",\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\"}\n"};
    for (int i = 0; i < 2; i++) {
        trade got[8];
        size_t count;
        char text[500];
        dfrt_source *source = open_source(specs[i], &trade_record);
        int fd = call("b.sock");
        (void)snprintf(text, sizeof text, "%s%0200d", headers[i], 1);
        say(fd, text);
        while (look(source) == DFRT_OK) {
        }
        (void)snprintf(text, sizeof text, "1\n%s", rows[i]);
        say(fd, text);
        CHECK(dfrt_source_read(source, got, 8, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 5);
        CHECK(dfrt_source_malformed(source) == 1);
        hang_up(fd);
        CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    }
}

static int decode_number(const unsigned char *packed, void *record)
{
    dfrt_unpack(record, packed, 8);
    return -1;
}

static const dfrt_field number_fields[] = {{.name = "n", .kind = DFRT_I64, .offset = 0}};
static const dfrt_record number_record = {.name = "Number", .size = 8, .packed_size = 8, .field_count = 1,
                                          .fields = number_fields, .decode = decode_number};

static void test_packed(void)
{
    int64_t got[4];
    size_t count;
    dfrt_source *source = open_source("unix:p.sock?listen=true&format=binary", &number_record);
    int fd = call("p.sock");
    CHECK(send(fd, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0", 19, 0) == 19);
    hang_up(fd);
    CHECK(dfrt_source_wait(source) == DFRT_OK);
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_OK && count == 2 && got[0] == 1 && got[1] == 2);
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_END && dfrt_source_malformed(source) == 1);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

/* A number of a symbol means nothing without a file of texts; a line can't hold its own end. */
static void test_what_a_socket_does_not_carry(void)
{
    dfrt_source *source;
    dfrt_sink *sink;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    static const char packed[] = "unix:b.sock?listen=true&format=binary", lines[] = "unix:b.sock?listen=true&format=lines";
    CHECK(dfrt_source_open(&source, "in", packed, &trade_record, &options, &error) == DFRT_USAGE);
    CHECK(strstr(error.text, "symbols") != NULL);
    CHECK(dfrt_source_open(&source, "in", lines, &trade_record, &options, &error) == DFRT_USAGE);
    CHECK(dfrt_sink_open(&sink, "out", packed, &trade_record, &error) == DFRT_USAGE);
    CHECK(dfrt_sink_open(&sink, "out", lines, &trade_record, &error) == DFRT_USAGE);
}

/* A caller with a wrong header loses his connection; the next one is served. */
static void test_nonsense(void)
{
    trade got[8];
    size_t count;
    dfrt_source *source = open_source("unix:n.sock?listen=true&retry=true&max_row=1000", &trade_record);
    static const char *const wrong[] = {"a,b,c\n", "\"never closed\n\n\n", "\xef\xbb\xbf\n\r\n\n", "ts", "\"a\"b\n",
                                        "\r\"a,\"b\n\n", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int fd = call("n.sock");
        say(fd, wrong[i]);
        CHECK(look(source) == DFRT_AGAIN);
        hang_up(fd);
        CHECK(look(source) == DFRT_AGAIN);
    }
    int fd = call("n.sock");
    for (unsigned i = 0; i < 40000; i++) (void)send(fd, "long,header,", 12, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (unsigned i = 0; i < 20; i++) CHECK(look(source) == DFRT_AGAIN);
    hang_up(fd);
    fd = call("n.sock");
    say(fd, HEADER "5,E,5,5,true,\n");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 5);
    hang_up(fd);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_connecting(void)
{
    trade got[8];
    size_t count;
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    CHECK(dfrt_source_open(&source, "in", "unix:nobody.sock", &trade_record, &options, &error) == DFRT_IO);
    CHECK(strstr(error.text, "cannot connect to nobody.sock") != NULL);
    source = open_source("unix:late.sock?retry=true", &trade_record);
    CHECK(look(source) == DFRT_AGAIN);
    int listener = listen_at("late.sock");
    CHECK(dfrt_source_wait(source) == DFRT_OK && look(source) == DFRT_AGAIN); /* the pause is over: connecting */
    int fd = accept(listener, NULL, NULL);
    say(fd, HEADER "1,A,1,1,true,\n");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1);
    hang_up(fd);
    CHECK(look(source) == DFRT_AGAIN); /* lost; a pause */
    CHECK(dfrt_source_wait(source) == DFRT_OK && look(source) == DFRT_AGAIN);
    fd = accept(listener, NULL, NULL);
    say(fd, HEADER "2,A,1,1,true,\n");
    CHECK(take(source, got, 1, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 2);
    hang_up(fd);
    hang_up(listener);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

/* --- sinks --- */

static trade make_trade(int64_t ts)
{
    trade t;
    memset(&t, 0, sizeof t);
    t.ts = ts;
    CHECK(dfrt_symbol_intern("A", 1, &t.symbol) == DFRT_OK);
    return t;
}

static void write_trade(dfrt_sink *sink, int64_t ts)
{
    trade t = make_trade(ts);
    dfrt_sink_write(sink, &t);
}

static void test_sink(void)
{
    dfrt_sink *sink;
    dfrt_sink_options options = {.stop_fd = -1, .quiet = true};
    CHECK(dfrt_sink_open_with(&sink, "out", "unix:out.sock?listen=true&retry=true", &trade_record, &options, &error) ==
          DFRT_OK);
    int fd = call("out.sock");
    write_trade(sink, 1);
    CHECK(dfrt_sink_flush(sink, &error) == DFRT_OK);
    CHECK_TEXT(hear(fd, strlen(HEADER) + 17), HEADER "1,A,0.0,0,false,\n");
    hang_up(fd);
    fd = call("out.sock"); /* waits in the queue until the loss is noticed */
    write_trade(sink, 2);
    CHECK(dfrt_sink_flush(sink, &error) == DFRT_OK);
    CHECK_TEXT(hear(fd, strlen(HEADER) + 17), HEADER "2,A,0.0,0,false,\n");
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
    char byte;
    CHECK(recv(fd, &byte, 1, 0) == 0);
    hang_up(fd);
}

/* A reader that goes away in the middle of much: the next one begins with a header and a whole row. */
static void test_sink_resumes_at_a_row(void)
{
    dfrt_sink *sink;
    dfrt_sink_options options = {.stop_fd = -1, .quiet = true};
    CHECK(dfrt_sink_open_with(&sink, "out", "unix:big.sock?listen=true&retry=true", &trade_record, &options, &error) ==
          DFRT_OK);
    int first = call("big.sock"), small = 4096;
    CHECK(setsockopt(first, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    pid_t reader = fork();
    CHECK(reader >= 0);
    if (reader == 0) {
        (void)hear(first, 5000);
        (void)close(first);
        int second = call("big.sock");
        const char *text = hear(second, strlen(HEADER));
        if (strcmp(text, HEADER) != 0) _exit(1);
        char last[64] = "", byte;
        size_t used = 0, rows = 0;
        while (recv(second, &byte, 1, 0) == 1) {
            CHECK(used < sizeof last - 1);
            last[used++] = byte;
            last[used] = '\0';
            if (byte != '\n') continue;
            int64_t ts;
            if (sscanf(last, "%ld,A,0.0,0,false,\n", &ts) != 1) _exit(2);
            used = 0;
            rows++;
        }
        _exit(used == 0 && rows > 1000 && strncmp(last, "49999,", 6) == 0 ? 0 : 3);
    }
    hang_up(first);
    for (int64_t i = 0; i < 50000; i++) write_trade(sink, i);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
    int answer;
    CHECK(waitpid(reader, &answer, 0) == reader && WIFEXITED(answer));
    CHECK(WEXITSTATUS(answer) == 0);
}

static void test_sink_without_retry(void)
{
    dfrt_sink *sink;
    CHECK(dfrt_sink_open(&sink, "out", "unix:none.sock?format=jsonl", &trade_record, &error) == DFRT_IO);
    CHECK(strstr(error.text, "sink 'out': cannot connect to none.sock: No such file") != NULL);
    int listener = listen_at("gone.sock");
    CHECK(dfrt_sink_open(&sink, "out", "unix:gone.sock?format=jsonl", &trade_record, &error) == DFRT_OK);
    hang_up(accept(listener, NULL, NULL));
    hang_up(listener);
    write_trade(sink, 1);
    CHECK(dfrt_sink_flush(sink, &error) == DFRT_IO && strstr(error.text, "cannot write 'gone.sock'") != NULL);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_IO);
}

static dfrt_sink *written_sink(const char *spec)
{
    dfrt_sink *sink;
    dfrt_sink_options options = {.stop_fd = -1, .quiet = true};
    CHECK(dfrt_sink_open_with(&sink, "out", spec, &trade_record, &options, &error) == DFRT_OK);
    return sink;
}

/* A reader that leaves with rows unread, when nothing more is to be written. */
static void test_sink_whose_reader_leaves_at_the_end(void)
{
    static const char *const specs[] = {"unix:end.sock?listen=true", "unix:end.sock?listen=true&retry=true"};
    static const dfrt_status expected[] = {DFRT_IO, DFRT_OK}; /* with retry a loss is told, as in the middle */
    for (int i = 0; i < 4; i++) {
        dfrt_sink *sink = written_sink(specs[i % 2]);
        int fd = call("end.sock");
        write_trade(sink, 1);
        CHECK(dfrt_sink_flush(sink, &error) == DFRT_OK);
        pid_t reader = i < 2 ? 0 : fork(); /* who leaves before the end, or while the sink waits for him */
        CHECK(reader >= 0);
        if (i >= 2 && reader == 0) {
            (void)usleep(300000);
            _exit(0);
        }
        hang_up(fd);
        CHECK(dfrt_sink_close(sink, &error) == expected[i % 2]);
        if (i % 2 == 0) CHECK_TEXT(error.text, "cannot write 'end.sock': Connection reset by peer");
        if (i >= 2) CHECK(waitpid(reader, NULL, 0) == reader);
    }
}

/* Who reads nothing for now, says something, or says no more: nothing of that is a loss, and nobody is waited for forever. */
static void test_sink_whose_reader_stays(void)
{
    dfrt_sink *sink = written_sink("unix:stay.sock?listen=true");
    int fd = call("stay.sock");
    say(fd, "hello");
    write_trade(sink, 1);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
    CHECK_TEXT(hear(fd, strlen(HEADER) + 17), HEADER "1,A,0.0,0,false,\n");
    hang_up(fd);
    sink = written_sink("unix:stay.sock?listen=true");
    fd = call("stay.sock");
    CHECK(shutdown(fd, SHUT_WR) == 0);
    write_trade(sink, 1);
    CHECK(dfrt_sink_flush(sink, &error) == DFRT_OK);
    CHECK_TEXT(hear(fd, strlen(HEADER) + 17), HEADER "1,A,0.0,0,false,\n");
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
    hang_up(fd);
}

/* Nobody reads, and the program is told to stop. */
static void test_sink_stops(void)
{
    dfrt_sink *sink;
    int stop[2];
    CHECK(pipe(stop) == 0 && write(stop[1], "x", 1) == 1);
    dfrt_sink_options options = {.stop_fd = stop[0], .quiet = true};
    CHECK(dfrt_sink_open_with(&sink, "out", "unix:s.sock?listen=true", &trade_record, &options, &error) == DFRT_OK);
    write_trade(sink, 1);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_IO && strstr(error.text, "nobody took it") != NULL);
    hang_up(stop[0]);
    hang_up(stop[1]);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* as every generated program does */
    enter_scratch_folder();
    test_csv_source();
    test_other_formats();
    test_rows_behind_a_long_one();
    test_packed();
    test_what_a_socket_does_not_carry();
    test_nonsense();
    test_connecting();
    test_sink();
    test_sink_resumes_at_a_row();
    test_sink_without_retry();
    test_sink_whose_reader_leaves_at_the_end();
    test_sink_whose_reader_stays();
    test_sink_stops();
    leave_scratch_folder();
    return 0;
}
