"""A quick run leaves tests out by two marks alone, and the same ones every time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import in_quick_run


class Item:
    def __init__(self, nodeid: str, **marks: tuple[Any, ...]) -> None:
        self.nodeid, self._marks = nodeid, marks

    def get_closest_marker(self, name: str) -> Any:
        return getattr(pytest.mark, name)(*self._marks[name]).mark if name in self._marks else None


def chosen(items: list[Item]) -> list[str]:
    stays: list[bool] = in_quick_run(items)  # type: ignore[arg-type]
    return [item.nodeid for item, one in zip(items, stays, strict=True) if one]


def test_tests_without_a_mark_stay_and_long_ones_do_not() -> None:
    assert chosen([Item("a"), Item("b", long=()), Item("c", long=(), sample=(3,))]) == ["a"]


@pytest.mark.parametrize("size", [1, 3, 20, 50])
def test_of_a_family_the_same_members_stay_whatever_stands_around_it(size: int) -> None:
    family = [Item(f"f.py::test[{k}]", sample=(size,)) for k in range(20)]
    other = [Item(f"f.py::test_other[{k}]", sample=(2,)) for k in range(9)]
    alone = chosen(family)
    assert len(alone) == min(size, 20)
    mixed = chosen([*other[:4], *family, Item("g"), *other[4:]])
    assert [n for n in mixed if n.startswith("f.py::test[")] == alone
    assert sum(n.startswith("f.py::test_other[") for n in mixed) == 2 and "g" in mixed
