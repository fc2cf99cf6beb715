"""modes_test.py CROCGPU LIBRARIES PROGRAMS HERE TRACE_PROTO: what each setting traces.

The oracle is sequence.cpp, which prints every call, marker, launch and copy that it makes.
"""
import os
import sys

from tool_run import Checks, Run, Setup, by_thread, said

COPIES = {"CopyHostToDevice": "HostToDevice", "CopyDeviceToHost": "DeviceToHost"}


def expected_calls(output):
    return by_thread(line.split(" ") for line in said(output, "call"))


def expected_markers(output):
    rows = (line.split(" ", 3) for line in said(output, "marker"))
    return by_thread((r[0], (int(r[1]), int(r[2]), r[3])) for r in rows)


def check_calls(checks, what, run, rows):
    checks.equal(what + ": status", (run.status, run.errors), (0, ""))
    checks.equal(what + ": calls of every thread in order",
                 by_thread((r["tid"], r["name"]) for r in rows), expected_calls(run.output))
    checks.true(what + ": ends come after begins", all(r["begin"] < r["end"] for r in rows))
    ids = [r["id"] for r in rows]
    checks.true(what + ": correlation ids differ", len(set(ids)) == len(ids) and 0 not in ids)


def launched(output):
    return sorted("void space::add_one<unsigned int>(unsigned int*, unsigned long)"
                  if k == "add_one" else k for k in said(output, "kernel"))


def check_launches(checks, what, run, rows):
    names = [r["kernel"] for r in rows if r["kernel"]]
    checks.equal(what + ": kernels of the launches", sorted(names), launched(run.output))


def check_operations(checks, what, run, rows, calls):
    """Every operation belongs to a call that makes such operations, and there is one for each."""
    by_id = {c["id"]: c for c in calls}
    rows = [r for r in rows if r["name"] != "Marker"]  # HIP waits with these, as often as it likes
    copies = [COPIES[r["name"]] for r in rows if r["name"] in COPIES]
    checks.equal(what + ": copies", sorted(copies), sorted(said(run.output, "copy")))
    kernels = [r["name"] for r in rows if r["name"] not in COPIES]
    checks.equal(what + ": kernels", sorted(kernels), sorted(said(run.output, "kernel")))
    for row in rows:
        call = by_id.get(row["id"], {"name": "", "begin": 0, "kernel": None})
        checks.true("%s: %s belongs to %s" % (what, row["name"], call["name"]),
                    call["name"] == "hipMemcpy" if row["name"] in COPIES else call["kernel"])
        checks.true("%s: %r begins after its call %r" % (what, row, call),
                    call["begin"] <= row["begin"] <= row["end"])
    checks.equal(what + ": each call has its own", len({r["id"] for r in rows}), len(rows))


def test_hip(checks, setup):
    for preload in (False, True):
        what = "hip, " + ("preloaded" if preload else "loaded by HSA")
        with Run(setup, setup.sequence, preload, ROCTRACER_DOMAIN="hip") as run:
            calls = run.rows("hip_api")
            check_calls(checks, what, run, calls)
            check_launches(checks, what, run, calls)
            check_operations(checks, what, run, run.rows("hcc_ops"), calls)
            checks.equal(what + ": files", run.files(),
                         ["begin_ts_file.txt", "hcc_ops_trace.txt", "hip_api_trace.txt",
                          "hsa_handles.txt"])
            checks.equal(what + ": agents", [line.split(" ")[1:] for line in
                                             run.text("hsa_handles.txt").splitlines()],
                         [["agent", "cpu"], ["agent", "gpu"]])
            checks.true(what + ": the beginning comes first",
                        int(run.text("begin_ts_file.txt")) < calls[-1]["end"])


def test_short_names(checks, setup):
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCP_TRUNCATE_NAMES="1") as run:
        names = [r["kernel"] for r in run.rows("hip_api") if r["kernel"]]
        checks.equal("short names", sorted(names), sorted(said(run.output, "kernel")))


