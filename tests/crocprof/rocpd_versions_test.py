"""Databases of schema 3.0.1 to 3.0.4, whose tables have further columns and rows, are read and merged as those of 3.0.

    rocpd_versions_test.py CROCPROF PROGRAMS

Columns are those of AMD's SQL files; those of 3.0.4's hip_event are not known, so a table with other ones stands for it.
"""
import glob
import os
import sqlite3
import subprocess
import sys

from crocprof_run import Checks, Profile

GRAPH = '"graph_exec_id" INTEGER NOT NULL DEFAULT 0, "graph_node_id" INTEGER NOT NULL DEFAULT 0'
# Since which version, in which table, behind which column.
COLUMNS = ((2, "kernel_dispatch", "grid_size_z", GRAPH), (2, "memory_copy", "stream_id", GRAPH),
           (3, "pmc_event", "event_id", '"sample_id" INTEGER'),
           (3, "pmc_event", "value", '"xcc" INTEGER, "shader_engine" INTEGER, "instance" INTEGER'),
           (3, "info_pmc", "is_derived", '"spm_support" INTEGER'))
TABLES = ((2, "graph_launch", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, queue_id INTEGER, "
                              "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, graph_exec_id INTEGER NOT NULL, "
                              "kernel_dispatch_count INTEGER NOT NULL DEFAULT 0, event_id INTEGER"),
          (4, "hip_event", "nid INTEGER NOT NULL, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL"))


def definition_end(sql, column):
    """Where the definition of a column ends: at the comma behind it, which is in no parentheses."""
    at, depth = sql.index('"%s"' % column), 0
    while sql[at] != "," or depth:
        depth += {"(": 1, ")": -1}.get(sql[at], 0)
        at += 1
    return at


