#define _GNU_SOURCE
#include <dfrt/csv.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

static dfrt_error error;
static const char *const columns_ab[] = {"a", "b"};
static const char *const column_a[] = {"a"};

/* Rows as "line:field|field|"; malformed ones as "line!". */
static void read_rows(dfrt_csv *csv, size_t fields, char *out, size_t room)
{
    dfrt_slice row[8];
    size_t used = 0;
    out[0] = '\0';
    for (;;) {
        dfrt_status status = dfrt_csv_next(csv, row);
        if (status == DFRT_END) return;
        CHECK(status == DFRT_OK || status == DFRT_MALFORMED);
        used += (size_t)snprintf(out + used, room - used, "%d%c", (int)dfrt_csv_line(csv), status == DFRT_OK ? ':' : '!');
        for (size_t i = 0; status == DFRT_OK && i < fields; i++)
            used += (size_t)snprintf(out + used, room - used, "%.*s|", (int)row[i].size, row[i].data);
        used += (size_t)snprintf(out + used, room - used, " ");
        CHECK(used < room);
    }
}

static void check_rows(const char *text, const char *const *columns, size_t count, const char *wanted)
{
    char got[2000];
    write_text("rows.csv", text);
    dfrt_csv *csv;
    dfrt_csv_options options = {.columns = columns, .column_count = count, .stop_fd = -1};
    CHECK(dfrt_csv_open(&csv, "rows.csv", &options, &error) == DFRT_OK);
    read_rows(csv, count, got, sizeof got);
    CHECK_TEXT(got, wanted);
    dfrt_csv_close(csv);
}

static void test_shapes(void)
{
    check_rows("a,b\n1,2\n3,4\n", columns_ab, 2, "2:1|2| 3:3|4| ");
    check_rows("a,b\r\n1,2\r\n3,4", columns_ab, 2, "2:1|2| 3:3|4| ");
    check_rows("a,b\n1,2\r", columns_ab, 2, "2:1|2| ");
    check_rows("\xef\xbb\xbf" "a,b\n1,2", columns_ab, 2, "2:1|2| ");
    check_rows("\xef\xbb\xbf\"a\",\"b\"\n1,2", columns_ab, 2, "2:1|2| ");
    check_rows("\n\na,b\n\n1,2\n\r\n\n3,4\n\n", columns_ab, 2, "5:1|2| 8:3|4| ");
    check_rows("b,x,a\n2,0,1\n4,0,3\n", columns_ab, 2, "2:1|2| 3:3|4| ");
    check_rows("a,b\n,\n", columns_ab, 2, "2:|| ");
    check_rows("a\n\"\"\n\nx\n", column_a, 1, "2:| 4:x| ");
    check_rows("a,b", columns_ab, 2, "");
    check_rows("a\n1", column_a, 1, "2:1| ");
}

static void test_quotes(void)
{
    check_rows("a,b\n\"1\",\"2\"\n", columns_ab, 2, "2:1|2| ");
    check_rows("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n5,6\n", columns_ab, 2, "2:x,y|say \"hi\"| 3:5|6| ");
    check_rows("a,b\n\"line\nbreak\r\n\",2\n5,6\n", columns_ab, 2, "2:line\nbreak\r\n|2| 5:5|6| ");
    check_rows("a,b\n1,\"\"\n\"\",2", columns_ab, 2, "2:1|| 3:|2| ");
    check_rows("a,b\r\n\"1\",\"2\"\r\n\"3\",\"4\"\r\n", columns_ab, 2, "2:1|2| 3:3|4| ");
    check_rows("\"a\",\"b\"\n\"\"\"\",\"\n\"", columns_ab, 2, "2:\"|\n| ");
}

static void test_malformed(void)
{
    check_rows("a,b\n1\n1,2,3\n1,2\n", columns_ab, 2, "2! 3! 4:1|2| ");
    check_rows("a,b\nx\"y,2\n\"x\"y,2\n5,6\n", columns_ab, 2, "2! 3! 4:5|6| ");
    check_rows("a,b\n1,2\n\"never closed,2\n5,6\n", columns_ab, 2, "2:1|2| 3! ");
    check_rows("b,x,a\n2,0\n4,0,3\n1,2,3,4,5,6\n", columns_ab, 2, "2! 3:3|4| 4! ");
}

static void check_open(const char *text, dfrt_status wanted, const char *part)
{
    write_text("rows.csv", text);
    dfrt_csv *csv;
    dfrt_csv_options options = {.columns = columns_ab, .column_count = 2, .stop_fd = -1};
    CHECK(dfrt_csv_open(&csv, "rows.csv", &options, &error) == wanted && csv == NULL);
    if (strstr(error.text, part) == NULL) CHECK_TEXT(error.text, part);
}

static void test_headers(void)
{
    check_open("", DFRT_MISSING, "'rows.csv' is empty");
    check_open("\n\n", DFRT_MISSING, "'rows.csv' is empty");
    check_open("a,c,d\n", DFRT_MISSING, "'rows.csv' has no column 'b'; it has: a, c, d");
    check_open("a,b,b\n", DFRT_MALFORMED, "'b' 2 times");
    check_open("a,\"b\n", DFRT_MALFORMED, "never closed");
    check_open("a,\x1b[31m\n", DFRT_MISSING, "\\x1b[31m");
}

