#include "codeobj/msgpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Encodings are the examples of the MessagePack specification's format table. */
static struct msgpack_token token_of(const char *bytes, size_t size)
{
    struct msgpack_reader reader = msgpack_reader_make(bytes, size);
    struct msgpack_token token;
    assert_true(msgpack_next(&reader, &token));
    return token;
}
#define TOKEN(literal) token_of(literal, sizeof(literal) - 1)

static void numbers_of_every_width(void **state)
{
    (void)state;
    assert_int_equal(TOKEN("\x00").number, 0);
    assert_int_equal(TOKEN("\x7f").number, 127);
    assert_int_equal(TOKEN("\xcc\xff").number, 255);
    assert_int_equal(TOKEN("\xcd\x01\x00").number, 256);
    assert_int_equal(TOKEN("\xce\x00\x01\x00\x00").number, 65536);
    assert_true(TOKEN("\xcf\x80\x00\x00\x00\x00\x00\x00\x01").number == 0x8000000000000001ull);
    assert_int_equal((int64_t)TOKEN("\xff").number, -1);
    assert_int_equal((int64_t)TOKEN("\xe0").number, -32);
    assert_int_equal((int64_t)TOKEN("\xd0\x80").number, -128);
    assert_int_equal((int64_t)TOKEN("\xd1\xff\x00").number, -256);
    assert_int_equal((int64_t)TOKEN("\xd2\x80\x00\x00\x00").number, INT32_MIN);
    assert_int_equal((int64_t)TOKEN("\xd3\x80\x00\x00\x00\x00\x00\x00\x00").number, INT64_MIN);
    assert_int_equal(TOKEN("\xff").type, MSGPACK_SIGNED);
    /* A signed format may hold a positive number. */
    assert_int_equal(TOKEN("\xd0\x05").type, MSGPACK_UNSIGNED);
    assert_true(TOKEN("\xca\x3f\xc0\x00\x00").real == 1.5);
    assert_true(TOKEN("\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00").real == -1.5);
    assert_int_equal(TOKEN("\xc3").number, 1);
    assert_int_equal(TOKEN("\xc0").type, MSGPACK_NIL);
}

static void texts_of_every_form(void **state)
{
    (void)state;
    struct msgpack_token token = TOKEN("\xa3"
                                       "abc");
    assert_true(msgpack_text_equal(&token, "abc"));
    assert_false(msgpack_text_equal(&token, "ab"));
    token = TOKEN("\xd9\x02hi");
    assert_true(msgpack_text_equal(&token, "hi"));
    token = TOKEN("\xda\x00\x02hi");
    assert_true(msgpack_text_equal(&token, "hi"));
    token = TOKEN("\xdb\x00\x00\x00\x02hi");
    assert_true(msgpack_text_equal(&token, "hi"));
    token = TOKEN("\xc4\x02\x01\x02");
    assert_int_equal(token.type, MSGPACK_BINARY);
    assert_int_equal(token.count, 2);
    token = TOKEN("\xd6\x01wxyz");
    assert_int_equal(token.type, MSGPACK_EXTENSION);
    assert_int_equal(token.count, 5); /* its type byte and four of data */
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "\x82\xa1k\x93\x01\xcd\x01\x00\xc0\xd9\x02hi\xcb\x00\x00\x00\x00\x00"
        "\x00\x00\x00";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        struct msgpack_reader reader = msgpack_reader_make(whole, size);
        struct msgpack_token token;
        assert_false(msgpack_next(&reader, &token) && msgpack_skip(&reader, &token));
    }
    struct msgpack_reader reader = msgpack_reader_make(whole, sizeof whole - 1);
    struct msgpack_token token;
    assert_true(msgpack_next(&reader, &token));
    assert_true(msgpack_skip(&reader, &token));
    assert_ptr_equal(reader.next, reader.end);
}

static void hostile_counts_and_depth_are_refused(void **state)
{
    (void)state;
    static const char billions[] = "\xdd\xff\xff\xff\xff\x00";
    struct msgpack_reader reader = msgpack_reader_make(billions, sizeof billions - 1);
    struct msgpack_token token;
    assert_false(msgpack_next(&reader, &token));

    char nested[4096];
    memset(nested, '\x91', sizeof nested);
    reader = msgpack_reader_make(nested, sizeof nested);
    assert_true(msgpack_next(&reader, &token));
    assert_false(msgpack_skip(&reader, &token));

    reader = msgpack_reader_make("\xc1", 1);
    assert_false(msgpack_next(&reader, &token));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_width),
        cmocka_unit_test(texts_of_every_form),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(hostile_counts_and_depth_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
