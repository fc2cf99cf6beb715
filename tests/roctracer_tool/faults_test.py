"""faults_test.py CROCGPU LIBRARIES PROGRAMS HERE TRACE_PROTO FULL_DISK: what cannot work harms no program, and
is said; and however a program ends, its trace is complete."""
import glob
import os
import re
import signal
import subprocess
import sys

from tool_run import Checks, Run, Setup, said

LAUNCHES, COPIES, STATUS = 37, 5, 23
WAYS = {"return": STATUS, "exit": STATUS, "_exit": STATUS, "quick_exit": STATUS, "thread": STATUS,
        "thread_exit": STATUS, "abort": -signal.SIGABRT, "term": -signal.SIGTERM}


def test_endings(checks, setup):
    for preload in (True, False):
        for way, status in WAYS.items():
            if way == "_exit" and not preload:
                continue # seen only by a tool that was there before the C library
            what = "%s, %s" % (way, "preloaded" if preload else "loaded by HSA")
            command = [setup.program("endings"), str(LAUNCHES), str(COPIES), way]
            with Run(setup, command, preload, ROCTRACER_DOMAIN="hip") as run:
                names = [r["name"] for r in run.rows("hip_api")]
                checks.equal(what + ": status", run.status, status)
                checks.equal(what + ": launches", names.count("hipLaunchKernel"), LAUNCHES)
                checks.equal(what + ": copies", names.count("hipMemcpy"), COPIES)
                checks.equal(what + ": device copies",
                             sum(r["name"].startswith("Copy") for r in run.rows("hcc_ops")), COPIES)


def refused(checks, setup, what, message, **environment):
    """The program runs as if there were no tool, and one line tells why nothing is traced."""
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="sys:roctx", **environment) as run:
        checks.equal(what + ": status", run.status, 0)
        checks.true(what + ": the program has run to its end", "nearly done" in run.output)
        checks.true("%s: %r says %r" % (what, run.errors, message), message in run.errors)
        checks.equal(what + ": one line", len(run.errors.splitlines()), 1)


def test_refusals(checks, setup):
    sick = os.path.join(setup.here, "libsick_plugin.so")
    refused(checks, setup, "no such plugin", "libmissing.so", ROCTRACER_PLUGIN_LIB="libmissing.so")
    refused(checks, setup, "no such path", "/nonexistent/x.so",
            ROCTRACER_PLUGIN_LIB="/nonexistent/x.so")
    refused(checks, setup, "no library", "nothing is traced", ROCTRACER_PLUGIN_LIB=__file__)
    refused(checks, setup, "plugin refuses", "refuses", ROCTRACER_PLUGIN_LIB=sick,
            SICK_PLUGIN="refuse")
    refused(checks, setup, "plugin lacks a function", "roctracer_plugin_finalize",
            ROCTRACER_PLUGIN_LIB=os.path.join(setup.here, "libcut_plugin.so"))
    for name in ("libfile_plugin.so", "libperfetto_plugin.so"):
        with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=name,
                 ROCP_OUTPUT_DIR="/nonexistent/folder") as run:
            checks.equal(name + ", no folder: status", run.status, 0)
            checks.true(name + ", no folder: said", "/nonexistent/folder" in run.errors and
                        "nothing is traced" in run.errors)


def count_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    match = re.fullmatch(r"version (\d+\.\d+) callbacks (\d+) records (\d+) finalised (\d+) "
                         r"overlapping (\d+)\n", text)
    assert match, text
    return (match[1],) + tuple(int(n) for n in match.groups()[1:])


def sick(setup, how, domain="hip", **environment):
    return Run(setup, setup.sequence, True, ROCTRACER_DOMAIN=domain, SICK_PLUGIN=how,
               SICK_OUTPUT="counts", ROCTRACER_LIB_PATH="/nonexistent:" + setup.here,
               ROCTRACER_PLUGIN_LIB="libsick_plugin.so", **environment)


def test_sick_plugins(checks, setup):
    with sick(setup, "count", "hip:roctx") as run:
        calls, markers = said(run.output, "call"), said(run.output, "marker")
        work = said(run.output, "kernel") + said(run.output, "copy")
        checks.equal("plugin of others: all of it, one call at a time, finalised once",
                     count_of(os.path.join(run.directory, "counts")),
                     ("4.1", len(calls) + len(markers), len(work), 1, 0))
    for how in ("slow", "hsa", "fail"):
        with sick(setup, how, ROCP_FLUSH_RATE="1000") as run:
            checks.equal(how + " plugin: status", run.status, 0)
            _, callbacks, records, finalised, overlapping = \
                count_of(os.path.join(run.directory, "counts"))
            checks.equal(how + " plugin: nothing is lost, nothing of its own is traced",
                         (callbacks, records),
                         (len(said(run.output, "call")),
                          len(said(run.output, "kernel") + said(run.output, "copy"))))
            checks.equal(how + " plugin: finalised", (finalised, overlapping), (1, 0))
            checks.equal(how + " plugin: failures are said", "could not write" in run.errors,
                         how == "fail")
    # Written at the program's end: the plugin calls exit() while exit() is under way. (Earlier, on
    # the tool's thread, HIP itself does not survive an exit() while other threads use it.)
    with sick(setup, "exit") as run:
        checks.equal("plugin that ends the program: status", run.status, 77)


