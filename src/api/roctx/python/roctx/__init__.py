"""Marks and ranges that a profiler shows (roctx).

    import roctx
    from roctx.context_decorators import RoctxRange

    roctx.mark("ready")
    with RoctxRange("phase 1"):
        work()
"""
import ctypes
import os

__all__ = ["mark", "profilerPause", "profilerResume", "getThreadId", "rangePush", "rangePop", "rangeStart", "rangeStop",
           "nameOsThread", "nameHipDevice", "context_decorators"]

_NAME = "librocprofiler-sdk-roctx.so.1"
_TEXT, _NUMBER = ctypes.c_char_p, ctypes.c_uint64
_FUNCTIONS = {  # what each returns and takes
    "roctxMarkA": (None, _TEXT),
    "roctxRangePushA": (ctypes.c_int, _TEXT),
    "roctxRangePop": (ctypes.c_int,),
    "roctxRangeStartA": (_NUMBER, _TEXT),
    "roctxRangeStop": (None, _NUMBER),
    "roctxProfilerPause": (ctypes.c_int, _NUMBER),
    "roctxProfilerResume": (ctypes.c_int, _NUMBER),
    "roctxGetThreadId": (ctypes.c_int, ctypes.POINTER(_NUMBER)),
    "roctxNameOsThread": (ctypes.c_int, _TEXT),
    "roctxNameHipDevice": (ctypes.c_int, _TEXT, ctypes.c_int),
}


def _library_open():
    """The library beside this module, which a profiler may have loaded already; else the one that the loader finds."""
    folder = os.path.realpath(__file__)
    for _ in range(4):
        folder = os.path.dirname(folder)
    beside = os.path.join(folder, _NAME)
    library = ctypes.CDLL(beside if os.path.exists(beside) else _NAME)
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_roctx = _library_open()


def _text(message):
    """Bytes that a C string can hold: it ends at the first zero."""
    if not isinstance(message, str):
        raise TypeError(f"a text is needed, not {type(message).__name__}")
    return message.encode("utf-8", "replace").split(b"\0", 1)[0]


def mark(msg):
    """A moment."""
    if msg is not None:
        _roctx.roctxMarkA(_text(msg))


def rangePush(msg):
    """Begins a range of this thread, inside of those that are open; returns how many are open around it."""
    return _roctx.roctxRangePushA(_text(msg))


def rangePop():
    """Ends the range that was pushed last."""
    return _roctx.roctxRangePop()


def rangeStart(msg):
    """Begins a range of the process; returns what rangeStop() takes, in any thread."""
    return None if msg is None else _roctx.roctxRangeStartA(_text(msg))


def rangeStop(id=0):  # the name is ROCm's
    """Ends that range."""
    if id is not None:
        _roctx.roctxRangeStop(id)


def profilerPause(tid=0):
    """Nothing more is collected; 0 means all threads."""
    return _roctx.roctxProfilerPause(tid)


def profilerResume(tid=0):
    """Goes on collecting."""
    return _roctx.roctxProfilerResume(tid)


def getThreadId():
    """This thread's number, as profilers show it."""
    number = _NUMBER(0)
    _roctx.roctxGetThreadId(ctypes.byref(number))
    return number.value


def nameOsThread(name):
    """Names this thread."""
    return _roctx.roctxNameOsThread(_text(name))


def nameHipDevice(name, device_id=0):
    """Names a device of HIP's."""
    return _roctx.roctxNameHipDevice(_text(name), device_id)


from . import context_decorators  # noqa: E402  (needs what stands above)
