"""The rocpd schema that librocprofiler-sdk-rocpd hands out. See README.md.

usage: rocpd_test.py LIBRARY
"""
import ctypes
import os
import sqlite3
import sys
import tempfile
import threading
import unittest

SQLITE3 = 1
TABLES, INDEXES, VIEWS, DATA_VIEWS, SUMMARY_VIEWS, MARKER_VIEWS = range(1, 7)
PERSIST, FOREIGN_KEYS = 1, 2
(SUCCESS, ERROR, INVALID_ARGUMENT, SQL_ERROR, INVALID_ENGINE, INVALID_KIND, NOT_FOUND, NOT_READABLE) = range(8)
GUID = "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000"
SUFFIX = "_0190aaaa_bbbb_7ccc_8ddd_eeeeffff0000"
FACTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema_3_0.txt")


class Variables(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint64), ("uuid", ctypes.c_char_p), ("guid", ctypes.c_char_p)]


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.c_void_p, ctypes.c_void_p)
library = ctypes.CDLL(sys.argv.pop())
library.rocpd_get_status_name.restype = library.rocpd_get_status_string.restype = ctypes.c_char_p


def load(kind, engine=SQLITE3, options=0, uuid=GUID, guid=GUID, size=24, hints=(), variables=True):
    """(status, path, text, [addresses of both]); path and text are None unless called back."""
    got = []

    @CALLBACK
    def callback(engine, kind, options, variables, path, text, data):
        got.append((ctypes.string_at(path).decode(), ctypes.string_at(text).decode(), [path, text],
                    (engine, kind, options, data)))

    encode = lambda text: None if text is None else text.encode()
    values = Variables(size, encode(uuid), encode(guid))
    array = (ctypes.c_char_p * len(hints))(*map(encode, hints))
    status = library.rocpd_sql_load_schema(engine, kind, options, ctypes.byref(values) if variables else None,
                                           callback, array if hints else None, ctypes.c_uint64(len(hints)),
                                           ctypes.c_void_p(77))
    assert (status == SUCCESS) == (len(got) == 1), (status, got)
    if not got:
        return status, None, None, None
    assert got[0][3] == (engine, kind, options, 77), got[0][3]
    return (status,) + got[0][:3]


def database():
    connection = sqlite3.connect(":memory:")
    for kind in range(TABLES, MARKER_VIEWS + 1):
        status, _, text, _ = load(kind)
        assert status == SUCCESS, status
        connection.executescript(text)
    return connection


def facts(word):
    with open(FACTS, encoding="utf-8") as file:
        return [line.split()[1:] for line in file if line.startswith(word + " ")]


