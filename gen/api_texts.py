"""The names of everything that can be traced, as one pool of texts.

api_names.py writes it as api_texts[] (src/model/api_texts.h); generated tables of the engine keep
places in it. All who make such tables get the same places from here. Standard library only.
"""
import os

import api_model
from hip_lists import RENAMED, read_lists
from text_pool import TextPool


def operation_names(folder):
    """table -> names, in the order of ids: of functions, then of the other domains' operations."""
    tables = api_model.load(folder) + [api_model.load_thunk(folder)]
    names = {t.stem: [f.label for f in t.functions] for t in tables}
    with open(os.path.join(folder, "operations.names"), encoding="ascii") as file:
        words = [w for line in file if not line.startswith("#") for w in line.split()]
    for word in words:
        if word.endswith(":"):
            listed = names.setdefault(word[:-1], [])
        else:
            listed.append(word)
    return names


def api_texts(folder):
    pool = TextPool()
    for names in operation_names(folder).values():
        for name in names:
            pool.place(name)
    for name in RENAMED:
        pool.place(name)
    for _, _, functions in read_lists(folder):
        for name, _ in functions.values():
            pool.place(name)
    return pool
