"""For mutants.py: which tests execute which lines of the tree.

A build of its own, by clang, counts. Its counters lie in mapped files: what a program counted stays when a
signal or _exit ends it, and what it forked counts too. Each test runs there once; what it executed is kept in a file."""
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess

FLAGS = "-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation -w"
SETTINGS = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCROC_WERROR=OFF", "-DCMAKE_C_COMPILER=clang-14",
            "-DCMAKE_CXX_COMPILER=clang++-14",
            f"-DCROC_CCACHE={pathlib.Path(__file__).resolve().parent}/clang_or_copy.sh", f"-DCMAKE_C_FLAGS={FLAGS}",
            f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DCMAKE_C_FLAGS_RELEASE=-O1", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
LIMIT_S = 120


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def is_elf(path):
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


class Coverage:
    def __init__(self, tree, folder, jobs):
        self.tree, self.build, self.folder, self.jobs = tree, tree / "coverage", folder / "lines", jobs
        self.folder.mkdir(exist_ok=True)
        self.costs_s = {}  # of a test that was run here
        self.executed = collections.defaultdict(lambda: collections.defaultdict(set))  # path -> line -> tests
        self.code = collections.defaultdict(set)  # path -> lines that can be executed
        self.texts = {}  # (path, test) -> digest of what was executed

    def make(self):
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "-S", self.tree, "-B", self.build, *SETTINGS], check=True,
                           stdout=subprocess.DEVNULL)
        # what clang does not build is missing in what its tests execute, no more
        subprocess.run(["ninja", "-k0", "-C", self.build, f"-j{self.jobs}", "all", "unit_tests", "tests/all"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def record(self, tests):
        """Runs those of the build's tests (mutants.py's) that are newer than what is kept of them."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as threads:
            list(threads.map(self.record_one, sorted(tests, key=lambda test: not test.is_program)))

    def record_one(self, test):
        name = test.name.replace("/", "+")
        kept, raw = self.folder / (name + ".json"), self.folder / "raw" / name
        if kept.exists() and all(file.stat().st_mtime <= kept.stat().st_mtime for file in test.files):
            return
        shutil.rmtree(raw, ignore_errors=True)
        test.passes(LIMIT_S, LLVM_PROFILE_FILE=f"{raw}/%m%c.profraw")
        kept.write_text(json.dumps({"cost_s": round(test.cost_s, 2), "files": self.files_of(test, raw)}))
        shutil.rmtree(raw, ignore_errors=True)
        print(f"{test.name}: {test.cost_s:.1f} s", flush=True)

    def files_of(self, test, raw):
        """path -> [digest, lines executed, lines not executed]"""
        whole = raw / "whole.profdata"
        if not raw.exists() or subprocess.run(["llvm-profdata-14", "merge", "-sparse", "-o", whole, raw],
                                              stderr=subprocess.DEVNULL).returncode:
            return {}
        files = test.files
        if not test.is_program:
            files += [path for name in ("bin", "lib", "libexec") for path in (self.build / name).rglob("*")]
        objects = {str(path.resolve()) for path in files if self.build in path.resolve().parents and is_elf(path)}
        objects = [word for path in sorted(objects) for word in ("-object", path)][1:]
        text = subprocess.run(["llvm-cov-14", "export", "-format=lcov", f"-instr-profile={whole}", *objects],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        files = {}
        for section in text.split("end_of_record\n")[:-1]:
            path = pathlib.Path(section.split("SF:", 1)[1].split("\n", 1)[0]).resolve()
            counts = [line[3:].split(",") for line in section.split("\n") if line.startswith("DA:")]
            lines = [[int(line) for line, count in counts if (count != "0") == is_executed]
                     for is_executed in (True, False)]
            if self.tree in path.parents and self.build not in path.parents and lines[0]:
                files[str(path.relative_to(self.tree))] = [digest(path), *lines]
        return files

    def load(self):
        for kept in self.folder.glob("*.json"):
            entry, test = json.loads(kept.read_text()), kept.stem.replace("+", "/")
            self.costs_s[test] = entry["cost_s"]
            for path, (text, lines, others) in entry["files"].items():
                self.texts[path, test] = text
                self.code[path].update(lines, others)
                for line in lines:
                    self.executed[path][line].add(test)

    def tests_of(self, path, line):
        """The tests that execute it; of a line that is no code, or that stood elsewhere, those that execute the file.
        None: any of those that depend on the file might, which does not count."""
        if path not in self.code:
            return None
        now = digest(self.tree / path)
        whole = {test for (name, test), text in self.texts.items() if name == path and text != now}
        if line in self.code[path]:
            return whole | self.executed[path][line]
        return {test for name, test in self.texts if name == path}
