"""Expressions against an evaluator of its own: another language, another parser, another way to
keep dimensions. All shipped definitions, and random ones.

    expressions_test.py EXPRESSION_VALUES
"""
import itertools
import math
import random
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(\d+\.?\d*(?:[eE][+-]?\d+)?)|(.))")
REDUCTIONS = {"sum": sum, "min": min, "max": max, "avr": lambda v: sum(v) / len(v)}
LEVELS = {"NONE": 0, "LOW_RES": 1, "HIGH_RES": 2}


class Refused(Exception):
    pass


class Value:
    """Numbers by place; a place is a tuple of positions in `dims`, a tuple of (name, extent)."""

    def __init__(self, dims, numbers):
        self.dims, self.numbers = dims, numbers

    def flat(self):
        return [self.numbers[p] for p in places(self.dims)]


def places(dims):
    return itertools.product(*(range(extent) for _, extent in dims))


def scalar(number):
    return Value((), {(): float(number)})


def made_up(name, accumulate, place):
    hashed = 0
    for i, c in enumerate(name):
        hashed = (hashed + ord(c) * (i + 1)) % 997
    return 0.0 if (hashed + place) % 7 == 0 else hashed + 3.0 * place + 1000.0 * accumulate


class Counters:
    def __init__(self, lines):
        self.basic, self.constant, self.derived, self.values = {}, {}, {}, {}
        for line in lines:
            kind, name, *rest = line.split(" ")
            if kind == "basic":
                pairs = [d.split(":") for d in rest]
                self.basic[name] = tuple((d, int(n)) for d, n in pairs)
            elif kind == "constant":
                self.constant[name] = float(rest[0])
            else:
                values, expression = line.split(" = ", 1)
                self.values[name] = [float(v) for v in values.split(" ")[2:]]
                self.derived[name] = expression

    def measured(self, name, accumulate):
        dims = self.basic[name]
        return Value(dims, {p: made_up(name, accumulate, i) for i, p in enumerate(places(dims))})

    def named(self, name, within):
        if name in self.basic:
            return self.measured(name, 0)
        if name in self.constant:
            return scalar(self.constant[name])
        if name not in self.derived or name in within:
            raise Refused(name)
        return self.evaluate(self.derived[name], within + [name])

    def evaluate(self, text, within=()):
        return Parser(self, text, list(within)).whole()


class Parser:
    def __init__(self, counters, text, within):
        self.counters, self.within = counters, within
        self.tokens = [m.group(1) or m.group(2) or m.group(3) for m in TOKEN.finditer(text)
                       if m.group(0).strip()]

    def next(self):
        if not self.tokens:
            raise Refused("end")
        return self.tokens.pop(0)

    def take(self, token):
        if self.next() != token:
            raise Refused(token)

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def whole(self):
        value = self.sum()
        if self.tokens:
            raise Refused(self.tokens[0])
        return value

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            left = combine(self.next(), left, self.product())
        return left

    def product(self):
        left = self.unary()
        while self.peek() in ("*", "/"):
            left = combine(self.next(), left, self.unary())
        return left

    def unary(self):
        if self.peek() == "-":
            self.next()
            value = self.unary()
            return Value(value.dims, {p: -n for p, n in value.numbers.items()})
        token = self.next()
        if token == "(":
            value = self.sum()
            self.take(")")
            return value
        if token[0].isdigit():
            return scalar(token)
        if self.peek() == "(":
            self.next()
            value = {"reduce": self.reduce, "select": self.select,
                     "accumulate": self.accumulate}[token]()
            self.take(")")
            return value
        return self.counters.named(token, self.within)

    def reduce(self):
        value = self.sum()
        self.take(",")
        function = REDUCTIONS[self.next()]
        gone = [d for d, _ in value.dims]
        if self.peek() == ",":
            self.next()
            self.take("[")
            gone = [self.next()]
            while self.peek() == ",":
                self.next()
                gone.append(self.next())
            self.take("]")
        kept = [i for i, (d, _) in enumerate(value.dims) if d not in gone]
        groups = {}
        for p in places(value.dims):
            groups.setdefault(tuple(p[i] for i in kept), []).append(value.numbers[p])
        return Value(tuple(value.dims[i] for i in kept),
                     {p: function(n) for p, n in groups.items()})

    def select(self):
        value = self.sum()
        self.take(",")
        self.take("[")
        name = self.next()
        self.take("=")
        self.take("[")
        position = int(self.next())
        self.take("]")
        self.take("]")
        at = [d for d, _ in value.dims].index(name)
        return Value(value.dims[:at] + value.dims[at + 1:],
                     {p[:at] + p[at + 1:]: n for p, n in value.numbers.items()
                      if p[at] == position})

    def accumulate(self):
        name = self.next()
        self.take(",")
        return self.counters.measured(name, LEVELS[self.next()])


