"""`gpusim report`: one page that says what the other commands say, needs nothing from elsewhere, and fits every screen."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from cases import CASES
from runner import Gpusim, NoCompiler, require, require_equal

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


def check_advice(gpusim: Gpusim) -> None:
    """The page says what `gpusim advise` says, with its gains."""
    folder, file = gpusim.source / "workloads" / "advice", gpusim.scratch / "run.h5"
    gpusim.run("--config", "tesla_c1060", folder / "camping.ptx", "--launch", folder / "camping_before.toml", "--quiet", "--out", file).require_code(0)
    words = " ".join(Page(write(gpusim, file)).words)
    advice = gpusim.run("advise", file, "--json").require_code(0).json()["advice"]
    require(bool(advice), "no advice to look for")
    for piece in advice:
        require(f"{piece['gain']:.2f} x as fast" in words and piece["what"] in words, f"the page lacks {piece}")


def check_study(gpusim: Gpusim) -> None:
    """A study's page is well-formed and self-contained, has its best point and every kind of plot, and stands beside a run."""
    ptx = CASES["spmv_scalar"].ptx(gpusim.source)
    gpusim.run("study", "run", "--config", "tesla_v100", "--set", "shared.size=8K", "--axis", "l1.size=16K,64K", "--axis", "l1.mshrs=32,128,512",
               "--out", "s", "--quiet", ptx).require_code(0)
    found = gpusim.run("study", "run", gpusim.scratch / "s" / "study.toml", "--out", "s", "--quiet", "--json").require_code(0).json()["groups"][0]
    text = write(gpusim, "s", record(gpusim, "one", "vecadd"))
    page = Page(text)
    require_equal("elements closed wrongly", page.wrong, [])
    require_equal("elements left open", page.open, [])
    require_equal("what would be loaded from elsewhere", page.loads, [])
    words = " ".join(page.words)
    best = found["best"][0]
    require(f"{best['objective']:.5g}" in words and f"l1_size={best['values']['l1_size']}" in words, "the best point is missing")
    for title in ("What each axis does to time_s", "time_s over l1_mshrs", "time_s at best", "Time against SRAM", "Study s"):
        require(title in words, f"there is no plot '{title}'")
    require_equal("links to sections", re.findall(r'<a href="#(\w+)">', text), ["run0", "study0"])
    for anchor in ("run0", "study0"):
        require(f'id="{anchor}"' in text, f"nothing has the id {anchor}")
    gpusim.run("report", gpusim.scratch, "-o", gpusim.scratch / "no.html").require_code(1).require_error("holds no results of a study")
    (gpusim.scratch / "s" / "points").rename(gpusim.scratch / "moved")
    gpusim.run("report", "s", "-o", gpusim.scratch / "no.html").require_code(1).require_error("lacks 6 of the points", "--store")
    require_equal("points elsewhere", write(gpusim, "s", "--store", "moved", gpusim.scratch / "one.h5"), text)


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


CHECKS = {"page": check_page, "advice": check_advice, "study": check_study, "names": check_names, "browser": check_browser}
