"""The documentation says what the program does: commands shown with their output are run and compared, options that it names
exist, and pages that texts refer to are there."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from check_programs import sanitizer
from runner import Gpusim, NoCompiler, require, require_equal

LIMIT_S = 380
REFERENCE = re.compile(r"docs/[\w/]+\.(?:md|txt|svg)")
TEST = re.compile(r"\b\w+_test\.cpp\b")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def pages(source: Path) -> list[Path]:
    return [source / "README.md", *sorted((source / "docs").rglob("*.md")), source / "workloads" / "README.md"]


def blocks(page: Path) -> list[list[str]]:
    """Indented blocks, their indentation taken off; an empty line inside belongs to the block."""
    found: list[list[str]] = []
    open_block = False
    lines = page.read_text().split("\n")
    for at, line in enumerate(lines):
        if line.startswith("    ") and (open_block or at == 0 or not lines[at - 1].strip()):
            if not open_block:
                found.append([])
            found[-1].append(line[4:])
            open_block = True
        elif not line.strip() and open_block and at + 1 < len(lines) and lines[at + 1].startswith("    "):
            found[-1].append("")
        else:
            open_block = False
    return found


def shown(page: Path) -> list[tuple[str, list[str]]]:
    """Commands behind '$ ' (a backslash continues them) and the lines that follow."""
    result: list[tuple[str, list[str]]] = []
    for block in blocks(page):
        lines = iter(block)
        for line in lines:
            if line.startswith("$ "):
                command = line[2:]
                while command.endswith("\\"):
                    command = command[:-1] + next(lines).strip()
                result.append((command, []))
            elif result and block[0].startswith("$ "):
                result[-1][1].append(line)
    return result


def run_shown(gpusim: Gpusim, command: str) -> str:
    words = command.replace("./gpusim ", "gpusim ", 1)
    environment = {"PATH": f"{gpusim.scratch / 'bin'}:/usr/bin:/bin", "HOME": str(gpusim.scratch), "LC_ALL": "C.UTF-8"}
    if loaded := sanitizer(gpusim):  # before the shell, whose leaks are not ours
        environment |= loaded | {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(["bash", "-c", words], cwd=gpusim.scratch, capture_output=True, text=True, timeout=LIMIT_S,
                          check=False, stdin=subprocess.DEVNULL, env=environment)
    return done.stdout + done.stderr


def studies(page: Path) -> list[str]:
    return [text for text in re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL) if "[study]" in text]


def check_output(gpusim: Gpusim, page: str) -> None:
    """Every command of a page that is shown with its output prints just that, and every study that it shows can be run."""
    for name in ("workloads", "regress", "configs", "docs"):
        (gpusim.scratch / name).symlink_to(gpusim.source / name)
    for file in (gpusim.source / "regress" / "checks").glob("*.ptx"):
        (gpusim.scratch / file.name).symlink_to(file)
    (gpusim.scratch / "bin").mkdir()
    (gpusim.scratch / "bin" / "gpusim").symlink_to(gpusim.program)
    for command, expected in shown(gpusim.source / page):
        printed = run_shown(gpusim, command)
        if not expected:
            continue
        require_equal(f"{page}: output of `{command}`", [line.rstrip() for line in printed.rstrip("\n").split("\n")],
                      [line.rstrip() for line in "\n".join(expected).rstrip("\n").split("\n")])
    for at, text in enumerate(studies(gpusim.source / page)):
        file = gpusim.scratch / "studies" / f"{at}.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        gpusim.run("study", "plan", file).require_code(0)


def pages_with_output(source: Path) -> list[str]:
    return [str(page.relative_to(source)) for page in pages(source) if shown(page)]


def commands(page: Path) -> list[str]:
    """Every command of the program in indented blocks and in back quotes."""
    text = page.read_text()
    inline = re.findall(r"`((?:\./)?gpusim [^`]*)`", text)
    joined = [re.sub(r"\\\n\s*", "", "\n".join(block)) for block in blocks(page)]
    lines = [line.removeprefix("$ ").strip() for block in joined for line in block.split("\n")]
    parts = [part.strip() for line in inline + lines for part in re.split(r"&&|;", line)]
    return [part for part in parts if re.match(r"(\./|build/release/bin/)?gpusim ", part)]


def check_options(gpusim: Gpusim) -> None:
    """Options that the documentation names are the program's."""
    help_of: dict[str, str] = {}

    def options_of(command: str) -> str:
        if command not in help_of:
            help_of[command] = gpusim.run(*command.split(), "--help").require_code(0).out
        return help_of[command]

    def subcommands_of(command: str) -> set[str]:
        return set(re.findall(r"^  ([a-z]+) ", "".join(options_of(command).split("Subcommands:")[1:]), re.MULTILINE))

    seen = 0
    for page in pages(gpusim.source):
        for command in commands(page):
            text = command.split(" # ")[0].split("|")[0].replace("[", " ").replace("]", " ").replace("...", " ")
            try:
                words = shlex.split(text)[1:]
            except ValueError:
                words = text.split()[1:]
            sub = ""
            for word in words[:2]:  # "study run" is a command of a command
                if word not in subcommands_of(sub):
                    break
                sub = f"{sub} {word}".strip()
            for option in (word.split("=")[0] for word in words if re.match(r"--[a-z]", word)):
                seen += 1
                require(re.search(rf"{re.escape(option)}\b", options_of(sub)) is not None,
                        f"{page.name}: `{command}`: gpusim {sub} has no {option}")
    require(seen > 50, f"only {seen} options were found in the documentation")