# One process, a GPU, a kernel of 2 x 1 x 1 groups launched twice, a counter with two instances, a copy, an
# allocation of scratch, a call with an argument, a mark.
ROWS = {
    "string": [(1, ""), (2, "KERNEL_DISPATCH"), (3, "MEMORY_COPY"), (4, "HIP"), (5, "hipMemcpy"), (6, "HTOD"), (7, "marks")],
    "info_node": [(5, 11, "m", "Linux", "host", "6.1", "v", "x86_64", "dom")],
    "info_process": [(100, 5, 1, 100, 10, 20, 11, 19, "./app", "{}", "{}")],
    "info_thread": [(101, 5, 1, 100, 101, "main", 12, 18, "{}")],
    "info_agent": [(2, 5, 100, "GPU", 2, 1, 0, 29, "gfx90a", "m", "AMD", "p", "u", "{}"),
                   (0, 5, 100, "CPU", 0, 0, 0, 1, "epyc", "m", "AMD", "p", "u", "{}")],
    "info_queue": [(3, 5, 100, "Queue 3", "{}")],
    "info_stream": [(4, 5, 100, "Stream 4", "{}")],
    "info_pmc": [(9, 5, 100, 2, "GPU", 4, 0, "SQ_WAVES", "SQ_WAVES", "waves", "", "rocm", "", "ABS", "SQ", "e", 0, 0, "{}")],
    "info_code_object": [(6, 5, 100, 2, "file://x", 4096, 512, 1, "FILE", '{"size": 80, "memory_base": 7}')],
    "info_kernel_symbol": [(8, 5, 100, 6, "_Z3addv.kd", "add()", 64, 32, 8, 128, 16, 24, 12, 4,
                            '{"kernel_id": 8, "kernel_address": {"handle": 99}}')],
    "track": [(1, 5, 100, 101, 7, "{}")],
    "event": [(1, 2, 41, 40, 7, "{}", "{}", "{}"), (2, 2, 43, 42, 0, "{}", "{}", "{}"), (3, 3, 44, 44, 0, "{}", "{}", "{}"),
              (4, 4, 45, 0, 0, "{}", "{}", '{"m": 1}'), (5, 4, 46, 0, 0, "{}", "{}", "{}"), (6, 7, 0, 0, 0, "{}", "{}", "{}")],
    "arg": [(1, 4, 0, "hipStream_t", "stream", "0x1", '{"stream_id": 4}'), (2, 4, 1, "size_t", "size", "64", "{}")],
    "pmc_event": [(1, 1, 9, 3.0, "{}"), (2, 1, 9, 4.0, "{}"), (3, 2, 9, 10.0, "{}")],
    "region": [(45, 5, 100, 101, 1000, 5000, 5, 4, "{}")],
    "sample": [(1, 1, 1500, 6, "{}")],
    "kernel_dispatch": [(1, 5, 100, 101, 2, 8, 1, 3, 4, 2000, 3000, 16, 128, 64, 1, 1, 128, 2, 3, 1, 1, "{}"),
                        (2, 5, 100, 101, 2, 8, 2, 3, 4, 4000, 4500, 16, 128, 64, 1, 1, 128, 1, 1, 1, 2, "{}")],
    "memory_copy": [(1, 5, 100, 101, 3500, 4000, 6, 2, 16, 0, 32, 64, 3, 4, 1, 3, "{}")],
    "memory_allocate": [(1, 5, 100, 101, 2, "ALLOC", "SCRATCH", 600, 700, 8, 4096, 3, None, 5, '{"flags": 2}')],
}

ORDERED = ("scratch_memory", "top_kernels", "top")  # in the others any order is right

# Views by column: each line is (view, {column: values of its rows in order}).
EXPECTED = [
    ("rocpd_metadata", {"tag": ["schema_version", "uuid", "guid"], "value": ["3", SUFFIX, GUID]}),
    ("code_objects", {"id": [6], "pid": [100], "agent_abs_index": [2], "code_object_size": [80], "memory_base": [7],
                      "memory_size": [None], "storage_type_str": ["FILE"]}),
    ("kernel_symbols", {"kernel_address": [99], "kernel_id": [8], "display_name": ["add()"]}),
    ("processes", {"nid": [5], "hostname": ["host"], "system_release": ["6.1"], "end": [19], "fini": [20]}),
    ("threads", {"pid": [100], "tid": [101], "name": ["main"], "start": [12], "machine_id": ["m"]}),
    ("regions", {"category": ["HIP"], "name": ["hipMemcpy"], "duration": [4000], "extdata": ['{"m": 1}'], "corr_id": [0]}),
    ("region_args", {"name": ["stream", "size"], "value": ["0x1", "64"]}),
    ("samples", {"category": ["marks"], "name": ["marks"], "timestamp": [1500], "tid": [101]}),
    ("regions_and_samples", {"start": [1000, 1500], "end": [5000, 1500], "duration": [4000, 0]}),
    ("kernels", {"name": ["add()"] * 2, "region": ["", ""], "duration": [1000, 500], "queue": ["Queue 3"] * 2,
                 "stream": ["Stream 4"] * 2, "grid_y": [2, 1], "lds_size": [128] * 2, "static_lds_size": [128] * 2,
                 "scratch_size": [16] * 2, "vgpr_count": [12] * 2, "stack_id": [41, 43], "corr_id": [7, 0], "tid": [101] * 2}),
    ("pmc_info", {"name": ["SQ_WAVES"], "agent_abs_index": [2], "expression": ["e"]}),
    ("pmc_events", {"counter_value": [3.0, 4.0, 10.0], "name": ["add()"] * 3, "dispatch_id": [1, 1, 2]}),
    ("events_args", {"arg_name": ["stream", "size"], "category": ["HIP"] * 2, "stack_id": [45] * 2}),
    ("stream_args", {"argument_id": [1], "stream_id": [4], "stream_name": ["Stream 4"]}),
    ("memory_copies", {"name": ["HTOD"], "src_device": ["epyc"], "dst_device": ["gfx90a"], "size": [64], "duration": [500],
                       "dst_agent_type": ["GPU"], "src_address": [32], "dst_address": [16]}),
    ("memory_allocations", {"level": ["SCRATCH"], "size": [4096], "agent_name": ["gfx90a"], "stream_name": [None]}),
    ("scratch_memory", {"alloc_flags": [2], "operation": ["ALLOC"], "queue_id": [3], "duration": [100]}),
    ("counters_collection", {"id": [1, 3], "value": [7.0, 10.0], "grid_size": [768, 128], "workgroup_size": [64, 64],
                             "kernel_region": ["", ""], "kernel_name": ["add()"] * 2, "counter_name": ["SQ_WAVES"] * 2}),
    ("top_kernels", {"name": ["add()"], "total_calls": [2], "total_duration": [1.5], "average": [0.75], "percentage": [100.0]}),
    # kernels 1500 ns and a copy to the GPU of 500 ns, between 2000 and 4500
    ("busy", {"agent_id": [2], "type": ["GPU"], "GpuTime": [2000], "WallTime": [2500], "Busy": [0.8]}),
    # 4000 of the call, 1500 of kernels, 500 of the copy
    ("top", {"name": ["hipMemcpy", "add()", "HTOD"], "total_calls": [1, 2, 1], "total_duration": [4.0, 1.5, 0.5],
             "percentage": [4000 / 60, 25.0, 500 / 60]}),
]


