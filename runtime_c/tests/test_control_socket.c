/* The control socket: framing, rights, files of the dead and of the living, and callers of all kinds. */
#define _GNU_SOURCE
#include "../src/control_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "other_side.h"

static dfrt_error error;

/* Answers with the request itself; `big` with more than any buffer of the system holds. */
static void echo(void *context, const char *request, FILE *out)
{
    CHECK(context == &error);
    size_t times = strcmp(request, "big") == 0 ? 3 << 20 : 0;
    (void)fprintf(out, "<%s", request);
    for (size_t i = 0; i < times; i++) (void)fputc('x', out);
    (void)fputs(">\n", out);
}

static void count_metrics(void *context, FILE *out)
{
    (void)context;
    (void)fputs("answer 42\n", out);
}

static bool healthy = true;

static bool is_healthy(void *context)
{
    (void)context;
    return healthy;
}

static const dfrt__responder responder = {&error, echo, count_metrics, is_healthy};

static dfrt__socket *open_server(dfrt__socket_options options)
{
    dfrt__socket *server;
    if (dfrt__socket_open(&server, &options, &responder, &error) != DFRT_OK) CHECK_TEXT(error.text, "");
    return server;
}

static dfrt_status refuse(dfrt__socket_options options)
{
    dfrt__socket *server;
    dfrt_status status = dfrt__socket_open(&server, &options, &responder, &error);
    CHECK(status != DFRT_OK && server == NULL);
    return status;
}

/* All that comes until the other side hangs up. */
static const char *rest_of(int fd)
{
    static char text[65536];
    size_t used = 0;
    ssize_t got;
    while ((got = recv(fd, text + used, sizeof text - 1 - used, 0)) > 0) used += (size_t)got;
    text[used] = '\0';
    hang_up(fd);
    return text;
}

static void check_answer(int fd, const char *request, const char *answer)
{
    say(fd, request);
    CHECK_TEXT(hear(fd, strlen(answer)), answer);
}

/* --- requests --- */

static void test_lines(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock"});
    int one = call("a.sock"), two = call("a.sock");
    check_answer(one, "status\n", "<status>\n");
    say(two, "he");
    check_answer(one, "\n \r\n\n x \tz\r\n", "< x  z>\n");
    check_answer(two, "lp\nplan\n", "<help>\n<plan>\n");
    say(one, "last\nhalf");
    CHECK(shutdown(one, SHUT_WR) == 0);
    CHECK_TEXT(rest_of(one), "<last>\n");
    check_answer(two, "still\n", "<still>\n");
    hang_up(two);
    dfrt__socket_close(server);
}

static void test_garbage(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock"});
    static const char no_text[] = "{\"ok\":false,\"error\":\"a request is a line of text\"}\n";
    int fd = call("a.sock");
    CHECK(send(fd, "sta\0tus\n", 8, 0) == 8);
    CHECK_TEXT(hear(fd, strlen(no_text)), no_text);
    check_answer(fd, "\x80\xff\n", no_text);
    check_answer(fd, "a\x1b[2J\n", no_text);
    check_answer(fd, "w\xc3\xb6rker\n", "<w\xc3\xb6rker>\n");
    hang_up(fd);
    dfrt__socket_close(server);
}

static void test_long_lines(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock"});
    static char line[3 * DFRT__MOST_REQUEST];
    memset(line, 'x', sizeof line - 1);
    int fd = call("a.sock");
    CHECK(send(fd, line, DFRT__MOST_REQUEST - 1, 0) == DFRT__MOST_REQUEST - 1);
    say(fd, "\n");
    const char *answer = hear(fd, DFRT__MOST_REQUEST + 2);
    CHECK(answer[0] == '<' && answer[DFRT__MOST_REQUEST] == '>');
    CHECK(send(fd, line, sizeof line - 1, MSG_NOSIGNAL) > 0);
    CHECK_TEXT(rest_of(fd), "{\"ok\":false,\"error\":\"a request has at most 4095 bytes\"}\n");
    dfrt__socket_close(server);
}