def test_full_disk(checks, setup):
    processes = setup.program("processes")
    for plugin in ("libfile_plugin.so", "libperfetto_plugin.so"):
        for command, status in ((setup.sequence, 0), ([processes, "fork", "10", "10", "_exit"], 0),
                                ([processes, "exec", "execv", "6", "/bin/true"], 0)):
            with Run(setup, ["true"]) as base:
                preload = setup.full_disk + ":" + setup.tool
                with Run(setup, command, True, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                         LD_PRELOAD=preload, FULL_DISK=base.directory,
                         ROCP_OUTPUT_DIR=base.directory) as run:
                    what = "%s, full disk, %s" % (plugin, command[1])
                    checks.equal(what + ": status", run.status, status)
                    checks.true(what + ": said: " + run.errors, "No space left" in run.errors)
    for plugin in ("libfile_plugin.so", "libperfetto_plugin.so"):
        with Run(setup, ["true"]) as base:
            os.chmod(base.directory, 0o500)
            readonly = os.path.join("/proc", "self")  # not even root may make files here
            with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                     ROCP_OUTPUT_DIR=readonly) as run:
                checks.equal(plugin + ", unwritable: status", run.status, 0)
                checks.true(plugin + ", unwritable: said", "nothing is traced" in run.errors)


def test_odd_folders(checks, setup):
    """Folders whose names are too long or formats, and a file."""
    for plugin in ("libfile_plugin.so", "libperfetto_plugin.so"):
        for what, folder in (("too long", "/" + 600 * "long/name/"), ("a file", __file__)):
            with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                     ROCP_OUTPUT_DIR=folder) as run:
                checks.equal("%s, %s: status" % (plugin, what), run.status, 0)
                checks.true("%s, %s: %r says that nothing is traced" % (plugin, what, run.errors),
                            "nothing is traced" in run.errors)
        with Run(setup, ["true"]) as base:
            folder = os.path.join(base.directory, "100%s%n%d of %pid% \u00e4\n")
            os.mkdir(folder)
            with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                     ROCP_OUTPUT_DIR=folder) as run:
                checks.equal("%s, %r: status" % (plugin, folder), (run.status, run.errors), (0, ""))
                checks.true("%s, %r: files" % (plugin, folder), len(os.listdir(folder)) > 0)


def test_programs_of_their_own(checks, setup):
    """Programs that use ROCtracer themselves, also its default pool: both see everything."""
    conformance = os.path.join(setup.programs, "..", "conformance", "conformance_roctracer_")
    for program, preload in (("pools", False), ("pools", True), ("default_pool", False),
                             ("api", True), ("torture", False)):
        what = "%s beside the tool, %s" % (program, "preloaded" if preload else "by HSA")
        with Run(setup, [conformance + program], preload, ROCTRACER_DOMAIN="sys:roctx") as run:
            checks.equal(what + ": status", run.status, 0)
            checks.true(what + ": passed", "FAILED" not in run.output + run.errors)
            checks.true(what + ": traced", program == "torture" or len(run.rows("hsa_api")) > 0)


def test_no_settings(checks, setup):
    for environment in ({}, {"ROCTRACER_DOMAIN": "nonsense"}, {"ROCTRACER_DOMAIN": ""}):
        with Run(setup, setup.sequence, **environment) as run:
            checks.equal("%r traces nothing" % environment, (run.status, run.files()), (0, []))


def test_children(checks, setup):
    """A shell that is traced, and what it starts: each has its own files."""
    program = setup.program("geometry")
    command = ["sh", "-c", '"$0"; "$0"; true', setup.program("streams")]
    with Run(setup, command, True, ROCTRACER_DOMAIN="hip") as run:
        rows = run.rows("hip_api")
        checks.equal("children: status", run.status, 0)
        checks.equal("children: two processes", len({r["pid"] for r in rows}), 2)
        counts = {p: [r["name"] for r in rows if r["pid"] == p] for p in {r["pid"] for r in rows}}
        checks.true("children: the same calls", len({tuple(c) for c in counts.values()}) == 1)
    del program
    with Run(setup, [setup.program("fork_child")], ROCTRACER_DOMAIN="hip") as run:
        checks.equal("fork: status", run.status, 0)
        checks.true("fork: ok", "fork_child: ok" in run.output)