def check_references(gpusim: Gpusim) -> None:
    """Pages that texts and comments refer to exist; nothing refers to documents outside the repository."""
    names = [str(path.relative_to(gpusim.source)) for path in sorted(gpusim.source.rglob("*"))
             if path.is_file() and not path.relative_to(gpusim.source).parts[0].startswith(("build", "."))]
    outside = re.compile(r"\b(DESIGN|MODELS|GROUND_TRUTH|STYLE|PTX)(\.md| section \d)")
    for name in names:
        if not name.endswith((".md", ".cpp", ".h", ".inc", ".py", ".cfg", ".cmake", ".toml", ".cu", "CMakeLists.txt", ".sh")):
            continue
        path = gpusim.source / name
        if not path.exists() or name == "regress/check_docs.py":
            continue
        text = path.read_text(errors="replace")
        for reference in REFERENCE.findall(text):
            require((gpusim.source / reference).exists(), f"{name} refers to {reference}, which does not exist")
        if name.endswith((".h", ".cpp")):
            for test in TEST.findall(text):
                require(any(other.endswith("/" + test) for other in names), f"{name} refers to {test}, which does not exist")
        require(outside.search(text) is None, f"{name} refers to {outside.search(text)}, which is not in the repository")
        if name.endswith(".md"):
            for target in LINK.findall(text):
                require((path.parent / target).exists(), f"{name} links to {target}, which does not exist")


def check_scripts(gpusim: Gpusim) -> None:
    """Scripts that a page shows as a command exist and can be executed as they are written there."""
    seen = 0
    for page in pages(gpusim.source):
        for line in (line.removeprefix("$ ").strip() for block in blocks(page) for line in block):
            command = re.match(r"(?:sudo )?((?:[a-z_.]+/)+[a-z_]+\.(?:py|sh))\b", line)
            if command is None:
                continue
            script = gpusim.source / command[1]
            seen += 1
            require(script.is_file(), f"{page.name}: `{line}`: there is no {command[1]}")
            require(os.access(script, os.X_OK) and script.read_text().startswith("#!"),
                    f"{page.name}: `{line}`: {command[1]} cannot be executed")
    require(seen > 20, f"only {seen} scripts were found in the documentation")


