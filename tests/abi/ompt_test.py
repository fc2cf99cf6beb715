"""ompt_test.py CLANG OUR_HEADER FOLDER COMPILER_HEADER...: every type, member and value of a compiler's omp-tools.h, that
for debuggers aside, is in ours, and has the same definition, layout and place."""
import json
import pathlib
import subprocess
import sys



# Names of OpenMP 5.1, which LLVM 14 has, and those of 5.2.
RENAMED = {("ompt_record_work_t", "wstype"): "work_type"}


def tree(clang, header):
    source = f'#include "{header}"\n'
    done = subprocess.run([clang, "-x", "c", "-std=c11", "-Xclang", "-ast-dump=json", "-fsyntax-only", "-"],
                          input=source, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)["inner"]


def text_of(node):
    """A type, with unnamed ones called by that alone."""
    kind = node["type"].get("desugaredQualType", node["type"]["qualType"])
    return "unnamed" if "unnamed" in kind else kind


def members(record):
    """(name, type), in order."""
    found = []
    for child in record.get("inner", []):
        if child["kind"] == "FieldDecl":
            name = child["name"]
            found.append((RENAMED.get((record.get("name"), name), name), text_of(child)))
        elif child["kind"] == "RecordDecl":
            found.append(("unnamed", members(child)))
    return found


def declarations(clang, header):
    """name -> what it is."""
    found = {}
    for node in tree(clang, header):
        name = node.get("name", "")
        if node["kind"] == "TypedefDecl" and name.startswith("ompt"):
            found["typedef " + name] = text_of(node)
        elif node["kind"] == "RecordDecl" and name.startswith("ompt"):
            found[f"{node['tagUsed']} {name}"] = members(node)
        elif node["kind"] == "EnumDecl":
            for constant in node.get("inner", []):
                if constant["kind"] == "EnumConstantDecl" and constant["name"].startswith("ompt"):
                    found["constant " + constant["name"]] = node.get("name")
    return found


def places(clang, header, found, folder):
    """Sizes, offsets and values, by a program that is compiled against the header."""
    lines = []
    for name, what in found.items():
        kind, plain = name.split(" ")
        if kind == "constant":
            lines.append(f'P("{plain}", (long)(unsigned){plain});')
        elif kind != "typedef":
            lines.append(f'P("{plain}", (long)sizeof({plain}));')
            for member, _ in what:
                if member != "unnamed":
                    lines.append(f'P("{plain}.{member}", (long)__builtin_offsetof({plain}, {member}));')
    source = pathlib.Path(folder, "places.c")
    older = "".join(f"#define {new} {old}\n" for (record, old), new in RENAMED.items()
                    if f" {old};" in pathlib.Path(header).read_text())
    source.write_text(f'#include "{header}"\n{older}#include <stdio.h>\n#define P(n, v) printf("%s %ld\\n", n, v)\n'
                      "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    program = source.with_suffix("")
    subprocess.run([clang, "-w", str(source), "-o", str(program)], check=True)
    return dict(line.rsplit(" ", 1) for line in
                subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())


def compare(what, theirs, ours, header):
    wrong = [f"{name}: {ours.get(name)}, there {value}" for name, value in theirs.items() if ours.get(name) != value]
    for line in wrong:
        print(f"{what} of {header}: {line}")
    return len(wrong)


def main():
    clang, ours, folder, *headers = sys.argv[1:]
    mine = declarations(clang, ours)
    wrong = 0
    for header in headers:
        theirs = declarations(clang, header)
        records = sum(name.startswith("struct") for name in theirs)
        types = sum(name.startswith("typedef") for name in theirs)
        if records < 25 or types < 130:
            sys.exit(f"{header}: only {records} structures and {types} types were read")
        wrong += compare("declaration", theirs, mine, header)
        wrong += compare("place", places(clang, header, theirs, folder), places(clang, ours, theirs, folder), header)
        print(f"{header}: {records} structures, {types} types, {len(theirs)} names")
    sys.exit(wrong > 0)


main()
