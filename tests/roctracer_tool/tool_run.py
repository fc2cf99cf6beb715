"""Runs a program with libroctracer_tool.so on the software GPU and reads what the plugins wrote."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "perfetto"))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from checks import Checks  # noqa: E402,F401 (tests import it from here)
from decode import Trace  # noqa: E402

LINES = {
    "hip_api": r"(?P<begin>\d+):(?P<end>\d+) (?P<pid>\d+):(?P<tid>\d+) (?P<name>\w+)\((?P<args>.*?)\)"
               r"(?: kernel=(?P<kernel>.*))? :(?P<id>\d+)",
    "hsa_api": r"(?P<begin>\d+):(?P<end>\d+) (?P<pid>\d+):(?P<tid>\d+) (?P<name>\w+)\((?P<args>.*)\)"
               r" = (?P<result>-?\w+|\{handle=\d+\}) :(?P<id>\d+)",
    "hcc_ops": r"(?P<begin>\d+):(?P<end>\d+) (?P<device>-?\d+):(?P<queue>\d+) (?P<name>.*)"
               r":(?P<id>\d+):(?P<pid>\d+)",
    "async_copy": r"(?P<begin>\d+):(?P<end>\d+) async-copy:(?P<id>\d+):(?P<pid>\d+)",
    "roctx": r"(?P<begin>\d+) (?P<pid>\d+):(?P<tid>\d+) (?P<op>\d+):(?P<id>\d+):\"(?P<message>.*)\"",
}
LINES["kfd_api"] = LINES["hsa_api"]


class Setup:
    """CROCGPU LIBRARIES PROGRAMS HERE PROTO FULL_DISK: from the command line."""

    def __init__(self, argv):
        (self.crocgpu, self.libraries, self.programs, self.here, self.proto,
         self.full_disk) = argv[1:7]
        self.tool = os.path.join(self.libraries, "libroctracer_tool.so")
        self.sequence = [os.path.join(self.here, "sequence"), os.path.join(self.here, "module.co")]

    def program(self, name):
        return os.path.join(self.programs, name)


class Run:
    """`with Run(setup, command, ROCTRACER_DOMAIN="hip") as r:` r.status, r.output, r.rows("hip_api")."""

    def __init__(self, setup, command, preload=False, folder=True, timeout=100, **environment):
        self.setup = setup
        self.directory = tempfile.mkdtemp()
        env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP_", "ROCTRACER_"))}
        env["LD_PRELOAD" if preload else "HSA_TOOLS_LIB"] = setup.tool
        if folder:
            env["ROCP_OUTPUT_DIR"] = self.directory
        env.update(environment)
        if env.get("HSA_TOOLS_LIB") == "":
            del env["HSA_TOOLS_LIB"]
        result = subprocess.run([setup.crocgpu, *command], capture_output=True, text=True, env=env,
                                timeout=timeout, cwd=self.directory)
        self.status, self.output, self.errors = result.returncode, result.stdout, result.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def files(self):
        """Names without the process id in front."""
        return sorted({re.sub(r"^\d+_", "", os.path.basename(p))
                       for p in glob.glob(os.path.join(self.directory, "*"))})

    def text(self, name):
        return "".join(open(p, encoding="utf-8").read()
                       for p in sorted(glob.glob(os.path.join(self.directory, "*_" + name))))

    def rows(self, kind, text=None):
        """The lines of all <pid>_<kind>_trace.txt; a line that is not in the format is an error."""
        rows = []
        for line in (text if text is not None else self.text(kind + "_trace.txt")).splitlines():
            match = re.fullmatch(LINES[kind], line)
            assert match, "not a line of %s: %r" % (kind, line)
            row = match.groupdict()
            row.update({k: int(row[k]) for k in ("begin", "end", "pid", "tid", "id", "op", "device",
                                                 "queue") if row.get(k) is not None})
            rows.append(row)
        return sorted(rows, key=lambda r: (r["begin"], -r.get("end", 0)))

    def trace(self):
        paths = glob.glob(os.path.join(self.directory, "*_trace.pftrace"))
        assert len(paths) == 1, paths
        return Trace(paths[0], self.setup.proto)


def said(output, kind):
    """The words behind `kind` in what sequence.cpp printed."""
    return [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(kind + " ")]


def by_thread(pairs):
    threads = {}
    for thread, what in pairs:
        threads.setdefault(int(thread), []).append(what)
    return threads
