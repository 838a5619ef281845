#define _GNU_SOURCE
#include <dfrt/input.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

static dfrt_error error;

static void test_file(void)
{
    write_text("plain", "hello world");
    dfrt_input *input;
    CHECK(dfrt_input_open(&input, "plain", 100, &error) == DFRT_OK && !dfrt_input_is_live(input));
    CHECK(dfrt_input_fill(input, &error) == DFRT_OK && input->size == 11 && memcmp(input->data, "hello", 5) == 0);
    dfrt_input_consume(input, 6);
    CHECK(input->size == 5 && dfrt_input_fill(input, &error) == DFRT_END && memcmp(input->data, "world", 5) == 0);
    CHECK(dfrt_input_wait(input, -1) == DFRT_OK && dfrt_input_poll_fd(input) == -1);
    dfrt_input_close(input);
    CHECK(dfrt_input_open(&input, "absent", 100, &error) == DFRT_MISSING && input == NULL);
    CHECK(strstr(error.text, "'absent'") != NULL);
    CHECK(dfrt_input_open(&input, ".", 100, &error) == DFRT_IO && strstr(error.text, "directory") != NULL);
}

static void test_growth(void)
{
    enum { SIZE = 1 << 20 };
    char *bytes = malloc(SIZE);
    CHECK(bytes != NULL);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (char)(i * 31 % 251);
    write_file("big", bytes, SIZE);
    dfrt_input *input;
    CHECK(dfrt_input_open(&input, "big", 700000, &error) == DFRT_OK);
    dfrt_status status;
    do status = dfrt_input_fill(input, &error);
    while (status == DFRT_OK);
    CHECK(status == DFRT_MALFORMED && input->size == 700000 && memcmp(input->data, bytes, 700000) == 0);
    dfrt_input_consume(input, 600000);
    do status = dfrt_input_fill(input, &error);
    while (status == DFRT_OK);
    CHECK(status == DFRT_END && input->size == SIZE - 600000);
    CHECK(memcmp(input->data, bytes + 600000, SIZE - 600000) == 0);
    dfrt_input_close(input);
    free(bytes);
}

static void test_pipe(void)
{
    CHECK(mkfifo("fifo", 0600) == 0);
    dfrt_input *input;
    int stop[2];
    CHECK(pipe(stop) == 0);
    CHECK(dfrt_input_open(&input, "fifo", 100, &error) == DFRT_OK && dfrt_input_is_live(input));
    CHECK(dfrt_input_fill(input, &error) == DFRT_AGAIN); /* no writer yet is not the end */
    int writer = open("fifo", O_WRONLY);
    CHECK(writer >= 0 && dfrt_input_fill(input, &error) == DFRT_AGAIN);
    CHECK(write(writer, "ab", 2) == 2 && dfrt_input_wait(input, stop[0]) == DFRT_OK);
    CHECK(dfrt_input_fill(input, &error) == DFRT_OK && input->size == 2 && dfrt_input_fill(input, &error) == DFRT_AGAIN);
    CHECK(write(stop[1], "x", 1) == 1 && dfrt_input_wait(input, stop[0]) == DFRT_END);
    CHECK(close(writer) == 0 && dfrt_input_fill(input, &error) == DFRT_END && input->size == 2);
    dfrt_input_close(input);
    CHECK(close(stop[0]) == 0 && close(stop[1]) == 0);
}

int main(void)
{
    enter_scratch_folder();
    test_file();
    test_growth();
    test_pipe();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
