"""A world whose second is longer: every named time of the sources, and what is per time, times a factor.

A law's own times (how long a spike may last, how fast a filter is) are constants with their unit at the end
of their names. Imported through ``install``, modules have them in another unit of time; so do arguments,
fields and defaults whose names say a time. What stays is a number that means a time and does not say so.

Run as a program it makes the trials of a hand that is alike but slower, and keeps their recordings.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

import numpy as np

from tests.rigs.units import TIME, dimension_of_name

ROOMS: Final = ("controllers", "estimators", "guard", "mechanics", "runtime", "sim", "trials")
COUNTED: Final = ("sim.emulators",)
"""Not of the loop: what stands outside talks in real seconds."""


def power_of(name: str) -> int:
    """Power of time of what a name says."""
    exponents = dimension_of_name(name)
    return 0 if exponents is None else int(exponents[TIME])


def _is_number(node: ast.AST) -> bool:
    """True for what an expression of numbers is made of, of names that say no time, and tuples of them."""
    if isinstance(node, ast.Name):
        return power_of(node.id) == 0 and node.id.isupper()
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    return isinstance(
        node, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.operator | ast.unaryop | ast.Load
    )


class Rewrite(ast.NodeTransformer):
    """Literals that a name calls a time, times the factor's power, but one."""

    def __init__(self, factor: float, but: str) -> None:
        self.factor, self.but = factor, but

    def scaled(self, name: str, value: ast.expr | None) -> ast.expr | None:
        """A value of that name, in the longer unit if it is made of literals alone."""
        power = power_of(name)
        if value is None or power == 0 or name == self.but or not all(_is_number(n) for n in ast.walk(value)):
            return value
        return ast.fix_missing_locations(ast.copy_location(self._times(value, self.factor**power), value))

    def _times(self, value: ast.expr, by: float) -> ast.expr:
        if isinstance(value, ast.Tuple | ast.List):
            value.elts = [self._times(e, by) for e in value.elts]
            return value
        leaves = [n for n in ast.walk(value) if isinstance(n, ast.Constant | ast.Div)]
        whole = all(isinstance(n, ast.Constant) and isinstance(n.value, int) for n in leaves) and by >= 1.0
        return ast.BinOp(value, ast.Mult(), ast.Constant(int(by) if whole else by))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            node.value = self.scaled(node.targets[0].id, node.value) or node.value
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):
            node.value = self.scaled(node.target.id, node.value)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        node.value = self.scaled(node.arg or "", node.value) or node.value
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        late = [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
        node.defaults = [self.scaled(a.arg, d) or d for a, d in zip(late, node.defaults, strict=True)]
        node.kw_defaults = [
            self.scaled(a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True)
        ]
        return self.generic_visit(node)


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module in the longer unit, and leaves no trace of it on the disk."""

    factor, but = 1.0, ""

    def get_code(self, fullname: str) -> CodeType:
        """The module's code."""
        path = self.get_filename(fullname)
        tree = Rewrite(self.factor, self.but).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of ``ROOMS``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The spec of a module of the loop."""
        if fullname.split(".")[0] not in ROOMS or fullname.startswith(COUNTED):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def install(factor: float, but: str = "") -> None:
    """Import the loop's modules with seconds that are ``factor`` times as long, but for one name.

    Raises:
        RuntimeError: one of them is imported already.
    """
    early = [name for name in sys.modules if name.split(".")[0] in ROOMS]
    if early:
        raise RuntimeError(f"imported already: {', '.join(sorted(early)[:5])}")
    Loader.factor, Loader.but = factor, but
    sys.meta_path.insert(0, Finder())


def main(out: Path, rate_hz: float, factor: float, but: str, *runs: str) -> None:
    """Recordings of one trial of every kind into files of the folder ``out``, of every ``HAND:MOTION``.

    What is called ``but`` - a field of the model, or a constant that no compiled law has - stays as it is.
    """
    if factor != 1.0:
        install(factor, but)
    from tests.rigs.similar import SimilarScene, one_of_each, slow_hand

    for run in runs:
        hand, motion = run.split(":")
        read = slow_hand(hand, rate_hz)
        scene = SimilarScene(read, motion, np.array([1.0, 1.0, factor, 1.0, 1.0]), but)
        found = {}
        for trial in one_of_each(read, motion):
            recording = scene.run_trial(trial)
            found |= {f"{trial.kind}/{r}/{name}": column for (r, name), column in recording.columns.items()}
            found[f"{trial.kind}/time_s"] = recording.time_s
        np.savez(out / f"{hand}_{motion}.npz", **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
