"""The container file and the workflow of docs/ci.md: understood whole, or run step by step in a root.

usage: containers_test.py SOURCE parse BIN VECTOR_ADD    (the steps that profile run, too)
       containers_test.py SOURCE run ROOT DEBS       (as root; ROOT by scripts/debian_root.sh bookworm)

Nothing here builds an image: what FROM and uses: bring is played by ROOT, DEBS and examples/hip.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

CONTEXT_FOLDER = "packages"


def containerfile_read(path):
    """(instruction, words) of each line, continued lines joined."""
    steps, line = [], ""
    with open(path, encoding="utf-8") as file:
        for text in file.read().splitlines():
            if not line and (not text.strip() or text.startswith("#")):
                continue
            line += text.rstrip("\\") if text.endswith("\\") else text
            if not text.endswith("\\"):
                steps.append(tuple(line.split(None, 1)))
                line = ""
    if line:
        sys.exit(f"{path}: ends in a continued line")
    return steps


def workflow_read(path):
    """{job: [(kind, text)]} of the one yaml block, in the few forms that it uses."""
    with open(path, encoding="utf-8") as file:
        block = re.search(r"^```yaml\n(.*?)^```$", file.read(), re.S | re.M).group(1)
    jobs, steps, in_jobs, many = {}, None, False, None
    for line in block.splitlines():
        indent = len(line) - len(line.lstrip())
        if many is not None and indent > 8:
            many.append(line[10:])
            steps[-1] = ("run", "\n".join(many))
            continue
        many = None
        if line == "jobs:":
            in_jobs = True
        elif in_jobs and indent == 2:
            steps = jobs.setdefault(line.strip().rstrip(":"), [])
        elif step := re.match(r" {6}- (run|uses): (.*)", line):
            steps.append(step.groups())
            many = [] if step.group(2) == "|" else None
        elif not re.match(r"(name|on): | {4}(runs-on|container|needs): \S| {4}steps:$| {8}with:$| {10}\w+: \S", line):
            sys.exit(f"{path}: not understood: {line!r}")
    return jobs


def parse(containerfile, jobs):
    known = {"FROM", "COPY", "RUN", "WORKDIR"}
    unknown = {step[0] for step in containerfile} - known
    if unknown or containerfile[0][0] != "FROM" or "debian:12" not in containerfile[0][1]:
        sys.exit(f"container file: {unknown or containerfile[0]}")
    commands = [text for kind, text in containerfile if kind == "RUN"]
    commands += [text for steps in jobs.values() for kind, text in steps if kind == "run"]
    if len(commands) < 8 or set(jobs) != {"packages", "gpu-tests"}:
        sys.exit(f"only {len(commands)} commands, jobs {set(jobs)}")
    for command in commands:
        subprocess.run(["sh", "-n", "-c", command], check=True)


class Root:
    """A copy of a root, and commands in it with /proc, /dev and /sys as a container has them."""

    def __init__(self, origin, folder):
        self.path = os.path.join(folder, "root")
        subprocess.run(["cp", "-a", origin, self.path], check=True)
        shutil.copy("/etc/resolv.conf", os.path.join(self.path, "etc/resolv.conf"))
        with open(os.path.join(self.path, "etc/apt/apt.conf.d/99fast"), "w", encoding="utf-8") as file:
            file.write('Dpkg::Options "--force-unsafe-io";\n')

    def copy(self, paths, to):
        target = os.path.join(self.path, to.strip("/"))
        os.makedirs(target, exist_ok=True)
        for path in paths:
            shutil.copy(path, target)

    def run(self, command, folder="/"):
        print(f"+ {command}", flush=True)
        os.makedirs(os.path.join(self.path, folder.strip("/")), exist_ok=True)
        enter = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
                 'mount --rbind /sys "$0/sys" && exec chroot "$0" /usr/bin/env -i '
                 'PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec "cd $1; $2"')
        subprocess.run(["unshare", "--mount", "sh", "-c", enter, self.path, folder, command], check=True)


def run(containerfile, jobs, source, root, debs):
    packages = glob.glob(os.path.join(debs, "*.deb"))
    if len(packages) != 4:
        sys.exit(f"{debs}: {len(packages)} packages")
    folder = "/"
    for kind, text in containerfile:
        if kind == "COPY":
            pattern, to = text.split()
            root.copy(glob.glob(os.path.join(debs, pattern)), to)
        elif kind == "WORKDIR":
            folder = text
        elif kind == "RUN":
            root.run(text, folder)
    # checkout and download-artifact
    root.copy(glob.glob(os.path.join(source, "examples/hip/*.[ch]*")), folder)
    root.copy(packages, os.path.join(folder, CONTEXT_FOLDER))
    for kind, text in jobs["gpu-tests"]:
        if kind == "run":
            root.run(text, folder)


def profiling_steps_run(jobs, programs, vector_add):
    """With what was just built, in the place of the packages' programs and of what hipcc makes."""
    commands = [text for kind, text in jobs["gpu-tests"] if kind == "run" and re.match(r"croc(gpu|prof) ", text)]
    if len(commands) < 2:
        sys.exit(f"only {len(commands)} steps that profile")
    path = os.path.abspath(programs) + os.pathsep + os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(vector_add, folder)
        for command in commands:
            subprocess.run(["sh", "-ec", command], cwd=folder, env=dict(os.environ, PATH=path), check=True, timeout=60)


def main():
    source, mode = sys.argv[1:3]
    containerfile = containerfile_read(os.path.join(source, "containers/Containerfile"))
    jobs = workflow_read(os.path.join(source, "docs/ci.md"))
    parse(containerfile, jobs)
    if mode == "parse":
        profiling_steps_run(jobs, *sys.argv[3:])
    else:
        origin, debs = sys.argv[3:]
        with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(origin))) as folder:
            run(containerfile, jobs, source, Root(origin, folder), debs)


if __name__ == "__main__":
    main()
