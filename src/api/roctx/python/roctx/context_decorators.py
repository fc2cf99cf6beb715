"""Ranges and periods of collection around blocks (`with`) and functions (`@`). One object may serve several threads."""
from functools import wraps

import roctx


class _Around:
    """What is called before and after; `name` is the function's, None: it is a block."""

    def begin(self, name):
        raise NotImplementedError

    def end(self, name):
        raise NotImplementedError

    def __call__(self, function):
        @wraps(function)
        def around(*positional, **named):
            self.begin(function.__qualname__)
            try:
                return function(*positional, **named)
            finally:
                self.end(function.__qualname__)

        return around

    def __enter__(self):
        return self.begin(None)

    def __exit__(self, kind, value, traceback):
        self.end(None)


class RoctxRange(_Around):
    """A range. Without a text it has the function's name, and is none around a block."""

    def __init__(self, msg=None):
        self.msg = msg

    def begin(self, name):
        text = self.msg if self.msg is not None else name
        return self if text is None else roctx.rangePush(text)

    def end(self, name):
        if self.msg is not None or name is not None:
            roctx.rangePop()


class RoctxProfiler(_Around):
    """Collects inside of it, and pauses behind it."""

    def __init__(self, tid=0):
        self.tid = tid

    def begin(self, name):
        return roctx.profilerResume(self.tid)

    def end(self, name):
        roctx.profilerPause(self.tid)
