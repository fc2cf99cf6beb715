"""faults_test.py CROCGPU LIBRARIES PROGRAMS HERE TRACE_PROTO: what cannot work harms no program, and
is said; and however a program ends, its trace is complete."""
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
    with Run(setup, ["true"]) as base:
        for name in ("hip_api_trace.txt", "trace.pftrace"):
            # The file's name has the process id in front: put links there for many.
            plugin = "libperfetto_plugin.so" if "pftrace" in name else "libfile_plugin.so"
            shell = 'ln -s /dev/full "$0/$$_%s" && exec "$@"' % name
            command = ["sh", "-c", shell, base.directory, *setup.sequence]
            with Run(setup, command, ROCTRACER_DOMAIN="hip", ROCTRACER_PLUGIN_LIB=plugin,
                     ROCP_OUTPUT_DIR=base.directory) as run:
                checks.equal(plugin + ", full disk: status", run.status, 0)
                checks.true(plugin + ", full disk: said", "No space left" in run.errors)
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


def test_unload(checks, setup):
    """The tool is opened and closed by a program, with and without HSA in it."""
    result = subprocess.run([os.path.join(setup.here, "roctracer_reload"), setup.tool],
                            capture_output=True, text=True, timeout=60,
                            env=dict(os.environ, ROCTRACER_DOMAIN="sys:roctx"))
    checks.equal("opened and closed", (result.returncode, result.stderr), (0, ""))


def main():
    setup, checks = Setup(sys.argv), Checks()
    for test in (test_refusals, test_sick_plugins, test_full_disk, test_odd_folders,
                 test_programs_of_their_own, test_no_settings, test_children,
                 test_unload, test_endings):
        test(checks, setup)
    checks.exit()


if __name__ == "__main__":
    main()
