"""Headless Chromium, driven as a person would: over the DevTools protocol, whose messages go through two pipes. Python's
standard library only.

    with Browser() as browser, browser.page() as page:
        page.open(url)
        page.click("#swap")
"""

import base64
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

PATIENCE = 30  # seconds for what takes a fraction of one; the machine may be busy
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe")
# name -> (code, number of the key, text)
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""), " ": ("Space", 32, " "),
        "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
        "ArrowDown": ("ArrowDown", 40, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""),
        "S": ("KeyS", 83, ""), "/": ("Slash", 191, "")}
ALT, CTRL, META, SHIFT = 1, 2, 4, 8


class BrowserError(Exception):
    """What the browser refused, or a script in it."""


class Browser:
    def __init__(self):
        if PROGRAM is None:
            raise BrowserError("no chromium: apt-get install chromium")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._to_browser = os.pipe()
        self._from_browser, answers = os.pipe()
        # It reads commands from descriptor 3 and writes to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", PROGRAM, *OPTIONS,
             f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self._ids, self._answers, self._pages = itertools.count(1), {}, {}
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        os.close(self._to_browser)
        os.close(self._from_browser)
        self.profile.cleanup()

    def _send(self, number, method, session, parameters):
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        with self._writing:
            while data:
                data = data[os.write(self._to_browser, data):]

    def post(self, method, session=None, **parameters):
        """Sends a command and waits for nothing."""
        self._send(next(self._ids), method, session, parameters)

    def call(self, method, session=None, **parameters):
        """Sends a command; its result."""
        number = next(self._ids)
        waiting = self._answers[number] = queue.Queue()
        self._send(number, method, session, parameters)
        try:
            answer = waiting.get(timeout=PATIENCE)
        except queue.Empty:
            raise BrowserError(f"{method}: no answer within {PATIENCE} s") from None
        finally:
            del self._answers[number]
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _read(self):
        data = b""
        while True:
            part = os.read(self._from_browser, 1 << 16)
            if not part:
                return
            *messages, data = (data + part).split(b"\0")
            for message in map(json.loads, messages):
                if message.get("id") in self._answers:
                    self._answers[message["id"]].put(message)
                elif "method" in message and message.get("sessionId") in self._pages:
                    self._pages[message["sessionId"]].take(message["method"], message["params"])

    def page(self):
        return Page(self)


class Page:
    """A tab that shares nothing with others: neither storage nor cookies."""

    def __init__(self, browser):
        self.browser = browser
        self.complaints = []  # of the console: errors, exceptions, what the content-security policy refused
        self.requests = []    # {"method", "url", "postData"} in their order
        self.cancelled = []   # URLs of requests that the page cancelled
        self._urls = {}       # of requests, by the browser's number
        self.fakes = []       # (route, function that answers)
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser._pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(domain + ".enable")
        self.size(1200, 900)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
        del self.browser._pages[self.session]

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def take(self, event, parameters):
        """An event of the browser; on the thread that reads."""
        if event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"])
            self._urls[parameters["requestId"]] = parameters["request"]["url"]
        elif event == "Network.loadingFailed" and parameters.get("canceled"):
            self.cancelled.append(self._urls.get(parameters["requestId"]))
        elif event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value")) for one in parameters["args"]))
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            if entry["source"] != "network":  # a refusal of the server, which the page shows
                self.complaints.append(entry["text"])
        elif event == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + parameters["message"])
            self.browser.post("Page.handleJavaScriptDialog", self.session, accept=False)
        elif event == "Fetch.requestPaused":
            self._answer(parameters)

    def fake(self, route, answer):
        """Requests for a route get what answer(request) returns: (status, headers, text); None for the server's
        own answer; False for none at all."""
        self.fakes.append((route, answer))
        self.call("Fetch.enable", patterns=[{"urlPattern": f"*{one}"} for one, _ in self.fakes])

    def _answer(self, paused):
        number, request = paused["requestId"], paused["request"]
        fake = next((answer(request) for route, answer in self.fakes if request["url"].endswith(route)), None)
        if fake is None:
            return self.browser.post("Fetch.continueRequest", self.session, requestId=number)
        if fake is False:
            return None
        status, headers, text = fake
        self.browser.post("Fetch.fulfillRequest", self.session, requestId=number, responseCode=status,
                          responseHeaders=[{"name": name, "value": value} for name, value in headers.items()],
                          body=base64.b64encode(text.encode()).decode())

    # What is there.

    def run(self, script):
        """What JavaScript makes of an expression; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise BrowserError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return done["result"].get("value")

    def wait(self, script, seconds=PATIENCE):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"!!({script})"):
            if time.monotonic() > end:
                raise BrowserError(f"{script}: not so after {seconds} s; the page says {self.run('document.body.innerText')}")
            time.sleep(0.01)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def is_shown(self, selector):
        return self.run(f"!!document.querySelector({json.dumps(selector)})?.checkVisibility()")

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                         **({"clip": self._whole()} if whole else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    # What a person does.

    def open(self, url, ready="document.body.dataset.ready !== undefined"):
        self.call("Page.navigate", url=url)
        if ready:
            self.wait(f"document.readyState === 'complete' && location.href !== 'about:blank' && {ready}")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def prefer(self, **features):
        """prefers_color_scheme="dark", prefers_reduced_motion="reduce"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def middle(self, selector):
        """Where an element is, in the window, after it was brought there."""
        found = self.run(f"""(() => {{
          const element = document.querySelector({json.dumps(selector)});
          if (!element) return null;
          element.scrollIntoView({{block: "center", behavior: "instant"}});
          const box = element.getClientRects()[0];
          return box && [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        if not found:
            raise BrowserError(f"{selector} is not on the page")
        return found

    def hover(self, selector):
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector):
        x, y = self.hover(selector)
        for type_ in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=type_, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        """Each character is an input of its own."""
        for character in text:
            self.call("Input.insertText", text=character)

    def insert(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key, modifiers=0):
        code, number, text = KEYS[key]
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def choose(self, selector, value):
        """An option of a menu."""
        self.run(f"""(() => {{
          const menu = document.querySelector({json.dumps(selector)});
          menu.value = {json.dumps(value)};
          menu.dispatchEvent(new Event("change", {{bubbles: true}}));
        }})()""")

    def set_files(self, selector, *paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=list(map(str, paths)))

    def drop(self, selector, *paths):
        x, y = self.middle(selector)
        data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
        for type_ in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=type_, x=x, y=y, data=data)
