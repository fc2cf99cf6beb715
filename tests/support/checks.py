"""What test programs in Python report with."""


class Checks:
    """Collects failures, so that one run tells all of them."""

    def __init__(self):
        self.failures = []

    def equal(self, what, got, expected):
        if got != expected:
            self.failures.append("%s: got %r, expected %r" % (what, got, expected))

    def true(self, what, condition):
        if not condition:
            self.failures.append(what)

    def exit(self):
        for failure in self.failures:
            print(failure)
        raise SystemExit(1 if self.failures else 0)
