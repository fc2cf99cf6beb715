"""crocgpu pm4: text and binary, files and standard input, and input that is none of it."""
import os
import random
import struct
import subprocess
import sys
import tempfile

crocgpu = sys.argv[1]
DWORDS = [0xc0004600, 0x407, 0xc0017900, 0x200, 0xe0000000,
          0xc0017900, 0x19c0, 0x0f0ff004]
LINES = ["     0: EVENT_WRITE event=CS_PARTIAL_FLUSH index=4",
         "     2: SET_UCONFIG_REG GRBM_GFX_INDEX=0xe0000000 (sh_all=1 instance_all=1 se_all=1)",
         "     5: SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0xf0ff004 (event=4 sqc_bank_mask=15 "
         "sqc_client_mask=15 simd_mask=15)"]


def run(data, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump")
        with open(path, "wb") as file:
            file.write(data)
        result = subprocess.run([crocgpu, "pm4", *(path if a == "FILE" else a for a in arguments)],
                                input=data, capture_output=True, timeout=60)
        return result.returncode, result.stdout.decode().splitlines(), result.stderr.decode()


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r}, not {expected!r}")


binary = struct.pack(f"<{len(DWORDS)}I", *DWORDS)
plain = " ".join(f"{d:08x}" for d in DWORDS).encode()
commented = b"# a dump\n" + b"".join(b"0x%04x: 0x%X,\n" % (4 * i, d) for i, d in enumerate(DWORDS))
for data in (binary, plain, commented):
    expect("file", run(data, "FILE"), (0, LINES, ""))
    expect("stdin", run(data, "-"), (0, LINES, ""))
expect("empty", run(b"", "FILE"), (0, [], ""))

code, lines, _ = run(b"c0017900 200 2010c", "--gfx", "gfx1100", "FILE")
expect("gfx11", (code, lines),
       (0, ["     0: SET_UCONFIG_REG GRBM_GFX_INDEX=0x2010c (instance=12 sa=1 se=2)"]))

code, lines, errors = run(b"00000000 0 0 c0004600 407 zebra 123456789", "FILE")
expect("rubbish", (code, lines),
       (1, ["     0: 00000000 not a packet (3 times)", "     3: EVENT_WRITE "
            "event=CS_PARTIAL_FLUSH index=4"]))
assert '"zebra" is not a dword' in errors and '"123456789"' in errors, errors
code, lines, errors = run(binary + b"\xff\xfe", "FILE")
expect("odd", (code, lines), (1, LINES))
assert "2 bytes after the last dword" in errors, errors
expect("truncated", run(binary[:-4], "FILE")[0:2],
       (1, LINES[:2] + ["     5: c0017900 not a packet", "     6: 000019c0 not a packet"]))

for arguments in ([], ["--gfx"], ["--gfx", "gfx7", "FILE"], ["--what", "FILE"]):
    code, lines, errors = run(binary, *arguments)
    expect(arguments, (code, lines), (2, []))
    assert "usage: crocgpu pm4" in errors, errors
code, lines, errors = run(binary, "/nonexistent", "FILE")
expect("one file of two", (code, lines), (1, LINES))
assert "/nonexistent: No such file" in errors, errors
assert run(b"", "--help")[0] == 0
with open("/dev/full", "wb") as full:
    result = subprocess.run([crocgpu, "pm4", "-"], input=binary, stdout=full, stderr=subprocess.PIPE,
                            timeout=60)
assert result.returncode == 1 and b"No space left" in result.stderr, result
assert b"usage" not in result.stderr, result.stderr

source = random.Random(5)
for size in (1, 3, 64, 5000):
    code, lines, _ = run(bytes(source.randrange(256) for _ in range(size)), "FILE")
    assert code in (0, 1), (size, code)
