"""Sources say themselves what they use: most builds compile the tests with precompiled headers, which hide that an #include is missing."""

import re
from pathlib import Path

from runner import Gpusim, require

# What each precompiled header (gpusim_test_headers in cmake/Helpers.cmake) is needed for, and those that bring it along.
USES = {
    "algorithm": r"std::(ranges::)?(sort|stable_sort|find|find_if|any_of|all_of|none_of|count|count_if|max_element|min_element|replace|generate|shuffle)\(",
    "array": r"std::array<",
    "filesystem": r"std::filesystem::|\bfs::",
    "functional": r"std::function<",
    "map": r"std::(multi)?map<",
    "memory": r"std::(unique_ptr|make_unique|shared_ptr|make_shared)\b",
    "optional": r"std::(optional<|nullopt)",
    "unordered_map": r"std::unordered_map<",
    "variant": r"std::(variant<|get_if<|visit\(|holds_alternative<)",
    "fmt/format.h": r"\bfmt::(format|print|to_string|join)\b",
    "gmock/gmock.h": r"\b(EXPECT_THAT|ASSERT_THAT|HasSubstr|ElementsAre|UnorderedElementsAre|ThrowsMessage)\b",
    "gtest/gtest.h": r"\bTEST(_[FP])?\(",
    "systemc": r"\bsc_(core|dt)::",
}
BROUGHT_BY = {
    "algorithm": {"gmock/gmock.h"},
    "array": {"gtest/gtest.h", "gmock/gmock.h", "functional", "span", "tuple"},
    "functional": {"gtest/gtest.h", "gmock/gmock.h"},
    "map": {"gtest/gtest.h", "gmock/gmock.h"},
    "memory": {"gtest/gtest.h", "gmock/gmock.h"},
    "unordered_map": {"functional"},
    "fmt/format.h": {"fmt/ranges.h", "fmt/chrono.h"},
    "gtest/gtest.h": {"gmock/gmock.h"},
}
OUTSIDE_CODE = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|//.*')


def reached(source: Path, file: Path, known: dict[Path, set[str]]) -> set[str]:
    """Headers of others that the file includes, itself or through ours."""
    if file not in known:
        known[file] = set()  # in case that headers include each other
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE):
            own = source / name
            known[file] |= reached(source, own, known) if own.is_file() else {name}
    return known[file]


def lacking(source: Path, file: Path, known: dict[Path, set[str]]) -> list[str]:
    there = reached(source, file, known)
    code = OUTSIDE_CODE.sub("", file.read_text())
    return [header for header, use in USES.items() if header not in there and not there & BROUGHT_BY.get(header, set()) and re.search(use, code)]


def check_includes(gpusim: Gpusim) -> None:
    helpers = (gpusim.source / "cmake" / "Helpers.cmake").read_text() + (gpusim.source / "CMakeLists.txt").read_text()
    require(all(f"<{header}>" in helpers for header in USES), "the precompiled headers are others by now")
    known: dict[Path, set[str]] = {}
    tests = sorted(file for file in gpusim.source.glob("*/**/*_test.cpp") if file.relative_to(gpusim.source).parts[0] != "build")
    require(len(tests) > 100, f"{len(tests)} tests")
    missing = [f"{file.relative_to(gpusim.source)}: #include <{header}>" for file in tests for header in lacking(gpusim.source, file, known)]
    require(not missing, "tests that compile with precompiled headers only:\n" + "\n".join(missing))
