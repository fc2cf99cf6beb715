"""Every way in which a tool is found, and what it is then told, in which order."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop(1)
HERE = os.path.join(BUILD, "tests", "conformance")
HOST, LINKED, MARKER = (os.path.join(HERE, f"conformance_{name}")
                        for name in ("host", "linked", "marker"))
A, B = (os.path.join(HERE, f"libconformance_tool_{name}.so") for name in "AB")
MISSING = "/does/not/exist.so"
LOCKED = 16  # ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED


def run(*command, status=0, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "LD_PRELOAD"))}
    env.update(environment, LD_LIBRARY_PATH=os.path.join(BUILD, "lib"))
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}{done.stdout}"
    lines = [line for line in done.stdout.splitlines() if not line.startswith("register ")]
    registered = re.search(r"^register (.*) ([\d.]+) ms$", done.stdout, re.M)
    return lines, registered, done.stderr


def life(name, priority):
    return [f"{name} configure {priority}", f"{name} initialize -1", f"{name} finalize -1"]


class Discovery(unittest.TestCase):
    def test_without_a_tool_nothing_is_loaded(self):
        lines, registered, errors = run(HOST)
        self.assertEqual((lines, errors), ([], ""))
        self.assertEqual(registered.group(1), "no tool wants the tables")

    def test_a_linked_tool_is_found(self):
        lines, registered, _ = run(LINKED)
        self.assertEqual(lines, life("A", 0))
        self.assertEqual(registered.group(1), "registered")

    def test_a_preloaded_tool_is_found(self):
        self.assertEqual(run(HOST, LD_PRELOAD=A)[0], life("A", 0))

    def test_a_tool_without_a_gnu_hash_table_is_found(self):
        self.assertEqual(run(HOST, LD_PRELOAD=B)[0], life("B", 0))

    def test_all_entries_of_the_variable_are_loaded_and_configured_first(self):
        for value in (f"{A}:{B}", f"{A}:{B}:", f":{A}::{B}"):
            self.assertEqual(run(HOST, ROCP_TOOL_LIBRARIES=value)[0],
                             ["A configure 0", "B configure 1", "A initialize -1", "B initialize -1",
                              "A finalize -1", "B finalize -1"])

    def test_the_variable_comes_before_linked_tools(self):
        lines = run(LINKED, ROCP_TOOL_LIBRARIES=B)[0]
        self.assertEqual(lines[:2], ["B configure 0", "A configure 1"])

    def test_markers_alone_bring_the_tools_of_the_variable(self):
        for library in ("librocprofiler-sdk-roctx.so.1", "libroctx64.so.4"):
            markers = os.path.join(BUILD, "lib", library)
            self.assertEqual(run(MARKER, markers, ROCP_TOOL_LIBRARIES=A)[0], life("A", 0))
            self.assertEqual(run(MARKER, markers)[0], [])

    def test_markers_find_a_tool_that_was_opened_for_itself(self):
        markers = os.path.join(BUILD, "lib", "librocprofiler-sdk-roctx.so.1")
        self.assertEqual(run(MARKER, markers, A)[0], life("A", 0))

    def test_a_tool_found_twice_is_configured_once(self):
        self.assertEqual(run(LINKED, LD_PRELOAD=A, ROCP_TOOL_LIBRARIES=A)[0], life("A", 0))

    def test_several_preloaded_tools_are_all_found(self):
        lines = run(HOST, LD_PRELOAD=f"{B}:{A}")[0]
        self.assertEqual(lines[:2], ["B configure 0", "A configure 1"])

    def test_an_unloadable_entry_is_reported_and_skipped(self):
        lines, _, errors = run(HOST, ROCP_TOOL_LIBRARIES=f"{MISSING}:{A}")
        self.assertEqual(lines, life("A", 0))
        self.assertIn(MISSING, errors)

    def test_a_library_without_the_function_is_reported(self):
        other = os.path.join(HERE, "libconformance_bystander.so")
        lines, _, errors = run(HOST, ROCP_TOOL_LIBRARIES=other)
        self.assertEqual(lines, [])
        self.assertIn("rocprofiler_configure", errors)

    def test_null_means_that_the_tool_does_not_run(self):
        self.assertEqual(run(LINKED, TOOL_A="null")[0], ["A configure 0"])

    def test_a_failed_initialize_drops_the_tool(self):
        self.assertEqual(run(LINKED, TOOL_A="refuse")[0], ["A configure 0", "A initialize -1"])

    def test_one_failing_tool_leaves_the_other(self):
        lines = run(HOST, ROCP_TOOL_LIBRARIES=f"{A}:{B}", TOOL_A="refuse")[0]
        self.assertEqual(lines[-1], "B finalize -1")
        self.assertNotIn("A finalize -1", lines)

    def test_registration_can_be_switched_off(self):
        self.assertEqual(run(LINKED, ROCPROFILER_REGISTER_ENABLED="0")[0], [])

    def test_exit_from_another_thread_finalises(self):
        self.assertEqual(run(LINKED, "thread", status=7)[0], life("A", 0))

    def test_quick_exit_finalises(self):
        self.assertEqual(run(LINKED, "quick")[0], life("A", 0))

    def test_underscore_exit_runs_no_handler_of_anybody(self):
        lines = run(LINKED, "_exit", status=4)[0]
        self.assertEqual(lines, ["A configure 0", "A initialize -1"])

    def test_signals_that_end_the_program_finalise_first(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
            lines = run(LINKED, "signal", str(int(number)), status=-number)[0]
            self.assertEqual(lines, life("A", 0))

    def test_abort_finalises_first(self):
        self.assertEqual(run(LINKED, "abort", status=-signal.SIGABRT)[0], life("A", 0))

    def test_a_crash_finalises_first(self):
        self.assertEqual(run(LINKED, "crash", status=-signal.SIGSEGV)[0], life("A", 0))

    def test_ignored_signals_stay_ignored(self):
        lines = run("sh", "-c", 'trap "" TERM; exec "$0" signal 15', LINKED)[0]
        self.assertEqual(lines, life("A", 0))

    def test_the_only_tool_may_end_everything_early(self):
        self.assertEqual(run(LINKED, "end")[0], life("A", 0) + ["A ended 0"])

    def test_one_of_several_tools_ends_only_itself(self):
        lines = run(HOST, "end", LD_PRELOAD=f"{A}:{B}")[0]
        self.assertEqual(lines[4:], ["A finalize 0", "A ended 0", "B finalize -1"])

    def test_a_forked_child_ends_for_itself_and_its_parent_goes_on(self):
        lines = run(LINKED, "fork")[0]
        self.assertEqual(lines, ["A configure 0", "A initialize -1", "A finalize -1", "child 0",
                                 "A finalize -1"])

    def test_the_exit_waits_for_a_tool_that_is_ending_on_another_thread(self):
        lines = run(LINKED, "end_thread", TOOL_A="slow")[0]
        self.assertEqual(lines[2:4], ["A finalize -1", "A finished 0"])

    def test_the_exit_waits_for_one_of_several_tools(self):
        lines = run(HOST, "end_thread", LD_PRELOAD=f"{A}:{B}", TOOL_A="slow")[0]
        self.assertIn("A finished 0", lines)
        self.assertIn("B finalize -1", lines)

    def test_finalize_may_exit(self):
        self.assertEqual(run(LINKED, TOOL_A="exits", status=3)[0], life("A", 0))

    def test_a_tool_without_callbacks_is_harmless(self):
        self.assertEqual(run(LINKED, TOOL_A="nothing")[0], ["A configure 0"])

    def test_a_result_of_another_size_is_refused(self):
        lines, _, errors = run(LINKED, TOOL_A="old")
        self.assertEqual(lines, ["A configure 0"])
        self.assertIn("rocprofiler_tool_configure_result_t", errors)

    def test_a_changed_handle_is_reported(self):
        lines, _, errors = run(LINKED, TOOL_A="handle")
        self.assertEqual(lines, life("A", 0))
        self.assertIn("changed its client handle", errors)

    def test_a_closed_tool_lives_on(self):
        self.assertEqual(run(HOST, "closed", A)[0], life("A", 0))

    def test_a_tool_that_comes_late_gets_the_tables(self):
        lines = run(HOST, "late", A, TOOL_A="watch")[0]
        self.assertEqual(lines, ["A configure 0", "A initialize -1", "A table 64", "forced 0",
                                 f"again {LOCKED}", "A finalize -1"])

    def test_watchers_see_each_table(self):
        self.assertIn("A table 64", run(LINKED, TOOL_A="watch")[0])

    def test_a_tool_is_found_among_100_libraries(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(100):
                shutil.copy(os.path.join(HERE, "libconformance_bystander.so"),
                            os.path.join(folder, f"lib{i}.so"))
            self.assertEqual(run(LINKED, "libraries", "100", folder)[0], life("A", 0))


if __name__ == "__main__":
    unittest.main()
