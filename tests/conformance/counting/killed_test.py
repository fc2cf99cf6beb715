"""Programs that are killed while they count leave nothing behind: no file, no process, and the next
program counts right.

    killed_test.py CROCGPU KILLED KERNELS
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

CROCGPU, KILLED, KERNELS = sys.argv[1:4]
KILLS, LONGEST_S = 6, 0.15


def shared_memory(pid):
    """What bears the number of the process; others run beside it."""
    return [name for name in os.listdir("/dev/shm") if re.search(rf"(?<!\d){pid}(?!\d)", name)]


class Killed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, CROCGPU_DEVICES="gfx90a,gfx906",
                                TMPDIR=self.folder.name, HOME=self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def start(self, mode, rounds):
        return subprocess.Popen([CROCGPU, KILLED, KERNELS, mode, str(rounds)],
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def kill_while_counting(self, mode, chance):
        program = self.start(mode, 0)
        try:
            self.assertIn(b"counting\n", program.stdout, "it ended before it counted")
            try:
                program.wait(chance.uniform(0, LONGEST_S))
            except subprocess.TimeoutExpired:
                pass
            self.assertIsNone(program.poll(), "it ended by itself")
        finally:
            program.kill()
            program.communicate(timeout=60)
        self.assertEqual(program.returncode, -signal.SIGKILL)
        with self.assertRaises(ProcessLookupError, msg="a process of its session lives on"):
            os.killpg(program.pid, 0)
        self.assertEqual(os.listdir(self.folder.name) + shared_memory(program.pid), [])

    def check(self, mode):
        chance = random.Random(mode)
        for kill in range(KILLS):
            self.kill_while_counting(mode, chance)
            if kill % 2:  # the next program counts either way
                for next_mode in ("dispatch", "device"):
                    program = self.start(next_mode, 2)
                    _, errors = program.communicate(timeout=100)
                    self.assertEqual(program.returncode, 0, errors.decode())

    def test_dispatch_counting(self):
        self.check("dispatch")

    def test_device_counting(self):
        self.check("device")


unittest.main(argv=sys.argv[:1], verbosity=2)
