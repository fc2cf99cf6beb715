"""Everything that is tested, by name."""
from cases import HALVES_CHOSEN, crossed, halves, plain, subdword
from float8 import families8
from floating import ARITHMETIC, CONDITIONS, INTEGER_CONDITIONS, PACKED_F16, PACKED_F32, TO_INTEGER
from integers import CARRY, DOT2, INTEGER, PACKED, WIDE
from masks import carried, chosen_by_mask, compared, counted_below, fixed_up, fused_if_masked, widened
from operands import FORMATS, width_of
from packed import dot2, dot_of_halves, mixed, packed, packed_move, packed_single
from results import entry_of
from scalar_cases import scalar_families

ONE_ADDRESS = ["v_mov_b32", "v_not_b32", "v_bfrev_b32", "v_ffbh_u32", "v_ffbl_b32", "v_ffbh_i32", "v_sat_pk_u8_i16", "v_mov_b64",
               "v_cvt_f16_f32", "v_cvt_f32_f16", "v_cvt_f32_f64", "v_cvt_f64_f32", "v_cvt_f32_i32", "v_cvt_f32_u32",
               "v_cvt_f64_i32", "v_cvt_f64_u32", "v_cvt_f16_i16", "v_cvt_f16_u16", "v_cvt_off_f32_i4", "v_cvt_u32_f32",
               "v_cvt_i32_f32", "v_cvt_u32_f64", "v_cvt_i32_f64", "v_cvt_u16_f16", "v_cvt_i16_f16", "v_cvt_rpi_i32_f32",
               "v_cvt_flr_i32_f32", "v_cvt_norm_i16_f16", "v_cvt_norm_u16_f16", "v_frexp_exp_i32_f32",
               "v_frexp_exp_i32_f64", "v_frexp_exp_i16_f16"] + ["v_cvt_f32_ubyte%d" % n for n in range(4)] + [
                   "v_%s_%s" % (n, t) for n in ("trunc", "ceil", "floor", "rndne", "fract", "frexp_mant")
                   for t in ("f16", "f32", "f64")]
TWO_ADDRESS = ["v_%s_%s" % (n, t) for n in ("add", "sub", "subrev", "mul", "min", "max") for t in ("f16", "f32")] + [
    "v_mul_legacy_f32", "v_ldexp_f16", "v_mul_i32_i24", "v_mul_hi_i32_i24", "v_mul_u32_u24", "v_mul_hi_u32_u24", "v_min_i32",
    "v_max_i32", "v_min_u32", "v_max_u32", "v_lshrrev_b32", "v_lshlrev_b32", "v_ashrrev_i32", "v_and_b32", "v_or_b32",
    "v_xor_b32", "v_xnor_b32", "v_add_u32", "v_sub_u32", "v_subrev_u32", "v_add_u16", "v_sub_u16", "v_subrev_u16",
    "v_mul_lo_u16", "v_lshlrev_b16", "v_lshrrev_b16", "v_ashrrev_i16", "v_max_u16", "v_min_u16", "v_max_i16", "v_min_i16",
    "v_fmac_f32", "v_fmac_f64", "v_dot4c_i32_i8", "v_dot8c_i32_i4", "v_dot2c_i32_i16"]
DOTS = ["v_dot4_i32_i8", "v_dot8_i32_i4", "v_dot4_u32_u8", "v_dot8_u32_u4"]
THREE_ADDRESS = [n for table in (INTEGER, ARITHMETIC, TO_INTEGER) for n in table
                 if n not in ONE_ADDRESS and n not in TWO_ADDRESS and n not in DOTS]


def families():
    """(name of what is tested, function of a generator of random numbers) for everything."""
    out = []
    for names, forms in ((ONE_ADDRESS + TWO_ADDRESS, ("_e32", "_e64")), (THREE_ADDRESS + DOTS, ("",))):
        for n in names:
            for form in forms:
                out.append((n + form, lambda rng, n=n, form=form: plain(n, rng, form)))
    whole = [n for n in ONE_ADDRESS + TWO_ADDRESS if not any(k.startswith("acc") for k in entry_of(n)[1])]
    narrow = [n for n in whole if all(width_of(k) < 64 for k in entry_of(n)[1] + [entry_of(n)[0]])]
    out += [(n + "_sdwa", lambda rng, n=n: subdword(n, rng)) for n in narrow]
    out += [(n + "_dpp", lambda rng, n=n: crossed(n, rng)) for n in ONE_ADDRESS + TWO_ADDRESS
            if all(width_of(k) < 64 for k in entry_of(n)[1] + [entry_of(n)[0]]) and "acc64" not in entry_of(n)[1]]
    out += [(n + "_op_sel", lambda rng, n=n: halves(n, rng)) for n in sorted(HALVES_CHOSEN)]
    out += [(n, lambda rng, n=n: packed(n, rng)) for n in list(PACKED) + list(PACKED_F16)]
    out += [(n, lambda rng, n=n: dot2(n, rng)) for n in DOT2]
    out += [(n, lambda rng, n=n: dot_of_halves(n, rng)) for n in ("v_dot2_f32_f16", "v_dot2c_f32_f16")]
    out += [(n, lambda rng, n=n: mixed(n, rng)) for n in ("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16")]
    out += [(n, lambda rng, n=n: packed_single(n, rng)) for n in PACKED_F32]
    out += [("v_pk_mov_b32", lambda rng: packed_move("v_pk_mov_b32", rng))]
    out += [(n + f, lambda rng, n=n, f=f: carried(n, rng, f)) for n in CARRY for f in ("_e32", "_e64")]
    out += [(n + "_clamp", lambda rng, n=n: carried(n, rng, "_e64", True)) for n in CARRY]
    out += [(n, lambda rng, n=n: widened(n, rng)) for n in WIDE]
    for prefix in ("v_cmp", "v_cmpx"):
        names = ["%s_%s_%s" % (prefix, how, k) for k in FORMATS for how in CONDITIONS] + [
            "%s_%s_%s%d" % (prefix, how, s, w) for how in INTEGER_CONDITIONS for s in "iu" for w in (16, 32, 64)] + [
                "%s_class_%s" % (prefix, k) for k in FORMATS]
        out += [(n + f, lambda rng, n=n, f=f: compared(n, rng, f)) for n in names for f in ("_e32", "_e64")]
    out += [("v_cndmask_b32" + f, lambda rng, f=f: chosen_by_mask(rng, f)) for f in ("_e32", "_e64")]
    out += [(n, lambda rng, n=n: counted_below(n, rng)) for n in ("v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32")]
    out += families8()
    out += [("v_div_fixup_" + t, lambda rng, t=t: fixed_up("v_div_fixup_" + t, rng)) for t in FORMATS]
    out += [("v_div_fmas_" + t, lambda rng, t=t: fused_if_masked("v_div_fmas_" + t, rng)) for t in ("f32", "f64")]
    return out + scalar_families()
