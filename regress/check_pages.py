"""Man pages and shell completion of the installed program: they say and offer what the program takes."""

import gzip
import os
import pty
import re
import shutil
import subprocess
import time
from pathlib import Path

from check_installed import install
from runner import Gpusim, NoCompiler, require, require_equal

OPTION = re.compile(r"^  (-\w,)?(--[a-z-]+)", re.MULTILINE)


def commands(gpusim: Gpusim, *above: str) -> list[tuple[str, ...]]:
    """Every command, as words: (), ("check",), ("config",), ("config", "show"), ..."""
    shown = gpusim.run(*above, "--help").require_code(0).out
    found = [above]
    if "Subcommands:" in shown:
        for name in re.findall(r"^  ([a-z]+) ", shown.split("Subcommands:")[1], re.MULTILINE):
            found += commands(gpusim, *above, name)
    return found


def pages_of(data: Path) -> dict[str, str]:
    folder = data.parent / "man" / "man1"
    return {path.name.removesuffix(".1.gz"): gzip.decompress(path.read_bytes()).decode() for path in folder.glob("*.1.gz")}


def check_man_pages(gpusim: Gpusim) -> None:
    """Each command and each option of --help is in the page of its command."""
    installed, data = install(gpusim)
    pages = pages_of(data)
    every = commands(installed)
    require_equal("man pages", sorted(pages), sorted({"-".join(("gpusim", *words[:1])) for words in every}))
    options = 0
    for words in every:
        page = pages["-".join(("gpusim", *words[:1]))]
        text = page if len(words) < 2 else page.split(f".SS gpusim {' '.join(words)}\n")[1].split("\n.S")[0]
        for short, name in OPTION.findall(installed.run(*words, "--help").require_code(0).out):
            options += 1
            for spelling in filter(None, (short.rstrip(","), name)):
                require("\\fB" + spelling.replace("-", "\\-") + "\\fR" in text, f"no {spelling} in the page of gpusim {' '.join(words)}")
    require(options > 100, f"--help showed {options} options only")
    for name in pages:
        require(name == "gpusim" or f"\\fB{name.replace('-', chr(92) + '-')}\\fR(1)" in pages["gpusim"], f"gpusim.1 does not name {name}")
    require("one of none, clean, schedule" in pages["gpusim"].lower(), "gpusim.1 does not list the choices of --lowering")


def check_lint(gpusim: Gpusim) -> None:
    """The formatters find nothing to complain about."""
    tools = [tool for tool in ("mandoc", "man") if shutil.which(tool)]
    if not tools:
        raise NoCompiler("neither mandoc nor man is on the PATH")
    _, data = install(gpusim)
    for name, text in pages_of(data).items():
        file = gpusim.scratch / f"{name}.1"
        file.write_text(text)
        if "mandoc" in tools:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", file], capture_output=True, text=True, check=False)
            require_equal(f"mandoc on {name}", done.stdout + done.stderr, "")
        if "man" in tools:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file], capture_output=True, text=True,
                                  check=False, env={**os.environ, "LC_ALL": "C.UTF-8", "MAN_KEEP_STDERR": "1"})
            require_equal(f"man on {name}", done.stderr, "")


