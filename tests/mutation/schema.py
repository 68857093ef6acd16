"""Every mutant of a module in one module: each changed expression stands behind a switch read at run time.

A mutant of compiled code would cost a compilation; hundreds of them would take a day. So all changes go into
one source, ``(changed if mutant() == 17 else original)``, which is compiled once; a number in memory then
chooses the mutant. The number is read through its address, so that the compiler cannot fold it.

Beside the number every block of statements notes that it was reached: a test that never gets to a block tells
nothing of the mutants there.
"""

from __future__ import annotations

import ast
import copy
import ctypes
import importlib.abc
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

PAGE = 0x6F00_0000_0000
"""Address of the number: always the same, so that compiled code can be kept from one run to the next."""
CELLS = 2048
"""The number, then one cell per block."""
_READ_WRITE, _PRIVATE_ANONYMOUS_NO_REPLACE = 0x3, 0x100022


def _cell() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    where = library.mmap(PAGE, 8 * CELLS, _READ_WRITE, _PRIVATE_ANONYMOUS_NO_REPLACE, -1, 0)
    if where != PAGE:
        raise OSError(ctypes.get_errno(), "the page of the mutant's number is not free")
    return np.frombuffer((ctypes.c_int64 * CELLS).from_address(PAGE), dtype=np.int64)


CELL = _cell()
"""Number of the mutant in force (0: none); then, for every block, whether it was reached."""


@intrinsic
def _pointer(_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())

    return types.CPointer(types.int64)(types.int64), generate


@njit(nogil=True)
def mutant() -> int:
    """Number of the mutant in force."""
    return carray(_pointer(PAGE), 1)[0]


@njit(nogil=True)
def reached(block: int) -> None:
    """Note that a block was reached."""
    carray(_pointer(PAGE), CELLS)[block] = 1


@dataclass(frozen=True)
class Mutant:
    """One change."""

    number: int
    module: str
    line: int
    function: str
    what: str
    before: str
    after: str
    block: int


NEGATED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
SHIFTED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


