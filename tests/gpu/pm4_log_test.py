"""What the profiler makes the GPU execute, read back by crocgpu pm4: counters are selected, started,
read and stopped, and no packet is unknown."""
import os
import subprocess
import sys
import tempfile

crocprof, crocgpu, program = sys.argv[1:4]

with tempfile.TemporaryDirectory() as folder:
    log = os.path.join(folder, "log")
    environment = dict(os.environ, CROCGPU_PM4_LOG=log)
    subprocess.run([crocprof, "-e", "SQ_WAVES,TCC_HIT", program], env=environment, check=True,
                   stdout=subprocess.DEVNULL, timeout=200)
    text = subprocess.run([crocgpu, "pm4", log], capture_output=True, check=True,
                          timeout=60).stdout.decode()

selects = [line for line in text.splitlines() if "SQ_PERFCOUNTER0_SELECT=0xf0ff004" in line]
for wanted in ("SQ_PERFCOUNTER0_SELECT=0xf0ff004 (event=4 ", "TCC_PERFCOUNTER0_SELECT=0x11",
               "CP_PERFMON_CNTL=0x1 (state=1)", "CP_PERFMON_CNTL=0x401 (state=1 sample=1)",
               "CP_PERFMON_CNTL=0x2 (state=2)", "COPY_DATA 64 perf:SQ_PERFCOUNTER0_LO -> ["):
    if wanted not in text:
        sys.exit(f"{wanted} was not executed:\n{text[:4000]}")
print(f"{len(text.splitlines())} packets, {len(selects)} dispatches counted")
