"""JSON has rocprofiler-sdk-tool's members: each object those of json_members.txt, and no others.

    json_members_test.py CROCPROF PROGRAMS MEMBERS
"""
import contextlib
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys

from crocprof_run import Checks, Profile


def members_read(path):
    """For each place: members that have to be there, and those that may."""
    wanted = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                place, names = line.split(":", 1)
                names = names.split()
                wanted[place.strip()] = ({n.lstrip("+") for n in names if n[0] != "?"}, {n.lstrip("+?") for n in names})
    return wanted


def objects(value, place=""):
    """Every object with its place, "agents[].id"."""
    if isinstance(value, dict):
        yield place, value
        for name, member in value.items():
            yield from objects(member, (place + "." if place else "") + name)
    elif isinstance(value, list):
        for element in value:
            yield from objects(element, place + "[]")


def check(checks, results, wanted):
    """The places that there are; of each only the first object that is wrong is told."""
    places = set()
    for place, found in objects(results):
        needed, may_be = wanted.get(place, (set(), set(found)))
        if place not in places or checks.failures == []:
            checks.equal(place + ": missing", sorted(needed - set(found)), [])
            checks.equal(place + ": unknown", sorted(set(found) - may_be), [])
        places.add(place)
    return places


def check_dimensions(checks, crocprof, programs):
    """An MI210 has eight shader engines and 32 L2 channels. ROCprofiler-SDK's instance ids have the counter in their upper 16
    bits and six bits for the position in each dimension, by its id."""
    shapes = {"SQ_WAVES": ("DIMENSION_SHADER_ENGINE", 3, 8), "TCC_HIT": ("DIMENSION_INSTANCE", 7, 32),
              "TCC_HIT_sum": ("DIMENSION_INSTANCE", 7, 1)}
    with Profile(crocprof, ["--pmc", ",".join(shapes), "-f", "json", "rocpd", "-o", "x"],
                 [os.path.join(programs, "geometry"), "4x64"]) as p:
        tool, = json_of(p.directory)
        again = os.path.join(p.directory, "again")
        subprocess.run([crocprof, "convert", "-f", "json", "-d", again, *glob.glob(p.directory + "/*.db")], check=True,
                       capture_output=True, timeout=120)
        converted, = json_of(again)
        spread = {}
        for counter in tool["counters"]:
            name, dimension, size = shapes[counter["name"]]
            known = [d for d in counter["dimensions"] if d["name"] == name]
            checks.equal(counter["name"] + ": dimension", [(d["id"], d["instance_size"]) for d in known], [(dimension, size)])
            others = [d for d in counter["dimensions"] if d["name"] != name]
            checks.equal(counter["name"] + ": others", [d for d in others if d["instance_size"] != 1], [])
            wanted = [(counter["id"]["handle"] % 65536 << 48 | i << 6 * (dimension - 1), i) for i in range(size)]
            found = [(i["instance_id"], next(d["index"] for d in i["dimensions"] if d["dimension_name"] == name))
                     for i in counter["instances"]]
            checks.equal(counter["name"] + ": instances", found, wanted)
            checks.equal(counter["name"] + ": counter of each", {i["counter_id"] for i in counter["instances"]},
                         {counter["id"]["handle"]})
            spread.update({(d["id"], d["instance_size"]): d for d in counter["dimensions"]})
        checks.equal("all counters", {c["name"] for c in tool["counters"]}, set(shapes))
        checks.equal("dimensions of all", tool["strings"]["counters"]["dimension_ids"], [spread[key] for key in sorted(spread)])
        without = [[{name: c[name] for name in c if name != "agent_id"} for c in of["counters"]] for of in (converted, tool)]
        checks.equal("converted, counters", without[0], without[1])  # handles of agents are the process's own
        check_nonsense(checks, crocprof, p.directory)
        checks.equal("converted, dimensions", converted["strings"]["counters"], tool["strings"]["counters"])


def check_nonsense(checks, crocprof, directory):
    """What a file claims is not believed beyond reason."""
    for claim in ('{"dimensions":[{"id":1,"instance_size":4294967295,"step":-1},{"id":2,"instance_size":4294967295}]}',
                  '{"dimensions":[{"instance_size":0}]}', '{"dimensions":[1,"x",null]}', '{"dimensions":7}', "not JSON"):
        broken, again = os.path.join(directory, "broken.db"), os.path.join(directory, "broken")
        shutil.copy(glob.glob(directory + "/*_results.db")[0], broken)
        with contextlib.closing(sqlite3.connect(broken)) as base:
            table, = base.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_pmc_%' AND type = 'table'").fetchone()
            base.execute('UPDATE "%s" SET extdata = ?' % table, (claim,))
            base.commit()
        done = subprocess.run([crocprof, "convert", "-f", "json", "-d", again, broken], capture_output=True, timeout=120)
        found = json_of(again)[0]["counters"] if done.returncode == 0 else [{"instances": done.stderr}]
        checks.equal(claim + ": instances", [c["instances"] for c in found], [[]] * 3)
        shutil.rmtree(again, ignore_errors=True)
        os.remove(broken)


def json_of(directory):
    with open(glob.glob(directory + "/**/*_results.json", recursive=True)[0], encoding="utf-8") as file:
        return json.load(file)["rocprofiler-sdk-tool"]


def main():
    crocprof, programs, members = sys.argv[1:4]
    checks = Checks()
    wanted, places = members_read(members), set()
    runs = ((["--sys-trace", "--pmc", "SQ_WAVES", "--kernel-rename"], ["markers"]),
            (["--sys-trace"], ["private_memory"]))
    rocprofv3 = os.path.join(os.path.dirname(crocprof), "rocprofv3")
    for options, (program, *words) in runs:
        with Profile(rocprofv3, [*options, "-f", "json", "-o", "x"], [os.path.join(programs, program), *words]) as p:
            tool = json_of(p.directory)
            checks.equal("one process", len(tool), 1)
            places |= check(checks, tool[0], wanted)
    check_dimensions(checks, crocprof, programs)
    # Only runtimes of ROCm 6 and later tell of scratch memory.
    checks.equal("places that no run had", sorted(set(wanted) - places - {"buffer_records.scratch_memory[]"}), [])
    checks.exit()


if __name__ == "__main__":
    main()
