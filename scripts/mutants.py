#!/usr/bin/env python3
"""make mutants: can the tests see a fault? Puts small faults into a copy of the tree (mutant_tree.py) and runs the
tests that enter the function of each: unit tests first, then the others, the quickest first, until one fails.

    scripts/mutants.py --build build --count 30 --seed 1 src/session softgpu/wave/ds.c
    scripts/mutants.py --build build --again before.txt

The copy and its build are BUILD/mutants, kept for the next time, as is what each test entered. What survived stands
there in survivors.txt, which --again takes: it judges those once more, after tests were added (give the file another
name); it runs unit tests anew, and of the others those that it has not seen."""
import argparse
import collections
import concurrent.futures
import difflib
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from mutant_tree import CROC_SEEN_BYTES, Compiler, Mutant, Tree, digest, function_of, with_line

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
# Not what tests run: programs of the build; and code that goes to other processes without what it would refer to.
NOT_DRAWN = re.compile(r"(_test|_bench|_make)\.c$|/test/|^src/api/rocattach/helper\.c$")
# What the compiler warns of does not build here; but a function that is not called any more is no fault of its own.
COMPILED = "-Werror -Wno-unused"
RECORD_S = 300  # of a test
# Not about the behaviour of src/ and softgpu/, or builds of their own: a mutant would be "killed" by its style.
LEFT_OUT = re.compile(r"^(rules|root|sanitize|deb|containers|install|man|headers)/|[_/](forky|trixie|experimental)$")

NOT_KILLED = ("known", "survived", "late", "unseen")


def code_lines(text):
    """(number, line) inside functions and outside comments, preprocessor lines and tables."""
    lines, inside_comment = text.split("\n"), False
    for number, line in enumerate(lines):
        was_inside, opened = inside_comment, line.rfind("/*")
        inside_comment = opened > line.rfind("*/") if opened >= 0 else was_inside and "*/" not in line
        if not was_inside and not NOT_CODE.match(line) and not line.endswith("\\") and function_of(lines, number):
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
                yield Mutant(0, path, number + 1, name, changed + lines[number][len(code):])


def drawn(texts, seed):
    """Endless: a file by its number of lines, then one of its faults, each once."""
    chance, seen = random.Random(seed), set()
    weights = [text.count("\n") for text in texts.values()]
    for _ in range(100 * len(texts) + 10000):
        path = chance.choices(list(texts), weights)[0]
        by_fault = collections.defaultdict(list)
        for mutant in mutants_of(path, texts[path]):
            by_fault[mutant.fault].append(mutant)
        if by_fault:
            mutant = chance.choice(by_fault[chance.choice(sorted(by_fault))])
            if mutant not in seen:
                seen.add(mutant)
                yield mutant


def valid(compiler, texts, mutants, count, jobs):
    """The first of these that compile to something else, numbered; and how many did not, or to the same."""
    found, others, plain = [], collections.Counter(), {}

    def result(mutant):
        text = texts[mutant.path]
        before = plain.get(mutant.path) or compiler.object_of(mutant.path, text, "same", COMPILED)
        plain[mutant.path] = before
        made = compiler.object_of(mutant.path, with_line(text, mutant), "same", COMPILED)
        return mutant, "broken" if not made else "same" if made == before else ""

    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        while len(found) < count:
            some = list(itertools.islice(mutants, jobs * 8))
            if not some:
                break
            by_path = collections.defaultdict(list)  # one file is compiled in one place at a time
            for mutant in some:
                by_path[mutant.path].append(mutant)
            results = threads.map(lambda group: [result(mutant) for mutant in group], by_path.values())
            kinds = dict(pair for group in results for pair in group)
            for mutant in some:
                if kinds[mutant]:
                    others[kinds[mutant]] += 1
                elif len(found) < count:
                    found.append(mutant._replace(number=len(found) + 1))
    return found, others


def tests_of(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             stdout=subprocess.PIPE).stdout
    tests = [Test(entry, build) for entry in json.loads(listing)["tests"] if "command" in entry]
    return [test for test in tests if not test.makes_something and not LEFT_OUT.search(test.name)]