def calls_of(run, function):
    """{"PID" or "PID-2" of the file: how many}; every line is of the file's process."""
    counts = {}
    for path in glob.glob(os.path.join(run.directory, "*_hip_api_trace.txt")):
        name = os.path.basename(path)[:-len("_hip_api_trace.txt")]
        with open(path, encoding="utf-8") as f:
            rows = run.rows("hip_api", f.read())
        assert {str(r["pid"]) for r in rows} <= {name.split("-")[0]}, path
        counts[name] = sum(r["name"] == function for r in rows)
    return counts


def test_forked_children(checks, setup):
    calls = 5000
    for way, status in (("exit", STATUS), ("_exit", STATUS), ("abort", -signal.SIGABRT),
                        ("term", -signal.SIGTERM), ("exec", 0)):
        command = [setup.program("processes"), "fork", str(calls), str(calls), way]
        with Run(setup, command, True, ROCTRACER_DOMAIN="hip") as run:
            parent, child = re.search(r"parent (\d+) child (\d+)", run.output).groups()
            checks.true("forked child, %s: status: %s" % (way, run.output),
                        "status %d\n" % status in run.output)
            checks.equal("forked child, %s: calls" % way, calls_of(run, "hipPeekAtLastError"),
                         {parent: calls, child: calls})
    with Run(setup, [setup.program("processes"), "fork", "10", "0", "exit"], True,
             ROCTRACER_DOMAIN="hip") as run:
        checks.equal("idle child: files", len(calls_of(run, "hipPeekAtLastError")), 1)
    with Run(setup, [setup.program("processes"), "before", "2", "4"], True, ROCTRACER_DOMAIN="hip",
             ROCTRACER_PLUGIN_LIB="libperfetto_plugin.so") as run:
        checks.equal("children with GPUs: status", run.status, 0)
        checks.equal("children with GPUs: traces", run.files(), ["trace.pftrace"])
        checks.equal("children with GPUs: one each", len(os.listdir(run.directory)), 3)


def test_exec(checks, setup):
    """The second image's files stand beside the first one's; an exec that fails loses nothing."""
    processes, endings = setup.program("processes"), setup.program("endings")
    with Run(setup, [processes, "exec", "execv", "6", endings, "37", "5", "return"], True,
             ROCTRACER_DOMAIN="hip") as run:
        counts = calls_of(run, "hipLaunchKernel")
        checks.equal("exec: status", run.status, STATUS)
        checks.equal("exec: launches", [counts[n] for n in sorted(counts, key=len)], [6, 37])
    with Run(setup, ["true"]) as base:
        garbage = os.path.join(base.directory, "garbage")
        with open(garbage, "w", encoding="utf-8") as f:
            f.write("garbage")
        os.chmod(garbage, 0o755)
        with Run(setup, [processes, "exec_fails", "execve", "6", garbage], True,
                 ROCTRACER_DOMAIN="hip") as run:
            checks.equal("exec that fails: status", run.status, STATUS)
            checks.equal("exec that fails: launches",
                         sum(calls_of(run, "hipLaunchKernel").values()), 12)


def test_taken_names(checks, setup):
    """Files and links of a process that had the same number."""
    for plugin, name in (("libfile_plugin.so", "begin_ts_file.txt"),
                         ("libperfetto_plugin.so", "trace.pftrace")):
        with Run(setup, ["true"]) as base:
            shell = ('echo old > "$0/$$_hip_api_trace.txt"; ln -s "$0/target" "$0/$$-2_%s";'
                     'exec "$@"' % name)
            command = ["sh", "-c", shell, base.directory, *setup.sequence]
            with Run(setup, command, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                     ROCP_OUTPUT_DIR=base.directory) as run:
                files = os.listdir(base.directory)
                checks.equal(plugin + ", taken names: status", (run.status, run.errors), (0, ""))
                checks.true("%s, taken names: %r" % (plugin, files), "target" not in files and
                            any(f.endswith("-3_" + name) for f in files))
                old = [f for f in files if re.fullmatch(r"\d+_hip_api_trace.txt", f)]
                with open(os.path.join(base.directory, old[0]), encoding="utf-8") as f:
                    checks.equal(plugin + ", taken names: the old file", f.read(), "old\n")


def test_unload(checks, setup):
    """The tool is opened and closed by a program, with and without HSA in it."""
    result = subprocess.run([os.path.join(setup.here, "roctracer_reload"), setup.tool],
                            capture_output=True, text=True, timeout=60,
                            env=dict(os.environ, ROCTRACER_DOMAIN="sys:roctx"))
    checks.equal("opened and closed", (result.returncode, result.stderr), (0, ""))


def main():
    setup, checks = Setup(sys.argv), Checks()
    for test in (test_refusals, test_sick_plugins, test_full_disk, test_odd_folders,
                 test_programs_of_their_own, test_no_settings, test_children, test_forked_children,
                 test_exec, test_taken_names,
                 test_unload, test_endings):
        test(checks, setup)
    checks.exit()


if __name__ == "__main__":
    main()
