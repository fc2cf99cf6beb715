/*
 * Series of groups (series.h): kernels made by hand that look like one in the first two groups and
 * in the last one, but are none in between, or whose memory changes while they run. Each is held
 * against an engine that translates nothing: memory, faults and modelled time are the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem/vm.h"
#include "wave/two_engines.h"

/* ---- numbers ---- */

/* v1: what the wave's elements are behind the arrays' begin. */
#define MOVE                                                                                       \
    "global_load_dwordx4 v[4:7], v1, s[8:9]\ns_waitcnt vmcnt(0)\nv_add_u32 v4, s16, v4\n"          \
    "global_store_dwordx4 v1, v[4:7], s[10:11]\n"
#define END "s_endpgm\n"
/* Groups' elements follow each other; s24 says how much further a group's are. */
#define PLACE                                                                                      \
    "s_min_u32 s24, s24, s19\ns_lshl_b32 s25, s2, 10\ns_mul_i32 s24, s24, 16\n"                    \
    "s_add_u32 s25, s25, s24\n"                                                                    \
    "v_lshlrev_b32 v1, 4, v0\nv_add_u32 v1, s25, v1\n"
/* v2 says it instead. */
#define PLACE_BY_VECTOR                                                                            \
    "s_lshl_b32 s25, s2, 10\nv_lshlrev_b32 v1, 4, v0\nv_add_u32 v1, s25, v1\n"                     \
    "v_lshlrev_b32 v2, 4, v2\nv_add_u32 v1, v2, v1\n"
/* SCC says whether. */
#define SCC_SAYS     "s_cselect_b32 s24, 64, 0\n"
#define SCC_BRANCHES "s_mov_b32 s24, 0\ns_cbranch_scc0 over\nv_add_u32 v0, 64, v0\nover:\n"
#define VCC_BRANCHES "s_mov_b32 s24, 0\ns_cbranch_vccz over\nv_add_u32 v0, 64, v0\nover:\n"

/* s3 is the group's number from s17 on; s18 to s23 are constants, of words 2 to 7. */
struct number_kernel {
    const char *name, *text;
};
#define NUMBER(name, text)                                                                         \
    {                                                                                              \
        name, BEGIN "s_sub_u32 s3, s2, s17\n" text PLACE MOVE END                                  \
    }
#define LANES(name, text)                                                                          \
    {                                                                                              \
        name, BEGIN "s_sub_u32 s3, s2, s17\n" text PLACE_BY_VECTOR MOVE END                        \
    }
