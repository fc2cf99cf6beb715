"""Runs crocprof on a program and reads the CSV files and the database it wrote."""
import csv
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from checks import Checks  # noqa: E402,F401 (tests import it from here)


class Profile:
    """`with Profile(crocprof, options, command) as p:` p.status, p.stderr, p.rows(...)."""

    def __init__(self, crocprof, options, command, timeout=120):
        self.directory = tempfile.mkdtemp()
        self.result = subprocess.run([crocprof, "-d", self.directory, *options, "--", *command],
                                     capture_output=True, text=True, timeout=timeout)
        self.status = self.result.returncode
        self.stdout, self.stderr = self.result.stdout, self.result.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def rows(self, table):
        """Rows of all <pid>_<table>.csv as dictionaries; [] when there is no such file."""
        out = []
        for path in sorted(glob.glob(os.path.join(self.directory, "*_%s.csv" % table))):
            with open(path, newline="", encoding="utf-8") as f:
                out += list(csv.DictReader(f))
        return out

    def query(self, sql):
        paths = glob.glob(os.path.join(self.directory, "*_results.db"))
        assert len(paths) == 1, paths
        with sqlite3.connect(paths[0]) as database:
            return database.execute(sql).fetchall()
