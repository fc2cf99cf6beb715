"""A browser without a window, driven through its debugging pipe.

    with Browser() as browser:
        page = browser.open(path, 1200, 900)
        page.value("croc.records")
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
DEADLINE_S = 120


def program_find():
    """The browser's path; None: there is none."""
    return os.environ.get("CROC_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)


def pipe_high():
    """A pipe whose descriptors are none of 3 and 4."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp()
        theirs_in, self.out = pipe_high()
        self.inn, theirs_out = pipe_high()

        def ends_place():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self.log = open(os.path.join(self.home, "log"), "wb")
        self.process = subprocess.Popen(
            [program_find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + self.home, "about:blank"],
            pass_fds=(3, 4), preexec_fn=ends_place, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for end in (self.out, self.inn):
            os.close(end)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.inn], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(self.inn, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser has ended" if ready else "the browser does not answer")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + DEADLINE_S
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height, touch=False, dark=False):
        """The page at a path, when it says that it is ready."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.call("Runtime.enable")
        page.call("Network.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        page.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        page.wait("window.croc && (croc.ready || croc.error)")
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + DEADLINE_S
        while not self.value("!!(%s)" % expression):
            if time.monotonic() > deadline:
                raise RuntimeError("this does not become true: " + expression)
            time.sleep(0.02)

    def frame(self):
        """Returns when what was asked for is drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, begin, end, modifiers=0):
        self.mouse("mousePressed", *begin, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for part in (0.25, 0.5, 0.75, 1):
            at = [a + (b - a) * part for a, b in zip(begin, end)]
            self.mouse("mouseMoved", *at, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=modifiers)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key, modifiers=0, text=None):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def requests(self):
        """Addresses that the page has asked for, besides itself."""
        return [e["params"]["request"]["url"] for e in self.browser.events
                if e.get("sessionId") == self.session and e["method"] == "Network.requestWillBeSent"
                and e["params"].get("type") != "Document"]

    def errors(self):
        """What the page did not catch, and what it wrote as an error."""
        return [e["params"] for e in self.browser.events if e.get("sessionId") == self.session and
                (e["method"] == "Runtime.exceptionThrown"
                 or e["method"] == "Runtime.consoleAPICalled" and e["params"]["type"] == "error")]
