"""Manual pages: they render without warnings and list what the programs take.

usage: man_test.py SOURCE BUILD crocprof|crocgpu|rocpd|rocprofv3-avail
"""
import glob
import os
import re
import subprocess
import sys

# Arguments behind which a program prints its help; how an option is tried without starting anything.
COMMANDS = {"crocprof": [[]], "crocgpu": [[], ["pm4"]], "rocpd": [[]], "rocprofv3-avail": [[]]}
VALUES = {"--devices": "gfx90a", "--time": "model", "--gfx": "gfx90a", "--agent-index": "absolute", "-A": "absolute", "--log-level": "error",
          "--summary-units": "sec", "-u": "sec", "--collection-period-unit": "sec", "--perfetto-backend": "inprocess",
          "--minimum-output-data": "1", "--top": "1", "--attach-duration-msec": "1", "--repeat": "1", "-r": "1", "--warmup": "1", "-w": "1", "--count": "1", "-n": "1", "--interval": "1000",
          "--benchmark-mode": "execution-profile"}
SOURCES = {
    "crocprof": ("tool/launch/*.[ch]",),
    "crocgpu": ("softgpu/*/*.c",),
}
OWN = {  # for runs of the program itself, and for tests of the software GPU
    "CROCPROF_CHECKED", "CROCPROF_PASS", "CROCPROF_PASS_COUNT", "CROCPROF_PASS_DIRECTORY", "CROCPROF_PAUSES",
    "CROCPROF_RUN", "CROCPROF_PARENT", "ROCPROF_SNAPSHOT_DIRECTORY", "ROCPROF_SNAPSHOT_INTERVAL_MS",
    "ROCPROF_MODELLED_TIME_FILE"}
ELSEWHERE = {"CROC_LOG_LEVEL": "src/base/log.c", "CROCPROF_SERIALIZE_LIMIT_MS":
             "src/intercept/hsa/serialize.c", "CROCPROF_INPUT_MAX_BYTES": "tool/cli/replay.c",
             "CROCPROF_REPLAY_LIMIT_MS": "src/intercept/hsa/replay.c"}

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, encoding="utf-8", **options)
    return done.stdout, done.stderr, done.returncode


def options_in(text):
    """-x and --long-name, with --[no-]name as two."""
    text = re.sub(r"--\[no-\]([a-z-]+)", r"--\1 --no-\1", text)
    return set(re.findall(r"(?<![\w-])(-[a-zA-Z]\b|--[a-z][a-z0-9-]*)", text))


def option_lines(text):
    return "\n".join(line for line in text.splitlines() if re.match(r"\s+-", line))


def lint(page):
    for command in (["groff", "-man", "-ww", "-z", page],
                    ["man", "--warnings", "-l", "-E", "utf8", page],
                    ["mandoc", "-T", "lint", "-W", "style", page]):
        text, errors, status = output(*command, env=dict(os.environ, MANWIDTH="80", MANPAGER="cat"))
        said = errors + (text if command[0] != "man" else "")
        expect(status == 0 and not said, f"{' '.join(command)}: {said or status}")


def rendered(page):
    """Plain text in lines too long to be broken."""
    text, _, _ = output("man", "-l", "-E", "ascii", page,
                        env=dict(os.environ, MANWIDTH="1000", MANPAGER="cat", MAN_KEEP_FORMATTING=""))
    return re.sub(r".\x08", "", text)


def commands_of(binary):
    """Those that --help lists."""
    text = output(binary, "--help")[0]
    listed = re.search(r"^Commands.*\n((?:  .*\n)+)", text, re.M)
    return [[name] for name in re.findall(r"^  ([a-z]+)(?: |$)", listed.group(1), re.M)] if listed else []


def choice_of(text, option):
    """The first of the words that an option takes, where the help names them."""
    found = re.search(rf"^ .*(?<![\w-]){re.escape(option)}\b(?:, --[\w-]+)?\s+(\w+)\|", text, re.M)
    return found.group(1) if found else None


def options_check(program, binary, text):
    """The same options as --help, and the program knows each."""
    listed = options_in(option_lines(text))
    helped = set()
    for command in COMMANDS[program] + commands_of(binary):
        stdout, _, status = output(binary, *command, "--help")
        expect(status == 0, f"{program} --help ends with {status}")
        here = options_in(option_lines(stdout))
        expect(len(here) >= 3 or command, f"{program} {command} --help shows {here}")
        helped |= here
        for option in sorted(here):
            # alone, or with a value: one of them gets as far as the help behind it
            ends = [output(binary, *command, *words, "--help")[2]
                    for words in ([option], [option, VALUES.get(option, choice_of(stdout, option) or "x")], [option, "1"])]
            expect(0 in ends, f"{program} {command} {option}: ends with {ends}")
    expect(listed == helped, f"{program}: in the page {sorted(listed - helped)}, in --help "
           f"{sorted(helped - listed)}")


def variables_check(program, source, text):
    read = set()
    for pattern in SOURCES[program]:
        for path in glob.glob(os.path.join(source, pattern)):
            if not path.endswith("_test.c"):
                with open(path, encoding="utf-8") as file:
                    read |= set(re.findall(r'"((?:CROCGPU|CROCPROF|ROCPROF)_[A-Z0-9_]+)"', file.read()))
    expect(len(read) > 3, f"{program}: only {read} in the sources")
    named = set(re.findall(r"\b(?:CROC[A-Z]*|ROCPROF)_[A-Z0-9_]+\b", text))
    expect(read - OWN <= named, f"{program}: {sorted(read - OWN - named)} not in the page")
    for name in sorted(named - read):
        path = ELSEWHERE.get(name)
        expect(path, f"{program}: the page names {name}, which nobody reads")
        if path:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                expect(f'"{name}"' in file.read(), f"{name} is not in {path}")


def main():
    source, build, program = sys.argv[1:]
    page = os.path.join(build, "man", program + ".1")
    lint(page)
    text = rendered(page)
    options_check(program, os.path.join(build, "bin", program), text)
    if program in SOURCES:
        variables_check(program, source, text)
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
