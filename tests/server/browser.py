"""The page in a real Chromium: opened, used as a reader would, and listened to."""

import base64
import json
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.images.pictures import encoded, picture
from tests.server.living import wait_until

RED, GREEN, BLUE = (250, 0, 0), (0, 250, 0), (0, 0, 250)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
DROP = """
const [files, target, kind] = arguments;
const transfer = new DataTransfer();
for (const [name, type, data] of files) {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  transfer.items.add(new File([bytes], name, { type }));
}
const element = document.querySelector(target);
const fire = (name) => element.dispatchEvent(
  kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true })
    : new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true })
);
if (kind === "paste") fire();
else for (const name of ["dragenter", "dragover", "drop"]) fire(name);
"""


def missing():
    """Why there is no browser to test with, or None."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "needs selenium"
    if not browser_path() or not shutil.which("chromedriver"):
        return "needs chromium and chromedriver"
    return None


def browser_path():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def chromium(folder):
    """A browser with a profile of its own in a folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser_path()
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(folder), "download.prompt_for_download": False}
    )
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """One page in the browser."""

    def __init__(self, driver, url):
        self.driver = driver
        self.url = url

    def open(self, fragment="", *, width=1360, height=1000, dark=False, settle=True):
        """A fresh page; waits until the shipped photos are answered."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.cdp("Emulation.setEmulatedMedia", features=scheme)
        self.driver.get("about:blank")
        self.console()
        self.requests()
        self.driver.get(f"{self.url}/{fragment}")
        if settle:
            self.settle()
        return self

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        """The text, as it is in the document: also where it is scrolled away."""
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def shown(self, selector):
        return self.run("return document.querySelector(arguments[0])?.checkVisibility() ?? false", selector)

    def wait(self, true, *, seconds=60):
        wait_until(true, seconds=seconds)

    def settle(self):
        """Wait until every photo has an answer or has failed."""
        self.wait(
            lambda: self.run(
                "const frames = [...document.querySelectorAll('.frame')];"
                "const ended = frames.every((f) => ['done', 'failed'].includes(f.dataset.state));"
                "return frames.length > 0 && ended"
                " && document.getElementById('answer').getAttribute('aria-busy') === 'false'"
            )
        )

    def give(self, *files, target="body", kind="drop"):
        """Drop or paste files, each (name, type, bytes)."""
        self.run(DROP, [(name, media, base64.b64encode(data).decode()) for name, media, data in files], target, kind)

    def keys(self, *keys):
        """Press keys wherever the focus is."""
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def label(self, text):
        """Type a label and press Enter."""
        self.find("#draft").send_keys(f"{text}\n")

    def console(self):
        """What the console said since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if urlsplit(url).scheme not in ("blob", "data", "about")]

    def violations(self):
        """What axe-core finds, one line each."""
        package = pytest.importorskip("axe_core_python", reason="needs axe-core-python")
        self.run((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "axe.run(document).then(arguments[0], (e) => arguments[0]({failed: String(e)}))"
        )
        return [f"{v['id']}: {n['target']} {n['failureSummary']}" for v in found["violations"] for n in v["nodes"]]

    def downloaded(self, folder, name):
        """The bytes of a file once it is all there."""
        path = folder / name
        self.wait(lambda: path.exists() and not list(folder.glob("*.crdownload")))
        data = path.read_bytes()
        with suppress(FileNotFoundError):
            path.unlink()
        return data


def png(name, colour):
    """A file of one colour to give to a page."""
    return (name, "image/png", encoded(picture(colour, (60, 40))))


def badges(page):
    """The answers under the photos of the filmstrip."""
    return page.texts(".badge")
