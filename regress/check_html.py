"""`gpusim report`: one page that says what the other commands say, needs nothing from elsewhere, and fits every screen."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from cases import CASES
from check_corpus import NoCompiler
from runner import Gpusim, require, require_equal

# Elements that HTML closes by itself.
VOID = {"meta", "br", "img", "hr", "link", "input", "line", "rect", "circle", "polygon", "polyline", "col"}
OPTIONAL_END = {"th", "td", "tr", "li", "p"}


class Page(HTMLParser):
    """Elements that were opened and not closed, texts, and whatever would be loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.loads: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [value or "" for name, value in attrs if name in ("src", "srcset", "data") or (name == "href" and not (value or "").startswith("#"))]
        if tag in ("script", "iframe", "link"):
            self.loads.append(tag)
        if tag not in VOID and tag not in OPTIONAL_END:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID or tag in OPTIONAL_END:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def record(gpusim: Gpusim, name: str, case: str, *options: str) -> Path:
    file = gpusim.scratch / f"{name}.h5"
    gpusim.run("--config", "tesla_v100", CASES[case].ptx(gpusim.source), "--out", file, "--quiet", *options).require_code(0)
    return file


def write(gpusim: Gpusim, *words: object) -> str:
    out = gpusim.scratch / "report.html"
    gpusim.run("report", *words, "-o", out).require_code(0)
    return out.read_text(encoding="utf-8")


def check_page(gpusim: Gpusim) -> None:
    """Well-formed, self-contained, and of the same numbers as the other commands."""
    one, two = record(gpusim, "one", "spmv_scalar"), record(gpusim, "two", "vecadd")
    text = write(gpusim, one, two)
    page = Page(text)
    require_equal("elements closed wrongly", page.wrong, [])
    require_equal("elements left open", page.open, [])
    require_equal("what would be loaded from elsewhere", page.loads, [])
    require("url(" not in text and "@import" not in text, "the style loads something")
    words = " ".join(page.words)
    for file in (one, two):
        explained = gpusim.run("explain", file, "--json").require_code(0).json()
        for kernel in explained["kernels"]:
            require(str(kernel["cycles"]) in words, f"cycles of {kernel['kernel']} are missing")
    require_equal("same page", write(gpusim, one, two), text)
    require("gain" not in words.lower() or "Proof" not in words, "a proof that nobody asked for")
    gpusim.run("report", one, "-o", one).require_code(1).require_error("this is an input of the run")
    damaged = gpusim.scratch / "damaged.h5"
    damaged.write_bytes(one.read_bytes()[:4000])
    gpusim.run("report", damaged, "-o", gpusim.scratch / "no.html").require_code(1)
    require(not (gpusim.scratch / "no.html").exists(), "a report of a damaged file")


def check_names(gpusim: Gpusim) -> None:
    """A kernel's name or a path with markup in it is text in the page."""
    folder = gpusim.scratch / "<b>&x"
    folder.mkdir()
    ptx = folder / "<i>.ptx"
    shutil.copy(CASES["vecadd"].ptx(gpusim.source), ptx)
    shutil.copy(CASES["vecadd"].ptx(gpusim.source).with_suffix(".toml"), ptx.with_suffix(".toml"))
    file = folder / "run<script>.h5"
    gpusim.run("--config", "tesla_v100", ptx, "--out", file, "--quiet").require_code(0)
    text = write(gpusim, file)
    require("<script" not in text and "<i>." not in text, "markup of a name is markup of the page")
    require("run&lt;script&gt;.h5" in text, "the file's name is missing")


def check_browser(gpusim: Gpusim) -> None:
    """In headless Chromium no part of the page is wider than a phone, a tablet or a screen, and it prints."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise NoCompiler("there is no Chromium")
    write(gpusim, record(gpusim, "one", "spmv_scalar"))
    frames = "".join(f'<iframe src="report.html" width="{width}" height="900"></iframe>' for width in (360, 768, 1400))
    (gpusim.scratch / "frames.html").write_text(f"""<body>{frames}<p id="found"></p><script>
onload = () => {{ found.textContent = "FOUND " + [...document.querySelectorAll("iframe")].map(f => {{
  const e = f.contentDocument.documentElement; return e.scrollWidth + "<=" + f.clientWidth; }}).join(" ") + " END"; }};
</script></body>""")
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={gpusim.scratch / 'profile'}", "--allow-file-access-from-files"]
    done = subprocess.run([*common, "--virtual-time-budget=5000", "--dump-dom", (gpusim.scratch / "frames.html").as_uri()], capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"FOUND (.*) END", done.stdout.replace("&lt;", "<"))
    require(found is not None, f"the browser measured nothing: {done.stderr[-500:]}")
    for pair in found.group(1).split():
        width, room = map(int, pair.split("<="))
        require(width <= room, f"the page is {width} wide in a window of {room}")
    pdf = gpusim.scratch / "report.pdf"
    subprocess.run([*common, f"--print-to-pdf={pdf}", (gpusim.scratch / "report.html").as_uri()], capture_output=True, timeout=120, check=False)
    require(pdf.exists() and pdf.stat().st_size > 10_000, "the page does not print")


CHECKS = {"page": check_page, "names": check_names, "browser": check_browser}