ASK_BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_gpusim "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def check_bash(gpusim: Gpusim) -> None:
    installed, data = install(gpusim)
    script = data.parent / "bash-completion" / "completions" / "gpusim"
    (installed.scratch / "vector.ptx").write_text("")
    (installed.scratch / "own.cfg").write_text("")

    def offers(*words: str) -> list[str]:
        done = subprocess.run(["bash", "-c", ASK_BASH, "bash", script, installed.program, *words], cwd=installed.scratch,
                              capture_output=True, text=True, check=False)
        require_equal(f"messages of bash for {words}", done.stderr, "")
        return sorted(done.stdout.split())

    machines = sorted(path.stem for path in (gpusim.source / "configs").glob("*.cfg"))
    top = [words[0] for words in commands(installed) if len(words) == 1]
    require_equal("commands", offers(""), sorted(top + ["own.cfg", "vector.ptx"]))
    require_equal("commands that begin with re", offers("re"), ["regress", "report", "reuse"])
    for words in commands(installed):
        names = [name for pair in OPTION.findall(installed.run(*words, "--help").out) for name in pair if name]
        require_equal(f"options of {words}", offers(*words, "-"), sorted(name.rstrip(",") for name in names))
    require_equal("machines and files", offers("--config", ""), sorted([*machines, "own.cfg", "vector.ptx"]))
    require_equal("machines", offers("check", "--config", "tesla_"), [name for name in machines if name.startswith("tesla_")])
    require_equal("machine behind =", offers("--config", "=", "h2"), ["h200"])
    require_equal("choices", offers("--lowering", ""), ["clean", "none", "schedule"])
    require_equal("choices behind =", offers("--events", "="), ["all", "memory", "off", "summary"])
    require_equal("choices of a command", offers("--config", "h200", "check", "--lowering", "c"), ["clean"])
    require_equal("inner commands", offers("config", "d"), ["describe", "diff"])
    require_equal("a machine as argument", offers("config", "diff", "gtx480", "h"), ["h100", "h200"])
    require_equal("files", offers("check", "v"), ["vector.ptx"])
    require_equal("the value of an option is no command", offers("--out", "check", "--li"), ["--link"])
    require_equal("numbers", offers("--seed", ""), [])


ASK_ZSH = r"""
PS1=; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; path=({program} $path)
ask() {{ local q; for q in "${{(@f)$(<questions)}}"; do BUFFER=$q; CURSOR=$#BUFFER; zle complete-word; print -r -- "$BUFFER" >>answers; BUFFER=; done
  print -r -- done >>answers }}
zle -N ask; bindkey '^T' ask; print ready >>answers
"""


def check_zsh(gpusim: Gpusim) -> None:
    """What a zsh completes, on a terminal."""
    if shutil.which("zsh") is None:
        raise NoCompiler("there is no zsh")
    installed, data = install(gpusim)
    (installed.scratch / "vector.ptx").write_text("")
    expected = {
        "gpusim regr": "gpusim regress",
        "gpusim --config tesla_v": "gpusim --config tesla_v100",
        "gpusim --config=tesla_v": "gpusim --config=tesla_v100",
        "gpusim check --lowering sch": "gpusim check --lowering schedule",
        "gpusim config li": "gpusim config list",
        "gpusim config diff gtx480 tesla_v": "gpusim config diff gtx480 tesla_v100",
        "gpusim check vec": "gpusim check vector.ptx",
        "gpusim --config h200 vec": "gpusim --config h200 vector.ptx",
        "gpusim vector.ptx --stri": "gpusim vector.ptx --strict-target",
        "gpusim regress --judge": "gpusim regress --judge-again",
        "gpusim --seed vec": "gpusim --seed vec",
    }
    (installed.scratch / "questions").write_text("\n".join(expected))
    answers = installed.scratch / "answers"
    setup = ASK_ZSH.format(folder=data.parent / "zsh" / "vendor-completions", program=installed.program.parent)
    (installed.scratch / "setup").write_text(setup)
    main_end, zsh_end = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], cwd=installed.scratch, stdin=zsh_end, stdout=zsh_end, stderr=zsh_end,
                             start_new_session=True, env={**os.environ, "TERM": "dumb"})
    try:
        for keys, last in ((b"source ./setup\n", "ready"), (b"\x14", "done")):
            os.write(main_end, keys)
            until = time.monotonic() + 60
            while not answers.exists() or not answers.read_text().endswith(last + "\n"):
                require(time.monotonic() < until, f"zsh does not answer: {answers.read_text() if answers.exists() else 'nothing'}")
                time.sleep(0.05)
    finally:
        shell.kill()
        shell.wait()
        os.close(main_end)
        os.close(zsh_end)
    completed = [line.rstrip() for line in answers.read_text().splitlines()[1:-1]]
    require_equal("completions", dict(zip(expected, completed)), expected)


CHECKS = {"man_pages": check_man_pages, "man_lint": check_lint, "bash": check_bash, "zsh": check_zsh}
