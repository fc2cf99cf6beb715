"""Installed in a folder whose name LD_PRELOAD cannot hold, both commands work as ever.

    paths_test.py CROCPROF PROGRAMS
"""
import os
import shutil
import subprocess
import sys
import tempfile

from crocprof_run import Checks, Profile


def main():
    crocprof, programs = sys.argv[1:3]
    build = os.path.dirname(os.path.dirname(crocprof))
    checks = Checks()
    with tempfile.TemporaryDirectory(dir=build) as top, tempfile.TemporaryDirectory() as runtime:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        tree = os.path.join(top, "a b:c; $LIB")
        for folder in ("bin", "lib"):
            shutil.copytree(os.path.join(build, folder), os.path.join(tree, folder), symlinks=True,
                            copy_function=os.link)
        command = [os.path.join(programs, "endings"), "37", "5", "return"]
        with Profile(os.path.join(tree, "bin", "crocprof"), ["-e", "SQ_WAVES"], command) as p:
            checks.equal("crocprof: status", p.status, 23)
            checks.equal("crocprof: kernels", len(p.rows("kernel_trace")), 37)
            checks.equal("crocprof: counters", len(p.rows("counter_collection")), 37)
        done = subprocess.run([os.path.join(tree, "bin", "crocgpu"), *command], timeout=120)
        checks.equal("crocgpu: status", done.returncode, 23)
        links = [os.path.join(folder, f) for folder, _, files in os.walk(runtime) for f in files] + \
                [os.path.join(folder, d) for folder, dirs, _ in os.walk(runtime) for d in dirs]
        checks.equal("one link for all of them",
                     [os.readlink(l) for l in links if os.path.islink(l)], [os.path.join(tree, "lib")])
    checks.exit()


if __name__ == "__main__":
    main()