static const struct number_kernel number_kernels[] = {
    /* Bits of the number: 0, 1 and 1024 have none of those in between. */
    NUMBER("and", "s_and_b32 s24, s3, 0x3c0\n"),
    NUMBER("and: pairs take turns", "s_and_b32 s24, s3, 2\n"),
    NUMBER("and: branch", "s_and_b32 s26, s3, 0x200\n" SCC_BRANCHES),
    NUMBER("andn2", "s_add_u32 s26, s3, 0x800\ns_andn2_b32 s24, s26, 0x3fe\n"),
    NUMBER("or", "s_or_b32 s24, s3, 0x3fe\n"),
    NUMBER("xor", "s_xor_b32 s24, s3, 0x3fe\n"),
    NUMBER("or with its not",
           "s_orn2_b32 s26, s3, 0x3fe\ns_not_b32 s26, s26\ns_and_b32 s24, s26, 0x3fe\n"),
    NUMBER("bfe", "s_bfe_u32 s24, s3, 0x90001\n"),
    NUMBER("bfe of a sign", "s_bfe_i32 s24, s3, 0x90001\ns_and_b32 s24, s24, 0x7f\n"),
    NUMBER("bfe: branch", "s_bfe_u32 s26, s3, 0x10009\n" SCC_BRANCHES),
    NUMBER("bitcmp", "s_bitcmp1_b32 s3, 8\n" SCC_SAYS),
    NUMBER("bitcmp: branch", "s_bitcmp1_b32 s3, 8\n" SCC_BRANCHES),
    NUMBER("bitset", "s_mov_b32 s24, s3\ns_bitset0_b32 s24, 4\n"),
    NUMBER("cmov", "s_cmp_eq_u32 s3, 0x155\ns_mov_b32 s24, 0\ns_cmovk_i32 s24, 64\n"),
    /* One group in the middle. */
    NUMBER("equal", "s_cmp_eq_u32 s3, 0x155\n" SCC_SAYS),
    NUMBER("equal: branch", "s_cmp_eq_u32 s3, 0x155\n" SCC_BRANCHES),
    NUMBER("equal, of signs", "s_cmp_eq_i32 s3, 0x155\n" SCC_SAYS),
    NUMBER("unequal", "s_cmp_lg_u32 s3, 0x155\ns_cselect_b32 s24, 0, 64\n"),
    NUMBER("unequal, of signs: branch",
           "s_cmp_lg_i32 s3, 0x155\ns_cselect_b32 s26, 0, 1\ns_cmp_eq_u32 s26, 1\n" SCC_BRANCHES),
    NUMBER("equal pairs", "s_mov_b32 s27, 0\ns_mov_b32 s26, s3\ns_mov_b32 s28, 0x155\n"
                          "s_mov_b32 s29, 0\ns_cmp_eq_u64 s[26:27], s[28:29]\n" SCC_SAYS),
    NUMBER("compared with a constant of the instruction", "s_cmpk_eq_i32 s3, 0x155\n" SCC_SAYS),
    /* A number that grows, and behind the middle what the last group would have. */
    NUMBER("takes what comes last", "s_cmp_lt_u32 s3, 0x200\ns_cselect_b32 s24, s3, 0x400\n"),
    NUMBER("takes what comes last, of signs",
           "s_cmp_gt_i32 s3, 0x1ff\ns_cselect_b32 s24, 0x400, s3\n"),
    /* Here and back: modulo 2^32 the last group's number is the first one's. */
    NUMBER("shift around",
           "s_add_u32 s26, s3, 1\ns_lshl_b32 s26, s26, 22\ns_cmp_gt_u32 s26, s20\n" SCC_SAYS),
    NUMBER("shift around: branch",
           "s_add_u32 s26, s3, 1\ns_lshl_b32 s26, s26, 22\ns_cmp_gt_u32 s26, s20\n" SCC_BRANCHES),
    NUMBER("shift around, less", "s_add_u32 s26, s3, 1\ns_lshl_b32 s26, s26, 22\ns_add_u32 s26, "
                                 "s26, 5\ns_cmp_gt_u32 s26, s20\n" SCC_SAYS),
    NUMBER("product around", "s_mul_i32 s26, s3, 0xc00000\ns_cmp_gt_u32 s26, s20\n" SCC_SAYS),
    NUMBER(
        "product around, back",
        "s_mul_i32 s26, s3, 0xffc00000\ns_sub_u32 s26, s26, 1\ns_cmp_lt_u32 s26, s20\n" SCC_SAYS),
    NUMBER("sum around: carry", "s_lshl_b32 s26, s3, 20\ns_add_u32 s26, s26, s21\n"
                                "s_addc_u32 s26, 0, 0\ns_lshl_b32 s24, s26, 6\n"),
    /* The sign: as an integer it goes on growing, as a signed one it does not. */
    NUMBER("sign", "s_add_u32 s26, s3, s22\ns_cmp_gt_i32 s26, s23\n" SCC_SAYS),
    NUMBER("sign: branch", "s_add_u32 s26, s3, s22\ns_cmp_gt_i32 s26, s23\n" SCC_BRANCHES),
    NUMBER("sign: least",
           "s_add_u32 s26, s3, s22\ns_min_i32 s26, s26, s23\ns_sub_u32 s26, s26, s23\n"
           "s_ashr_i32 s26, s26, 31\ns_and_b32 s24, s26, 64\n"),
    NUMBER("sign: overflow", "s_add_u32 s26, s3, s22\ns_sub_i32 s26, s26, 1\n" SCC_SAYS),
    /* Products of two that grow: 2^22 * n * (n + 1023). */
    NUMBER("product of two", "s_mul_i32 s26, s3, 0x800\ns_add_u32 s27, s3, 0x3ff\n"
                             "s_lshl_b32 s27, s27, 11\ns_mul_i32 s26, s26, s27\n"
                             "s_cmp_gt_u32 s26, s20\n" SCC_SAYS),
    NUMBER("square", "s_mul_i32 s26, s3, s3\ns_and_b32 s24, s26, 0x7f\n"),
    NUMBER("remainder", "s_mul_hi_u32 s26, s3, 0x55555556\ns_mul_i32 s26, s26, 3\n"
                        "s_sub_u32 s24, s3, s26\n"),
    NUMBER("shift by the number", "s_lshl_b32 s24, 1, s3\ns_and_b32 s24, s24, 0xff\n"),
    NUMBER("shift right", "s_lshr_b32 s24, s3, 5\n"),
    NUMBER("bits reversed", "s_brev_b32 s26, s3\ns_lshr_b32 s24, s26, 25\n"),
    NUMBER("a narrow sign", "s_sext_i32_i8 s26, s3\ns_and_b32 s24, s26, 0x1ff\n"),
    NUMBER("absolute", "s_sub_u32 s26, s3, 0x200\ns_abs_i32 s24, s26\ns_lshr_b32 s24, s24, 3\n"),
    NUMBER("least and greatest", "s_max_u32 s26, s3, 0x100\ns_min_u32 s26, s26, 0x200\n"
                                 "s_sub_u32 s24, s26, 0x100\n"),
    NUMBER("as masks", "s_lshl_b32 vcc_lo, s3, 22\ns_mov_b32 vcc_hi, 0\n" VCC_BRANCHES),
    /* The same of lanes. */
    LANES("lanes: and", "v_mov_b32 v2, s3\nv_and_b32 v2, 0x3c0, v2\n"),
    LANES("lanes: and, low bits", "v_mov_b32 v2, s3\nv_and_b32 v2, 0x3ff, v2\n"),
    LANES("lanes: equal",
          "v_mov_b32 v2, s3\nv_cmp_eq_u32 vcc, 0x155, v2\nv_mov_b32 v2, 0\n" VCC_BRANCHES),
    LANES("lanes: unequal", "v_mov_b32 v3, s3\nv_cmp_ne_u32 vcc, 0x155, v3\nv_mov_b32 v2, 0\n"
                            "s_cbranch_vccnz over\nv_mov_b32 v2, 64\nover:\n"),
    LANES("lanes: sign", "v_mov_b32 v2, s3\nv_add_u32 v2, s22, v2\nv_cmp_lt_i32 vcc, s23, v2\n"
                         "v_mov_b32 v2, 0\n" VCC_BRANCHES),
    LANES("lanes: sign of the last ones",
          "v_lshlrev_b32 v2, 5, v0\nv_add_u32 v2, s18, v2\nv_add_u32 v2, s3, v2\ns_mov_b32 s26, "
          "0x7ffffff6\n"
          "v_cmp_lt_i32 vcc, s26, v2\nv_mov_b32 v2, 0\n" VCC_BRANCHES),
    LANES("lanes: all of the sign", "v_mov_b32 v2, s3\nv_add_u32 v2, s22, v2\n"
                                    "v_ashrrev_i32 v2, 31, v2\nv_and_b32 v2, 64, v2\n"),
    LANES("lanes: some of the sign", "v_mov_b32 v2, s3\nv_ashrrev_i32 v2, 4, v2\n"),
    LANES("lanes: shift around", "v_mov_b32 v2, s3\nv_lshlrev_b32 v2, 22, v2\n"
                                 "v_cmp_lt_u32 vcc, s20, v2\nv_mov_b32 v2, 0\n" VCC_BRANCHES),
    LANES("lanes: carry",
          "v_mov_b32 v2, s3\nv_lshlrev_b32 v2, 20, v2\nv_add_co_u32 v2, vcc, s21, v2\n"
          "v_mov_b32 v2, 0\n" VCC_BRANCHES),
    LANES("lanes: first one's number", "v_readfirstlane_b32 s26, v0\ns_add_u32 s26, s26, s3\n"
                                       "s_and_b32 s26, s26, 0x3c0\nv_mov_b32 v2, s26\n"),
};

