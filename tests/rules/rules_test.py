"""The rule checks must be able to fail: each is run on a small tree that breaks it."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(script, *arguments):
    command = [sys.executable, os.path.join(HERE, script), *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout


def write(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)


def check_includes_fails(root):
    write(root, "src/base/a.c", '#include "session/session.h"\n')
    write(root, "softgpu/cp/b.c", '#include "gpu/pm4.h"\n')
    write(root, "tool/cli/c.c", '#include "model/trace.h"\n')
    write(root, "src/session/counting/d.c", '#include "session/runtimes.h"\n')
    write(root, "src/session/runtimes.h", '#include "intercept/hsa/facts.h"\n')
    write(root, "src/session/front/engine.h", '#include "session/internal.h"\n')
    write(root, "src/session/internal.h", "\n")
    write(root, "src/api/sdk/e.c", '#include "session/front/engine.h"\nint e = intercept_e(1);\n')
    write(root, "src/api/sdk/f.c", '#include "session/runtimes.h"\nf = engine->intercept_f;\n')
    write(root, "src/intercept/hsa/facts.h", "\n")
    write(root, "src/model/g.h", "#include <roctracer/roctracer.h>\n")
    status, text = run("check_includes.py", root)
    assert status == 1, text
    assert "src/session/counting/d.c:1: session may not even see intercept/hsa" in text, text
    keeps = "front ends see src/session/front, which keeps"
    for line in (f"src/api/sdk/e.c:1: {keeps} session/internal.h to itself",
                 f"src/api/sdk/f.c:1: {keeps} session/runtimes.h to itself",
                 f"src/api/sdk/f.c:1: {keeps} intercept/hsa/facts.h to itself",
                 "src/model/g.h:1: model may not use installed headers (roctracer/roctracer.h)",
                 "src/api/sdk/e.c:2: front ends do not call interception (intercept_e)",
                 "src/api/sdk/f.c:2: front ends do not call interception (->intercept_f)"):
        assert line in text, (line, text)
    for path in ("src/base/a.c:1", "softgpu/cp/b.c:1", "tool/cli/c.c:1"):
        assert path in text, (path, text)


def check_names_fails(root):
    write(root, "src/intercept/runtimes.c", '{.name = "hsa"}, {.name = "hip"}\n')
    write(root, "src/session/good.c", '/* "hsa" */ // "hip"\nconst char *text = "hsa is not hip";\n')
    write(root, "src/session/good_test.c", 'offer("hsa");\n')
    status, text = run("check_names.py", root)
    assert status == 0, text
    write(root, "src/session/bad.c", '/* two\nlines */\nif (!strcmp(name, "hip"))\n')
    status, text = run("check_names.py", root)
    assert status == 1 and text.startswith('src/session/bad.c:3: "hip" is the name'), text


def check_folders_fails(root):
    write(root, "src/base/long.c", "\n" * 900)
    write(root, "tool/README.md", "`cli/` options\n")
    write(root, "tool/cli/README.md", "\n")
    write(root, "tool/out/README.md", "\n")
    status, text = run("check_folders.py", root)
    assert "tool/README.md: does not name out/" in text and "name cli/" not in text, text
    assert status == 1 and "src/base: no README.md" in text and "long.c: 900 lines" in text, text


DIALECT = {
    "null": "int f(void *p)\n{\n    return p == NULL;\n}\n",
    "blank": "int f(void)\n{\n    int a = 1;\n\n    return a;\n}\n",
    "atomic": "static _Atomic int silent;\n",
    "there": "int f(void *p)\n{\n    if (p != NULL)\n        return 1;\n    return 0;\n}\n",
    "wait": "void f(void)\n{\n    usleep(1);\n}\n",
    "order": "int f(void)\n{\n    return atomic_load(&told);\n}\n",
}
PLAIN = "static _Atomic int told; /* writer: main */\nint f(void)\n{\n    return told;\n}\n"
FOLLOWED = """/* p == NULL in a comment, and "p == NULL" in a text. */
/* Writer: main. Reader: the thread. */
static _Atomic int told;
static _Atomic int alike; /* written under the lock */
int f(const char *p)
{
    int a = atomic_load_explicit(&told, memory_order_acquire);
    if (!p)
        return a;

    return puts("p == NULL");
}
"""


def check_dialect_fails(root):
    write(root, "src/base/good.c", FOLLOWED)
    status, text = run("check_dialect.py", root)
    assert status == 0, text
    for rule, source in DIALECT.items():
        write(root, "src/base/bad.c", source)
        status, text = run("check_dialect.py", root)
        assert status == 1 and f": {rule}: 1, not 0" in text and text.count("\n") == 1, (rule, text)
        assert run("check_dialect.py", root, "--shrink")[0] == 1, rule
    write(root, "src/base/bad.c", PLAIN)
    status, text = run("check_dialect.py", root)
    assert status == 1 and "bad.c:4: order: 1, not 0" in text, text
    write(root, "src/base/bad.c", DIALECT["order"])
    listed = "tests/rules/dialect_exceptions.txt"
    write(root, listed, "order src/base/bad.c 2\n")
    status, text = run("check_dialect.py", root)
    assert status == 1 and "1 left, the list says 2" in text, text
    assert run("check_dialect.py", root, "--shrink")[0] == 0
    assert run("check_dialect.py", root)[0] == 0
    with open(os.path.join(root, listed), encoding="utf-8") as file:
        assert "order src/base/bad.c 1\n" in file.read()


def check_symbols_fails(root):
    os.makedirs(os.path.join(root, "lib"))
    source = os.path.join(root, "x.c")
    write(root, "x.c", "int stray_symbol(void) { return 0; }\n")
    library = os.path.join(root, "lib", "libx.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    status, text = run("check_symbols.py", root, root)
    assert status == 1 and "exports stray_symbol" in text, text
    write(root, "tests/rules/exports/libx.so.txt", "missing_symbol\n?stray_symbol\n")
    status, text = run("check_symbols.py", root, root)
    assert status == 1 and "does not export missing_symbol" in text, text


def archive_make(root, archive, sources):
    objects = []
    for name, text in sources.items():
        write(root, f"{archive}/{name}.c", text)
        objects.append(os.path.join(root, archive, f"{name}.c.o"))
        subprocess.run(["cc", "-c", "-o", objects[-1], objects[-1][:-2]], check=True)
    os.makedirs(os.path.join(root, "ar"), exist_ok=True)
    subprocess.run(["ar", "rc", os.path.join(root, "ar", f"lib{archive}.a"), *objects], check=True)


def check_circles_fails(root):
    down = {"top": "int low(void); int top(void) { return low(); }", "low": "int low(void) { return 1; }"}
    circle = {**down, "low": "int top(void); int low(void) { return top(); }"}
    one_part = {"arm": "int meet(void); int arm(void) { return meet(); }",
                "runtimes": "int arm(void); int meet(void) { return arm(); }"}
    archive_make(root, "softgpu_cp", down)
    archive_make(root, "croc_session", one_part)
    assert run("check_circles.py", root, root)[0] == 0
    archive_make(root, "softgpu_wave", circle)
    archive_make(root, "croc_session", {**one_part, **circle})
    status, text = run("check_circles.py", root, root)
    assert status == 1 and "softgpu_cp" not in text and "arm.c" not in text, text
    for archive in ("softgpu_wave", "croc_session"):
        assert f"lib{archive}.a: on a circle: low.c -> top.c (top)" in text, text
        assert f"lib{archive}.a: on a circle: top.c -> low.c (low)" in text, text


def main():
    for check in (check_includes_fails, check_names_fails, check_folders_fails, check_dialect_fails,
                  check_symbols_fails, check_circles_fails):
        with tempfile.TemporaryDirectory() as root:
            check(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
