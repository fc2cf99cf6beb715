"""One dialect (docs/decisions/0012), and what a comment says of every atomic.

null      `!p`, not `p == NULL`
blank     no blank line after the declarations at the head of a function
atomic    a comment beside or above each _Atomic says who writes and who reads it
order     no atomic operation without its order: seq_cst is written out, and no variable is used as if
          it were not atomic
there     `if (p)`, not `if (p != NULL)`
wait      no sleeping and no clock besides base/wait.h and base/clock.h

dialect_exceptions.txt lists what does not follow yet: rule, file and how many. It only shrinks: more
than listed is an error, and so is less, until the list says so (--shrink writes it).
"""
import collections
import os
import re
import sys

TOPS = ("src", "softgpu", "tool", "tests", "bench", "fuzz", "examples")
SHIPPED = ("src", "softgpu", "tool")  # where the rules on atomics and waiting hold
OF_SHIPPED = ("atomic", "order", "wait")
HERE = os.path.dirname(os.path.abspath(__file__))
LIST = "tests/rules/dialect_exceptions.txt"

IS_NULL = re.compile(r"[^=!<>]== NULL\b|\bNULL ==")
DECLARATION = re.compile(
    r"^    (?:(?:static|const|struct|enum|union|unsigned|_Atomic|volatile)\s+)*"
    r"(?:[a-z]\w*)\s[\s*]*(?:const )?[a-z_]\w*(?:\[[^;]*\])?(?:(?:\s=\s|,\s).*)?;$")
STATEMENT = re.compile(r"^    (?:return|goto|case|default|else|break|continue|sizeof)\b")
ATOMIC = re.compile(r"^\s*(?:static |extern |__thread )*(?:_Atomic\b(?! [\w#]+ \*)(?!\([^;]*\)+ \*)|atomic_(?:bool|int|uint|flag|size_t)\s)")
WHO = re.compile(r"\b(?:writers?|readers?|written|writes|reads?|sets?|owner|lock|relaxed|only)\b", re.I)
VARIABLE = re.compile(r"^(?:static |extern )?(?:_Atomic|atomic_\w+)\b.*;")
IMPLICIT = re.compile(r"\batomic_(?:load|store|exchange|fetch_\w+?|compare_exchange_\w+?|flag_\w+?)"
                      r"(?<!_explicit)\(")
IS_THERE = re.compile(r"^\s*(?:\} )?(?:else )?(?:if|while) \((?!.*__builtin_expect).*!= NULL\b")
WAIT = re.compile(r"\b(?:nanosleep|clock_nanosleep|usleep|sleep|clock_gettime|gettimeofday)\(")
WAITS = ("src/base/wait.c", "src/base/clock.h")  # where they stand


def sources(root):
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def is_test(path):
    return path.endswith(("_test.c", "_bench.c")) or "/test/" in path


def code_of(lines):
    """The lines without comments and the texts of string literals."""
    inside = False
    for line in lines:
        out = ""
        while line:
            if inside:
                end = line.find("*/")
                inside, line = end < 0, "" if end < 0 else line[end + 2:]
                continue
            match = re.search(r'/\*|//|"(?:\\.|[^"\\])*"', line)
            if not match:
                out, line = out + line, ""
            elif match.group() == "/*":
                out, line, inside = out + line[:match.start()], line[match.end():], True
            elif match.group() == "//":
                out, line = out + line[:match.start()], ""
            else:
                out, line = out + line[:match.start()] + '""', line[match.end():]
        yield out


def find_null(lines, code):
    return [i for i, line in enumerate(code) if IS_NULL.search(line)]


def find_blank(lines, code):
    for i, line in enumerate(lines):
        if line != "{" or i == 0 or not code[i - 1].rstrip().endswith(")"):
            continue
        at = i + 1
        while at < len(lines) and DECLARATION.match(code[at].rstrip()) and \
                not STATEMENT.match(code[at]):
            at += 1
        if at > i + 1 and at < len(lines) and lines[at] == "":
            yield at


