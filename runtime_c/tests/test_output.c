#define _GNU_SOURCE
#include <dfrt/output.h>

#include <signal.h>

#include "check.h"

static dfrt_error error;

static void test_forms(void)
{
    dfrt_output out;
    dfrt_symbol symbol;
    CHECK(dfrt_symbol_intern("sy,m", 4, &symbol) == DFRT_OK);
    CHECK(dfrt_output_open(&out, "forms", -1, &error) == DFRT_OK);
    dfrt_put_i64(&out, -5);
    dfrt_put_char(&out, ' ');
    dfrt_put_u64(&out, UINT64_MAX);
    dfrt_put_char(&out, ' ');
    dfrt_put_f64(&out, 0.1);
    dfrt_put_char(&out, ' ');
    dfrt_put_f32(&out, 0.1f);
    dfrt_put_char(&out, ' ');
    dfrt_put_bool(&out, true);
    dfrt_put_bool(&out, false);
    dfrt_put_text(&out, " plain'", 7);
    dfrt_put_text(&out, "a\"b", 3);
    dfrt_put_text(&out, "\r", 1);
    dfrt_put_text(&out, "", 0);
    dfrt_put_symbol(&out, symbol);
    dfrt_put_lone_text(&out, "", 0);
    dfrt_put_lone_symbol(&out, 0);
    CHECK(dfrt_output_close(&out, &error) == DFRT_OK && dfrt_output_close(&out, &error) == DFRT_OK);
    check_file("forms", "-5 18446744073709551615 0.1 0.1 truefalse plain'\"a\"\"b\"\"\r\"\"sy,m\"\"\"\"\"");
}

static void test_sizes(void)
{
    dfrt_output out;
    size_t total = 0;
    char *piece = malloc(500000);
    CHECK(piece != NULL && dfrt_output_open(&out, "sizes", -1, &error) == DFRT_OK);
    memset(piece, 'p', 500000);
    for (size_t size = 1; size < 500000; size = size * 3 + 1, total += size) dfrt_put_bytes(&out, piece, size);
    CHECK(dfrt_output_flush(&out, &error) == DFRT_OK);
    uint64_t before = out.written;
    for (int i = 0; i < 100000; i++) dfrt_put_i64(&out, i);
    CHECK(dfrt_output_flush(&out, &error) == DFRT_OK && out.written == before + 488890);
    CHECK(dfrt_output_close(&out, &error) == DFRT_OK);
    free(piece);
}

static void test_failures(void)
{
    dfrt_output out;
    CHECK(dfrt_output_open(&out, "no/such/folder", -1, &error) == DFRT_IO && strstr(error.text, "'no/such/folder'") != NULL);
    CHECK(dfrt_output_open(&out, "/dev/full", -1, &error) == DFRT_OK);
    for (int i = 0; i < 100000; i++) dfrt_put_i64(&out, i);
    CHECK(dfrt_output_flush(&out, &error) == DFRT_IO && strstr(error.text, "'/dev/full'") != NULL);
    dfrt_put_i64(&out, 1);
    CHECK(dfrt_output_close(&out, &error) == DFRT_IO);
    int ends[2];
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR && pipe(ends) == 0 && close(ends[0]) == 0);
    CHECK(dfrt_output_open(&out, "replaced", -1, &error) == DFRT_OK);
    CHECK(dup2(ends[1], out.fd) == out.fd && close(ends[1]) == 0);
    dfrt_put_i64(&out, 1);
    CHECK(dfrt_output_close(&out, &error) == DFRT_IO && strstr(error.text, "'replaced'") != NULL);
}

int main(void)
{
    enter_scratch_folder();
    test_forms();
    test_sizes();
    test_failures();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
