"""Rows of a page of -f html, read from its chunks as tool/out/html/page.h describes them, without a browser."""
import base64
import re
import struct

CHUNK = re.compile(rb'<script type="application/x-croc" data-t="(\w+)" data-n="(\d+)">([A-Za-z0-9+/=]*)</script>')


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return self.at < len(self.data)

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def change(self):
        number = self.number()
        return -(number + 1) // 2 if number % 2 else number // 2

    def double(self):
        number = self.number()
        if number % 2 == 0:
            return float(number // 2)
        self.at += 8
        return struct.unpack("<d", self.data[self.at - 8:self.at])[0]

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8", "replace")


class Page:
    """rows: kind -> dictionaries, `start` and `length` in nanoseconds as they were recorded. pairs: kind -> dictionaries."""

    def __init__(self, path):
        self.rows, self.pairs, self.first, self.is_complete = {}, {}, 0, False
        fields, texts = {}, [""]
        with open(path, "rb") as file:
            page = file.read()
        for kind, count, data in CHUNK.findall(page):
            chunk = Bytes(base64.b64decode(data))
            kind, count = kind.decode(), int(count)
            if kind == "schema":
                name = chunk.text()
                fields[name] = [(field[0], field[1:]) for field in chunk.text().split(" ")]
                self.rows[name] = []
            elif kind == "texts":
                while chunk.left():
                    texts.append(chunk.text())
            elif kind == "renew":
                del texts[1:]
            elif kind == "end":
                self.is_complete = True
            elif kind in fields:
                self.rows[kind] += self._rows(chunk, count, fields[kind], texts)
            else:
                pairs = {}
                while chunk.left():
                    name = chunk.text()
                    pairs[name] = chunk.text()
                self.pairs.setdefault(kind, []).append(pairs)
                if kind == "time":
                    self.first = int(pairs["first_ns"])

    def _rows(self, chunk, count, fields, texts):
        last = [0] * len(fields)
        for _ in range(count):
            changed = chunk.number()
            for place, (kind, _name) in enumerate(fields):
                if changed >> place & 1:
                    last[place] = chunk.double() if kind == "d" else last[place] + chunk.change()
            row = {name: texts[value] if kind == "t" else value for (kind, name), value in zip(fields, last)}
            if "start" in row:
                row["start"] += self.first
            yield row
