/* What every test of the leaf modules uses: a check that says where it failed, and scratch files. */
#ifndef DFRT_TESTS_CHECK_H
#define DFRT_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(got, wanted)                                                                                        \
    do {                                                                                                               \
        const char *got_ = (got), *wanted_ = (wanted);                                                                 \
        if (strcmp(got_, wanted_) != 0) {                                                                              \
            fprintf(stderr, "%s:%d: got    \"%s\"\n  wanted \"%s\"\n", __FILE__, __LINE__, got_, wanted_);             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A folder of this test's own; the current folder from then on. */
static inline void enter_scratch_folder(void)
{
    static char folder[] = "/tmp/dfrt-test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chdir(folder) == 0);
}

static inline void leave_scratch_folder(void)
{
    char folder[256], command[300];
    CHECK(getcwd(folder, sizeof folder) != NULL && strncmp(folder, "/tmp/dfrt-test-", 15) == 0);
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    CHECK(system(command) == 0);
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* With the folders that it lies in. */
static inline void write_deep(const char *path, const char *text)
{
    char folder[512];
    for (const char *c = strchr(path, '/'); c != NULL; c = strchr(c + 1, '/')) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(c - path), path);
        (void)mkdir(folder, 0755); /* is there already, mostly */
    }
    write_text(path, text);
}

/* The whole file as a string; the caller frees it. */
static inline char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = 0;
    char *text = malloc(1 << 20);
    CHECK(text != NULL);
    size = fread(text, 1, (1 << 20) - 1, file);
    CHECK(fclose(file) == 0);
    text[size] = '\0';
    return text;
}

static inline void check_file(const char *path, const char *wanted)
{
    char *got = read_text(path);
    CHECK_TEXT(got, wanted);
    free(got);
}

#endif