def test_markers(checks, setup):
    with Run(setup, setup.sequence, True, ROCTRACER_DOMAIN="roctx") as run:
        rows = run.rows("roctx")
        checks.equal("roctx: status", (run.status, run.errors), (0, ""))
        checks.equal("roctx: markers of every thread in order",
                     by_thread((r["tid"], (r["op"], r["id"], r["message"])) for r in rows),
                     expected_markers(run.output))
        checks.equal("roctx: files", run.files(), ["begin_ts_file.txt", "roctx_trace.txt"])


def test_sys(checks, setup):
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="sys:roctx") as run:
        calls = run.rows("hip_api")
        check_calls(checks, "sys", run, calls)
        check_operations(checks, "sys", run, run.rows("hcc_ops"), calls)
        hsa = run.rows("hsa_api")
        checks.true("sys: HSA calls", len(hsa) > 50)
        checks.true("sys: HSA calls lie within HIP calls or follow them",
                    {r["tid"] for r in calls} <= {r["tid"] for r in hsa})
        ids = [r["id"] for r in hsa + calls]
        checks.equal("sys: ids differ", len(set(ids)), len(ids))


def test_hsa(checks, setup):
    with Run(setup, [setup.program("hsa_queues")], ROCTRACER_DOMAIN="hsa") as run:
        rows = run.rows("hsa_api")
        checks.equal("hsa: status", (run.status, run.errors), (0, ""))
        checks.true("hsa: ok", "hsa_queues: ok" in run.output)
        # The program calls it; roctracer's traces, which are compared line by line, do not have it.
        checks.true("hsa: no hsa_shut_down", "hsa_shut_down" not in [r["name"] for r in rows])
        names = [r["name"] for r in rows]
        checks.true("hsa: queues are created and destroyed",
                    names.count("hsa_queue_create") > 0 and
                    names.count("hsa_queue_create") == names.count("hsa_queue_destroy"))
        checks.true("hsa: successes", all(r["result"] == "0" for r in rows
                                          if r["name"] == "hsa_queue_create"))
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hsa") as run:
        calls = {r["id"] for r in run.rows("hsa_api")
                 if r["name"].startswith("hsa_amd_memory_async_copy")}
        copies = [r["id"] for r in run.rows("async_copy")]
        checks.equal("hsa: one record for each copy call", sorted(copies), sorted(calls))
        checks.true("hsa: no HIP", "hip_api_trace.txt" not in run.files())


def test_kfd(checks, setup):
    """Calls of the driver's library come and go in pairs."""
    for preload in (False, True):
        what = "kfd, " + ("preloaded" if preload else "loaded by HSA")
        with Run(setup, [setup.program("hsa_queues")], preload, ROCTRACER_DOMAIN="kfd") as run:
            rows = run.rows("kfd_api")
            names = [r["name"] for r in rows]
            checks.equal(what + ": status", (run.status, run.errors), (0, ""))
            checks.true(what + ": queues are created and destroyed",
                        names.count("hsaKmtCreateQueue") > 0 and
                        names.count("hsaKmtCreateQueue") == names.count("hsaKmtDestroyQueue"))
            checks.true(what + ": successes", all(r["result"] == "0" for r in rows
                                                  if r["name"] == "hsaKmtCreateQueue"))
            checks.equal(what + ": from the first call on", "hsaKmtOpenKFD" in names, preload)
            checks.true(what + ": ends come after begins",
                        all(r["begin"] <= r["end"] for r in rows))


