#!/bin/sh
# smi_test.sh CROCGPU: Debian's unmodified rocm-smi over the software GPU's sysfs, two GPUs of different
# kinds. What it prints is compared with what the products are.
set -eu
crocgpu=$1
command -v rocm-smi >/dev/null || { echo "no rocm-smi in this machine"; exit 77; }
export CROCGPU_DEVICES=gfx90a,gfx908
fail() {
    echo "$1:" >&2
    cat "$2" >&2
    exit 1
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# 2 says that something is not supported: power and its cap, which nobody models.
"$crocgpu" rocm-smi >"$out/table" 2>/dev/null || [ $? -eq 2 ] || fail "rocm-smi failed" "$out/table"
# Columns: number, temperature, power, clocks, fan, level, cap, memory, busy.
grep -Eq '^0 +N/A +N/A +1700Mhz +1600Mhz +.* auto +.* 0% +0%' "$out/table" ||
    fail "no row of an MI210" "$out/table"
grep -Eq '^1 +N/A +N/A +1502Mhz +1200Mhz +.* auto +.* 0% +0%' "$out/table" ||
    fail "no row of an MI100" "$out/table"
"$crocgpu" rocm-smi --showid --showbus --showproductname --showmeminfo vram --json >"$out/json" 2>"$out/errors" ||
    fail "rocm-smi --json ended with $?" "$out/errors"
python3 - "$out/json" <<'CHECK' || fail "wrong values" "$out/json"
import json, sys
text = open(sys.argv[1]).read()
cards = json.loads(text[text.index("{"):])
wanted = {"card0": ("0x740f", "0000:03:00.0", 64 << 30), "card1": ("0x738c", "0000:04:00.0", 32 << 30)}
for name, (device, bus, size) in wanted.items():
    card = cards[name]
    assert card["GPU ID"] == device, card
    assert card["PCI Bus"].lower() == bus, card
    assert int(card["VRAM Total Memory (B)"]) == size, card
    assert int(card["VRAM Total Used Memory (B)"]) == 0, card
CHECK
echo "rocm-smi: ok"
