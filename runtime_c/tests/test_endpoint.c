/* Addresses, files of sockets, and two ends that find each other. */
#define _GNU_SOURCE
#include <dfrt/endpoint.h>
#include <dfrt/input.h>

#include <sys/stat.h>

#include "other_side.h"

static dfrt_error error;

static dfrt_status try_endpoint(const char *text)
{
    dfrt_endpoint_spec spec;
    dfrt_endpoint *endpoint;
    dfrt_status status = dfrt_endpoint_spec_read(&spec, text, &error);
    if (status != DFRT_OK) return status;
    status = dfrt_endpoint_open(&endpoint, "it", &spec, true, &error);
    if (status == DFRT_OK) dfrt_endpoint_close(endpoint);
    dfrt_endpoint_spec_free(&spec);
    return status;
}

static void test_specs(void)
{
    dfrt_endpoint_spec spec;
    CHECK(dfrt_endpoint_spec_read(&spec, "unix:a%3Fb%25?format=binary&listen=true&public=false&retry=true&max_row=9",
                                  &error) == DFRT_OK);
    CHECK(spec.unix_socket && spec.format == DFRT_FORMAT_BINARY && spec.listen && !spec.exposed && spec.retry);
    CHECK(spec.max_row == 9);
    CHECK_TEXT(spec.address, "a?b%");
    dfrt_endpoint_spec_free(&spec);
    static const char *const wrong[] = {
        "tcp:", "unix:", "tcp:?format=csv", "unix:a%", "unix:a%0", "unix:a%zz", "unix:a%00b", "tcp:localhost",
        "tcp:localhost:", "tcp::1", "tcp:localhost:99999", "tcp:localhost:1x", "tcp:::1:80", "tcp:[::1:80",
        "tcp:127.0.0.1:1?", "tcp:127.0.0.1:1?listen", "tcp:127.0.0.1:1?listen=yes", "tcp:127.0.0.1:1?format=xml",
        "tcp:127.0.0.1:1?max_row=0", "tcp:127.0.0.1:1?color=red", "tcp:0.0.0.0:0?listen=true", "tcp:[::]:0?listen=true",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (try_endpoint(wrong[i]) != DFRT_USAGE) CHECK_TEXT(wrong[i], "is refused");
    char path[300];
    (void)snprintf(path, sizeof path, "unix:%0200d", 1);
    CHECK(try_endpoint(path) == DFRT_USAGE);
    CHECK(try_endpoint("tcp:127.0.0.1:0?listen=true") == DFRT_OK && try_endpoint("tcp:localhost:0?listen=true") == DFRT_OK);
}

static void test_files(void)
{
    struct stat about;
    hang_up(listen_at("stale.sock")); /* what a killed program leaves */
    CHECK(try_endpoint("unix:stale.sock?listen=true") == DFRT_OK && stat("stale.sock", &about) != 0);
    int alive = listen_at("alive.sock");
    CHECK(try_endpoint("unix:alive.sock?listen=true") == DFRT_IO && stat("alive.sock", &about) == 0);
    hang_up(alive);
    write_text("mine.txt", "precious");
    CHECK(try_endpoint("unix:mine.txt?listen=true") == DFRT_IO);
    check_file("mine.txt", "precious");
}

/* Two ends that find each other over loopback, on a port that the system chose. */
static void test_tcp(void)
{
    dfrt_endpoint_spec here, there;
    dfrt_endpoint *server, *client;
    char text[80];
    CHECK(dfrt_endpoint_spec_read(&here, "tcp:127.0.0.1:0?listen=true", &error) == DFRT_OK);
    CHECK(dfrt_endpoint_open(&server, "server", &here, true, &error) == DFRT_OK);
    (void)snprintf(text, sizeof text, "tcp:%s", dfrt_endpoint_title(server));
    CHECK(dfrt_endpoint_spec_read(&there, text, &error) == DFRT_OK);
    CHECK(dfrt_endpoint_open(&client, "client", &there, true, &error) == DFRT_OK);
    int one, other;
    CHECK(dfrt_wait_readable(dfrt_endpoint_poll_fd(server), -1) == DFRT_OK);
    CHECK(dfrt_endpoint_take(server, &one, &error) == DFRT_OK);
    CHECK(dfrt_wait_readable(dfrt_endpoint_poll_fd(client), -1) == DFRT_OK);
    CHECK(dfrt_endpoint_take(client, &other, &error) == DFRT_OK);
    say(one, "hello");
    CHECK(dfrt_wait_readable(dfrt_endpoint_poll_fd(client), -1) == DFRT_OK);
    CHECK_TEXT(hear(other, 5), "hello");
    hang_up(one);
    hang_up(other);
    CHECK(!dfrt_endpoint_lost(client, "enough", true));
    dfrt_endpoint_close(server);
    /* Now nobody is there. */
    dfrt_endpoint_close(client);
    dfrt_status status = dfrt_endpoint_open(&client, "client", &there, true, &error);
    if (status == DFRT_OK) {
        CHECK(dfrt_wait_readable(dfrt_endpoint_poll_fd(client), -1) == DFRT_OK);
        CHECK(dfrt_endpoint_take(client, &other, &error) == DFRT_IO);
        dfrt_endpoint_close(client);
    }
    CHECK(strstr(error.text, "Connection refused") != NULL);
    dfrt_endpoint_spec_free(&here);
    dfrt_endpoint_spec_free(&there);
}

int main(void)
{
    enter_scratch_folder();
    test_specs();
    test_files();
    test_tcp();
    leave_scratch_folder();
    return 0;
}
