"""Definitions that users give: files, memory, expressions; and what is said when they are wrong.

    definitions_test.py CROCGPU VALUES KERNELS

Every program here launches 8 work-groups of 4 waves on a gfx90a: SQ_WAVES is 32, over 8 shader
engines.
"""
import os
import subprocess
import sys
import tempfile
import unittest

CROCGPU, VALUES, KERNELS = sys.argv[1:4]
WAVES = 32.0

OLD_SCHEMA = """
SQ_WAVES:
  architectures:
    gfx90a/gfx942:
      block: SQ
      event: 4
    gfx906:
      block: SQ
      event: 4
      description: Of this architecture.
  description: Of all.
GRBM_COUNT:
  architectures: {gfx90a: {block: GRBM, event: 0}}
  description: Cycles.
GRBM_GUI_ACTIVE:
  architectures: {gfx90a: {block: GRBM, event: 2}}
  description: Busy cycles.
GPU_UTIL:
  architectures:
    gfx942/gfx941/gfx10/gfx1010/gfx1030/gfx1031/gfx11/gfx1032/gfx1102/gfx906/gfx1100/gfx1101/gfx940/gfx908/gfx90a/gfx9:
      expression: 100*GRBM_GUI_ACTIVE/GRBM_COUNT
  description: Percentage of the time that GUI is active
Twice:
  architectures: {gfx90a: {expression: "reduce(SQ_WAVES,sum)*2"}}
  description: Nothing else.
Elsewhere:
  architectures: {gfx906: {expression: "reduce(SQ_WAVES,sum)"}}
  description: Not here.
"""

NEW_SCHEMA = """
rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: SQ_WAVES
      description: Waves.
      properties: []
      definitions:
        - architectures: [gfx90a, gfx906]
          block: SQ
          event: 4
    - name: Twice
      description: Twice as many.
      properties: []
      definitions:
        - architectures: [gfx90a]
          expression: reduce(SQ_WAVES,sum)*2
"""


class Answer:
    def __init__(self, arguments, metrics=None):
        environment = dict(os.environ, CROCGPU_DEVICES="gfx90a")
        environment.pop("ROCPROFILER_METRICS_PATH", None)
        if metrics is not None:
            environment["ROCPROFILER_METRICS_PATH"] = metrics
        done = subprocess.run([CROCGPU, VALUES, KERNELS, *arguments], env=environment, text=True,
                              capture_output=True, timeout=60)
        self.status, self.errors = done.returncode, done.stderr
        self.lines = done.stdout.splitlines()

    def value(self, name):
        """(instances, sum), or None."""
        for line in self.lines:
            if line.startswith("value %s " % name):
                return int(line.split()[2]), float(line.split()[3])
        return None

    def text(self, what, name):
        for line in self.lines:
            if line.startswith("%s %s " % (what, name)):
                return line.split(" ", 2)[2]
        return None


def evaluate(*expressions):
    """Values of expressions on one GPU, as (instances, sum)."""
    names = ["E%d" % i for i in range(len(expressions))]
    answer = Answer([a for n, e in zip(names, expressions) for a in ("create=%s:%s" % (n, e), n)])
    return [answer.value(n) for n in names]


