"""Texts one after another, each of them once, for generated tables.

A table that keeps places in a pool, 16 bits each, needs a quarter of the room of one that keeps
pointers, and a loader has nothing to relocate in it. Standard library only.
"""


class TextPool:
    PLACES = 1 << 16

    def __init__(self):
        self.places, self.size = {"": 0}, 1  # place 0 is the empty text

    def place(self, text):
        if text not in self.places:
            self.places[text] = self.size
            self.size += len(text) + 1
            if self.size > self.PLACES:
                raise ValueError("the texts do not fit in a pool with places of 16 bits")
        return self.places[text]

    def array(self, declaration):
        lines = ["%s =" % declaration]
        lines += ['    "%s\\0"' % t.replace("\\", "\\\\").replace('"', '\\"') for t in self.places]
        return "\n".join(lines) + ";\n"