class Test:
    def __init__(self, entry, build):
        properties = {item["name"]: item["value"] for item in entry["properties"]}
        self.name, self.command = entry["name"], entry["command"]
        self.skip = properties.get("SKIP_RETURN_CODE")
        self.makes_something = "FIXTURES_SETUP" in properties  # a root of another release: no test of ours
        self.settings = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        self.says = [re.compile(pattern, re.S) for pattern in properties.get("PASS_REGULAR_EXPRESSION", [])]
        self.folder = properties.get("WORKING_DIRECTORY", str(build))
        self.cost_s, self.entered, self.lock = 0.0, set(), threading.Lock()
        self.is_program = pathlib.Path(self.command[0]).parent == build / "tests" \
            and "unit" in properties.get("LABELS", [])

    def passes(self, limit_s, **settings):
        with self.lock, tempfile.TemporaryFile() as file:
            output = file if self.says else subprocess.DEVNULL
            child = subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.settings, **settings},
                                     stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
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
            if self.says and status >= 0:  # as CTest does: not by its status
                file.seek(0)
                text = file.read().decode(errors="replace")
                return any(pattern.search(text) for pattern in self.says)
        return status == 0 or status == self.skip


class Record:
    """What each test entered: digests of the mutants of such functions."""

    def __init__(self, folder, mutants):
        self.folder, self.mutants = folder / "entered", mutants
        self.keys = {digest(mutant): mutant.number for mutant in mutants}
        self.folder.mkdir(exist_ok=True)

    def load(self, test):
        kept = self.folder / (test.name.replace("/", "+") + ".json")
        if not kept.exists():
            return False
        record = json.loads(kept.read_text())
        test.cost_s, test.entered = record["cost_s"], {self.keys[key] for key in record["entered"] if key in self.keys}
        return record["passes"] and set(record["asked"]) >= set(self.keys)

    def make(self, test):
        """False: it fails without any mutant, and can see none."""
        name = test.name.replace("/", "+")
        seen = self.folder / (name + ".seen")
        seen.write_bytes(bytes(CROC_SEEN_BYTES))
        since = time.monotonic()
        passes = test.passes(RECORD_S, CROC_MUTANT_SEEN=str(seen))
        test.cost_s, entered = time.monotonic() - since, seen.read_bytes()
        test.entered = {number for number in self.keys.values() if entered[number]}
        keys = [key for key, number in self.keys.items() if entered[number]]
        (self.folder / (name + ".json")).write_text(json.dumps(
            {"cost_s": round(test.cost_s, 2), "passes": passes, "asked": list(self.keys), "entered": keys}))
        seen.unlink()
        return passes

    def make_alone(self, test):
        """One that failed beside others, as make check does it (decision 0025)."""
        passes = self.make(test)
        if not passes:
            print(f"{test.name} fails without a mutant, and is left out", flush=True)
        return passes

    def of(self, tests, jobs, keep):
        """The tests that can be asked; `keep`: take what is known of those that are not unit tests."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
            known = [keep and not test.is_program and self.load(test) for test in tests]
            passing = list(threads.map(lambda test, is_known: is_known or self.make(test), tests, known))
        return [test for test, passes in zip(tests, passing) if passes or self.make_alone(test)]


def judge(tests, mutant, limit_s):
    """"unseen" (no test enters its function), "survived", "late" (survived until the time was up), or the name of the
    test that saw it."""
    asked = [test for test in tests if mutant.number in test.entered]
    until = time.monotonic() + limit_s
    for test in sorted(asked, key=lambda test: (not test.is_program, test.cost_s)):
        if time.monotonic() > until:
            return "late"
        test_s, settings = 10 + 5 * test.cost_s, {"CROC_MUTANT": str(mutant.number)}
        # not by chance, on a busy machine
        if not test.passes(test_s, **settings) and not test.passes(test_s, **settings) and test.passes(test_s):
            return test.name
    return "survived" if asked else "unseen"


def equivalents(source):
    """What is known to change nothing that anybody could see: (path, fault, the line as it stands)."""
    lines = (source / "data" / "mutants" / "equivalent.txt").read_text().split("\n")
    return {tuple(line.split("\t")) for line in lines if line and not line.startswith(("#", "    "))}


def is_equivalent(tree, mutant, known):
    line = (tree / mutant.path).read_text().split("\n")[mutant.line - 1].strip()
    return (mutant.path, mutant.fault, line) in known


def as_before(source, diffs):
    """The mutants of a survivors.txt, where the lines of each stand in the tree once."""
    for diff in diffs.read_text().split("\n\n--- "):
        head, body = diff.strip("\n").split("\n@@", 1)
        path = head.removeprefix("--- ").split("\n")[0]
        lines = body.split("\n")[1:]
        old, new = ("\n".join(line[1:] for line in lines if not line.startswith(sign)) for sign in "+-")
        text, changed = (source / path).read_text(), next(at for at, line in enumerate(lines) if line.startswith("-"))
        if text.count(old) == 1:
            yield Mutant(0, path, text[:text.index(old)].count("\n") + changed + 1, head.split("+++ ")[1],
                         new.split("\n")[changed])
        else:
            print(f"gone     {path}: {head.split('+++ ')[1]}", flush=True)


def diff_of(source, mutant):
    text = (source / mutant.path).read_text()
    return "\n".join(difflib.unified_diff(text.split("\n"), with_line(text, mutant).split("\n"), mutant.path,
                                          mutant.fault, n=1, lineterm=""))


def judge_all(source, folder, tests, mutants, options):
    results, survivors, known, lock = collections.Counter(), {}, equivalents(source), threading.Lock()

    def one(mutant):
        result = "known" if is_equivalent(source, mutant, known) else judge(tests, mutant, options.limit_s)
        kind = result if result in NOT_KILLED else "killed"
        with lock:
            results[kind] += 1
            print(f"{kind:8} {mutant.path}:{mutant.line} {mutant.fault}{': ' + result if kind == 'killed' else ''}",
                  flush=True)
            if kind in ("survived", "late", "unseen"):
                survivors[mutant.number] = diff_of(source, mutant)
                (folder / "survivors.txt").write_text("\n\n".join(survivors.values()) + "\n")

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as threads:
        list(threads.map(one, mutants))
    return results


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
    # A shell's background job ignores these, and so would the programs of the tests that send them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    source = pathlib.Path(__file__).resolve().parent.parent
    folder = options.build.resolve() / "mutants"
    tree = Tree(source, folder, options.jobs)
    compiler = Compiler(source, folder.parent, tree.tree)
    names = subprocess.run(["git", "-C", source, "ls-files", "--", *options.paths], check=True,
                           stdout=subprocess.PIPE).stdout.decode().split()
    texts = {name: (source / name).read_text() for name in names
             if name.endswith(".c") and not NOT_DRAWN.search(name) and compiler.knows(name)}
    chosen = (mutant for mutant in as_before(source, options.again) if mutant.path in texts) if options.again \
        else drawn(texts, options.seed)
    mutants, others = valid(compiler, texts, chosen, CROC_SEEN_BYTES - 1 if options.again else options.count,
                            options.jobs)
    unplaced = tree.place(mutants)
    mutants = [mutant for mutant in mutants if mutant not in unplaced]
    print(f"{len(mutants)} mutants", *(f"not placed: {mutant.path}:{mutant.line}" for mutant in unplaced), sep="\n",
          flush=True)
    if not tree.make():
        sys.exit("mutants: the tree does not build with all of them")
    tests = Record(folder, mutants).of(tests_of(tree.build), options.jobs, options.again)
    results = judge_all(source, folder, tests, mutants, options)
    print(f"{results['killed']} killed, {results['known']} known to be equivalent, {results['survived']} survived, "
          f"{results['late']} as long as was waited, {results['unseen']} in functions that no test enters "
          f"({others['same']} compiled to the same, {others['broken']} did not compile, {len(unplaced)} not placed)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
