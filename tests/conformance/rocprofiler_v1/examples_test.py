"""The specification's examples, the ways of loading, and profilers beside each other.

    examples_test.py CROCGPU PROGRAM KERNELS LIBRARIES TOOLS FOLDER [TEST ...]

With V1_RUNNER="COMMAND ARGUMENT ..." programs are run by that, and the software GPU is preloaded: another
release's runtime.
"""
import os
import re
import signal
import subprocess
import sys
import unittest

CROCGPU, PROGRAM, KERNELS, LIBRARIES, TOOLS, FOLDER = sys.argv[1:7]
RUNNER = os.environ.get("V1_RUNNER", "").split() or [CROCGPU]
PRELOADS = RUNNER != [CROCGPU]
V1 = os.path.join(LIBRARIES, "librocprofiler64.so.1")
ROCTRACER = os.path.join(LIBRARIES, "libroctracer64.so.4")
LAUNCHES, SAMPLES, WAVES_OF_GROUP = 8, 5, 4


class Case(unittest.TestCase):
    def setUp(self):
        self.locks = os.path.join(FOLDER, self.id().split(".")[-1])
        os.makedirs(self.locks, exist_ok=True)
        self.output = os.path.join(self.locks, "output")
        if os.path.exists(self.output):
            os.remove(self.output)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("ROCP_", "HSA_TOOLS", "V1_"))}
        env.update({"CROCPROF_LOCK_DIR": self.locks, "HSA_TOOLS_LIB": V1,
                    "V1_TOOL_OUTPUT": self.output})
        if PRELOADS:
            env["LD_PRELOAD"] = os.path.join(LIBRARIES, "libcrocgpu.so")
        env.update(more)
        return env

    def run_program(self, what="run", **more):
        done = subprocess.run(RUNNER + [PROGRAM, what, KERNELS], env=self.environment(**more),
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def tool_lines(self):
        if not os.path.exists(self.output):
            return None
        with open(self.output, encoding="utf-8") as file:
            return file.read().splitlines()

    def check_tool_ran(self):
        """Example 5.2's loop: each kernel with the waves that its size gives."""
        lines = self.tool_lines()
        self.assertIsNotNone(lines, "the tool wrote nothing")
        self.assertEqual(lines[-1], "unloaded")
        expected = [f"store_index {groups * WAVES_OF_GROUP}" for groups in range(1, LAUNCHES + 1)]
        self.assertEqual([" ".join(l.split()[:2]) for l in lines[:-1]], expected)
        for line in lines[:-1]:
            words = line.split()
            self.assertGreater(float(words[2]), 0)
            self.assertEqual(words[3:], ["times"])

    def tool(self, name):
        return os.path.join(TOOLS, f"librocprofiler_v1_{name}.so")


class Examples(Case):
    def test_5_1_prints_what_there_is(self):
        out, _ = self.run_program("info")
        lines = out.splitlines()
        count = int(lines[0].split()[0])
        self.assertEqual(sum(l.startswith(("Basic", "Derived")) for l in lines), count)
        self.assertGreater(count, 200)
        waves = [i for i, l in enumerate(lines) if " : SQ_WAVES : " in l]
        self.assertEqual(len(waves), 1)
        self.assertTrue(lines[waves[0]].startswith("Basic counter:  gpu-agent1 : "))
        self.assertEqual(lines[waves[0] + 1], "      block SQ has 8 counters")
        self.assertEqual(sum(" : TCC_HIT[0-31] : " in l for l in lines), 1)
        self.assertTrue(any(l.startswith("Derived counter:  gpu-agent1 : Wavefronts : ")
                            for l in lines))

    def test_5_2_a_context_for_each_kernel(self):
        self.run_program(ROCP_HSA_INTERCEPT="1", ROCP_TOOL_LIB=self.tool("tool"), V1_TOOL="2")
        self.check_tool_ran()

    def test_5_3_a_completion_callback(self):
        self.run_program(ROCP_HSA_INTERCEPT="2", ROCP_TOOL_LIB=self.tool("tool"), V1_TOOL="3")
        self.check_tool_ran()

    def test_5_4_a_pool(self):
        self.run_program(ROCP_HSA_INTERCEPT="2", ROCP_TOOL_LIB=self.tool("tool"), V1_TOOL="4")
        self.check_tool_ran()

    def test_5_5_and_5_6_sampling(self):
        out, _ = self.run_program("sample")
        lines = out.splitlines()
        self.assertEqual(lines[-1], "done")
        self.assertEqual(len(lines), 2 * SAMPLES + 1)
        for i in range(SAMPLES):
            busy, waves = lines[2 * i:2 * i + 2]
            self.assertRegex(busy, r"^0: GPUBusy result_double \([0-9.]+\)$")
            self.assertTrue(0 < float(busy.split("(")[1][:-1]) <= 100)
            total = (i + 1) * LAUNCHES * WAVES_OF_GROUP
            self.assertEqual(waves, f"1: SQ_WAVES result_int64 ({total})")


class Loading(Case):
    def test_a_tool_without_properties(self):
        self.run_program(ROCP_TOOL_LIB=self.tool("tool_plain"))
        self.check_tool_ran()

    def test_a_program_that_does_not_shut_down(self):
        self.run_program("exit", ROCP_TOOL_LIB=self.tool("tool"))
        self.check_tool_ran()

    def test_a_child_does_not_unload_its_parents_tool(self):
        self.run_program("fork", ROCP_TOOL_LIB=self.tool("tool"))
        self.check_tool_ran()

    def test_beside_roctracer_in_any_order(self):
        for tools in (f"{V1} {ROCTRACER}", f"{ROCTRACER} {V1}", f"{V1}:{ROCTRACER}",
                      f"{ROCTRACER}:{V1}"):
            self.setUp()
            self.run_program(HSA_TOOLS_LIB=tools, ROCP_TOOL_LIB=self.tool("tool"))
            self.check_tool_ran()

    def test_by_name(self):
        self.run_program(HSA_TOOLS_LIB="librocprofiler64.so.1", LD_LIBRARY_PATH=LIBRARIES,
                         ROCP_TOOL_LIB=self.tool("tool"))
        self.check_tool_ran()

    def unprofiled(self, word, **more):
        out, err = self.run_program(**more)
        self.assertEqual(out.splitlines()[-1], "done")
        self.assertIn(word, err)
        self.assertIsNone(self.tool_lines())

    def test_a_missing_tool(self):
        self.unprofiled("/no/such/tool.so", ROCP_TOOL_LIB="/no/such/tool.so")

    def test_a_tool_without_its_entry(self):
        self.unprofiled("OnLoadTool", ROCP_TOOL_LIB=self.tool("tool_other"))

    def test_a_tool_without_an_end(self):
        self.unprofiled("OnUnloadTool", ROCP_TOOL_LIB=self.tool("tool_endless"))

    def test_a_bad_mode(self):
        for mode in ("3", "yes", "11", "-1"):
            self.unprofiled("ROCP_HSA_INTERCEPT=" + mode, ROCP_HSA_INTERCEPT=mode,
                            ROCP_TOOL_LIB=self.tool("tool"))

    def test_a_metrics_file_that_is_not_there(self):
        done = subprocess.run(RUNNER + [PROGRAM, "info", KERNELS], capture_output=True, text=True,
                              env=self.environment(ROCP_METRICS="/no/such/file.xml"), timeout=100)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/file.xml", done.stdout)


class Streams(Case):
    """A HIP program with eight streams: each of its kernels once, with its own waves."""
    PROGRAM = os.path.join(TOOLS, "..", "programs", "streams")
    STREAMS, STEPS, WAVES = 8, 12, 160

    def test_kernels_of_eight_streams(self):
        if not os.path.exists(self.PROGRAM):
            self.skipTest("no HIP")
        for how in ("3", "4"):
            self.setUp()
            done = subprocess.run(RUNNER + [self.PROGRAM], timeout=100, capture_output=True,
                                  env=self.environment(ROCP_HSA_INTERCEPT="2", V1_TOOL=how,
                                                       ROCP_TOOL_LIB=self.tool("tool")), text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            steps = [line.split() for line in self.tool_lines() if line.startswith("step(")]
            self.assertEqual(len(steps), self.STREAMS * (self.STEPS + 1))
            self.assertEqual({words[-3] for words in steps}, {str(self.WAVES)})
            self.assertEqual({words[-1] for words in steps}, {"times"})


class Settings(Case):
    """Those of OnLoadToolProp, each with what it changes."""

    def lines_with(self, settings, what="run"):
        out, err = self.run_program(what, ROCP_HSA_INTERCEPT="1", V1_SETTINGS=settings,
                                    ROCP_TOOL_LIB=self.tool("settings_tool"))
        return [line.split() for line in self.tool_lines() or []], out, err

    def check_counts(self, lines, buffer):
        waves = [groups * WAVES_OF_GROUP for groups in range(1, LAUNCHES + 1)]
        self.assertEqual([int(words[4]) for words in lines], waves)
        self.assertEqual([int(words[6]) for words in lines], waves)
        self.assertEqual({words[8] for words in lines}, {str(buffer)})
        self.assertEqual({words[10] for words in lines}, {"complete"})

    def test_the_defaults(self):
        lines, out, _ = self.lines_with("")
        self.check_counts(lines, 32 << 20)
        self.assertEqual({tuple(words[:3]) for words in lines},
                         {("store_index", "times", "thread")})
        self.assertNotIn("async-copy", out)

    def test_opt_mode_looks_nothing_up(self):
        lines, _, _ = self.lines_with("opt_mode=1")
        self.check_counts(lines, 32 << 20)
        self.assertEqual({tuple(words[:3]) for words in lines}, {("-", "-", "-")})

    def test_k_concurrent_counts_the_same(self):
        for value in ("1", "2"):
            self.setUp()
            lines, _, _ = self.lines_with("k_concurrent=" + value)
            self.check_counts(lines, 32 << 20)

    def test_trace_size_and_where_it_is(self):
        for local in ("0", "1"):
            self.setUp()
            lines, _, _ = self.lines_with(f"trace_size={5 << 20},trace_local={local}")
            self.check_counts(lines, 5 << 20)

    def test_a_trace_that_is_too_long(self):
        for size, words in ((1310720, "cut"), (32 << 20, "complete")):
            self.setUp()
            lines, _, err = self.lines_with(f"trace_size={size}", "many")
            self.assertEqual(len(lines), 1)
            self.assertEqual(lines[0][4], str(40000 * WAVES_OF_GROUP))
            self.assertEqual(lines[0][10], words)
            self.assertEqual("did not fit" in err, words == "cut")
            self.assertEqual(int(lines[0][6]) < 40000 * WAVES_OF_GROUP, words == "cut")

    def test_a_buffer_that_is_too_small(self):
        lines, out, err = self.lines_with("trace_size=4096")
        self.assertEqual(lines, [])
        self.assertIn("the buffer is too small", err)
        self.assertEqual(out.splitlines()[-1], "done")

    def test_memcopy_tracking(self):
        for settings in ("memcopy_tracking=1", "memcopy_tracking=1,hsa_intercepting=1"):
            self.setUp()
            _, out, _ = self.lines_with(settings, "copies")
            times = re.findall(r"^([0-9]+): async-copy time\(([0-9]+),([0-9]+)\)$", out, re.M)
            self.assertEqual(sorted(int(index) for index, _, _ in times), [0, 1, 2, 3])
            for _, begin, end in times:
                self.assertLess(int(begin), int(end))

    def test_obj_dumping(self):
        done = subprocess.run(RUNNER + [PROGRAM, "run", KERNELS], cwd=self.locks, timeout=100,
                              env=self.environment(ROCP_HSA_INTERCEPT="1",
                                                   V1_SETTINGS="obj_dumping=1",
                                                   ROCP_TOOL_LIB=self.tool("settings_tool")),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        files = [name for name in os.listdir(self.locks) if name.startswith("codeobj_")]
        with open(os.path.join(KERNELS, "kernels_gfx90a.co"), "rb") as file:
            expected = file.read()
        written = []
        for name in files:
            with open(os.path.join(self.locks, name), "rb") as file:
                written.append(file.read())
            os.remove(os.path.join(self.locks, name))
        self.assertEqual(written, [expected])


class TwoProfilers(Case):
    def start(self):
        process = subprocess.Popen(RUNNER + [PROGRAM, "hold", KERNELS], env=self.environment(),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        return process, process.stdout.readline().strip()

    def test_the_second_is_told_who_is_there(self):
        first, said = self.start()
        self.assertEqual(said, "opened")
        second, said = self.start()
        self.assertRegex(said, r"GPU 1 is being profiled by another process, \d+ "
                               r"\((rocprofiler_v1_|ld-linux)")
        self.assertNotEqual(second.wait(100), 0)
        first.stdin.write("\n")
        first.stdin.flush()
        self.assertEqual(first.stdout.readline().strip(), "closed")
        third, said = self.start()
        self.assertEqual(said, "opened")
        for process in (first, third):
            process.stdin.write("\n\n")
            process.stdin.flush()
            self.assertEqual(process.wait(100), 0)

    def test_a_killed_one_leaves_no_lock(self):
        for _ in range(3):
            process, said = self.start()
            self.assertEqual(said, "opened")
            process.send_signal(signal.SIGKILL)
            process.wait(100)
        out, _ = self.run_program("sample")  # starts again, and counts from nothing
        self.assertIn(f"1: SQ_WAVES result_int64 ({LAUNCHES * WAVES_OF_GROUP})", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[7:], verbosity=1)
