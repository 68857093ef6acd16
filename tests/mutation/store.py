"""What became of every mutant, kept from run to run as long as it still says something.

A mutant is known by its function's source and the constants of its module, a test by its own source and by
all that it uses of its file and of its helpers. So a killed mutant stays killed while tests are added or
changed elsewhere, a survivor meets only the tests that it has not yet met, and a changed function begins
anew. What a function calls is not looked at: after a change of the laws below, ``--afresh`` asks again.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

HELPERS = ("tests.rigs", "tests.safety")
"""Packages whose modules, imported by a test's file, belong to the test."""


def digest(text: str) -> str:
    """Short hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _without_text(node: ast.stmt) -> str:
    """Source of a statement without its docstring."""
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        node = copy.copy(node)
        node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined,index]
    return ast.unparse(node)


def names_of(mutants: list[Any]) -> dict[int, str]:
    """Name of every mutant, the same as long as its function is: ``guard.guard dropped: c.seq = s.tick``."""
    names, seen = {}, Counter[str]()
    for m in mutants:
        change = f"{m.before} -> {m.after}" if m.after else m.before
        name = f"{m.module.removeprefix('guard.')}.{m.function} {m.what}: {change}"
        seen[name] += 1
        names[m.number] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def keys_of(mutants: list[Any], root: Path) -> dict[int, str]:
    """Names of mutants with a hash of their function and of their module's constants."""
    sources: dict[tuple[str, str], str] = {}
    for module in {m.module for m in mutants}:
        tree = _tree(root / (module.replace(".", "/") + ".py"))
        constants = [_without_text(n) for n in tree.body if not isinstance(n, ast.FunctionDef | ast.Expr)]
        for n in tree.body:
            if isinstance(n, ast.FunctionDef):
                sources[module, n.name] = digest("\n".join([*constants, _without_text(n)]))
    names = names_of(mutants)
    return {m.number: f"{sources[m.module, m.function]} {names[m.number]}" for m in mutants}


@cache
def _definitions(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Of every name that a file defines at its top: the source, and the names used in it."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for n in _tree(path).body:
        text = _without_text(n)
        if isinstance(n, ast.ImportFrom) and str(n.module).startswith(HELPERS):
            text += (path.parents[2] / (str(n.module).replace(".", "/") + ".py")).read_text(encoding="utf-8")
        used = frozenset(x.id for x in ast.walk(n) if isinstance(x, ast.Name))
        for name in _defined(n):
            before, others = found.get(name, ("", frozenset()))
            found[name] = before + text, others | used
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [a.asname or a.name for a in node.names]
    return [x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)]


@cache
def _source_of_test(path: Path, function: str) -> str:
    """Hash of a test's source and of all that it uses, directly or not; empty if there is no such test."""
    known = _definitions(path) if path.exists() else {}
    if function not in known:
        return ""
    seen: set[str] = set()
    todo = {function}
    while todo:
        name = todo.pop()
        if name in known and name not in seen:
            seen.add(name)
            todo |= known[name][1]
    return digest("\n".join(known[name][0] for name in sorted(seen)))


def hash_of_test(node: str, root: Path) -> str:
    """Hash of a test by its name in pytest; empty if it is gone."""
    file, _, case = node.partition("::")
    source = _source_of_test(root / file, case.partition("[")[0])
    return digest(node + source) if source else ""


class Store:
    """Outcomes by mutant: the test that killed it, or those that it has survived.

    Args:
        path: file that keeps them.
        mutants: all mutants.
        root: folder that holds packages and tests.
    """

    def __init__(self, path: Path, mutants: list[Any], root: Path) -> None:
        self.path, self.root = path, root
        self.names, self.keys = names_of(mutants), keys_of(mutants, root)
        self._all: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        for number in self.keys:
            if (how := self.killed(number)) and hash_of_test(how[1], root) != how[2]:
                self._of(number).pop("killed")  # the test that killed it is another one now

    def _of(self, number: int) -> dict[str, Any]:
        return self._all.setdefault(self.keys[number], {})  # type: ignore[no-any-return]

    def killed(self, number: int) -> tuple[str, str, str] | None:
        """(how, by which test, hash of the test) if the mutant is dead."""
        how = self._all.get(self.keys[number], {}).get("killed")
        return tuple(how) if how else None

    def kill(self, number: int, how: str, node: str) -> None:
        """A test has killed a mutant."""
        self._of(number)["killed"] = [how, node, hash_of_test(node, self.root)]

    def past(self, number: int) -> frozenset[str]:
        """Hashes of the tests that a mutant has survived."""
        return frozenset(self._all.get(self.keys[number], {}).get("past", ()))

    def survive(self, number: int, tests: list[str]) -> None:
        """A mutant has survived tests, given by their hashes, too."""
        self._of(number)["past"] = sorted(self.past(number).union(tests))

    def state(self, number: int) -> str:
        """killed, survived or nothing."""
        if self.killed(number):
            return "killed"
        return "survived" if "past" in self._all.get(self.keys[number], {}) else ""

    def forget(self, number: int) -> None:
        """Try a mutant as if it was never tried."""
        self._all.pop(self.keys[number], None)

    def save(self) -> None:
        """Write all; what was there is replaced at once."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self._all))
        new.replace(self.path)