def operate(operator, a, b):
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "*":
        return a * b
    return a / b if b != 0 else 0.0


def combine(operator, left, right):
    if left.dims and right.dims and left.dims != right.dims:
        raise Refused("dimensions")
    dims = left.dims or right.dims
    return Value(dims, {p: operate(operator, left.numbers[p if left.dims else ()],
                                   right.numbers[p if right.dims else ()]) for p in places(dims)})


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=True).stdout.splitlines()


class Random:
    """Random expressions over three shapes; some have operands that do not fit."""

    BASIC = ["SQ_A", "SQ_B", "TCC_A", "TCP_A", "GRBM_A"]

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, depth):
        pick = self.random.randrange(12)
        if depth == 0 or pick < 2:
            return self.random.choice(self.BASIC + ["simd_count", "wave_front_size", "2", "0.5",
                                                    "1e3", "0"])
        if pick < 7:
            return "%s%s%s" % (self.operand(depth), self.random.choice("+-*/"), self.operand(depth))
        if pick == 7:
            return "-" + self.operand(depth)
        if pick < 11:
            dims = self.random.choice(["", "", "", ",[DIMENSION_SHADER_ENGINE]",
                                       ",[DIMENSION_INSTANCE]"])
            return "reduce(%s,%s%s)" % (self.expression(depth - 1),
                                        self.random.choice(list(REDUCTIONS)), dims)
        return self.random.choice(["select(TCC_A,[DIMENSION_INSTANCE=[%d]])" %
                                   self.random.randrange(32),
                                   "accumulate(SQ_A,%s)" % self.random.choice(list(LEVELS))])

    def operand(self, depth):
        text = self.expression(depth - 1)
        return "(%s)" % text if self.random.randrange(2) else text


class Expressions(unittest.TestCase):
    def agree(self, counters, name, expression):
        got, expected = counters.values[name], counters.evaluate(expression).flat()
        self.assertEqual(len(got), len(expected), "%s = %s" % (name, expression))
        for i, (g, e) in enumerate(zip(got, expected)):
            self.assertTrue(math.isclose(g, e, rel_tol=1e-9, abs_tol=1e-9),
                            "%s = %s: place %d is %r, not %r" % (name, expression, i, g, e))

    def test_shipped_definitions(self):
        counters = Counters(run())
        self.assertGreater(len(counters.derived), 100)
        for name, expression in counters.derived.items():
            self.agree(counters, name, expression)

    def test_random_expressions(self):
        maker = Random(7)
        texts = {"E%d" % i: maker.expression(4) for i in range(1500)}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            for i, name in enumerate(Random.BASIC):
                f.write("%s: {architectures: {gfx90a: {block: %s, event: %d}}}\n" %
                        (name, name.split("_")[0], i))
            for name, text in texts.items():
                f.write("%s: {architectures: {gfx90a: {expression: '%s'}}}\n" % (name, text))
            f.flush()
            counters = Counters(run(f.name))
        refused = 0
        for name, text in texts.items():
            try:
                counters.evaluate(text)
            except Refused:
                refused += 1
                self.assertNotIn(name, counters.values, "%s = %s" % (name, text))
                continue
            self.assertIn(name, counters.values, "%s = %s" % (name, text))
            self.agree(counters, name, text)
        self.assertTrue(100 < refused < 1200, refused)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
