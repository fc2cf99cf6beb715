"""Private memory of queues: what the runtime is asked for, gives, reduces and takes back, worked out here from
the GPU's and the dispatches' geometry, against what the queue's structure holds and the SDK's events say.

scratch_test.py PROGRAM TOOL CODE_FOLDER CROCGPU_LIBRARY RELEASE [DEBIAN_RUN ROOT]
"""
import collections
import os
import subprocess
import sys

MIB = 1 << 20
SLOTS_PER_UNIT = 32
LIMIT_BYTES = 140 * MIB           # more is for one use
POOL_BYTES = 4 << 30              # for each die
LIMIT_RECLAIM_BYTES = 3 << 30     # for each die, where the runtime can take memory back

Gpu = collections.namedtuple("Gpu", "units engines dies")
GPUS = {"gfx906": Gpu(64, 4, 1), "gfx908": Gpu(120, 8, 1), "gfx90a": Gpu(104, 8, 1), "gfx942": Gpu(304, 32, 8)}

# What a release's runtime does. told: it has functions for tools. reclaims: on gfx942. frees: says so whenever
# memory goes back, not only after one use. reserves: keeps memory aside, so that less is there.
Release = collections.namedtuple("Release", "told reclaims frees reserves")
RELEASES = {
    "bookworm": Release(False, False, False, False),
    "trixie": Release(True, False, False, True),
    "forky": Release(True, True, False, True),
    "experimental": Release(True, True, True, True),
}

NONE, ONCE = 0, 1


def align(value, granule):
    return -(-value // granule) * granule


class Runtime:
    """The rules by which ROCr gives memory: its public sources, in few words."""

    def __init__(self, gpu, release):
        self.gpu, self.release = gpu, release
        self.reclaims = release.reclaims and gpu.dies > 1
        self.limit = LIMIT_RECLAIM_BYTES * gpu.dies if self.reclaims else LIMIT_BYTES
        self.held = {}            # queue -> (lane bytes, size)
        self.events = collections.defaultdict(list)
        self.numbers, self.lives = {}, 0  # queue -> number of its present life, as the tool counts
        self.dispatches = collections.Counter()

    def slots(self, groups):
        units, engines = self.gpu.units, self.gpu.engines
        rounds, uneven = groups // units, units % engines
        most = align(groups - rounds * uneven, engines) // engines + (rounds if uneven else 0)
        return min(most * engines, align(units, engines) * SLOTS_PER_UNIT)

    def fitted(self, wave_bytes, slots):
        """All waves of the dispatch, or as many for each unit as fit beside what is kept aside."""
        room = POOL_BYTES * self.gpu.dies - (LIMIT_BYTES if self.release.reserves else 0)
        if align(wave_bytes * slots, 4096) <= room:
            return align(wave_bytes * slots, 4096)
        every_unit = self.gpu.units * wave_bytes
        return room // every_unit * every_unit

    def note(self, queue, *event):
        if self.release.told:
            if queue not in self.numbers:
                self.numbers[queue], self.lives = self.lives, self.lives + 1
            self.events[self.numbers[queue]].append(event)

    def free(self, queue, flags):
        self.note(queue, "free", "enter", flags)
        self.note(queue, "free", "exit", flags)

    def give_back(self, queue):
        if self.held.pop(queue, None) and self.release.frees:
            self.free(queue, NONE)

    def dispatch(self, queue, elements, groups):
        """Returns (lane bytes, waves) afterwards."""
        number, self.dispatches[queue] = self.dispatches[queue], self.dispatches[queue] + 1
        lane = align(elements * 4 + 4, 16) if elements else 0
        if lane and lane > self.held.get(queue, (0, 0))[0]:
            self.note(queue, "alloc", "enter", NONE)
            self.give_back(queue)  # before anything else: what others have decides how much there is
            slots = self.slots(groups)
            size = lane * 64 * align(self.gpu.units, self.gpu.engines) * SLOTS_PER_UNIT
            kept = sum(other for name, (_, other) in self.held.items() if name != queue)
            once = size > self.limit or not self.reclaims and kept + size > POOL_BYTES * self.gpu.dies // 8
            if once:
                size = self.fitted(lane * 64, slots)
            else:
                size = align(size, 4096)
                self.held[queue] = (lane, size)
            self.note(queue, "alloc", "exit", ONCE if once else NONE, size, slots, number)
            if once:
                self.free(queue, ONCE)
        return self.state(queue)

    def state(self, queue):
        lane, size = self.held.get(queue, (0, 0))
        waves = size // self.gpu.dies // (lane * 64) if lane else 0
        return lane, min(waves, self.gpu.units * SLOTS_PER_UNIT)

    def limit_set(self, size):
        if not self.reclaims:
            return
        self.limit = size
        for queue in sorted(self.held):
            if self.held[queue][1] > size:
                self.note(queue, "reclaim", "enter", NONE)
                self.give_back(queue)
                self.note(queue, "reclaim", "exit", NONE)

    def destroy(self, queue):
        self.give_back(queue)
        self.numbers.pop(queue, None)
        self.dispatches.pop(queue, None)


def fail(text, output):
    sys.exit(f"{text}\n--- output:\n{output}")


class Machine:
    def __init__(self, arguments):
        self.program, self.tool, self.code, self.library, self.name = arguments[:5]
        self.wrapper = arguments[5:]
        self.release = RELEASES[self.name]

    def run(self, gpu, steps, tool=False):
        preload = self.library + (":" + self.tool if tool else "")
        environment = dict(os.environ, CROCGPU_DEVICES=gpu, LD_PRELOAD=preload)
        command = self.wrapper + [self.program, f"{self.code}/scratch_{gpu}.co", *steps]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)


