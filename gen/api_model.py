"""The traced API functions, as data/api/*.api lists them. Standard library only.

    for table in load(folder):          # in the order of TABLES
        for f in table.functions:       # in the order of ids
            f.name, f.id, f.returns, f.params, f.slots, f.since

A generator that makes wrappers, names, enums or documentation starts here, so that they cannot
disagree. A malformed list is an ApiError with file and line.
"""
import os
import re
from dataclasses import dataclass, field

# File stems in the order in which generated files list them.
TABLES = ["hsa_core", "hsa_amd_ext", "hsa_image_ext", "hsa_finalize_ext",
          "hip_runtime", "hip_compiler",
          "marker_core", "marker_control", "marker_name", "marker_core_range",
          "rccl", "rocdecode", "rocjpeg", "rocshmem", "hipfile", "ompt"]


class ApiError(Exception):
    pass


@dataclass
class Param:
    type: str   # "const char *", "hsa_status_t (*)(hsa_agent_t agent, void *data)"
    name: str
    decl: str   # "const char *name": type and name as C writes them, for a variable or a member

    @property
    def indirections(self):
        """How many pointers lead to the value: 1 for a pointer to function."""
        return 1 if "(*" in self.type else self.type.count("*")


@dataclass
class Function:
    name: str
    id: int
    returns: str
    params: list
    since: tuple            # (table major, step)
    slots: list             # per column of the list; None where that generation has no such slot
    table: "Table" = None

    @property
    def label(self):
        """The operation's name, as tools see it."""
        return self.name if self.table.is_api else "omp_" + self.name

    @property
    def returns_void(self):
        return self.returns == "void"

    @property
    def prototype(self):
        args = ", ".join(p.decl for p in self.params) or "void"
        return join_type(self.returns, self.name) + "(" + args + ")"


@dataclass
class Table:
    stem: str       # hsa_amd_ext
    family: str     # hsa, hip, marker, rccl, rocdecode, rocjpeg, rocshmem, hipfile, ompt, kfd
    table: str      # amd_ext
    struct: str     # AmdExtTable: the runtime's name of its table; "-" for none
    title: str
    functions: list = field(default_factory=list)

    # OpenMP's events are no functions, and the SDK names what belongs to them a little otherwise.
    @property
    def is_api(self):
        return self.family != "ompt"

    @property
    def enum_type(self):
        return "rocprofiler_%s_api_id_t" % self.stem if self.is_api else "rocprofiler_ompt_operation_t"

    @property
    def enum_prefix(self):
        return "ROCPROFILER_%s_ID_" % self.domain

    @property
    def domain(self):
        return self.stem.upper() + ("_API" if self.is_api else "")

    @property
    def types_prefix(self):
        """Of the argument union: hip_api, ompt."""
        return self.family + ("_api" if self.is_api else "")


def join_type(type_, name):
    return type_ + name if type_.endswith("*") else type_ + " " + name


def split_params(text):
    """Cuts at the commas that are not inside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts


def parse_param(decl):
    function = re.match(r"(.*\(\*)(\w+)(\).*)$", decl)
    if function:
        return Param(function[1] + function[3], function[2], decl)
    plain = re.match(r"(.*?[\s*])(\w+)$", decl)
    if not plain:
        raise ApiError("cannot read parameter '%s'" % decl)
    return Param(plain[1].strip(), plain[2], decl)


def parse_prototype(text):
    m = re.match(r"((?:const )?\w+\s?\**)\s*(\w+)\((.*)\);$", text)
    if not m:
        raise ApiError("cannot read prototype '%s'" % text)
    params = [] if m[3] == "void" else [parse_param(p) for p in split_params(m[3])]
    return m[1].strip(), m[2], params


def parse_line(line):
    words = line.split(None, 1)
    number, rest = int(words[0]), words[1]
    slots = []
    while True:
        word, rest = rest.split(None, 1)
        if "." in word:
            break
        slots.append(None if word == "-" else int(word))
    major, step = word.split(".")
    returns, name, params = parse_prototype(rest.strip())
    return Function(name, number, returns, params, (int(major), int(step)), slots)


def load_table(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    table = None
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    title = lines[0].lstrip("# ")
    for number, line in enumerate(lines, 1):
        meta = re.match(r"# family=(\w+) table=(\w+) struct=(\S+)", line)
        if meta:
            table = Table(stem, meta[1], meta[2], meta[3], title)
        if line.startswith("#") or not line.strip():
            continue
        try:
            function = parse_line(line)
        except (ValueError, ApiError) as e:
            raise ApiError("%s:%d: %s" % (path, number, e)) from None
        if function.id != len(table.functions):
            raise ApiError("%s:%d: id %d, expected %d: ids have no holes"
                           % (path, number, function.id, len(table.functions)))
        function.table = table
        table.functions.append(function)
    return table


def load(folder):
    return [load_table(os.path.join(folder, stem + ".api")) for stem in TABLES]


def load_thunk(folder):
    """The kernel driver's library, which is no API of the SDK."""
    return load_table(os.path.join(folder, "kfd.api"))