class Schema(unittest.TestCase):
    def test_is_the_one_of_amd(self):
        rows = database()
        tables, keys = [], []
        names = [name for name, in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                                "name NOT LIKE 'sqlite%' ORDER BY name")]
        for name in names:
            short = name.removesuffix(SUFFIX)
            for _, column, kind, needed, default, _ in rows.execute(f'PRAGMA table_info("{name}")'):
                default = "-" if default is None else default.replace(GUID, "GUID")
                default = default if default == "-" or default[0] == "'" else f"'{default}'"
                tables.append([short, column, kind, "not_null" if needed else "null", default])
            for key in sorted(rows.execute(f'PRAGMA foreign_key_list("{name}")'), key=lambda key: key[3]):
                keys.append([short, key[3], key[2].removesuffix(SUFFIX), key[5].replace(" ", "_")])
        self.assertEqual(len(names), 20)
        self.assertEqual(tables, facts("column"))
        self.assertEqual(keys, facts("key"))
        views = [[name] + [column[1] for column in rows.execute(f'PRAGMA table_info("{name}")')] for name, in rows.execute(
            "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall()]
        self.assertEqual(views, facts("view"))
        self.assertEqual(len(views), 41)

    def test_views_show_what_the_tables_have(self):
        rows = database()
        for table, lines in ROWS.items():
            guid = 1 if table != "metadata" else 0
            for line in lines:
                values = line[:1] + (GUID,) * guid + line[1:]
                rows.execute(f'INSERT INTO "rocpd_{table}{SUFFIX}" VALUES ({", ".join("?" * len(values))})', values)
        self.assertEqual(rows.execute("PRAGMA foreign_key_check").fetchall(), [])
        self.assertEqual(rows.execute("PRAGMA foreign_keys").fetchall(), [(1,)])
        self.assertEqual({view for view, _ in EXPECTED} | {"sample_regions"},
                         {view[0] for view in facts("view") if not view[0].startswith("rocpd_")} | {"rocpd_metadata"})
        for view, columns in EXPECTED:
            wanted = list(zip(*columns.values(), strict=True))
            names = ", ".join(f'"{column}"' for column in columns)
            got = rows.execute(f'SELECT {names} FROM "{view}"').fetchall()
            rounded = [tuple(round(value, 9) if isinstance(value, float) else value for value in row)
                       for rows_of in (got, wanted) for row in rows_of]
            got, wanted = rounded[:len(got)], rounded[len(got):]
            if view not in ORDERED:
                got, wanted = sorted(got, key=str), sorted(wanted, key=str)
            self.assertEqual(got, wanted, view)

    def test_broken_rows_are_refused(self):
        rows = database()
        for sql in ("info_queue{0} (nid, pid) VALUES (1, 1)",
                    "info_agent{0} (nid, pid, type) VALUES (NULL, 1, 'GPU')", "string{0} (string) VALUES (NULL)"):
            with self.assertRaises(sqlite3.IntegrityError, msg=sql):
                rows.execute("INSERT INTO rocpd_" + sql.format(SUFFIX))


class Library(unittest.TestCase):
    def test_arguments(self):
        for engine in (0, 2, -1):
            self.assertEqual(load(TABLES, engine=engine)[0], INVALID_ENGINE)
        for kind in (0, 7, -1, 1 << 30):
            self.assertEqual(load(kind)[0], INVALID_KIND)
        self.assertEqual(load(TABLES, size=0)[0], INVALID_ARGUMENT)
        self.assertEqual(library.rocpd_sql_load_schema(SQLITE3, TABLES, 0, None, None, None, ctypes.c_uint64(0), None),
                         INVALID_ARGUMENT)
        self.assertEqual(library.rocpd_get_version_triplet(None), INVALID_ARGUMENT)

    def test_variables(self):
        self.assertIn('"rocpd_string{{uuid}}"', load(TABLES, variables=False)[2])
        self.assertIn('"rocpd_string{{uuid}}"', load(TABLES, uuid=None)[2])
        self.assertIn('"rocpd_string"', load(TABLES, uuid="")[2])
        self.assertIn('"rocpd_string_a_b"', load(TABLES, uuid="_a-b")[2])
        self.assertIn("'{{guid}}'", load(TABLES, guid=None)[2])
        self.assertIn("'{{guid}}'", load(TABLES, size=16)[2]) # an older structure, which has no guid
        text = load(TABLES)[2]
        self.assertNotIn("{{", text)
        self.assertEqual(text.count(SUFFIX), load(TABLES, variables=False)[2].count("{{uuid}}"))

    def test_folders(self):
        installed = load(TABLES)[1]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(load(TABLES, hints=["", "/nonexistent", folder, "::"])[1], installed)
            path = os.path.join(folder, "rocpd_tables.sql")
            with open(path, "w", encoding="utf-8") as file:
                file.write("")
            self.assertEqual(load(TABLES, hints=[folder])[0], NOT_READABLE)
            with open(path, "w", encoding="utf-8") as file:
                file.write("-- {{uuid}}{{uuid}}" + "x" * 100000)
            self.assertEqual(load(TABLES, hints=["/nonexistent:" + folder], uuid="u")[1:3], (path, "-- _u_u" + "x" * 100000))
            self.assertEqual(load(VIEWS, hints=[folder])[1], os.path.join(os.path.dirname(installed), "rocpd_views.sql"))
            os.environ["ROCPD_SCHEMA_PATH"] = "/nonexistent:" + folder
            try:
                self.assertEqual(load(TABLES)[1], path)
            finally:
                del os.environ["ROCPD_SCHEMA_PATH"]
            os.remove(path)
            os.mkdir(path)
            self.assertEqual(load(TABLES, hints=[folder])[0], NOT_READABLE)

    def test_options(self):
        pragma = "PRAGMA foreign_keys = ON;\n\n"
        self.assertTrue(load(VIEWS, options=FOREIGN_KEYS)[2].startswith(pragma))
        self.assertFalse(load(VIEWS)[2].startswith(pragma))
        first, second = load(VIEWS, options=PERSIST), load(VIEWS, options=PERSIST)
        self.assertEqual(first[3], second[3]) # equal strings are kept once
        self.assertEqual(ctypes.string_at(first[3][1]).decode(), first[2])

    def test_texts(self):
        names = {library.rocpd_get_status_name(i) for i in range(8)}
        self.assertEqual(len(names), 8)
        self.assertEqual(library.rocpd_get_status_name(7), b"ROCPD_STATUS_ERROR_SQL_SCHEMA_PERMISSION_DENIED")
        for status in (8, -1, 1 << 30):
            self.assertIsNone(library.rocpd_get_status_name(status))
            self.assertIsNone(library.rocpd_get_status_string(status))
        version = (ctypes.c_uint32 * 3)()
        self.assertEqual(library.rocpd_get_version(None, None, None), SUCCESS)
        self.assertEqual(library.rocpd_get_version_triplet(version), SUCCESS)
        self.assertEqual(list(version), [1, 0, 0])

    def test_threads(self):
        results = []
        work = lambda: results.extend(load(kind, options=PERSIST)[0] for kind in range(1, 7) for _ in range(20))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [SUCCESS] * 960)


if __name__ == "__main__":
    unittest.main()