/* An answer that nobody reads holds up nobody else, and neither does one that is read slowly. */
static void test_big_answers(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock"});
    int slow = call("a.sock"), other = call("a.sock"), gone = call("a.sock");
    say(slow, "big\nnext\n");
    say(gone, "big\n");
    check_answer(other, "me\n", "<me>\n");
    hang_up(gone);
    CHECK_TEXT(hear(slow, 4), "<big");
    for (unsigned i = 0; i < 3 << 20; i += 1 << 15) (void)hear(slow, 1 << 15);
    CHECK_TEXT(hear(slow, 9), ">\n<next>\n");
    hang_up(slow);
    hang_up(other);
    dfrt__socket_close(server);
}

/* --- callers who wait too long, or are too many --- */

static void test_patience(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock", .patience_ms = 20});
    int half = call("a.sock"), lazy = call("a.sock"), silent = call("a.sock");
    say(half, "sta");
    say(lazy, "big\n");
    CHECK_TEXT(rest_of(half), "");
    struct pollfd gone = {.fd = lazy, .events = 0};
    CHECK(poll(&gone, 1, -1) == 1 && (gone.revents & POLLHUP) != 0); /* never read a byte of it */
    hang_up(lazy);
    check_answer(silent, "me\n", "<me>\n"); /* silence is no offence */
    hang_up(silent);
    dfrt__socket_close(server);
    server = open_server((dfrt__socket_options){.path = "a.sock", .idle_ms = 20});
    CHECK_TEXT(rest_of(call("a.sock")), "");
    dfrt__socket_close(server);
}

static void test_many(void)
{
    enum { MANY = 3 * DFRT__MOST_CONNECTIONS };
    int fds[MANY];
    dfrt__socket *server = open_server((dfrt__socket_options){.path = "a.sock"});
    for (unsigned i = 0; i < MANY; i++) {
        fds[i] = call("a.sock");
        check_answer(fds[i], "me\n", "<me>\n");
    }
    CHECK_TEXT(rest_of(fds[0]), "");
    check_answer(fds[MANY - 1], "you\n", "<you>\n");
    for (unsigned i = 1; i < MANY; i++) hang_up(fds[i]);
    int late = call("a.sock");
    check_answer(late, "me\n", "<me>\n");
    dfrt__socket_close(server); /* with a caller on the line */
    CHECK_TEXT(rest_of(late), "");
}

/* --- files --- */

static void test_files(void)
{
    struct stat about;
    dfrt__socket_options there = {.path = "a.sock"};
    dfrt__socket *server = open_server(there);
    CHECK(stat("a.sock", &about) == 0 && (about.st_mode & 0777) == 0600);
    CHECK(refuse(there) == DFRT_IO);
    CHECK_TEXT(error.text, "cannot listen on 'a.sock': a running program has it; end that or use another path");
    CHECK(stat("a.sock", &about) == 0);
    dfrt__socket_close(server);
    CHECK(stat("a.sock", &about) != 0 && errno == ENOENT);
    hang_up(listen_at("a.sock")); /* what a killed program leaves */
    server = open_server(there);
    int fd = call("a.sock");
    check_answer(fd, "me\n", "<me>\n");
    hang_up(fd);
    CHECK(unlink("a.sock") == 0);
    write_text("a.sock", "precious");
    dfrt__socket_close(server); /* not ours any more */
    check_file("a.sock", "precious");
    CHECK(refuse(there) == DFRT_IO);
    CHECK_TEXT(error.text, "cannot listen on 'a.sock': a file that is no socket is there");
    CHECK(unlink("a.sock") == 0);
    CHECK(refuse((dfrt__socket_options){.path = "none/a.sock"}) == DFRT_IO);
    CHECK_TEXT(error.text, "cannot listen on 'none/a.sock': No such file or directory");
}

/* Of many programs that begin at once where a dead one left its file, exactly one gets it. */
static void test_race(void)
{
    enum { RACERS = 8 };
    int start[2], winners = 0;
    hang_up(listen_at("race.sock"));
    CHECK(pipe(start) == 0);
    int done[2];
    CHECK(pipe(done) == 0);
    for (unsigned i = 0; i < RACERS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char byte;
            dfrt__socket *server;
            (void)close(start[1]);
            (void)close(done[1]);
            (void)!read(start[0], &byte, 1);
            bool won = dfrt__socket_open(&server, &(dfrt__socket_options){.path = "race.sock"}, &responder, &error) ==
                       DFRT_OK;
            if (won) (void)alarm(60), (void)!read(done[0], &byte, 1); /* holds it until all have tried */
            _exit(won);
        }
    }
    CHECK(close(start[1]) == 0);
    for (unsigned i = 0; i < RACERS; i++) {
        int status;
        if (i == RACERS - 1) CHECK(close(done[1]) == 0);
        CHECK(wait(&status) > 0 && WIFEXITED(status));
        winners += WEXITSTATUS(status);
    }
    CHECK(winners == 1);
    CHECK(close(start[0]) == 0 && close(done[0]) == 0 && unlink("race.sock") == 0);
}