def comment_above(lines, code, at):
    """The text of the comment block that ends above the line; fields share one."""
    while at > 0 and ATOMIC.match(code[at - 1]) and lines[at - 1].strip() == code[at - 1].strip():
        at -= 1
    text = ""
    while at > 0 and lines[at - 1].strip() and (code[at - 1].strip(" \\") == "" or "*/" in lines[at - 1]
                                                and ATOMIC.match(code[at - 1])):
        at -= 1
        text = lines[at] + " " + text
    return text


def find_atomic(lines, code):
    for i, line in enumerate(code):
        if not ATOMIC.match(line) or "(" in line and line.rstrip().endswith(")"):
            continue
        end = i + 1
        while end < len(lines) and not code[end - 1].strip().endswith((";", "{")):
            end += 1
        while end < len(lines) and lines[end - 1].count("/*") > lines[end - 1].count("*/"):
            end += 1
        beside = " ".join(lines[i:end])
        beside = beside[beside.find("/*"):] if "/*" in beside else ""
        if not WHO.search(beside + comment_above(lines, code, i)):
            yield i


def atomic_names(code):
    """Names of a file's own atomic variables, not of members."""
    for line in code:
        if VARIABLE.match(line) and not line.rstrip().endswith(");"):
            for part in re.sub(r"\[[^\]]*\]", "", line.split("=")[0].rstrip(" ;")).split(","):
                yield re.findall(r"\w+", part)[-1]


def find_order(lines, code):
    found = [i for i, line in enumerate(code) for _ in IMPLICIT.finditer(line)]
    names = "|".join(sorted(set(atomic_names(code))))
    plain = re.compile(rf"(?<![&\w.>])(?:{names})\b(?!\s*\()") if names else None
    for i, line in enumerate(code):
        if plain and not VARIABLE.match(line) and not line.startswith(("#", "enum ", "struct ")):
            found += [i for _ in plain.finditer(line)]
    return sorted(found)


def find_there(lines, code):
    return [i for i, line in enumerate(code) if IS_THERE.search(line)]


def find_wait(lines, code):
    return [i for i, line in enumerate(code) if WAIT.search(line)]


RULES = {"there": find_there, "wait": find_wait, "null": find_null, "blank": find_blank, "atomic": find_atomic, "order": find_order}


def found(root):
    places = collections.defaultdict(list)
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        if "generated by" in "\n".join(lines[:6]).lower():
            continue
        code = list(code_of(lines))
        for rule, find in RULES.items():
            if rule in OF_SHIPPED and (not path.startswith(SHIPPED) or is_test(path)):
                continue
            if rule == "wait" and path in WAITS:
                continue
            for at in find(lines, code):
                places[rule, path].append(at + 1)
    return places


def listed(root):
    path = os.path.join(root, LIST)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(rule, name): int(count) for rule, name, count in rows}


def list_write(root, counts):
    with open(os.path.join(root, LIST), "w", encoding="utf-8") as file:
        file.write("# rule, file, how many: see check_dialect.py. This list only shrinks.\n")
        for (rule, path), count in sorted(counts.items()):
            file.write(f"{rule} {path} {count}\n")


def total(counts, rule):
    return sum(count for (name, _), count in counts.items() if name == rule)


def differences(places, counts, allowed):
    for key in sorted(set(counts) | set(allowed)):
        (rule, path), count, limit = key, counts.get(key, 0), allowed.get(key, 0)
        if count > limit:
            lines = ",".join(map(str, places[key]))
            yield f"{path}:{lines}: {rule}: {count}, not {limit}"
        elif count < limit:
            yield f"{path}: {rule}: {count} left, the list says {limit}: check_dialect.py . --shrink"


def main():
    root, shrink = sys.argv[1], "--shrink" in sys.argv
    places, allowed = found(root), listed(root)
    counts = {key: len(at) for key, at in places.items()}
    if shrink and all(total(counts, rule) <= total(allowed, rule) for rule in RULES):
        list_write(root, counts)
        return 0
    bad = list(differences(places, counts, allowed))
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
