"""For mutants.py: a copy of the tree, built once, that has all mutants in it.

A function that has mutants begins with a copy of its body for each, which runs where CROC_MUTANT is the mutant's
number (mutant.h). So a mutant costs no build of its own, and several can be tried at once."""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

EVERYTHING = ["all", "unit_tests", "tests/all"]
CROC_SEEN_BYTES = 1 << 16  # as in mutant.h
LABEL = re.compile(r"^([ \t]*)(\w+):(?=\s*$)", re.M)

# number: 1 and on, by which CROC_MUTANT chooses it; line: from 1; changed: what stands there instead
Mutant = collections.namedtuple("Mutant", "number path line fault changed")


def with_line(text, mutant):
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.changed
    return "\n".join(lines)


def function_of(lines, place):
    """(first line behind "{", the line of "}") of the function around a line; None outside of any."""
    begin = next((at for at in range(place, -1, -1) if lines[at] in ("{", "}", "};")), None)
    end = next((at for at in range(place, len(lines)) if lines[at].startswith("}")), None)
    if begin is None or end is None or lines[begin] != "{" or lines[end] != "}":
        return None
    return begin + 1, end


def copy_of(lines, begin, end, mutant):
    """The body with the mutant in it, for the function's head."""
    body = list(lines[begin:end])
    body[mutant.line - 1 - begin] = mutant.changed
    text = "\n".join(body)
    for name in {match[2] for match in LABEL.finditer(text)} - {"default"}:
        text = re.sub(rf"(\bgoto |^[ \t]*|&&){name}\b(?=\s*[;:,]|\s*$)", rf"\g<1>{name}_{mutant.number}", text,
                      flags=re.M)
    head = "\n".join(lines[max(0, begin - 8):begin - 1]).rsplit("\n\n", 1)[-1]
    ends = "    return;\n" if re.search(r"\bvoid\s+\w+\(", head) else ""
    return f"    if (croc_mutant_is({mutant.number})) {{\n{text}\n{ends}    }}"


def with_mutants(text, mutants):
    lines, copies = text.split("\n"), collections.defaultdict(list)
    for mutant in mutants:
        place = function_of(lines, mutant.line - 1)
        copies[place[0]].append(copy_of(lines, *place, mutant))
    for begin in sorted(copies, reverse=True):
        lines[begin:begin] = copies[begin]
    header = pathlib.Path(__file__).resolve().parent / "mutant.h"
    return f'#include "{header}"\n' + "\n".join(lines)


class Compiler:
    """Compiles single sources of the tree as its build would, in another place."""

    def __init__(self, source, build, tree):
        self.source, self.tree, self.commands = source, tree, {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            self.commands.setdefault(entry["file"], entry["command"])

    def knows(self, path):
        return str(self.source / path) in self.commands

    def object_of(self, path, text, name, warnings="-w"):
        """None: it does not compile. A name of the file, since objects contain it."""
        place = self.tree / path
        file = place.parent / "mutant" / f"{place.stem}-{name}" / place.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        command = self.commands[str(self.source / path)]
        words = re.sub(r" -o \S+ -c \S+$", "", command).replace("-Werror", warnings).split()
        done = subprocess.run([*words, f"-I{place.parent}", "-o", "made.o", "-c", file.name], cwd=file.parent,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = (file.parent / "made.o").read_bytes() if done.returncode == 0 else None
        shutil.rmtree(file.parent)
        return made


class Tree:
    def __init__(self, source, folder, jobs):
        self.source, self.tree, self.build, self.jobs = source, folder / "tree", folder / "tree" / "build", jobs
        self.folder = folder
        self.tree.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(["git", "-C", source, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        self.names = {name for name in files.decode().split("\0") if (source / name).is_file()}

    def place(self, mutants):
        """Writes the tree with these; returns those that could not be placed."""
        compiler, by_path, left_out = Compiler(self.source, self.folder.parent, self.tree), {}, []
        for mutant in mutants:
            by_path.setdefault(mutant.path, []).append(mutant)

        def fitting(path):
            text, wanted = (self.source / path).read_text(), by_path[path]
            if compiler.object_of(path, with_mutants(text, wanted), "all"):
                return path, wanted
            return path, [mutant for mutant in wanted
                          if compiler.object_of(path, with_mutants(text, [mutant]), str(mutant.number))]

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as threads:
            placed = dict(threads.map(fitting, by_path))
        for path, wanted in by_path.items():
            left_out += [mutant for mutant in wanted if mutant not in placed[path]]
        for name in self.names:
            text = (self.source / name).read_bytes()
            if placed.get(name):
                text = with_mutants(text.decode(), placed[name]).encode()
            self.write(name, text)
        self.remove_others()
        return left_out

    def write(self, name, text):
        target = self.tree / name
        if target.exists() and target.read_bytes() == text:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        shutil.copymode(self.source / name, target)

    def remove_others(self):
        for folder, folders, found in os.walk(self.tree):
            here = pathlib.Path(folder)
            folders[:] = [name for name in folders if here / name != self.build]
            for path in (here / name for name in found):
                if str(path.relative_to(self.tree)) not in self.names:
                    path.unlink()

    def make(self):
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release", "-DCROC_WERROR=OFF", "-DCMAKE_C_FLAGS=-w"], cwd=self.tree,
                           check=True, stdout=subprocess.DEVNULL)
        return subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", *EVERYTHING]).returncode == 0


def digest(mutant):
    words = "\t".join([mutant.path, str(mutant.line), mutant.fault, mutant.changed])
    return hashlib.sha256(words.encode()).hexdigest()[:16]