static void numbers_grow_or_not(void **state)
{
    const struct trial trial = {
        .groups = GROUPS + FIRST_TRIED,
        .waves = 1,
        .arguments = {.from = FROM_AT,
                      .to = TO_AT,
                      .words = {7, FIRST_TRIED, 0x7ffff5ac, 0x1000, 0x80000000, 0x80000000,
                                0x7ffffe00, 0x7fffff00}}};
    (void)state;
    for (size_t n = 0; n < sizeof number_kernels / sizeof *number_kernels; n++)
        text_try(number_kernels[n].name, number_kernels[n].text, &trial);
}

/* ---- memory ---- */

/* Groups of four waves. */
#define PLACE_OF_FOUR "s_lshl_b32 s25, s2, 12\nv_lshlrev_b32 v1, 4, v0\nv_add_u32 v1, s25, v1\n"
#define PLACE_OF_ONE  "s_lshl_b32 s25, s2, 10\nv_lshlrev_b32 v1, 4, v0\nv_add_u32 v1, s25, v1\n"
enum { FOUR = 4, GROUP_OF_FOUR = FOUR * WAVE * 16, GROUP_OF_ONE = WAVE * 16 };
enum { GROUPS_OF_FOUR = 300, OTHER_AT = DATA_AT + 2 * THIRD };

