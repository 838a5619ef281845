#define _GNU_SOURCE
#include "../src/json_value.h"

#include "../src/json_form.h"
#include "check.h"

static dfrt_status read_as(const char *text, dfrt__json_tree *tree, dfrt__json_value **root, dfrt_error *error)
{
    return dfrt__json_read(tree, "f", text, strlen(text), root, error);
}

static void check_refused(const char *text, const char *wanted)
{
    dfrt__json_tree tree;
    dfrt__json_value *root;
    dfrt_error error = {{0}};
    CHECK(read_as(text, &tree, &root, &error) == DFRT_USAGE);
    CHECK_TEXT(error.text, wanted);
    dfrt__json_close(&tree);
}

static void test_tree(void)
{
    dfrt__json_tree tree;
    dfrt__json_value *root;
    dfrt_error error;
    CHECK(read_as("{\"a\": [1, -2.5e1, true, null],\n \"b\\u00e4\": {\"c\": \"x\\n\\\"\"}}\n", &tree, &root, &error) ==
          DFRT_OK);
    dfrt__json_value *list = root->first, *object = list->next;
    CHECK(root->kind == DFRT__JSON_OBJECT && list->kind == DFRT__JSON_LIST && object->next == NULL);
    CHECK_TEXT(list->name, "a");
    CHECK_TEXT(object->name, "b\xc3\xa4");
    CHECK(list->first->number == 1 && list->first->next->number == -25);
    CHECK(list->first->next->next->kind == DFRT__JSON_BOOL && list->first->next->next->truth);
    CHECK(list->first->next->next->next->kind == DFRT__JSON_NULL);
    CHECK(object->line == 2 && object->column == 13);
    CHECK_TEXT(object->first->text, "x\n\"");
    dfrt__json_close(&tree);
}

static void test_mistakes(void)
{
    check_refused("", "f:1:1: a value is expected, not the end");
    check_refused("{\"a\": 1,\n \"a\": 2}", "f:2:2: this member is there twice");
    check_refused("{\"a\" 1}", "f:1:6: a colon is expected");
    check_refused("[1\n2]", "f:2:1: a comma or ] is expected");
    check_refused("{\"a\": 1} x", "f:1:10: nothing is expected behind the value");
    check_refused("[1e999]", "f:1:2: a number that is too large");
    check_refused("[NaN]", "f:1:2: a value is expected");
    check_refused("[\"a\xff\"]", "f:1:2: a text that is not UTF-8, or has a zero byte");
    check_refused("[\"\\u0000\"]", "f:1:2: a text that is not UTF-8, or has a zero byte");
    check_refused("[\"open", "f:1:2: a string is not closed");
    check_refused("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "f:1:17: values nest too deeply");
}

static void test_size(void)
{
    char *text = malloc(DFRT__JSON_BYTES + 2);
    CHECK(text != NULL);
    dfrt__json_tree tree;
    dfrt__json_value *root;
    dfrt_error error;
    for (size_t i = 0; i <= DFRT__JSON_BYTES; i++) text[i] = i % 2 == 0 ? '1' : ',';
    text[0] = '[';
    CHECK(dfrt__json_read(&tree, "f", text, DFRT__JSON_BYTES + 1, &root, &error) == DFRT_USAGE);
    CHECK_TEXT(error.text, "f: larger than 1048576 bytes");
    dfrt__json_close(&tree);
    memset(text, ' ', DFRT__JSON_BYTES);
    for (size_t i = 0; i < DFRT__JSON_BYTES; i += 2) text[i] = i == 0 ? '[' : '1', text[i + 1] = i == 0 ? ' ' : ',';
    CHECK(dfrt__json_read(&tree, "f", text, DFRT__JSON_BYTES, &root, &error) == DFRT_USAGE);
    CHECK(strstr(error.text, "too many values") != NULL);
    dfrt__json_close(&tree);
    free(text);
}

static uint64_t chance;

static unsigned next_of(unsigned count)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance % count);
}

/* Whatever the bytes are, the answer is a tree or a place. */
static void test_any_bytes(void)
{
    static const char good[] = "{\"schema\": 2, \"a\": [1, 2.5, \"t\\u0041\", null, {\"b\": true}], \"c\": {}}";
    const char *given = getenv("DFC_TEST_SEED");
    chance = given == NULL ? 88172645463325252u : strtoull(given, NULL, 10) * 2 + 1;
    printf("DFC_TEST_SEED=%llu\n", (unsigned long long)chance / 2);
    for (unsigned run = 0; run < 20000; run++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        size_t size = next_of(sizeof good);
        for (unsigned hits = next_of(6); hits > 0; hits--) {
            text[next_of(sizeof good - 1)] = next_of(3) == 0 ? (char)next_of(256) : "{}[]\",:\\0eE.-+ \n"[next_of(17)];
        }
        char *exact = malloc(size + 1); /* of the exact size, so that reading beyond it is noticed */
        CHECK(exact != NULL);
        memcpy(exact, text, size);
        dfrt__json_tree tree;
        dfrt__json_value *root;
        dfrt_error error = {{0}};
        dfrt_status status = dfrt__json_read(&tree, "f", exact, size, &root, &error);
        CHECK(status == DFRT_OK || (status == DFRT_USAGE && strncmp(error.text, "f:", 2) == 0));
        dfrt__json_close(&tree);
        free(exact);
    }
}

static void test_form(void)
{
    dfrt__json_tree tree;
    dfrt__json_value *root;
    dfrt_error error = {{0}};
    const char *text = "{\"n\": 2.5, \"w\": \"flux\", \"t\": true,\n \"odd\": 1, \"none\": null}";
    CHECK(read_as(text, &tree, &root, &error) == DFRT_OK);
    dfrt__json_form form = {.name = "f", .error = &error};
    static const char *const words[] = {"balanced", "flux", NULL};
    CHECK(dfrt__json_real(&form, root, "n", 0, 3, 7) == 2.5 && dfrt__json_real(&form, root, "none", 0, 3, 7) == 7);
    CHECK(dfrt__json_choice(&form, root, "w", words, 0) == 1 && dfrt__json_truth(&form, root, "t", false));
    CHECK(form.status == DFRT_OK);
    dfrt__json_no_more(&form, root);
    CHECK_TEXT(error.text, "f:2:9: there is no \"odd\" here; is it misspelt?");
    form = (dfrt__json_form){.name = "f", .error = &error};
    CHECK(dfrt__json_count(&form, root, "n", 0, 3, 7) == 7);
    CHECK_TEXT(error.text, "f:1:7: \"n\" is expected to be a whole number");
    form = (dfrt__json_form){.name = "f", .error = &error};
    CHECK(dfrt__json_real(&form, root, "n", 3, 4, 7) == 7 && dfrt__json_words(&form, root, "t") == NULL);
    CHECK_TEXT(error.text, "f:1:7: \"n\" is expected to be from 3 to 4, not 2.5");
    dfrt__json_close(&tree);
}

int main(void)
{
    test_tree();
    test_mistakes();
    test_size();
    test_any_bytes();
    test_form();
    return 0;
}
