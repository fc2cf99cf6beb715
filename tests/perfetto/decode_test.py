"""decode_test.py SAMPLE TRACE_PROTO: what sample.c wrote is what a reader of the format sees."""
import os
import shutil
import subprocess
import sys
import tempfile

from decode import Trace


def main():
    sample, proto = sys.argv[1:3]
    if not shutil.which("protoc"):
        print("protoc is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample.pftrace")
        subprocess.run([sample, path], check=True)
        trace = Trace(path, proto)
    tracks = {uuid: (t["name"], t["pid"], t["tid"], t["parent"])
              for uuid, t in trace.tracks.items()}
    assert tracks == {1: ("program", 10, None, None), 2: ("worker", 10, 11, 1),
                      3: ("queue", None, None, 1), 4: ("queue", None, None, 1),
                      5: ("power", None, None, 1)}, tracks
    assert trace.tracks[5]["unit"] == "W" and trace.values == [("power", 10, 0.25), ("power", 20, -3.0)], trace.values
    slices = {s["name"]: (s["track"], s["category"], s["begin"], s["end"], s["depth"], s["parent"])
              for s in trace.slices}
    assert slices == {"outer": (2, "api", 1000, 2000, 0, None),
                      "inner": (2, "api", 1200, 1300, 1, "outer"),
                      "a": (3, "gpu", 3000, 4000, 0, None),
                      "b": (4, "gpu", 3500, 4500, 0, None),
                      "c": (3, "gpu", 4000, 5000, 0, None)}, slices
    assert [(i["name"], i["begin"], i["parent"]) for i in trace.instants] == \
        [("moment", 1500, "outer")]
    assert not trace.unfinished
    assert trace.flows == {77: ["inner", "a"]}, trace.flows
    notes = {s["name"]: s["notes"] for s in trace.slices}
    assert notes["inner"] == {"size_bytes": 4096, "arguments": 'say "x"\n\u00e9'}, notes
    return 0


if __name__ == "__main__":
    sys.exit(main())