def input_file(run_folder, text):
    path = os.path.join(run_folder, "input.xml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_input(checks, setup, folder):
    path = input_file(folder, '<trace name="HIP"><parameters api="hipFree, hipMalloc, hipNothing">'
                              '</parameters></trace>\n')
    with Run(setup, setup.sequence, ROCP_INPUT=path) as run:
        names = {r["name"] for r in run.rows("hip_api")}
        checks.equal("input: only these", names, {"hipFree", "hipMalloc"})
        checks.true("input: the unknown one is named", "hipNothing" in run.errors)
        wanted = [c for calls in expected_calls(run.output).values() for c in calls if c in names]
        checks.equal("input: all of them", len(run.rows("hip_api")), len(wanted))


def test_standard_output(checks, setup):
    with Run(setup, setup.sequence, folder=False, ROCTRACER_DOMAIN="hip") as run:
        own = ("call ", "marker ", "kernel ", "copy ")
        lines = [x for x in run.output.splitlines() if not x.startswith(own)]
        calls = run.rows("hip_api", "\n".join(x for x in lines if ") :" in x or " kernel=" in x))
        checks.equal("standard output: calls", by_thread((r["tid"], r["name"]) for r in calls),
                     expected_calls(run.output))
        checks.equal("standard output: no files", run.files(), [])


def test_periods(checks, setup):
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip",
             ROCP_CTRL_RATE="4294967295:1:1") as run:
        checks.equal("never started", (run.status, run.rows("hip_api"), run.rows("hcc_ops")),
                     (0, [], []))
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip",
             ROCP_CTRL_RATE="0:1000:10000") as run:
        checks.equal("periods: status", run.status, 0)
        every = expected_calls(run.output)
        for thread, names in by_thread((r["tid"], r["name"]) for r in run.rows("hip_api")).items():
            rest = iter(every[thread])
            checks.true("periods: a part of the calls", all(name in rest for name in names))
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCP_FLUSH_RATE="500") as run:
        calls = run.rows("hip_api")
        check_calls(checks, "flushed every 0.5 ms", run, calls)
        check_operations(checks, "flushed every 0.5 ms", run, run.rows("hcc_ops"), calls)


def test_small_pool(checks, setup):
    with Run(setup, setup.sequence, ROCTRACER_DOMAIN="hip", ROCTRACER_BUFFER_SIZE="4096") as run:
        check_operations(checks, "small pool", run, run.rows("hcc_ops"), run.rows("hip_api"))


def test_perfetto(checks, setup):
    with Run(setup, setup.sequence, True, ROCTRACER_DOMAIN="hip:roctx",
             ROCTRACER_PLUGIN_LIB="libperfetto_plugin.so") as run:
        checks.equal("perfetto: status", (run.status, run.errors), (0, ""))
        trace = run.trace()
        calls = sorted((s for s in trace.slices if s["category"] == "hip"),
                       key=lambda s: s["begin"])
        checks.equal("perfetto: calls",
                     by_thread((trace.tracks[s["track"]]["tid"], s["name"]) for s in calls),
                     expected_calls(run.output))
        checks.true("perfetto: calls of workers lie in their range",
                    all(s["parent"].startswith("worker \"") for s in calls if s["name"] ==
                        "hipLaunchKernel"))
        work = [s for s in trace.slices if s["category"] == "gpu" and s["name"] != "Marker"]
        kernels = [s for s in work if s["name"] not in COPIES]
        checks.equal("perfetto: kernels", sorted(s["name"] for s in kernels),
                     launched(run.output))
        checks.equal("perfetto: copies", len(work) - len(kernels), len(said(run.output, "copy")))
        names = {s["flow"]: s["name"] for s in calls}
        for s in work:
            checks.true("perfetto: an arrow from %r to %s" % (names.get(s["flow"]), s["name"]),
                        s["flow"] in names and trace.flows[s["flow"]][0] == names[s["flow"]])
        ranges = [s["name"] for s in trace.slices if s["category"] == "roctx"]
        pushed = [m for markers in expected_markers(run.output).values() for m in markers]
        checks.equal("perfetto: ranges", sorted(ranges),
                     sorted(m[2] for m in pushed if m[0] in (1, 3)))
        checks.equal("perfetto: marks", [i["name"] for i in trace.instants], ["nearly done"])
        checks.equal("perfetto: nothing is left open", trace.unfinished, [])


def main():
    setup, checks = Setup(sys.argv), Checks()
    with Run(setup, ["true"], ROCTRACER_DOMAIN="sys:roctx") as run:
        checks.equal("a program without HSA leaves no files", (run.status, run.files()), (0, []))
        test_input(checks, setup, run.directory)
    with Run(setup, ["true"], True, ROCTRACER_DOMAIN="sys:roctx") as run:
        checks.equal("preloaded, too", (run.status, run.files()), (0, []))
    for test in (test_hip, test_short_names, test_markers, test_sys, test_hsa, test_kfd,
                 test_standard_output, test_periods, test_small_pool, test_perfetto):
        test(checks, setup)
    checks.exit()


if __name__ == "__main__":
    main()
