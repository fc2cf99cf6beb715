"""The specifications' own code, run as tools: it does what the text around it says.

    snippets_test.py BUILD [CROCGPU]
"""
import os
import subprocess
import sys
import unittest

CROCGPU = sys.argv.pop(2) if len(sys.argv) > 2 else None
BUILD = sys.argv.pop(1)
HERE = os.path.join(BUILD, "tests", "conformance")
HOST = os.path.join(HERE, "conformance_host")
LAUNCHES, COPIES, STATUS = 25, 4, 23  # STATUS is what the program always returns


def snippet(name):
    return os.path.join(HERE, f"libconformance_snippet_{name}.so")


# ROCP_TOOL_LIBRARIES is read by rocprofiler-register, which the oldest supported runtime does not
# have; a preloaded tool is found under every runtime.
def run(tools, *command, status=0, variable="ROCP_TOOL_LIBRARIES", **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "LD_PRELOAD"))}
    env.update(environment, LD_LIBRARY_PATH=os.path.join(BUILD, "lib"))
    env[variable] = ":".join(snippet(t) for t in tools)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}{done.stdout}"
    return [l.split("snippet: ")[1] for l in done.stdout.splitlines() if "snippet: " in l]


class WithoutGpu(unittest.TestCase):
    def test_the_first_tool_takes_part(self):
        self.assertEqual(run(["design"], HOST), ["design initialize 1 1 ExampleTool",
                                                 "design finalize 0"])

    def test_a_later_tool_declines(self):
        os.environ["SNIPPET_MS"] = "100000"
        self.assertEqual(run(["finalizer", "design"], HOST),
                         ["finalizer active 1", "finalizer finalize"])

    def test_a_thread_of_the_tool_ends_it(self):
        self.assertEqual(run(["finalizer"], HOST, "wait", SNIPPET_MS="20"),
                         ["finalizer active 1", "finalizer finalize", "finalizer returned"])


@unittest.skipUnless(CROCGPU, "needs a GPU")
class WithGpu(unittest.TestCase):
    def program(self, *tools):
        endings = os.path.join(BUILD, "tests", "programs", "endings")
        return run(tools, CROCGPU, endings, str(LAUNCHES), str(COPIES), "return", status=STATUS,
                   variable="LD_PRELOAD")

    def test_the_full_sample_sees_code_objects(self):
        self.assertEqual(self.program("full"),
                         ["full contexts 1 code objects 1 balanced 1 kernels 1"])

    def test_two_services_fill_one_buffer(self):
        self.assertEqual(self.program("buffered"),
                         [f"buffered apis 1 dispatches {LAUNCHES} dropped 0"])

    def test_a_subset_of_operations_restricts_the_records(self):
        self.assertEqual(self.program("c"),
                         [f"c launches {LAUNCHES} others 0 dispatches {LAUNCHES}"])

    def test_all_at_once(self):
        self.assertEqual(sorted(self.program("buffered", "full", "c")),
                         [f"buffered apis 1 dispatches {LAUNCHES} dropped 0",
                          f"c launches {LAUNCHES} others 0 dispatches {LAUNCHES}",
                          "full contexts 1 code objects 1 balanced 1 kernels 1"])


if __name__ == "__main__":
    unittest.main()