static const char from_table[] = BEGIN "s_lshl_b32 s26, s2, 2\ns_add_u32 s26, s12, s26\n"
                                       "s_addc_u32 s27, s13, 0\ns_load_dword s24, s[26:27], 0x0\n"
                                       "s_waitcnt lgkmcnt(0)\n" PLACE MOVE END;
static const char from_table_by_lanes[] =
    BEGIN "v_mov_b32 v8, s2\nv_lshlrev_b32 v8, 2, v8\nglobal_load_dword v9, v8, s[12:13]\n"
          "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s24, v9\n" PLACE MOVE END;
static const char stores_unaligned[] = BEGIN "s_mul_i32 s25, s2, 0x404\nv_lshlrev_b32 v1, 4, v0\n"
                                             "v_add_u32 v1, s25, v1\n" MOVE END;
static const char loads_what_was_stored[] =
    BEGIN PLACE_OF_ONE "s_add_u32 s26, s10, 0x1c00\ns_addc_u32 s27, s11, 0\n" MOVE
                       "global_load_dwordx4 v[8:11], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                       "v_add_u32 v9, v8, v9\n"
                       "global_store_dwordx4 v1, v[8:11], s[26:27]\n" END;
static const char stores_numbers[] =
    BEGIN PLACE_OF_ONE "global_load_dwordx4 v[4:7], v1, s[8:9]\nv_add_u32 v5, 3, v1\n"
                       "s_waitcnt vmcnt(0)\nglobal_store_dwordx4 v1, v[4:7], s[10:11]\n" END;
static const char stores_a_sum[] =
    BEGIN PLACE_OF_ONE "global_load_dwordx4 v[4:7], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                       "v_add_u32 v4, v4, v1\nv_mad_u32_u24 v5, v1, 3, v5\n"
                       "global_store_dwordx4 v1, v[4:7], s[10:11]\n" END;
static const char adds_to_a_number[] =
    BEGIN PLACE_OF_ONE "v_add_u32 v8, 5, v1\nv_mov_b32_sdwa v8, v0 dst_sel:WORD_1 "
                       "dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n"
                       "global_load_dwordx4 v[4:7], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                       "v_add_u32 v4, v4, v8\nglobal_store_dwordx4 v1, v[4:7], s[10:11]\n" END;
