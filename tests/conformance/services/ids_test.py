"""Asynchronous work carries the ids of the call that caused it, for each tool its own.

    ids_test.py BUILD CROCGPU
"""
import os
import re
import subprocess
import sys
import unittest

CROCGPU = sys.argv.pop(2)
BUILD = sys.argv.pop(1)
TOOLS = {n: os.path.join(BUILD, "tests", "conformance", f"libconformance_ids_{n}.so") for n in "AB"}


def run(tools, program, *arguments, status=0):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "LD_PRELOAD"))}
    env["LD_PRELOAD"] = ":".join(TOOLS[t] for t in tools)
    command = [CROCGPU, os.path.join(BUILD, "tests", "programs", program), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}{done.stdout}"
    lines = re.findall(r"^([AB]) (kernels .*)$", done.stdout, re.M)
    words = {tool: text.split() for tool, text in lines}
    return {tool: dict(zip(w[::2], map(int, w[1::2]))) for tool, w in words.items()}


class Ids(unittest.TestCase):
    def check(self, results, tools, kernels, copies):
        self.assertEqual(sorted(results), sorted(tools))
        for result in results.values():
            self.assertEqual(result.pop("kernels"), kernels)
            self.assertEqual(result.pop("copies"), copies)
            self.assertEqual(set(result.values()), {0}, result)

    # Programs without memsets, whose kernels are the runtime's own.
    def test_one_tool(self):
        self.check(run("A", "endings", "40", "6", "return", status=23), "A", 40, 6)

    def test_two_tools(self):
        self.check(run("AB", "endings", "40", "6", "return", status=23), "AB", 40, 6)

    def test_launches_of_several_threads(self):
        results = run("AB", "threads")
        copies = results["A"]["copies"]
        self.assertGreaterEqual(copies, 4)
        self.check(results, "AB", 4 * 200 + 4, copies)


if __name__ == "__main__":
    unittest.main()
