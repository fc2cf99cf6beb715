"""OpenMP events of a real program, all of them and by kind; --ompt-trace by the line, a variable and an input file.

    openmp_test.py CROCPROF CLANG LIBOMP

The judge is the program: its threads, loops, tasks and critical sections, and the SDK's names of the events.
"""
import collections
import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from crocprof_run import Checks

SOURCE = """
#include <omp.h>
static int sum;
int main(void)
{
    #pragma omp parallel num_threads(4)
    {
        #pragma omp single
        for (int i = 0; i < 3; i++) {
            #pragma omp task
            { __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED); }
        }
        #pragma omp critical
        sum++;
    }
    return sum != 7;
}
"""
# Waits inside of waits: the second thread takes no task, so that the first one executes each while it waits for it.
DEEP = 100
DEEP_SOURCE = """
#include <omp.h>
#include <sched.h>
static int done;
static void deep(int levels)
{
    if (levels > 0) {
        #pragma omp task
        deep(levels - 1);
        #pragma omp taskwait
    }
}
int main(void)
{
    #pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        deep(%d);
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    } else {
        while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    return 0;
}
""" % DEEP
# What a kind of events is called in records, by the first words of their names.
KINDS = {"thread": {"thread_begin", "thread_end"},
         "parallel": {"parallel_begin", "parallel_end", "implicit_task", "work"},
         "task": {"task_create", "task_schedule"},
         "sync": {"sync_region", "sync_region_wait"},
         "mutex": {"mutex_acquire", "mutex_acquired", "mutex_released"}}


def compiled(clang, library, directory, name, source):
    program = os.path.join(directory, name)
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run([clang, "-fopenmp", "-O1", program + ".c", "-o", program, library], check=True)
    return program


class Run:
    def __init__(self, crocprof, program, directory, checks):
        self.crocprof, self.program, self.directory, self.checks = crocprof, program, directory, checks
        self.count = 0

    def events(self, *words, status=0, variables=None):
        self.count += 1
        path = os.path.join(self.directory, str(self.count))
        done = subprocess.run([self.crocprof, "-d", path, "-f", "csv", "--no-summary", *words, "--", self.program], capture_output=True,
                              text=True, timeout=120, env=dict(os.environ, **(variables or {})))
        self.checks.equal(f"status of {words}: {done.stderr}", done.returncode, status)
        found = glob.glob(os.path.join(path, "**", "*ompt*trace.csv"), recursive=True)
        names = collections.Counter()
        for name in found:
            with open(name, encoding="utf-8") as file:
                names.update(row["Function"].removeprefix("omp_") for row in csv.DictReader(file))
        return names, done.stderr


def main():
    checks = Checks()
    crocprof, clang, library = sys.argv[1:]
    directory = tempfile.mkdtemp()
    try:
        run = Run(os.path.abspath(crocprof), compiled(clang, library, directory, "program", SOURCE), directory, checks)
        everything, _ = run.events("--ompt-trace")
        checks.equal("tasks", (everything["task_create"] >= 3, everything["parallel_begin"], everything["implicit_task"] >= 4), (True, 1, True))
        for kind, names in KINDS.items():
            found, _ = run.events("--ompt-trace", kind)
            checks.equal(kind, set(found), names & set(everything))
            checks.true(f"{kind}: {found}", found)
        both = (KINDS["thread"] | KINDS["mutex"]) & set(everything)
        checks.equal("two kinds", set(run.events("--ompt-trace", "thread", "mutex")[0]), both)
        checks.equal("two, with a comma", set(run.events("--ompt-trace=thread,mutex")[0]), both)
        checks.equal("added up to all", set(run.events("--ompt-trace", "mutex", "--ompt-trace")[0]), set(everything))
        checks.equal("none", run.events("--ompt-trace=no", "--kernel-trace")[0], collections.Counter())
        job = os.path.join(directory, "job.yaml")
        with open(job, "w", encoding="utf-8") as file:
            file.write("jobs:\n  - ompt_trace: [thread, mutex]\n")
        checks.equal("an input file", set(run.events("-i", job)[0]), both)
        found, said = run.events("--ompt-trace", variables={"ROCPROF_OMPT_TRACE_OPERATIONS": "mutex,nonsense"})
        checks.equal("a variable", set(found), KINDS["mutex"] & set(everything))
        checks.true(f"is said: {said}", "nonsense is none of" in said)
        run.program = compiled(clang, library, directory, "deep", DEEP_SOURCE)
        found, _ = run.events("--ompt-trace", "sync")
        checks.equal("waits inside of waits", (found["sync_region"] >= DEEP, found["sync_region_wait"]), (True, found["sync_region"]))
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
