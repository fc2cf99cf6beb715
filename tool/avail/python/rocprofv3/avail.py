"""Agents and their counters, asked from librocprofv3-list-avail.so.

    from rocprofv3 import avail
    for agent, counters in avail.get_counters().items():
        print(agent, [counter.name for counter in counters])
"""
import ctypes
import json
import os
import sys

GPU = 2  # an agent's "type"
Handle = ctypes.c_uint64
Text = ctypes.c_char_p


class loadLibrary:
    """Set `libname` before the first question; `c_lib` is the library once it is loaded."""

    libname = None
    c_lib = None


def fatal_error(msg, exit_code=1):
    """Ends the program with a line on stderr."""
    sys.stderr.write(f"Fatal error: {msg}\n")
    sys.exit(exit_code)


def _default_library():
    """Three folders up is the prefix's lib, which holds the tool's libraries."""
    lib = os.path.realpath(__file__)
    for _ in range(4):
        lib = os.path.dirname(lib)
    return os.path.join(lib, "rocprofiler-sdk", "librocprofv3-list-avail.so")


_PROTOTYPES = {
    "get_number_of_agents": (ctypes.c_size_t,),
    "agent_handles": (None, ctypes.POINTER(Handle), ctypes.c_size_t),
    "get_agent_id": (Handle, Handle, ctypes.c_int),
    "agent_info": (None, Handle, ctypes.POINTER(Text)),
    "get_number_of_agent_counters": (ctypes.c_size_t, Handle),
    "agent_counter_handles": (None, ctypes.POINTER(Handle), Handle, ctypes.c_size_t),
    "counter_info": (None, Handle, ctypes.POINTER(Text), ctypes.POINTER(Text), ctypes.POINTER(ctypes.c_uint),
                     ctypes.POINTER(ctypes.c_uint)),
    "counter_block": (None, Handle, ctypes.POINTER(Text)),
    "counter_expression": (None, Handle, ctypes.POINTER(Text)),
    "get_number_of_dimensions": (ctypes.c_size_t, Handle),
    "counter_dimension_ids": (None, Handle, ctypes.POINTER(Handle), ctypes.c_size_t),
    "counter_dimension": (None, Handle, Handle, ctypes.POINTER(Text), ctypes.POINTER(ctypes.c_uint64)),
    "get_number_of_pc_sample_configs": (ctypes.c_size_t, Handle),
    "pc_sample_config": (None, Handle, ctypes.c_uint64) + 5 * (ctypes.POINTER(ctypes.c_uint64),),
    "is_counter_set": (ctypes.c_bool, ctypes.POINTER(Handle), Handle, ctypes.c_size_t),
}


def get_library():
    """The library, loaded once."""
    if loadLibrary.c_lib is None:
        library = ctypes.CDLL(loadLibrary.libname or _default_library())
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        loadLibrary.c_lib = library
    return loadLibrary.c_lib


def _text(function, *arguments):
    value = Text()
    function(*arguments, ctypes.byref(value))
    return (value.value or b"").decode("utf-8", "replace")


def _handles(function, count, *middle):
    found = (Handle * count)()
    function(found, *middle, count)
    return list(found)


class dimension:
    """One of a counter's dimensions, with as many instances."""

    columns = ["Dimension_Id", "Dimension_Name", "Dimension_Instances"]

    def __init__(self, dimension_id, dimension_name, dimension_instances):
        self.id = dimension_id
        self.name = dimension_name
        self.instances = dimension_instances

    def get_as_dict(self):
        return dict(zip(self.columns, (self.id, self.name, self.instances)))

    def __str__(self):
        return f"{self.name}[0:{self.instances - 1}]"


class counter:
    """A counter of an agent; one that is a constant of the device has no more than this."""

    columns = ["Counter_Name", "Description"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_dimensions, is_hw_constant):
        self.counter_handle = counter_handle
        self.name = counter_name
        self.description = counter_description
        self.dimensions = counter_dimensions
        self.is_hw_constant = is_hw_constant

    def _values(self):
        return (self.name, self.description)

    def get_as_dict(self):
        return dict(zip(self.columns, self._values()))

    def __str__(self):
        lines = [f"{name:20}:\t{value}" for name, value in self.get_as_dict().items()]
        if self.dimensions:
            lines.append(f"{'Dimensions':20}:\t" + " ".join(str(one) for one in self.dimensions))
        return "\n".join(lines)


class derived_counter(counter):
    """One that is computed from others."""

    columns = ["Counter_Name", "Description", "Expression"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_expression, counter_dimensions,
                 is_hw_constant):
        super().__init__(counter_handle, counter_name, counter_description, counter_dimensions, is_hw_constant)
        self.expression = counter_expression

    def _values(self):
        return (self.name, self.description, self.expression)