def check_lists(gpusim: Gpusim) -> None:
    """Every command is named by a page, and every model has its row in models.md."""
    subcommands = gpusim.run("--help").require_code(0).out.split("Subcommands:")[1]
    # What extending.md adds is an example.
    text = "".join(page.read_text() for page in pages(gpusim.source) if page.name != "extending.md")
    for name in re.findall(r"^  ([a-z]+) ", subcommands, re.MULTILINE):
        require(re.search(rf"\bgpusim {name}\b", text) is not None, f"no page of docs/ says what `gpusim {name}` is for")
    models = re.findall(r"^  ([a-z-]+) ", gpusim.run("analyze", "--help").require_code(0).out.split("Usage:")[0], re.MULTILINE)
    require(len(models) > 3, f"analyze --help lists {models}")
    table = (gpusim.source / "docs" / "models.md").read_text()
    for name in models:
        require(f"\n| `{name}` |" in table, f"docs/models.md has no row for the model {name}")


def diffs(page: Path) -> list[str]:
    return re.findall(r"^```diff\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def check_diffs(gpusim: Gpusim) -> None:
    """Every difference that a page shows is one from this source tree, or one that led to it."""
    if shutil.which("git") is None:
        raise NoCompiler("git is not in PATH")
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(gpusim.source.parent)}
    seen = 0
    for page in pages(gpusim.source):
        for diff in diffs(page):
            seen += 1
            tries = [subprocess.run(["git", "apply", "--check", *reverse, "-"], input=diff, cwd=gpusim.source, text=True,
                                    capture_output=True, check=False, env=environment) for reverse in ((), ("--reverse",))]
            title = "\n".join(line for line in diff.split("\n") if line.startswith("diff "))
            require(any(done.returncode == 0 for done in tries),
                    f"{page.name} shows a difference that does not apply:\n{title}\n{tries[0].stderr}")
    require(seen >= 6, f"only {seen} differences were found in the documentation")


def check_new_files(gpusim: Gpusim) -> None:
    """Files that these differences add compile against today's headers."""
    build = gpusim.program.parent.parent
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    if shutil.which(compiler) is None:
        raise NoCompiler(f"there is no {compiler}")
    files = [(page.name, name, lines) for page in pages(gpusim.source) for diff in diffs(page) for name, lines in new_files(diff)
             if name.endswith(".cpp")]
    require(len(files) >= 5, f"only {len(files)} new files were found in the documentation")
    for _, name, lines in files:
        (gpusim.scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (gpusim.scratch / name).write_text(lines)
    # As one, which parses their headers once.
    together = gpusim.scratch / "new_files.cpp"
    together.write_text("".join(f'#include "{gpusim.scratch / name}"\n' for _, name, _ in files))
    folders = [f"-I{folder}" for folder in (gpusim.source, build / "generated", build)]
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DSC_CPLUSPLUS=201703L",
                           f'-DGPUSIM_SOURCE_DIR="{gpusim.source}"', *folders, together], capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"of {', '.join(f'{name} ({page})' for page, name, _ in files)}, not all compile:\n{done.stderr[:4000]}")


def new_files(diff: str) -> list[tuple[str, str]]:
    """Names and texts of the files that a difference adds."""
    found = []
    for part in re.split(r"^diff --git ", diff, flags=re.MULTILINE):
        if "\n--- /dev/null\n" in part:
            name = re.search(r"^\+\+\+ b/(.*)$", part, re.MULTILINE)[1]
            body = part.split("\n@@", 1)[1].split("\n")[1:]
            found.append((name, "".join(line[1:] + "\n" for line in body if line.startswith("+"))))
    return found


def docs_checks(source: Path) -> dict[str, object]:
    checks: dict[str, object] = {"options": check_options, "references": check_references, "lists": check_lists, "diffs": check_diffs,
                                "scripts": check_scripts, "new_files": check_new_files}
    for page in pages_with_output(source):
        checks[f"output/{page}"] = lambda gpusim, page=page: check_output(gpusim, page)
    return checks