/* --- HTTP --- */

static int call_http(const dfrt__socket *server)
{
    const char *where = dfrt__socket_http(server);
    CHECK(strncmp(where, "127.0.0.1:", 10) == 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(where + 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static const char *get(const dfrt__socket *server, const char *request)
{
    int fd = call_http(server);
    say(fd, request);
    return rest_of(fd);
}

#define CHECK_HTTP(request, status, body)                                                                              \
    do {                                                                                                               \
        const char *all = get(server, request), *from = strstr(all, "\r\n\r\n");                                       \
        CHECK(from != NULL && strncmp(all, "HTTP/1.1 " status " ", 13) == 0);                                          \
        CHECK_TEXT(from + 4, body);                                                                                    \
    } while (0)

static void test_http(void)
{
    dfrt__socket *server = open_server((dfrt__socket_options){.http = "127.0.0.1:0", .patience_ms = 50});
    CHECK_HTTP("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200", "answer 42\n");
    CHECK_HTTP("GET /metrics?a=b HTTP/1.0\n\n", "200", "answer 42\n");
    CHECK_HTTP("HEAD /metrics HTTP/1.1\r\n\r\n", "200", "");
    CHECK(strstr(get(server, "HEAD /metrics HTTP/1.1\r\n\r\n"), "\r\nContent-Length: 10\r\n") != NULL);
    CHECK(strstr(get(server, "GET /metrics HTTP/1.1\r\n\r\n"), "text/plain; version=0.0.4") != NULL);
    CHECK_HTTP("GET /healthz HTTP/1.1\r\n\r\n", "200", "ok\n");
    healthy = false;
    CHECK_HTTP("GET /healthz HTTP/1.1\r\n\r\n", "503", "ending\n");
    healthy = true;
    CHECK_HTTP("GET /drain HTTP/1.1\r\n\r\n", "404", "there are /metrics and /healthz\n");
    CHECK_HTTP("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405", "only GET and HEAD\n");
    CHECK_HTTP("GET /metrics\r\n\r\n", "400", "that is no request of HTTP/1.1\n");
    CHECK_HTTP("drain\n\n", "400", "that is no request of HTTP/1.1\n");
    CHECK_HTTP("\n\n", "400", "that is no request of HTTP/1.1\n");
    static char huge[3 * DFRT__MOST_HEADER];
    memset(huge, 'x', sizeof huge - 1);
    CHECK_HTTP(huge, "431", "the header is too long\n");
    CHECK_TEXT(get(server, "GET /metrics HTTP/1.1\r\n"), ""); /* the rest never comes */
    dfrt__socket_close(server);
}

static void test_only_this_machine(void)
{
    CHECK(refuse((dfrt__socket_options){.http = "0.0.0.0:0"}) == DFRT_USAGE);
    CHECK(strstr(error.text, "can be reached from other machines") != NULL);
    CHECK(refuse((dfrt__socket_options){.http = "[::]:0"}) == DFRT_USAGE);
    CHECK(refuse((dfrt__socket_options){.http = "9090"}) == DFRT_USAGE);
    CHECK(refuse((dfrt__socket_options){.path = "a.sock", .http = "127.0.0.1"}) == DFRT_USAGE);
    struct stat about;
    CHECK(stat("a.sock", &about) != 0); /* what was made before the mistake is gone */
}

int main(void)
{
    enter_scratch_folder();
    test_lines();
    test_garbage();
    test_long_lines();
    test_big_answers();
    test_patience();
    test_many();
    test_files();
    test_race();
    test_http();
    test_only_this_machine();
    leave_scratch_folder();
    return 0;
}