class basic_counter(counter):
    """One of a block of the hardware."""

    columns = ["Counter_Name", "Description", "Block"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_block, counter_dimensions,
                 is_hw_constant):
        super().__init__(counter_handle, counter_name, counter_description, counter_dimensions, is_hw_constant)
        self.block = counter_block

    def _values(self):
        return (self.name, self.description, self.block)


class pc_config:
    """How an agent can sample program counters."""

    columns = ["Method", "Unit", "Min_Interval", "Max_Interval", "Flags"]
    methods = {1: "stochastic", 2: "host_trap"}
    units = {1: "instructions", 2: "cycle", 3: "time"}
    flag_names = {1: "interval pow2"}

    def __init__(self, config_method, config_unit, min_interval, max_interval, flags):
        self.method = self.methods.get(config_method, str(config_method))
        self.unit = self.units.get(config_unit, str(config_unit))
        self.min_interval = min_interval
        self.max_interval = max_interval
        self.flags = self.flag_names.get(flags, "none")

    def get_as_dict(self):
        return dict(zip(self.columns, (self.method, self.unit, self.min_interval, self.max_interval, self.flags)))

    def __str__(self):
        return "\n".join(f"   {name:20}:\t{value}" for name, value in self.get_as_dict().items())


def get_number_agents():
    return get_library().get_number_of_agents()


def get_agent_handles():
    return _handles(get_library().agent_handles, get_number_agents())


def get_agent_info(agent_handle):
    """What the driver says of the agent, as a dictionary."""
    return json.loads(_text(get_library().agent_info, agent_handle))


def get_agent_info_map():
    return {agent: get_agent_info(agent) for agent in get_agent_handles()}


def get_number_of_agent_counters(agent_handle):
    return get_library().get_number_of_agent_counters(agent_handle)


def get_agent_counter_handles(agent_handle):
    count = get_number_of_agent_counters(agent_handle)
    return _handles(get_library().agent_counter_handles, count, agent_handle)


def get_dimensions(counter_handle):
    library = get_library()
    count = library.get_number_of_dimensions(counter_handle)
    ids = (Handle * count)()
    library.counter_dimension_ids(counter_handle, ids, count)
    found = []
    for one in ids:
        name, instances = Text(), ctypes.c_uint64()
        library.counter_dimension(counter_handle, one, ctypes.byref(name), ctypes.byref(instances))
        found.append(dimension(one, (name.value or b"").decode("utf-8", "replace"), instances.value))
    return found


def get_counter_info(counter_handle):
    """The counter: derived_counter, basic_counter, or counter for a constant."""
    library = get_library()
    name, description, derived, constant = Text(), Text(), ctypes.c_uint(), ctypes.c_uint()
    library.counter_info(counter_handle, ctypes.byref(name), ctypes.byref(description), ctypes.byref(derived),
                         ctypes.byref(constant))
    texts = [(text.value or b"").decode("utf-8", "replace") for text in (name, description)]
    if derived.value:
        return derived_counter(counter_handle, *texts, _text(library.counter_expression, counter_handle),
                               get_dimensions(counter_handle), bool(constant.value))
    if not constant.value:
        return basic_counter(counter_handle, *texts, _text(library.counter_block, counter_handle),
                             get_dimensions(counter_handle), False)
    return counter(counter_handle, *texts, [], True)


def get_counters():
    """Agent -> its counters, of every GPU."""
    return {agent: [get_counter_info(one) for one in get_agent_counter_handles(agent)]
            for agent, info in get_agent_info_map().items() if info["type"] == GPU}


def get_number_of_pc_sample_configs(agent_handle):
    return get_library().get_number_of_pc_sample_configs(agent_handle)


def get_pc_sample_config(agent_handle):
    configs = []
    for index in range(get_number_of_pc_sample_configs(agent_handle)):
        values = [ctypes.c_uint64() for _ in range(5)]
        get_library().pc_sample_config(agent_handle, index, *map(ctypes.byref, values))
        configs.append(pc_config(*[value.value for value in values]))
    return configs


def get_pc_sample_configs():
    """Agent -> its configurations, of those that have any."""
    configs = {agent: get_pc_sample_config(agent) for agent in get_agent_handles()}
    return {agent: found for agent, found in configs.items() if found}


def check_pmc(agent_counter):
    """Agent -> handles of counters: ends the program unless each agent collects its own in one run."""
    for agent, counters in agent_counter.items():
        handles = (Handle * len(counters))(*counters)
        if not get_library().is_counter_set(handles, agent, len(counters)):
            names = " ".join(get_counter_info(one).name for one in counters)
            fatal_error(f"{names} not collected on agent {get_agent_info(agent)['name']}")
    return True