def expect(runtime, steps):
    """The program's lines, and the events, in `runtime`."""
    lines = []
    for step in steps:
        if step.startswith("limit:"):
            size = int(step[6:])
            runtime.limit_set(size)
            lines.append(f"{step}: " + ("set" if runtime.reclaims else "not set"))
            continue
        if step.startswith("destroy:"):
            runtime.destroy(int(step[8:]))
            continue
        jobs = [tuple(map(int, job.split(":"))) for job in step.split("+")]
        for job in jobs:
            runtime.dispatch(*job)
        lane, waves = runtime.state(jobs[0][0])
        lines.append(f"{step}: wrong 0 lane {lane} waves {waves}")
    for queue in sorted(runtime.held):
        runtime.give_back(queue)
    return lines


def events_of(output):
    """call lines -> {queue: [event]}, record lines -> Counter."""
    calls, records = collections.defaultdict(list), collections.Counter()
    for line in output.splitlines():
        words = line.split()
        if line.startswith("call "):
            numbers = tuple(int(word) for word in words[6::2])
            calls[int(words[4])].append((words[1], words[2], *numbers))
        elif line.startswith("record "):
            if len(words) != 8:
                fail(f"a record that should not be: {line}", output)
            records[words[1], int(words[3]), int(words[5]), int(words[7])] += 1
    return calls, records


def records_expected(calls):
    records = collections.Counter()
    for queue, events in calls.items():
        for event in events:
            if event[1] == "exit":
                records[event[0], queue, event[2], event[3] if event[0] == "alloc" else 0] += 1
    return records


def check_steps(machine, gpu, steps):
    # Without a tool: the queue's own structure.
    result = machine.run(gpu, steps)
    wanted = expect(Runtime(GPUS[gpu], machine.release), steps) + ["scratch_queues: ok"]
    got = result.stdout.splitlines()
    if result.returncode or got != wanted:
        fail(f"{machine.name} {gpu}: status {result.returncode}, wanted\n" + "\n".join(wanted), result.stdout)
    # With one: the events.
    runtime = Runtime(GPUS[gpu], machine.release)
    expect(runtime, steps)
    result = machine.run(gpu, steps, tool=True)
    if result.returncode or "scratch_queues: ok" not in result.stdout or "wrong 0" not in result.stdout:
        fail(f"{machine.name} {gpu} with a tool: status {result.returncode}", result.stdout)
    calls, records = events_of(result.stdout)
    if calls != runtime.events:
        fail(f"{machine.name} {gpu}: calls, wanted " +
             "\n".join(f"{queue}: {event}" for queue in runtime.events for event in runtime.events[queue]) +
             "\ngot " + "\n".join(f"{queue}: {event}" for queue in calls for event in calls[queue]), result.stdout)
    if records != records_expected(runtime.events):
        fail(f"{machine.name} {gpu}: records\n{records}\nwanted\n{records_expected(runtime.events)}", result.stdout)
    return sum(records.values())


def check_nothing_left(machine, gpu):
    """Two queues want nearly all at once: ROCr gives the second one nothing, and its queue an error. Not if the first one's kernel has
    ended before the other one begins, as on a busy machine it may."""
    for _ in range(10):
        result = machine.run(gpu, ["0:26000:700+1:26000:700"])
        if result.returncode != 0 or not result.stdout.endswith("scratch_queues: ok\n"):
            break
    if result.returncode != 3 or result.stdout != "queue error 0x1008\n":
        fail(f"{machine.name} {gpu}: status {result.returncode}, wanted an error of the queue", result.stdout)


def main():
    machine = Machine(sys.argv[1:])
    small = ["0:0:40", "0:59:40", "1:59:2", "0:59:4000", "0:179:40", "0:179:4000", "0:0:3", "2:4003:40", "2:4003:4000",
             "0:59:10", "1:179:1", "destroy:0", "0:59:40", "0:59:100+1:59:100+2:59:100+3:0:9",
             "0:0:90+2:4003:100+3:4003:90+1:0:80"]
    for gpu in GPUS:
        if gpu == "gfx942" and machine.name == "bookworm":
            continue              # ROCr 5.2 does not know it
        seen = check_steps(machine, gpu, small)
        seen += check_steps(machine, gpu, ["0:26000:5600" if gpu == "gfx942" else "0:26000:700", "0:59:1"])
        if GPUS[gpu].dies > 1:
            seen += check_steps(machine, gpu, ["0:59:40", "1:179:40", f"limit:{400 * MIB}", "0:59:400", "1:59:40",
                                               "limit:1048576", "0:59:40", "0:59:1", f"limit:{4 << 30}", "0:179:5",
                                               "1:4003:20", "0:59:1"])
        print(f"{machine.name} {gpu}: {seen} records")
    check_nothing_left(machine, "gfx90a")


main()
