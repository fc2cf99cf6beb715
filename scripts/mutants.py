#!/usr/bin/env python3
"""make mutants: can the tests see a fault? Puts one small fault after another into a copy of the tree and runs
the tests that execute its line (coverage.py): unit tests first, then the others, the quickest first, until one fails.

    scripts/mutants.py --build build --count 30 --seed 1 src/session softgpu/wave/ds.c
    scripts/mutants.py --build build --again before.txt

The copy and its builds are BUILD/mutants, kept for the next time. What survived stands there in survivors.txt, which
--again takes: it judges those once more, after tests were added (give the file another name)."""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import coverage

# A fault: its name, what it is put in the place of, and by what. Blanks around operators are the dialect's.
FAULTS = [(name, re.compile(pattern), text) for name, pattern, text in [
    ("< as <=", r" < ", " <= "), ("<= as <", r" <= ", " < "),
    ("> as >=", r" > ", " >= "), (">= as >", r" >= ", " > "),
    ("== as !=", r" == ", " != "), ("!= as ==", r" != ", " == "),
    ("&& as ||", r" && ", " || "), ("|| as &&", r" \|\| ", " && "),
    ("+ as -", r"(?<=[\w)\]]) \+ ", " - "), ("- as +", r"(?<=[\w)\]]) - ", " + "),
    ("* as +", r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
    ("<< as >>", r" << ", " >> "), (">> as <<", r" >> ", " << "),
    ("& as |", r"(?<=[\w)\]]) & (?=[\w(~])", " | "), ("| as &", r"(?<=[\w)\]]) \| (?=[\w(~])", " & "),
    ("+= as -=", r" \+= ", " -= "), ("|= as &=", r" \|= ", " &= "),
    ("++ as --", r"\+\+", "--"),
    ("true as false", r"return true;", "return false;"), ("false as true", r"return false;", "return true;"),
    ("0 as -1", r"return 0;", "return -1;"), ("error as 0", r"return -E\w+;", "return 0;"),
    ("NULL as not", r"return NULL;", "return (void *)8;"),
    ("if as if not", r"^(\s*)if \((.*)\)$", r"\1if (!(\2))"),
    ("one more", r"(?<=[ (\[])(\d+)(?=[;)\],: ])", lambda match: str(int(match[1]) + 1)),
    ("no call", r"^(\s+)[a-z]\w+\([^;{}]*\);$", r"\1;"),
    ("no assignment", r"^(\s+)[a-z][\w>.\[\]-]*(?: [|+-]?= )[^;{}]*;$", r"\1;"),
]]
NOT_CODE = re.compile(r"^\s*(#|//|/?\*|X\(|static_assert|_Static_assert|extern|typedef)|for \(|enum")
# Not about the behaviour of src/ and softgpu/, or builds of their own: a mutant would be "killed" by its style.
LEFT_OUT = re.compile(r"^(rules|root|sanitize|deb|containers|install|man|headers)/|[_/](forky|trixie|experimental)$")

EVERYTHING = ["all", "unit_tests", "tests/all"]
BUILD_S = 600  # of what one fault changes
NOT_KILLED = ("same", "broken", "known", "survived", "late", "unseen")

Mutant = collections.namedtuple("Mutant", "path line fault text")


def code_lines(text):
    """(number, line) outside comments, preprocessor lines and tables."""
    inside_comment = False
    for number, line in enumerate(text.split("\n")):
        was_inside, opened = inside_comment, line.rfind("/*")
        inside_comment = opened > line.rfind("*/") if opened >= 0 else was_inside and "*/" not in line
        if not was_inside and not NOT_CODE.match(line) and not line.endswith("\\"):
            yield number, line.split("/*")[0].rstrip() if opened >= 0 else line


def mutants_of(path, text):
    lines = text.split("\n")
    for number, code in code_lines(text):
        blank = re.sub(r'"(\\.|[^"\\])*"', lambda match: '"' + "_" * (len(match[0]) - 2) + '"', code)
        for name, pattern, replacement in FAULTS:
            for match in pattern.finditer(blank):
                original = pattern.match(code, match.start()) or match
                changed = code[:match.start()] + original.expand(replacement) + code[match.end():] \
                    if isinstance(replacement, str) else \
                    code[:match.start()] + replacement(match) + code[match.end():]
                whole = lines[:number] + [changed + lines[number][len(code):]] + lines[number + 1:]
                yield Mutant(path, number + 1, name, "\n".join(whole))


def drawn(tree, files, seed):
    """Endless: a file by its number of lines, then one of its faults, each once."""
    chance, seen = random.Random(seed), set()
    texts = {path: (tree / path).read_text() for path in files}
    weights = [text.count("\n") for text in texts.values()]
    for _ in range(100 * len(texts) + 10000):
        path = chance.choices(list(texts), weights)[0]
        candidates = list(mutants_of(path, texts[path]))
        by_fault = collections.defaultdict(list)
        for mutant in candidates:
            by_fault[mutant.fault].append(mutant)
        if by_fault:
            mutant = chance.choice(by_fault[chance.choice(sorted(by_fault))])
            key = (mutant.path, mutant.line, mutant.text)
            if key not in seen:
                seen.add(key)
                yield mutant


class Place:
    """The copy of the tree, built."""

    def __init__(self, source, folder, jobs):
        self.tree, self.build, self.jobs = folder / "tree", folder / "tree" / "build", jobs
        self.tree.mkdir(parents=True, exist_ok=True)
        self.lines = coverage.Coverage(self.tree, folder, jobs)
        files = subprocess.run(["git", "-C", source, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        names = set(files.decode().split("\0")[:-1])
        for name in names:
            self.copy(source / name, self.tree / name)
        for folder, folders, found in os.walk(self.tree):
            here = pathlib.Path(folder)
            folders[:] = [name for name in folders if here / name not in (self.build, self.lines.build)]
            for path in (here / name for name in found):
                if str(path.relative_to(self.tree)) not in names:
                    path.unlink()
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release"], cwd=self.tree, check=True, stdout=subprocess.DEVNULL)
        if not self.make(EVERYTHING, quiet=False):
            sys.exit("mutants: the tree does not build as it is")
        commands = json.loads((self.build / "compile_commands.json").read_text())
        self.objects = collections.defaultdict(list)
        for entry in commands:
            made = re.search(r" -o (\S+)", entry["command"])
            if made:
                self.objects[entry["file"]].append(self.build / made[1])
        self.tests = tests_of(self.build)

    def know_lines(self):
        self.lines.make()
        self.lines.record(tests_of(self.lines.build))
        self.lines.load()
        for test in self.tests:
            test.cost_s = self.lines.costs_s.get(test.name, 1e9)

    @staticmethod
    def copy(source, target):
        if not source.is_file():
            return
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def make(self, targets, quiet=True, limit_s=0):
        out = subprocess.DEVNULL if quiet else None
        command = ["timeout", str(limit_s), "ninja", "-C", self.build, f"-j{self.jobs}", *targets]
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode == 0

    def digests(self, path):
        return [hashlib.sha256(made.read_bytes()).digest() for made in self.objects[str(self.tree / path)]
                if made.exists()]


def tests_of(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             stdout=subprocess.PIPE).stdout
    tests = [Test(entry, build) for entry in json.loads(listing)["tests"] if "command" in entry]
    return [test for test in tests if not test.makes_something and not LEFT_OUT.search(test.name)]


class Test:
    def __init__(self, entry, build):
        properties = {item["name"]: item["value"] for item in entry["properties"]}
        self.name, self.command = entry["name"], entry["command"]
        self.labels, self.skip = properties.get("LABELS", []), properties.get("SKIP_RETURN_CODE")
        self.makes_something = "FIXTURES_SETUP" in properties  # a root of another release: no test of ours
        self.settings = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        self.folder = properties.get("WORKING_DIRECTORY", str(build))
        self.cost_s = properties.get("COST", 1e9)
        self.programs = [f"tests/{file.name}" for file in self.files if file.parent == build / "tests"]
        self.is_program = pathlib.Path(self.command[0]).parent == build / "tests" and "unit" in self.labels

    @property
    def files(self):
        words = [pathlib.Path(word) for word in [*self.command, *self.settings.values()]]
        return [word for word in words if word.is_file()]

    @property
    def targets(self):
        """What ninja must have made before it runs."""
        return self.programs if self.is_program else ["all", "tests/all", *self.programs]

    def depends_on_newer(self, since_ns):
        return any(file.stat().st_mtime_ns > since_ns for file in self.files)

    def passes(self, limit_s, **settings):
        start = time.monotonic()
        child = subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.settings, **settings},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            status = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            status = -1
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)  # what it left behind, too
            except ProcessLookupError:
                pass
            child.wait()
        self.cost_s = time.monotonic() - start
        return status == 0 or status == self.skip


def first_failure(tests, jobs, until):
    """The name of a test that fails; "survived" if none does, "late" if the time was up before all had run."""
    queue, failed = collections.deque(tests), []

    def work():
        while queue and not failed and time.monotonic() < until:
            test = queue.popleft()
            limit_s = max(20, 10 * test.cost_s if test.cost_s < 1e9 else 60)
            if not test.passes(limit_s) and not test.passes(limit_s):  # not by chance, on a busy machine
                failed.append(test.name)

    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        for _ in range(jobs):
            threads.submit(work)
    return failed[0] if failed else "late" if queue else "survived"


def judge(place, mutant, limit_s):
    """"same", "broken", "unseen" (no test executes it), "survived", "late" (survived until the time was up), or the
    name of the test that saw it."""
    file = place.tree / mutant.path
    seeing = place.lines.tests_of(mutant.path, mutant.line)
    if seeing is None:  # what is newer afterwards is so by the mutant
        place.make(EVERYTHING)
    original, before, since_ns = file.read_text(), place.digests(mutant.path), time.time_ns()
    try:
        file.write_text(mutant.text)
        if not place.make([str(made.relative_to(place.build)) for made in place.objects[str(file)]]):
            return "broken"
        if place.digests(mutant.path) == before and before:
            return "same"
        until = time.monotonic() + limit_s
        for are_programs in (True, False):
            tests = [test for test in place.tests if test.is_program == are_programs
                     and (seeing is None or test.name in seeing)]
            if tests and not place.make({target for test in tests for target in test.targets}, limit_s=BUILD_S):
                return "the build"  # a generator of ours has failed, or does not end
            if seeing is None:
                tests = [test for test in tests if not test.is_program or test.depends_on_newer(since_ns)]
            found = first_failure(sorted(tests, key=lambda test: test.cost_s), place.jobs, until)
            if found != "survived":
                return found
        return "unseen" if seeing == set() else "survived"
    finally:
        file.write_text(original)


def judge_for_sure(place, mutant, limit_s):
    """As judge(), without tests that fail just as well when there is no mutant."""
    while True:
        found = judge(place, mutant, limit_s)
        test = next((test for test in place.tests if test.name == found), None)
        if not test:
            return found
        place.make(test.targets)
        if test.passes(limit_s):
            return found
        print(f"{test.name} fails without a mutant, and is left out", flush=True)
        place.tests.remove(test)


def equivalents(source):
    """What is known to change nothing that anybody could see: (path, fault, the line as it stands)."""
    lines = (source / "data" / "mutants" / "equivalent.txt").read_text().split("\n")
    return {tuple(line.split("\t")) for line in lines if line and not line.startswith(("#", "    "))}


def is_equivalent(tree, mutant, known):
    line = (tree / mutant.path).read_text().split("\n")[mutant.line - 1].strip()
    return (mutant.path, mutant.fault, line) in known


def as_before(tree, diffs):
    """The mutants of a survivors.txt, where the lines of each stand in the tree once."""
    for diff in diffs.read_text().split("\n\n--- "):
        head, body = diff.strip("\n").split("\n@@", 1)
        path = head.removeprefix("--- ").split("\n")[0]
        lines = body.split("\n")[1:]
        old, new = ("\n".join(line[1:] for line in lines if not line.startswith(sign)) for sign in "+-")
        text = (tree / path).read_text()
        if text.count(old) == 1:
            changed = next(place for place, line in enumerate(lines) if line.startswith("-"))
            yield Mutant(path, text[:text.index(old)].count("\n") + changed + 1, head.split("+++ ")[1],
                         text.replace(old, new))
        else:
            print(f"gone     {path}: {head.split('+++ ')[1]}", flush=True)


def diff_of(tree, mutant):
    lines = difflib.unified_diff((tree / mutant.path).read_text().split("\n"), mutant.text.split("\n"),
                                 mutant.path, mutant.fault, n=1, lineterm="")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("paths", nargs="*", default=["src", "softgpu"], help="files or folders")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--count", type=int, default=30, help="mutants that compile to something else")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=pathlib.Path, help="judge these survivors, and no others")
    parser.add_argument("--limit-s", type=float, default=90, help="of tests for one mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parent.parent
    folder = options.build.resolve() / "mutants"
    place = Place(source, folder, options.jobs)
    place.know_lines()
    names = subprocess.run(["git", "-C", source, "ls-files", "--", *options.paths], check=True,
                           stdout=subprocess.PIPE).stdout.decode().split()
    files = [name for name in names if name.endswith(".c") and not name.endswith("_test.c") and "/test/" not in name]
    results, survivors = collections.Counter(), []
    chosen = as_before(place.tree, options.again) if options.again else drawn(place.tree, files, options.seed)
    known = equivalents(source)
    for mutant in chosen:
        result = "known" if is_equivalent(place.tree, mutant, known) else judge_for_sure(place, mutant, options.limit_s)
        kind = result if result in NOT_KILLED else "killed"
        results[kind] += 1
        print(f"{kind:8} {mutant.path}:{mutant.line} {mutant.fault}{': ' + result if kind == 'killed' else ''}",
              flush=True)
        if kind in ("survived", "late", "unseen"):
            survivors.append(diff_of(place.tree, mutant))
            (folder / "survivors.txt").write_text("\n\n".join(survivors) + "\n")
        if not options.again and results["killed"] + results["known"] + len(survivors) >= options.count:
            break
    place.make(EVERYTHING)
    print(f"{results['killed']} killed, {results['known']} known to be equivalent, {results['survived']} survived, "
          f"{results['late']} as long as was waited, {results['unseen']} executed by no test "
          f"({results['same']} compiled to the same, {results['broken']} did not compile)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