static const char mixes_into_a_number[] =
    BEGIN PLACE_OF_ONE "v_add_u32 v8, 5, v1\nglobal_load_dwordx4 v[4:7], v1, s[8:9]\n"
                       "s_waitcnt vmcnt(0)\nv_fma_mixlo_f16 v8, v4, v5, v6\n"
                       "v_add_u32 v4, v4, v8\nglobal_store_dwordx4 v1, v[4:7], s[10:11]\n" END;
static const char mixes_beside_a_constant[] =
    BEGIN PLACE_OF_ONE "global_load_dwordx4 v[4:7], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                       "v_add_u32 v5, v4, v5\nv_mov_b32 v4, 0x3c00\n"
                       "v_fma_mixhi_f16 v4, v5, v6, v7\n"
                       "global_store_dwordx4 v1, v[4:7], s[10:11]\n" END;
static const char begins_with_scc[] = "s_cselect_b32 s24, 64, 0\ns_mov_b32 s28, vcc_lo\n" BEGIN
                                      "s_add_u32 s24, s24, s28\n" PLACE MOVE END;
static const char reads_rows_never_written[] =
    BEGIN PLACE_OF_ONE "v_add_u32 v1, v40, v1\n" MOVE END;
static const char scalar_comes_later[] = BEGIN PLACE_OF_ONE MOVE "s_add_u32 s16, s2, 8\n" END;
static const char scalar_grows[] = BEGIN PLACE_OF_ONE "s_add_u32 s16, s2, 7\n" MOVE END;
static const char lanes_are_few[] =
    BEGIN PLACE_OF_ONE "s_sub_u32 s26, s2, s17\ns_mov_b32 s24, 0\ns_and_b32 s26, s26, 0x3c0\n"
                       "s_cselect_b32 s28, 0xff, -1\ns_mov_b32 s29, -1\n"
                       "s_mov_b64 exec, s[28:29]\n" MOVE END;
static const char goes_down[] = BEGIN "s_sub_u32 s3, s18, s2\ns_lshl_b32 s25, s3, 10\n"
                                      "v_lshlrev_b32 v1, 4, v0\nv_add_u32 v1, s25, v1\n" MOVE END;
/* Waves of a group go different ways, which scalar branches decide by a lane's number. */
static const char waves_differ[] =
    BEGIN PLACE_OF_FOUR "v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz other\n" MOVE "other:\n" MOVE END;

static const struct memory_kernel {
    const char *name, *text;
    uint32_t groups, waves, to_apart;
} memory_kernels[] = {
    {"from a table", from_table, GROUPS + FIRST_TRIED, 1, 0},
    {"from a table, by lanes", from_table_by_lanes, GROUPS + FIRST_TRIED, 1, 0},
    {"stores unaligned", stores_unaligned, GROUPS, 1, 0},
    {"stores beside alignment", stores_a_sum, GROUPS, 1, 4},
    {"loads what was stored", loads_what_was_stored, GROUPS, 1, 0},
    {"stores numbers", stores_numbers, GROUPS, 1, 0},
    {"stores sums of numbers", stores_a_sum, GROUPS, 1, 0},
    {"a part of a number", adds_to_a_number, GROUPS, 1, 0},
    {"mixes beside a constant", mixes_beside_a_constant, GROUPS, 1, 0},
    {"mixes into a part of a number", mixes_into_a_number, GROUPS, 1, 0},
    {"begins with SCC and VCC", begins_with_scc, GROUPS, 1, 0},
    {"rows never written", reads_rows_never_written, GROUPS, 1, 0},
    {"a scalar that is another one later", scalar_comes_later, GROUPS, 1, 0},
    {"a scalar that grows", scalar_grows, GROUPS, 1, 0},
    {"few lanes in the middle", lanes_are_few, GROUPS + FIRST_TRIED, 1, 0},
    {"goes down", goes_down, GROUPS, 1, 0},
    {"waves differ", waves_differ, GROUPS_OF_FOUR, FOUR, 0},
};

