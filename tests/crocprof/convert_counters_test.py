"""rocprofv3's files of counters in ROC Profiler v1's form: waves of each launch follow from its geometry.

    convert_counters_test.py CROCPROF PROGRAMS SCRIPTS
"""
import csv
import os
import subprocess
import sys
import tempfile

from crocprof_run import Checks

COLUMNS = ["Dispatch_Id", "Agent_Id", "Grid_Size", "Kernel_Name", "LDS_Block_Size", "Queue_Id", "SGPR_Count", "Scratch_Size",
           "VGPR_Count", "Workgroup_Size"]


def convert(script, folder, *words):
    done = subprocess.run([sys.executable, script, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def rows_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    crocprof, programs, scripts = sys.argv[1:4]
    script = os.path.join(os.path.abspath(scripts), "convert-counters-collection-format.py")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "in.txt"), "w", encoding="utf-8") as file:
            file.write("pmc: SQ_WAVES SQ_INSTS_VALU\npmc: SQ_WAVES GRBM_GUI_ACTIVE\n")
        subprocess.run([os.path.join(os.path.dirname(os.path.abspath(crocprof)), "rocprofv3"), "-i", "in.txt", "-T", "-d", "out", "-o",
                        "x", "--output-format", "csv", "--", os.path.join(os.path.abspath(programs), "geometry"), "4x64", "3x65", *10 *
                        ["2x128"]], cwd=folder, capture_output=True, timeout=120, check=True)
        for words, agent in (([], "1"), (["--retain-agent-prefix"], "Agent 1"), (["--retain-agent-prefix", "no"], "1")):
            checks.equal("status", convert(script, folder, "--input", "out", "--output", "to/all.csv", *words), (0, ""))
            rows = rows_of(folder, "to/all.csv")
            checks.equal("columns", list(rows[0]), COLUMNS + ["GRBM_GUI_ACTIVE", "SQ_INSTS_VALU", "SQ_WAVES"])
            touched = [row for row in rows if row["Kernel_Name"] == "touch"]
            checks.equal("waves, in the order of launches", [float(row["SQ_WAVES"]) for row in touched], [4, 6] + 10 * [4])
            checks.equal("sizes", [(row["Grid_Size"], row["Workgroup_Size"]) for row in touched[:2]], [("256", "64"), ("195", "65")])
            checks.true("counters of both runs", all(float(row[name]) > 0 for row in touched for name in ("GRBM_GUI_ACTIVE",
                                                                                                         "SQ_INSTS_VALU")))
            checks.equal("agents", {row["Agent_Id"] for row in rows}, {agent})
        checks.equal("a file", convert(script, folder, "-i", "out/pmc_1/x_counter_collection.csv", "-o", "one.csv"), (0, ""))
        checks.equal("its counters", list(rows_of(folder, "one.csv")[0])[len(COLUMNS):], ["SQ_INSTS_VALU", "SQ_WAVES"])
        for words, says in ((["-i", "none", "-o", "x"], "no file of counters"), (["-i", "in.txt", "-o", "x"], "no column"),
                            (["-i", "out", "-o", "/proc/none/x"], "/proc/none")):
            status, said = convert(script, folder, *words)
            checks.true("%r: %s" % (words, said), status == 1 and says in said and said.count("\n") == 1)
    checks.exit()


if __name__ == "__main__":
    main()
