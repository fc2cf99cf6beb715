"""What a tool, or its program, may do to end things, at every place where it could.

    endings_test.py BUILD
"""
import os
import signal
import subprocess
import sys
import unittest

BUILD = sys.argv.pop(1)
ENDS = os.path.join(BUILD, "tests", "conformance", "conformance_ends")
PLACES = ("configure", "initialize", "enter", "exit", "buffer", "finalize", "main", "handler")
LATER = PLACES[2:]  # the tool is initialised, so it is told of the end
MARKS, WORKER_MARKS = 3, 10000
LOCKED = 16  # ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED


class Endings(unittest.TestCase):
    def end(self, deed, place, status, told=None):
        # A process that hangs is killed here. One that waits for a thread that cannot come says so.
        done = subprocess.run([ENDS, deed, place], capture_output=True, text=True, timeout=50,
                              env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(BUILD, "lib")))
        what = f"{deed} at {place}: {done.returncode}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, status, what)
        self.assertNotIn("before its report is complete", done.stderr, what)
        lines = done.stdout.splitlines()
        finalized = [line for line in lines if line.startswith("finalize")]
        self.assertEqual(len(finalized), place in LATER if told is None else told, what)
        self.assertNotIn("too late", done.stdout, what)
        if finalized and "destroyed 20" in lines:
            self.assertLess(lines.index(finalized[0]), lines.index("destroyed 20"), what)
        return lines, done.stderr, int(finalized[0].split()[1]) if finalized else 0

    def test_an_exception_ends_the_process_where_it_was_thrown(self):
        for place in ("configure", "initialize", "enter", "exit", "buffer", "finalize"):
            lines, errors, _ = self.end("throw", place, -signal.SIGABRT)
            self.assertIn("thrown by the tool", errors)
            self.assertNotIn("caught by the program 0", lines)

    def test_exit(self):
        for place in PLACES:
            self.end("exit", place, 5)

    def test_quick_exit(self):
        for place in PLACES:
            self.end("quick_exit", place, 5)

    def test_exit_on_two_threads_at_once(self):
        for place in ("enter", "exit", "main"):
            for _ in range(10):
                self.end("exits", place, 4)

    def test_abort(self):
        for place in PLACES:
            self.end("abort", place, -signal.SIGABRT)

    def test_a_signal(self):
        for place in ("enter", "exit", "finalize", "main", "handler"):
            self.end("raise", place, -signal.SIGTERM)

    def test_the_finaliser_finds_what_the_ending_thread_pushed(self):
        for deed, status, pushed in (("nothing", 0, 1), ("exit", 5, 1), ("quick_exit", 5, 1),
                                     ("abort", -signal.SIGABRT, 1), ("raise", -signal.SIGTERM, 1),
                                     ("abort_elsewhere", -signal.SIGABRT, 2)):
            for place in ("main", "enter"):
                lines, _, _ = self.end(deed, place, status, told=True)
                self.assertIn(f"pushed {pushed}", lines, f"{deed} at {place}: {lines}")

    def test_the_finaliser_is_the_last_that_a_tool_hears(self):
        lines, errors, _ = self.end("late", "main", 0)
        self.assertIn(f"records {MARKS}", lines)
        self.assertNotIn("after the finaliser 1", lines)
        self.assertIn("1 records were lost", errors)

    def test_a_finaliser_that_flushes_gets_what_came_late(self):
        lines, errors, _ = self.end("late_flush", "main", 0)
        self.assertIn(f"records {MARKS + 1}", lines)
        self.assertNotIn("were lost", errors)

    def test_the_main_thread_may_end_before_the_others(self):
        for place in ("main", "handler"):
            lines, _, records = self.end("pthread_exit", place, 0)
            self.assertEqual(records, MARKS + WORKER_MARKS)
            self.assertIn("destroyed 20", lines)

    def test_threads_may_end_in_callbacks(self):
        for place in ("enter", "exit", "buffer", "finalize"):
            self.end("pthread_exit", place, 0)

    def test_the_initialising_thread_may_end(self):
        for place in ("configure", "initialize"):
            self.assertIn("left out", self.end("pthread_exit", place, 0)[1])

    def test_the_finaliser_at_every_place(self):
        for place in LATER:
            self.end("finalize", place, 0)

    def test_fork(self):
        for place in ("enter", "exit", "buffer", "main"):
            lines, _, records = self.end_with_child(place)
            self.assertIn("child 9", lines)
            self.assertEqual(records, MARKS)

    def end_with_child(self, place):
        done = subprocess.run([ENDS, "fork", place], capture_output=True, text=True, timeout=50,
                              env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(BUILD, "lib")))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        # child and parent each finalise their own tool; the child has none of the parent's records
        finalized = [int(line.split()[1]) for line in lines if line.startswith("finalize")]
        self.assertEqual(len(finalized), 2, done.stdout)
        return lines, done.stderr, max(finalized)

    def test_force_configure_is_locked_from_inside(self):
        for place in ("configure", "initialize", "enter", "buffer", "finalize"):
            self.assertIn(f"force {LOCKED}", self.end("force", place, 0, told=True)[0])


if __name__ == "__main__":
    unittest.main()