static void memory_is_the_same(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof memory_kernels / sizeof *memory_kernels; n++) {
        const struct memory_kernel *k = &memory_kernels[n];
        const struct trial trial = {.groups = k->groups,
                                    .waves = k->waves,
                                    .arguments = {.from = FROM_AT,
                                                  .to = TO_AT + k->to_apart,
                                                  .table = TABLE_AT,
                                                  .words = {7, FIRST_TRIED, GROUPS - 1, 0x1000}}};
        text_try(k->name, k->text, &trial);
    }
}

/* What the arguments' `other` points to is added: each group stores what one of the next waves
 * loads there, of the same group or of the next one. */
#define TOLD "s_load_dword s16, s[14:15], 0x0\ns_waitcnt lgkmcnt(0)\n"
static const char told_by_waves[] = BEGIN TOLD PLACE_OF_FOUR MOVE END;
static const char told_by_groups[] = BEGIN TOLD PLACE_OF_ONE MOVE END;
/* The same wave has stored it. */
static const char told_by_itself[] =
    BEGIN PLACE_OF_ONE "global_load_dwordx4 v[4:7], v1, s[8:9]\ns_waitcnt vmcnt(0)\n"
                       "global_store_dwordx4 v1, v[4:7], s[10:11]\ns_waitcnt vmcnt(0)\n" TOLD
                       "v_add_u32 v5, s16, v5\ns_add_u32 s26, s8, 0x280000\n"
                       "s_addc_u32 s27, s9, 0\nglobal_store_dwordx4 v1, v[4:7], s[26:27]\n" END;

/* Where groups in the middle of long and short batches store. */
static const uint32_t middles[] = {20, 25, 77, 150, 243, 280};
enum { MIDDLES = sizeof middles / sizeof *middles };

static void stores_are_told(void **state)
{
    (void)state;
    for (unsigned n = 0; n < MIDDLES; n++) {
        struct trial trial = {.groups = GROUPS_OF_FOUR,
                              .waves = FOUR,
                              .arguments = {.from = FROM_AT,
                                            .to = TO_AT,
                                            .other = TO_AT + middles[n] * GROUP_OF_FOUR + 32}};
        text_try("told by waves", told_by_waves, &trial);
        trial.waves = 1;
        trial.arguments.other = TO_AT + middles[n] * GROUP_OF_ONE + 32;
        text_try("told by groups", told_by_groups, &trial);
        text_try("told by itself", told_by_itself, &trial);
    }
}

/* What a group stores for others the next one takes back: it has loaded that itself, those behind
 * it load what groups before did. Its first store is where the group's elements are, its second one
 * where those of the group before are. */
static const char told_and_taken_back[] = BEGIN TOLD PLACE_OF_ONE
    "global_load_dwordx4 v[4:7], v1, s[8:9]\nglobal_load_dwordx4 v[8:11], v1, s[12:13]\n"
    "s_sub_u32 s26, s10, 0x400\ns_subb_u32 s27, s11, 0\n"
    "s_add_u32 s28, s10, 0x140000\ns_addc_u32 s29, s11, 0\n"
    "s_waitcnt vmcnt(0)\nv_add_u32 v4, 7, v4\nv_add_u32 v12, s16, v4\nv_mov_b32 v13, v5\n"
    "v_mov_b32 v14, v6\nv_mov_b32 v15, v7\n"
    "global_store_dwordx4 v1, v[4:7], s[10:11]\n"
    "global_store_dwordx4 v1, v[8:11], s[26:27]\n"
    "global_store_dwordx4 v1, v[12:15], s[28:29]\n" END;