/* Every cut of the input into two reads of a pipe gives the same rows, and nothing waits for what is not needed. */
static void test_cuts(void)
{
    static const char text[] = "\xef\xbb\xbf" "a,b\r\n1,\"x\"\"\n,\"\r\n\n3,4\r\n\"5\",6";
    CHECK(mkfifo("cut", 0600) == 0);
    for (size_t cut = 11; cut < sizeof text - 1; cut++) {
        int writer = open("cut", O_RDWR); /* so that the pipe has a writer before its reader comes */
        CHECK(writer >= 0 && write(writer, text, cut) == (ssize_t)cut);
        dfrt_csv *csv;
        dfrt_csv_options options = {.columns = columns_ab, .column_count = 2, .stop_fd = -1};
        CHECK(dfrt_csv_open(&csv, "cut", &options, &error) == DFRT_OK);
        dfrt_slice row[2];
        char got[200] = "";
        dfrt_status status;
        bool sent = false;
        while ((status = dfrt_csv_next(csv, row)) != DFRT_END) {
            if (status == DFRT_AGAIN) {
                CHECK(!sent && write(writer, text + cut, sizeof text - 1 - cut) == (ssize_t)(sizeof text - 1 - cut));
                CHECK(close(writer) == 0);
                sent = true;
                continue;
            }
            CHECK(status == DFRT_OK);
            sprintf(got + strlen(got), "%d:%.*s|%.*s| ", (int)dfrt_csv_line(csv), (int)row[0].size, row[0].data,
                    (int)row[1].size, row[1].data);
        }
        CHECK_TEXT(got, "2:1|x\"\n,| 5:3|4| 6:5|6| ");
        dfrt_csv_close(csv);
    }
}

static void test_long_rows(void)
{
    enum { LONG = 3 << 20 };
    char *text = malloc(LONG + 100);
    CHECK(text != NULL);
    memset(text, 'x', LONG + 100);
    memcpy(text, "a,b\n1,2\n\"", 9);
    text[1000] = '\n';
    memcpy(text + LONG, "\",2\n5,6\nxxxxxxxxxx,yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n\"7\",8", 55);
    write_file("rows.csv", text, LONG + 55);
    free(text);
    static const size_t limits[] = {20, 300000, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        dfrt_csv *csv;
        dfrt_csv_options options = {.columns = columns_ab, .column_count = 2, .stop_fd = -1, .max_row = limits[i]};
        CHECK(dfrt_csv_open(&csv, "rows.csv", &options, &error) == DFRT_OK);
        char got[200];
        read_rows(csv, 2, got, sizeof got);
        CHECK_TEXT(got, i == 0 ? "2:1|2| 3! 5:5|6| 6! 7:7|8| "
                               : "2:1|2| 3! 5:5|6| 6:xxxxxxxxxx|yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy| 7:7|8| ");
        CHECK(dfrt_csv_input(csv)->capacity <= limits[i] + 2 || dfrt_csv_input(csv)->capacity == 256 << 10);
        dfrt_csv_close(csv);
    }
}

/* Rows of random lengths over many buffers, against a simple count. */
static void test_many_rows(void)
{
    FILE *file = fopen("rows.csv", "w");
    CHECK(file != NULL);
    uint64_t state = 1, wanted = 0;
    enum { ROWS = 100000 };
    CHECK(fputs("a,b\n", file) >= 0);
    for (unsigned i = 0; i < ROWS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int width = (int)(state >> 58);
        const char *quote = state >> 33 & 1 ? "\"" : "";
        wanted += (uint64_t)(width > 5 ? width : 5);
        CHECK(fprintf(file, "%s%0*u%s,%u\n", quote, width > 5 ? width : 5, i, quote, i) > 0);
    }
    CHECK(fclose(file) == 0);
    dfrt_csv *csv;
    dfrt_csv_options options = {.columns = columns_ab, .column_count = 2, .stop_fd = -1};
    CHECK(dfrt_csv_open(&csv, "rows.csv", &options, &error) == DFRT_OK);
    dfrt_slice row[2];
    uint64_t got = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        CHECK(dfrt_csv_next(csv, row) == DFRT_OK && dfrt_csv_line(csv) == i + 2);
        char number[16];
        CHECK(snprintf(number, sizeof number, "%u", i) == (int)row[1].size && memcmp(number, row[1].data, row[1].size) == 0);
        got += row[0].size;
    }
    CHECK(dfrt_csv_next(csv, row) == DFRT_END && dfrt_csv_next(csv, row) == DFRT_END && got == wanted);
    dfrt_csv_close(csv);
}

int main(void)
{
    enter_scratch_folder();
    test_shapes();
    test_quotes();
    test_malformed();
    test_headers();
    test_cuts();
    test_long_rows();
    test_many_rows();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
