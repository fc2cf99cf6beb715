"""A code object for gfx940, which clang 15 makes, as one for gfx942, which it does not know: the same
instructions under another machine number.   retarget.py INPUT OUTPUT"""
import pathlib
import struct
import sys

FLAGS_OFFSET, MACHINE_MASK, GFX940, GFX942 = 48, 0xff, 0x40, 0x4c

code = bytearray(pathlib.Path(sys.argv[1]).read_bytes())
flags = struct.unpack_from("<I", code, FLAGS_OFFSET)[0]
if flags & MACHINE_MASK != GFX940:
    sys.exit(f"{sys.argv[1]}: not for gfx940")
struct.pack_into("<I", code, FLAGS_OFFSET, flags & ~MACHINE_MASK | GFX942)
pathlib.Path(sys.argv[2]).write_bytes(code.replace(b"gfx940", b"gfx942"))