static void what_was_told_is_taken_back(void **state)
{
    enum { BEGIN_AT = 16, END_AT = 72 };
    (void)state;
    for (uint32_t group = BEGIN_AT; group < END_AT; group++) {
        const struct trial trial = {.groups = GROUPS_OF_FOUR,
                                    .waves = 1,
                                    .arguments = {.from = FROM_AT,
                                                  .to = TO_AT,
                                                  .table = FROM_AT - GROUP_OF_ONE,
                                                  .other = TO_AT + group * GROUP_OF_ONE}};
        text_try("told and taken back", told_and_taken_back, &trial);
    }
}

/* Memory that the device has twice, at two addresses: what is stored at one of them is loaded at
 * the other one. */
struct twice {
    uint8_t *host[2];
};

static struct twice twice_make(struct side *side)
{
    struct vm *vm = kernel_runner_engine(side->runner)->vm;
    struct twice twice;
    const int file = memfd_create("twice", 0);
    assert_true(file >= 0 && ftruncate(file, THIRD) == 0);
    for (unsigned n = 0; n < 2; n++) {
        twice.host[n] = mmap(NULL, THIRD, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        assert_true(twice.host[n] != MAP_FAILED);
        assert_int_equal(vm_map(vm, (uint64_t)(uintptr_t)twice.host[n], THIRD, twice.host[n],
                                VM_READ | VM_WRITE),
                         0);
    }
    close(file);
    return twice;
}

static void twice_run(struct side *side, struct trial trial, uint32_t at)
{
    uint8_t *buffer = kernel_runner_buffer(side->runner);
    struct twice twice = twice_make(side);
    trial.arguments.to = (uint64_t)(uintptr_t)twice.host[0] - (uint64_t)(uintptr_t)buffer;
    trial.arguments.other = (uint64_t)(uintptr_t)(twice.host[1] + at) - (uint64_t)(uintptr_t)buffer;
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        memset(twice.host[0], 0, THIRD);
        side_fill(side, &trial);
        side_run(side, &trial);
    }
    memcpy(buffer + TO_AT, twice.host[0], THIRD);
    for (unsigned n = 0; n < 2; n++) {
        vm_unmap(kernel_runner_engine(side->runner)->vm, (uint64_t)(uintptr_t)twice.host[n]);
        munmap(twice.host[n], THIRD);
    }
}

static void twice_try(const char *name, const char *text, uint32_t group)
{
    const struct trial trial = {
        .groups = GROUPS, .waves = 1, .arguments = {.from = FROM_AT, .words = {7}}};
    struct side sides[2];
    sides_begin(sides, text);
    for (unsigned n = 0; n < 2; n++)
        twice_run(&sides[n], trial, group * GROUP_OF_ONE + 32);
    for (unsigned n = 0; n < 2; n++) /* where things lie decides which blocks are sampled */
        sides[n].result.model_cycles = 0;
    sides_compare(sides, name, group);
    sides_end(sides);
}

static void stores_elsewhere_are_told(void **state)
{
    (void)state;
    for (unsigned n = 0; n < MIDDLES; n++) {
        twice_try("told by groups, elsewhere", told_by_groups, middles[n]);
        twice_try("told by itself, elsewhere", told_by_itself, middles[n]);
    }
}

/* ---- ends of mappings ---- */

static const char copies[] = BEGIN PLACE_OF_ONE MOVE END;

/* Memory of which the GPU sees the middle. */
enum { BESIDE = 1 << 20, AROUND = THIRD + 2 * BESIDE, FEW = 100 };

struct edge {
    uint32_t group, part; /* the first one that leaves the mapping, by so much; or all of it */
    bool loads, down;
};