class Definitions(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "counter_defs.yaml")

    def tearDown(self):
        self.directory.cleanup()

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)

    def test_a_file_replaces_the_shipped_definitions(self):
        self.write(OLD_SCHEMA)
        answer = Answer(["SQ_WAVES", "Twice", "GPU_UTIL", "Elsewhere", "TCC_HIT"],
                        self.directory.name)
        self.assertEqual(answer.status, 0, answer.errors)
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))
        self.assertEqual(answer.value("Twice"), (1, 2 * WAVES))
        self.assertTrue(0 < answer.value("GPU_UTIL")[1] <= 100)
        self.assertIn("missing Elsewhere", answer.lines)
        self.assertIn("missing TCC_HIT", answer.lines)
        self.assertEqual(answer.text("description", "SQ_WAVES"), "Of all.")

    def test_the_newer_schema_is_read_too(self):
        self.write(NEW_SCHEMA)
        answer = Answer(["SQ_WAVES", "Twice"], self.directory.name)
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))
        self.assertEqual(answer.value("Twice"), (1, 2 * WAVES))
        self.assertEqual(answer.text("expression", "Twice"), "reduce(SQ_WAVES,sum)*2")

    def test_a_directory_without_the_file_keeps_the_shipped_ones(self):
        answer = Answer(["SQ_WAVES", "TCC_HIT"], self.directory.name)
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))
        self.assertEqual(answer.value("TCC_HIT")[0], 32)

    def test_loaded_definitions_replace(self):
        self.write(OLD_SCHEMA)
        answer = Answer(["load=" + self.path, "Twice", "TCC_HIT"])
        self.assertIn("load 0", answer.lines)
        self.assertEqual(answer.value("Twice"), (1, 2 * WAVES))
        self.assertIn("missing TCC_HIT", answer.lines)

    def test_loaded_definitions_extend(self):
        self.write("Mine: {architectures: {gfx90a: {expression: 'reduce(SQ_WAVES,sum)/4'}}}\n")
        answer = Answer(["append=" + self.path, "Mine", "TCC_HIT"])
        self.assertEqual(answer.value("Mine"), (1, WAVES / 4))
        self.assertEqual(answer.value("TCC_HIT")[0], 32)

    def test_made_counters_count(self):
        answer = Answer(["create=Half:reduce(SQ_WAVES,sum)*0.5", "Half", "create=Half:1",
                         "create=Bad:SQ_WAVES+", "Bad"])
        self.assertEqual(answer.value("Half"), (1, WAVES / 2))
        self.assertIn("create Half 0", answer.lines)
        self.assertNotIn("create Half 0", answer.lines[answer.lines.index("create Half 0") + 1:])
        self.assertNotIn("create Bad 0", answer.lines)
        self.assertIn("missing Bad", answer.lines)

    def wrong(self, text, place, word, others=("SQ_WAVES",)):
        """A mistake is told with file, line and column; what is right stays usable."""
        self.write(text)
        answer = Answer(list(others), self.directory.name)
        self.assertEqual(answer.status, 0, answer.errors)
        told = [l for l in answer.errors.splitlines()
                if "counter_defs.yaml:%s" % place in l and word in l]
        self.assertTrue(told, "%s, %s not in\n%s" % (place, word, answer.errors))
        return answer

    def test_an_unknown_key_is_told(self):
        answer = self.wrong("SQ_WAVES: {architectures: {gfx90a: {block: SQ, event: 4}}}\n"
                            "Wrong:\n"
                            "  architectures:\n"
                            "    gfx90a:\n"
                            "      blok: SQ\n", "5:", "blok")
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))

    def test_syntax_errors_are_told(self):
        self.wrong("SQ_WAVES: {architectures: {gfx90a: {block: SQ, event: 4}}\nX: [\n", "", "",
                   ("CU_NUM",))

    def test_a_computed_counter_with_a_block_is_told(self):
        answer = self.wrong("SQ_WAVES: {architectures: {gfx90a: {block: SQ, event: 4}}}\n"
                            "Both: {architectures: {gfx90a: {block: SQ, event: 4,"
                            " expression: '1'}}}\n", "2:", "Both")
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))

    def test_mistakes_in_expressions_are_told(self):
        self.write("SQ_WAVES: {architectures: {gfx90a: {block: SQ, event: 4}}}\n"
                   "Loop: {architectures: {gfx90a: {expression: Pool+1}}}\n"
                   "Pool: {architectures: {gfx90a: {expression: Loop+1}}}\n"
                   "Gone: {architectures: {gfx90a: {expression: NO_SUCH*2}}}\n"
                   "Odd: {architectures: {gfx90a: {expression: 'reduce(SQ_WAVES,median)'}}}\n")
        answer = Answer(["SQ_WAVES", "Loop", "Gone", "Odd"], self.directory.name)
        self.assertEqual(answer.status, 0, answer.errors)
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))
        for name, word in (("Loop", "itself"), ("Gone", "NO_SUCH"), ("Odd", "median")):
            self.assertIn("missing " + name, answer.lines)
            self.assertTrue([l for l in answer.errors.splitlines() if name in l and word in l],
                            answer.errors)

    def test_an_unreadable_file_is_told(self):
        os.mkdir(self.path)
        answer = Answer(["SQ_WAVES"], self.directory.name)
        self.assertEqual(answer.status, 0, answer.errors)
        self.assertEqual(answer.value("SQ_WAVES"), (8, WAVES))


class Expressions(unittest.TestCase):
    def test_operators_and_precedence(self):
        w = "reduce(SQ_WAVES,sum)"
        self.assertEqual(evaluate(w + "+2*3", "(" + w + "+2)*3", w + "-1-1", w + "/2/2", "-" + w,
                                  "0.5*" + w, "1e2/" + w),
                         [(1, 38), (1, 102), (1, 30), (1, 8), (1, -32), (1, 16), (1, 3.125)])

    def test_a_number_and_many_places(self):
        self.assertEqual(evaluate("SQ_WAVES*2", "2*SQ_WAVES", "100-SQ_WAVES", "SQ_WAVES/SQ_WAVES"),
                         [(8, 64), (8, 64), (8, 800 - 32), (8, 8)])

    def test_division_by_zero_is_zero(self):
        self.assertEqual(evaluate("SQ_WAVES/0", "1/(SQ_WAVES-SQ_WAVES)"), [(8, 0), (8, 0)])

    def test_reductions(self):
        """8 groups on 8 shader engines: a group, 4 waves, for each."""
        self.assertEqual(evaluate("reduce(SQ_WAVES,sum)", "reduce(SQ_WAVES,avr)",
                                  "reduce(SQ_WAVES,min)", "reduce(SQ_WAVES,max)"),
                         [(1, 32), (1, 4), (1, 4), (1, 4)])

    def test_accumulate_none_is_the_counter_itself(self):
        plain, none = evaluate("reduce(SQ_WAVES,sum)", "reduce(accumulate(SQ_WAVES,NONE),sum)")
        self.assertEqual(plain, none)

    def test_high_resolution_adds_up_four_times_as_often(self):
        high, low = evaluate("reduce(accumulate(SQ_LEVEL_WAVES,HIGH_RES),sum)",
                             "reduce(accumulate(SQ_LEVEL_WAVES,LOW_RES),sum)")
        self.assertGreater(high[1], 0)
        self.assertAlmostEqual(high[1] / low[1], 4, delta=0.2)

    def test_the_occupancy_of_the_specification(self):
        value, = evaluate("accumulate(SQ_LEVEL_WAVES,HIGH_RES)/reduce(GRBM_GUI_ACTIVE,max)/CU_NUM")
        self.assertEqual(value[0], 8)
        self.assertGreater(value[1], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
