"""Completion in bash, asked as bash asks, against --help; the files of zsh and fish by zsh and fish, or by their structure.

usage: completion_test.py BUILD
"""
import os
import re
import shutil
import subprocess
import sys

BUILD = sys.argv[1]
FOLDER = os.path.join(BUILD, "completion")
BIN = os.path.join(BUILD, "bin")
ASK = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_crocprof
printf '%s\\n' "${COMPREPLY[@]}"
"""
SHELL_WORDS = {"help"}  # commands of ours that bash has, too
failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(f"{what}: {got}, not {wanted}")


def complete(*words, name="crocprof"):
    done = subprocess.run(["bash", "--norc", "-c", ASK, "ask", FOLDER + "/crocprof.bash", os.path.join(BIN, name), *words],
                          capture_output=True, text=True, timeout=60, cwd=BUILD)
    expect(f"{words}: bash's own words", done.stderr, "")
    return set(done.stdout.split())


def helped(*command):
    text = subprocess.run([BIN + "/crocprof", *command, "--help"], capture_output=True, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if re.match(r"\s+(-\w, )?--\w", line)]
    return {word for line in lines for word in re.findall(r"(?<![\w-])(-\w\b|--[a-z][a-z0-9-]*)", line[:34].split("  --")[0] +
                                                          "--".join([""] + line.split("--")[1:2]))}


def commands():
    text = subprocess.run([BIN + "/crocprof", "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z]+)(?: |$)", re.search(r"^Commands.*\n((?:  .*\n)+)", text, re.M).group(1), re.M))


def bash():
    everything = helped()
    names = commands()
    expect("options", complete("--"), {word for word in everything if word.startswith("--")})
    expect("letters", complete("-"), everything)
    expect("rocprofv3's options", complete("--ker", name="rocprofv3"),
           {word for word in everything if word.startswith("--ker")})
    expect("commands", names - complete(""), set())
    expect("a command", complete("lis") & names, {"list"})
    expect("rocprofv3 has no commands", {one for one in names & complete("", name="rocprofv3") if not shutil.which(one)}, {
        one for one in names & SHELL_WORDS})
    for name in sorted(names):
        options = complete(name, "--")
        expect(f"options of {name}", {word for word in helped(name) if word.startswith("--")} - options, set())
    expect("words", complete("-u", ""), {"sec", "msec", "usec", "nsec"})
    expect("words behind =", complete("--summary-units", "=", "m"), {"msec"})
    expect("formats", complete("--output-format", "c"), {"csv"})
    expect("directories", complete("-d", "tes"), {"tests"})
    expect("a command's value", complete("stat", "--json", "build.nin"), {"build.ninja"})
    expect("counters", complete("-e", "SQ_WAVES_EQ"), {"SQ_WAVES_EQ_64"})
    expect("counters of list", complete("list", "SQ_WAVES_L") >= {"SQ_WAVES_LT_16", "SQ_WAVES_LT_64"}, True)
    expect("processes", str(os.getpid()) in complete("attach", ""), True)
    expect("the program's own options", complete("./app", "--ker"), set())
    expect("behind --", complete("--", "--ker"), set())
    expect("a program behind values", complete("-d", "out", "./app", "--ker"), set())
    expect("the program of stat", complete("stat", "-r", "3", "./app", "--ker"), set())
    expect("the program", "build.ninja" in complete("-r", "build.nin"), True)


def others():
    everything = {word[2:] for word in helped() if word.startswith("--")}
    with open(FOLDER + "/_crocprof", encoding="utf-8") as file:
        zsh = file.read()
    with open(FOLDER + "/crocprof.fish", encoding="utf-8") as file:
        fish = file.read()
    expect("zsh: first line", zsh.splitlines()[0], "#compdef crocprof rocprofv3")
    expect("zsh: options", everything - set(re.findall(r"'\*--([a-z0-9-]+)\[", zsh)), set())
    expect("zsh: quotes", zsh.count("'") % 2, 0)
    for name in ("crocprof", "rocprofv3"):
        expect(f"fish: options of {name}",
               everything - set(re.findall(rf"complete -c {name} (?:-n '[^']*' )?-l ([a-z0-9-]+)", fish)), set())
    expect("fish: quotes", [line for line in fish.splitlines() if line.count("'") % 2], [])
    expect("fish: commands", commands() - set(re.findall(r"__fish_use_subcommand' -a ([a-z]+)", fish)), set())
    for shell, file in (("zsh", "_crocprof"), ("fish", "crocprof.fish"), ("bash", "crocprof.bash")):
        if shutil.which(shell):
            done = subprocess.run([shell, "-n", os.path.join(FOLDER, file)], capture_output=True, text=True)
            expect(f"{shell} -n", (done.returncode, done.stderr), (0, ""))


bash()
others()
print("\n".join(failures))
sys.exit(bool(failures))