static void edge_run(struct side *side, const struct edge *edge)
{
    uint8_t *buffer = kernel_runner_buffer(side->runner);
    struct vm *vm = kernel_runner_engine(side->runner)->vm;
    uint8_t *host = mmap(NULL, AROUND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(host != MAP_FAILED);
    uint8_t *seen = host + BESIDE;
    assert_int_equal(vm_map(vm, (uint64_t)(uintptr_t)seen, THIRD, seen, VM_READ | VM_WRITE), 0);
    const uint32_t groups = edge->down ? FEW - 1 - edge->group : edge->group;
    const int64_t from_begin =
        edge->down ? -(int64_t)groups * GROUP_OF_ONE - (int64_t)edge->part
                   : (int64_t)THIRD - (int64_t)groups * GROUP_OF_ONE - (int64_t)edge->part;
    const uint64_t at = (uint64_t)(uintptr_t)seen + (uint64_t)from_begin;
    const uint64_t self = (uint64_t)(uintptr_t)buffer;
    const struct trial trial = {.groups = FEW,
                                .waves = 1,
                                .arguments = {.from = edge->loads ? at - self : FROM_AT,
                                              .to = edge->loads ? TO_AT : at - self,
                                              .words = {7, 0, FEW - 1}}};
    side_fill(side, &trial);
    side_run(side, &trial);
    if (side->result.fault)
        side->result.fault_va -= (uint64_t)(uintptr_t)seen - self;
    memcpy(buffer + OTHER_AT, seen, THIRD - WAVE);
    vm_unmap(vm, (uint64_t)(uintptr_t)seen);
    munmap(host, AROUND);
}

static void edge_try(const struct edge *edge)
{
    struct side sides[2];
    sides_begin(sides, edge->down ? goes_down : copies);
    for (unsigned launch = 0; launch < 2; launch++) {
        for (unsigned n = 0; n < 2; n++)
            edge_run(&sides[n], edge);
        sides_compare(sides, "leaves its mapping", edge->group);
    }
    assert_int_not_equal(sides[0].result.fault, FAULT_NONE);
    sides_end(sides);
}

static void ends_are_found(void **state)
{
    enum { HALF = GROUP_OF_ONE / 2 };
    (void)state;
    for (uint32_t group = 2; group < FEW / 2; group++) {
        const struct edge edge = {
            .group = group, .part = group % 5 ? HALF : 0, .loads = group % 3 == 0, .down = false};
        edge_try(&edge);
        if (group % 7 == 0)
            edge_try(&(struct edge){group, 0, group & 1, true});
    }
}

/* ---- another dispatch ---- */

/* The next one has its arguments elsewhere, and the first one's are still there. */
static void arguments_may_move(void **state)
{
    enum { MOVED = 0x200, POINTER_AT = 0x40, LAUNCHES_MOVED = 6 };
    const struct trial trial = {
        .groups = GROUPS, .waves = 1, .arguments = {.from = FROM_AT, .to = TO_AT, .words = {7}}};
    struct side sides[2];
    (void)state;
    sides_begin(sides, copies);
    for (unsigned launch = 0; launch < LAUNCHES_MOVED; launch++) {
        for (unsigned n = 0; n < 2; n++) {
            uint8_t *buffer = kernel_runner_buffer(sides[n].runner);
            const uint64_t self = (uint64_t)(uintptr_t)buffer;
            const uint64_t pointers[] = {self, self + MOVED};
            const unsigned moved = launch & 1;
            side_fill(&sides[n], &trial);
            struct arguments *a = (struct arguments *)(void *)(buffer + ARGUMENTS_AT);
            struct arguments *b = (struct arguments *)(void *)(buffer + ARGUMENTS_AT + MOVED);
            *b = *a;
            b->to = self + OTHER_AT - THIRD / 2;
            memcpy(buffer + POINTER_AT, pointers, sizeof pointers);
            kernel_runner_set_arguments(sides[n].runner,
                                        self + POINTER_AT + moved * sizeof *pointers);
            side_run(&sides[n], &trial);
        }
        sides_compare(sides, "arguments that move", launch);
    }
    sides_end(sides);
}

/* The argument says which tests, by a pattern. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_grow_or_not),
                                       cmocka_unit_test(memory_is_the_same),
                                       cmocka_unit_test(stores_are_told),
                                       cmocka_unit_test(stores_elsewhere_are_told),
                                       cmocka_unit_test(ends_are_found),
                                       cmocka_unit_test(arguments_may_move),
                                       cmocka_unit_test(what_was_told_is_taken_back)};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