def newer(source, path, version):
    """A copy with the tables of 3.0.`version`: a row for each kind of record that older ones do not know."""
    made = sqlite3.connect(path)
    made.execute("ATTACH ? AS old", (source,))
    guid = made.execute("SELECT value FROM old.rocpd_metadata WHERE tag = 'guid'").fetchone()[0]
    suffix = "_" + guid.replace("-", "_")
    things = made.execute("SELECT type, name, sql FROM old.sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for _, name, sql in (t for t in things if t[0] == "table"):
        for since, table, behind, columns in COLUMNS:
            if since <= version and name == "rocpd_" + table + suffix:
                end = definition_end(sql, behind)
                sql = sql[:end] + ", " + columns + sql[end:]
        made.execute(sql.replace("'CPU', 'GPU'", "'CPU', 'GPU', 'NIC'"))
        names = ",".join('"%s"' % row[1] for row in made.execute('PRAGMA old.table_info("%s")' % name))
        made.execute('INSERT INTO main."%s" (%s) SELECT %s FROM old."%s"' % (name, names, names, name))
    for since, table, columns in TABLES:
        if since <= version:
            made.execute('CREATE TABLE "rocpd_%s%s" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL '
                         "DEFAULT '%s', %s)" % (table, suffix, guid, columns))
            made.execute('CREATE VIEW "rocpd_%s" AS SELECT * FROM "rocpd_%s%s"' % (table, table, suffix))
            places = len(columns.split(","))
            made.execute('INSERT INTO "rocpd_%s%s" VALUES (1, ?%s)' % (table, suffix, ", 1" * places), (guid,))
    for _, _, sql in (t for t in things if t[0] == "view"):
        made.execute(sql)
    made.execute('UPDATE "rocpd_metadata%s" SET value = ? WHERE tag = \'schema_version\'' % suffix, ("3.0.%d" % version,))
    if version >= 3:  # streamed values of a counter that is also counted: they are none of the dispatch
        made.execute('INSERT INTO "rocpd_pmc_event%s" (guid, event_id, pmc_id, value, sample_id, xcc) SELECT guid, event_id, '
                     "pmc_id, 1000000.0, 1, 0 FROM old.rocpd_pmc_event" % suffix)
    made.execute("INSERT INTO \"rocpd_info_agent%s\" (guid, nid, pid, type, absolute_index, logical_index, type_index, name) "
                 "SELECT guid, nid, pid, 'NIC', 77, 77, 0, 'network' FROM old.rocpd_info_agent LIMIT 1" % suffix)
    made.commit()
    made.close()
    return guid


def tables(checks, crocprof, what, directory, *words):
    """What `convert` makes of it, by file: the lines, but for the agents."""
    out = os.path.join(directory, what)
    made = subprocess.run([crocprof, "convert", "-f", "csv", "-d", out, "-o", "x", *words], capture_output=True, text=True,
                          timeout=60)
    checks.equal("%s: %s" % (what, made.stderr), made.returncode, 0)
    lines = {}
    for path in glob.glob(out + "/*.csv"):
        with open(path, encoding="utf-8") as file:
            lines[os.path.basename(path)] = sorted(line for line in file if '"network"' not in line)
    return lines


def check_together(checks, crocprof, run, path, directory):
    """A question to two databases at once."""
    with Profile(*run) as p:
        second = os.path.join(directory, "second.db")
        newer(glob.glob(p.directory + "/*_results.db")[0], second, 3)
        asked = subprocess.run([crocprof, "query", "-q", "SELECT count(*), sum(value >= 1000000) FROM counters_collection",
                                "-f", "csv", path, second], capture_output=True, text=True, timeout=60)
        checks.equal("two of 3.0.3: " + asked.stderr, asked.stdout.split("\n")[1].strip().split(","), ["10", "0"])


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    run = (crocprof, ["--sys-trace", "--pmc", "SQ_WAVES", "-f", "rocpd", "--no-summary"],
           [os.path.join(programs, "endings"), "5", "2", "return"])
    with Profile(*run) as p:
        source = glob.glob(p.directory + "/*_results.db")[0]
        wanted = tables(checks, crocprof, "3.0", p.directory, source)
        checks.true("tables: %r" % sorted(wanted), {"x_kernel_trace.csv", "x_memory_copy_trace.csv", "x_agent_info.csv",
                                                    "x_counter_collection.csv", "x_hip_api_trace.csv"} <= set(wanted))
        for version in range(1, 5):
            path = os.path.join(p.directory, "3.0.%d.db" % version)
            newer(source, path, version)
            found = tables(checks, crocprof, "3.0.%d" % version, p.directory, path)
            launches = found.pop("x_graph_launch_trace.csv", [])
            checks.equal("3.0.%d, launches of graphs" % version, len(launches), 2 if version >= 2 else 0)  # and the names
            for name, lines in wanted.items():
                checks.equal("3.0.%d, %s" % (version, name), found.get(name), lines)
            merged = os.path.join(p.directory, "merged%d" % version)
            made = subprocess.run([crocprof, "merge", "-d", merged, path], capture_output=True, text=True, timeout=60)
            checks.equal("3.0.%d, merge: %s" % (version, made.stderr), made.returncode, 0)
            merged = glob.glob(merged + "/*.db")[0]
            again = tables(checks, crocprof, "again%d" % version, p.directory, merged)
            checks.equal("3.0.%d, merged, launches" % version, again.pop("x_graph_launch_trace.csv", []), launches)
            checks.equal("3.0.%d, merged" % version, again, wanted)
            with sqlite3.connect(merged) as database:
                checks.equal("3.0.%d, counters of the merged one" % version,
                             database.execute("SELECT DISTINCT value >= 1000000 FROM counters_collection").fetchall(), [(0,)])
                for since, table, _ in TABLES:
                    if since <= version:
                        checks.equal("3.0.%d, %s" % (version, table),
                                     database.execute("SELECT count(*) FROM rocpd_" + table).fetchall(), [(1,)])
        check_together(checks, crocprof, run, os.path.join(p.directory, "3.0.3.db"), p.directory)
    checks.exit()


if __name__ == "__main__":
    main()
