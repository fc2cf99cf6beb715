"""The program of a seed by csmith, a generator of C programs that nobody here wrote, with the interface of
generate.py: every lane runs the whole program on globals of its own, which begin with values of its own.

Text in, text out: csmith's globals become members of a struct, its functions get a pointer to it. What the
arithmetic that it calls does is csmith_lane.h's choice, since the host and the GPU have the same."""
import random
import re
import subprocess
import tempfile

SMALLER = ["--max-block-depth", "3", "--max-expr-complexity", "7"]
SIZES = ((SMALLER + ["--max-funcs", "3"], 200), (SMALLER + ["--max-funcs", "6"], 64), (["--max-funcs", "4"], 100))
GLOBAL = re.compile(r"^static (.*?)\b(g_\d+)((?:\[\d+\])*) = (.*);(?:/\*.*)?$")
INTEGER = re.compile(r"^(?:volatile )?u?int(?:8|16|32|64)_t $")
TYPES, GLOBALS = "/* --- Struct/Union Declarations --- */", "/* --- GLOBAL VARIABLES --- */"
FORWARD, MAIN = "/* --- FORWARD DECLARATIONS --- */", "int main (void)"


class CsmithProgram:
    steps = 0  # nothing to leave out

    def __init__(self, seed, skip=()):
        rng = random.Random("csmith %d" % seed)
        options, self.threads = rng.choice(SIZES)
        self.groups, self.in_private_memory = rng.randint(1, 2), rng.random() < 0.3
        options = options + ["--float"] * (rng.random() < 0.4) + ["--packed-struct"] * (rng.random() < 0.7)
        with tempfile.TemporaryDirectory() as folder:  # it leaves a file where it stands
            done = subprocess.run(["csmith", "--seed", str(seed), "--no-argc"] + options, cwd=folder,
                                  stdout=subprocess.PIPE, check=True, universal_newlines=True)
        self.source = done.stdout

    def text(self):
        types, rest = self.source.split(TYPES)[1].split(GLOBALS)
        variables, code = rest.split(FORWARD)
        members, values, names, changed = [], [], [], []
        for line in filter(None, variables.splitlines()):
            match = GLOBAL.match(line)
            if not match:
                raise ValueError("not a global: " + line)
            kind, name, sizes, value = match.groups()
            members.append("    %sf_%s%s;" % (kind, name, sizes))
            values.append("        .f_%s = %s," % (name, value))
            names.append("#define %s (globals->f_%s)" % (name, name))
            if INTEGER.match(kind) and not sizes:
                changed.append("    %s ^= (lane & 1 << %d) ? lane * 0x9e3779b97f4a7c15u >> %d : 0;" %
                               (name, len(changed) % 6, len(changed) * 7 % 48))
        functions, main = code.split(MAIN)
        main = main[:main.index("/***")].rstrip()
        functions = re.sub(r"^(static .*\bfunc_\d+)\((?:void)?", self.declared, functions, flags=re.M)
        functions = re.sub(r"(?<![\w*] )(?<!\w)(func_\d+)\((?!struct globals)(\)?)", self.called, functions)
        main = main.replace("func_1()", "func_1(globals)").replace("return 0;", "")
        return TEMPLATE.format(threads=self.threads, groups=self.groups, types=types, names="\n".join(names),
                               members="\n".join(members), values="\n".join(values), changed="\n".join(changed),
                               functions=functions, main=main, private=int(self.in_private_memory))

    @staticmethod
    def declared(match):
        return match[1] + "(struct globals *globals" + ("" if match[0].endswith("(void") else ", ")

    @staticmethod
    def called(match):
        return match[1] + "(globals" + (")" if match[2] else ", ")


TEMPLATE = """#include "csmith_lane.h"

enum {{ THREADS = {threads}, GROUPS = {groups}, IN_PRIVATE_MEMORY = {private} }};

{types}
struct globals {{
    uint64_t checksum, count;
{members}
}};
{names}

static NOINLINE void globals_begin(struct globals *globals, uint64_t lane)
{{
    const struct globals values = {{
{values}
    }};
    __builtin_memcpy(globals, &values, sizeof values);
{changed}
}}
{functions}
static void csmith_main(struct globals *globals)
{main}
#include "csmith_run.h"
"""

if __name__ == "__main__":
    import sys
    print(CsmithProgram(int(sys.argv[1])).text(), end="")