class _Schema(ast.NodeTransformer):
    """Puts every change of the laws of one module behind the switch; without laws, of its functions."""

    def __init__(self, module: str, constants: dict[str, Any], first: int, block: int, plain: bool) -> None:
        self.plain = plain
        self.module, self.constants, self.next = module, constants, first
        self.mutants: list[Mutant] = []
        self.block = block
        self._function, self._place = "", 0

    def visit_Module(self, node: ast.Module) -> ast.AST:
        # what stands outside functions runs at import, before any number is chosen
        node.body = [self.visit(s) if isinstance(s, ast.FunctionDef) else s for s in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not (self.plain or _is_law(node)):
            return node
        self._function = node.name
        node.body = self._blocks(node.body)
        return node

    def _blocks(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements with their switches, and a note where control may come from elsewhere."""
        outer, done, fresh = self._place, list[ast.stmt](), True
        for statement in statements:
            if _is_text(statement):
                continue
            if fresh:
                self._place, self.block = self.block, self.block + 1
                assert self._place < CELLS, "more blocks than cells"
                done.append(_call("_reached", self._place))
            done.append(self.visit(statement))
            fresh = any(isinstance(n, ast.Return | ast.Continue | ast.Break) for n in ast.walk(statement))
        self._place = outer
        return done

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def _choose(self, original: ast.expr, source: ast.expr, changes: list[tuple[str, ast.expr]]) -> ast.expr:
        """``original`` (with switches inside) behind one more switch per change of ``source`` (without)."""
        for what, changed in changes:
            number = self._note(source, what, ast.unparse(source), ast.unparse(changed))
            original = ast.IfExp(_is(number), changed, original)
        return original

    def _note(self, node: ast.AST, what: str, before: str, after: str) -> int:
        number, self.next = self.next, self.next + 1
        line = getattr(node, "lineno", 0)
        self.mutants.append(
            Mutant(number, self.module, line, self._function, what, before, after, self._place)
        )
        return number

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        source = copy.deepcopy(node)
        self.generic_visit(node)
        changes: list[tuple[str, ast.expr]] = []
        for k, op in enumerate(source.ops):
            for what, table in (("negated", NEGATED), ("shifted", SHIFTED)):
                if type(op) in table and (what == "negated" or self._on_integers(source, k)):
                    changed = copy.deepcopy(source)
                    changed.ops[k] = table[type(op)]()
                    changes.append((what, changed))
        return self._choose(node, source, changes)

    def _on_integers(self, node: ast.Compare, k: int) -> bool:
        """A bound that is reached exactly: a comparison of reals never is, its shift changes nothing."""
        sides = [([node.left, *node.comparators])[k], node.comparators[k]]
        for side in sides:
            value = self._value(side)
            if isinstance(value, int) and not isinstance(value, bool):
                return True
        return False

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        return None

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        source = copy.deepcopy(node)
        self.generic_visit(node)
        changed = copy.deepcopy(source)
        changed.op = ast.Or() if isinstance(source.op, ast.And) else ast.And()
        return self._choose(node, source, [("and/or", changed)])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        source = copy.deepcopy(node)
        self.generic_visit(node)
        if isinstance(source.op, ast.Not | ast.USub) and not isinstance(source.operand, ast.Constant):
            return self._choose(node, source, [("sign or not removed", copy.deepcopy(source.operand))])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        source = copy.deepcopy(node)
        self.generic_visit(node)
        if type(source.op) not in SWAPPED:
            return node
        changed = copy.deepcopy(source)
        changed.op = SWAPPED[type(source.op)]()
        if isinstance(changed.op, ast.Div) and isinstance(self._value(source.right), int):
            return node  # an integer product has no quotient of its type
        return self._choose(node, source, [("operator", changed)])

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        changes: list[tuple[str, ast.expr]] = []
        if isinstance(node.value, bool):
            changes = [("constant", ast.Constant(not node.value))]
        elif isinstance(node.value, int):
            changes = [("constant", ast.Constant(node.value + 1))]
        elif isinstance(node.value, float):
            changes = [("constant", ast.Constant(node.value * 2.0 if node.value else 1.0))]
        return self._choose(node, node, changes)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.constants.get(node.id)
        if not isinstance(node.ctx, ast.Load) or not node.id.isupper() or value is None:
            return node
        if isinstance(value, float):
            parts = [("constant doubled", 2.0), ("constant halved", 0.5)]
            changes = [(w, ast.BinOp(copy.deepcopy(node), ast.Mult(), ast.Constant(f))) for w, f in parts]
        elif isinstance(value, int):
            changes = [("constant", ast.BinOp(copy.deepcopy(node), ast.Add(), ast.Constant(1)))]
        else:
            return node
        return self._choose(node, node, changes)  # type: ignore[arg-type]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        # an index moved by one would leave the record: memory, not logic
        if not isinstance(node.slice, ast.Constant):
            node.slice = self.visit(node.slice)
        node.value = self.visit(node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        # the range of a loop stays: beyond it lies memory that is not the record's
        node.body = self._blocks(node.body)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._blocks(node.body), self._blocks(node.orelse)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if _is_text(node):
            return node
        source = copy.deepcopy(node)
        self.generic_visit(node)
        return self._dropped(node, source)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        source = copy.deepcopy(node)
        node.value = self.visit(node.value)
        if all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets):
            return self._dropped(node, source)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        source = copy.deepcopy(node)
        node.value = self.visit(node.value)
        return self._dropped(node, source)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return node

    def _dropped(self, node: ast.stmt, source: ast.stmt) -> ast.stmt:
        number = self._note(source, "dropped", ast.unparse(source), "")
        return ast.If(test=_is(number, negate=True), body=[node], orelse=[])


def _is_law(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(d, ast.Name) and d.id in ("law", "inlined") for d in decorators)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is(number: int, negate: bool = False) -> ast.expr:
    call = ast.Call(ast.Name("_mutant", ast.Load()), [], [])
    return ast.Compare(call, [ast.NotEq() if negate else ast.Eq()], [ast.Constant(number)])


def _call(name: str, block: int) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), [ast.Constant(block)], []))


class Schemata(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules with all their mutants inside.

    Args:
        modules: names of the modules, e.g. ``guard.guard``.
        root: folder that holds the packages.
    """

    def __init__(self, modules: list[str], root: Path) -> None:
        self.modules, self.root = modules, root
        self.mutants: list[Mutant] = []
        self.blocks = 1

    def install(self) -> None:
        """Before any of the modules is imported."""
        assert not set(self.modules) & set(sys.modules), "a module was imported before its mutants"
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A spec for the modules, nothing for others."""
        if name not in self.modules:
            return None
        origin = self.root / (name.replace(".", "/") + ".py")
        return importlib.util.spec_from_file_location(name, origin, loader=self)

    def create_module(self, spec: Any) -> None:
        """The default module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the source with switches in it."""
        path = str(module.__file__)
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        plain = not any(map(_is_law, tree.body))
        schema = _Schema(module.__name__, _constants(tree, path), len(self.mutants) + 1, self.blocks, plain)
        tree = ast.fix_missing_locations(schema.visit(tree))
        self.mutants += schema.mutants
        self.blocks = schema.block
        vars(module)["_mutant"], vars(module)["_reached"] = mutant, reached
        exec(compile(tree, path, "exec"), vars(module))


def _constants(tree: ast.Module, path: str) -> dict[str, Any]:
    """Numbers that a module has under names in capitals, its own and imported ones."""
    spec = importlib.util.spec_from_file_location(f"_plain_{Path(path).stem}", path)
    assert spec is not None and spec.loader is not None
    plain = importlib.util.module_from_spec(spec)
    heads = [n for n in tree.body if not isinstance(n, ast.FunctionDef)]
    sys.modules[plain.__name__] = plain  # where the types of a record's class are looked for
    exec(compile(ast.Module(heads, []), path, "exec"), vars(plain))
    del sys.modules[plain.__name__]
    return {k: v for k, v in vars(plain).items() if k.isupper() and isinstance(v, int | float)}
