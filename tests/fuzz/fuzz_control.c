/* The control socket: whatever a caller sends, in pieces of any size, every line gets its answer and the next caller is
 * served. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "dfrt/src/control_requests.h"
#include "dfrt/src/control_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fake_agent.h"
#include "other_side.h"

static const dfrt_slice samples[] = {
    SLICE("status\nmetrics\ndecisions 3\nplan\nconfig\nhelp\n"),
    SLICE("workers predict 3\r\nalternate predict exact\npolicy predict mpc\n"),
    SLICE("reload control.json\nshadow on\n\n  \ndrain\nstatus"),
    SLICE("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"),
    SLICE("HEAD /healthz HTTP/1.0\n\n"),
    SLICE("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
};
static const dfrt_slice words[] = {
    SLICE("\n"), SLICE("\r\n"), SLICE("\r\n\r\n"), SLICE("\0"), SLICE(" "), SLICE("\t"), SLICE("\xff"), SLICE("\xc3\xb6"),
    SLICE("\x1b[2J"), SLICE("status"), SLICE("metrics\n"), SLICE("decisions 99999999999999999999\n"), SLICE("%s%n"),
    SLICE("GET "), SLICE(" HTTP/1.1"), SLICE("/metrics?"), SLICE("\"\\"), SLICE("workers"), SLICE("auto"),
};
static dfrt__agent agent;
static dfrt_run_state run;
static const dfrt_program program = {.name = "fake", .plan = fake_plan, .step_count = 2};
static dfrt__requests requests = {&agent, &program, &run};
static dfrt__socket *server;
static char heard[1 << 22];
static size_t heard_size;

static int call_http(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)atoi(strchr(dfrt__socket_http(server), ':') + 1))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void hear_some(int fd, int how)
{
    ssize_t got;
    while ((got = recv(fd, heard + heard_size, sizeof heard - 1 - heard_size, how)) > 0) heard_size += (size_t)got;
    heard[heard_size] = '\0';
}

/* Sends all of it and hears all that comes back. A refused caller is sent away while he speaks. */
static void talk(int fd, const fuzz_input *input, dfrt_random *random)
{
    size_t most = 1 + below(random, below(random, 2) ? 8 : 2000);
    heard_size = 0;
    for (size_t at = 0; at < input->size;) {
        size_t piece = 1 + below(random, most);
        if (piece > input->size - at) piece = input->size - at;
        if (send(fd, input->bytes + at, piece, MSG_NOSIGNAL) < 0) break;
        at += piece;
        if (below(random, 4) == 0) hear_some(fd, MSG_DONTWAIT);
    }
    (void)shutdown(fd, SHUT_WR);
    hear_some(fd, 0);
    CHECK(close(fd) == 0);
}

/* How many lines of the input are requests; a line that is too long is the last. */
static size_t count_requests(const fuzz_input *input)
{
    size_t count = 0;
    for (size_t at = 0; at < input->size;) {
        const char *line = input->bytes + at, *end = memchr(line, '\n', input->size - at);
        size_t size = end == NULL ? input->size - at : (size_t)(end - line);
        if (size >= DFRT__MOST_REQUEST) return count + 1;
        if (end == NULL) return count;
        at += size + 1;
        if (size > 0 && line[size - 1] == '\r') size--;
        for (size_t i = 0; i < size; i++) {
            if (line[i] == ' ' || line[i] == '\t') continue;
            count++;
            break;
        }
    }
    return count;
}

static size_t count_answers(void)
{
    size_t count = 0;
    bool open = false; /* within metrics */
    for (const char *line = heard; *line != '\0';) {
        const char *end = strchr(line, '\n');
        CHECK(end != NULL);
        bool whole = strncmp(line, "{\"ok\":", 6) == 0 && end[-1] == '}', last = strncmp(line, "# EOF\n", 6) == 0;
        CHECK(whole ? !open : last || strncmp(line, "dfc_", 4) == 0 || strncmp(line, "# ", 2) == 0);
        open = !whole && !last;
        count += whole || last;
        line = end + 1;
    }
    CHECK(!open);
    return count;
}

static void check_http(void)
{
    if (heard_size == 0) return; /* a header without an end */
    const char *length = strstr(heard, "\r\nContent-Length: "), *body = strstr(heard, "\r\n\r\n");
    CHECK(strncmp(heard, "HTTP/1.1 ", 9) == 0 && length != NULL && body != NULL && length < body);
    size_t size = strtoull(length + 18, NULL, 10), there = heard_size - (size_t)(body + 4 - heard);
    CHECK(there == size || there == 0);
}

static void check(const fuzz_input *input, dfrt_random *random)
{
    if (below(random, 3) == 0) {
        talk(call_http(), input, random);
        check_http();
    } else {
        talk(call("control.sock"), input, random);
        CHECK(count_answers() == count_requests(input));
    }
}

int main(int argc, char **argv)
{
    dfrt_error error;
    fill_fake_agent(&agent);
    agent.configuration = "{}";
    dfrt__responder responder = dfrt__requests_responder(&requests);
    dfrt__socket_options options = {.path = "control.sock", .http = "127.0.0.1:0"};
    CHECK(dfrt__socket_open(&server, &options, &responder, &error) == DFRT_OK);
    int code = fuzz_main(argc, argv, &(fuzz_corpus){samples, COUNT(samples), words, COUNT(words)}, check);
    dfrt__socket_close(server);
    return code;
}
