"""Results of a campaign as they come, in a folder: what is there is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import trials.campaign
from signals.choices import WrongChoice
from signals.compiled import closure_hash
from trials.fault_free import QuietRun
from trials.verdict import Verdict

NOTES: Final = "results.jsonl"
"""File in the folder asked for: every result as it comes, so that a campaign that is killed leaves them."""
HEAD: Final = "results_of.json"
"""File beside it: what the results are of. Results of something else are never mixed with them."""


def laws() -> str:
    """Hash of the sources that a result depends on."""
    return closure_hash(Path(str(trials.campaign.__file__)))


def noted(out: Path | None, head: dict[str, Any]) -> list[Verdict | QuietRun]:
    """Results that an earlier run with the same head left; a line cut short by a kill is dropped.

    Args:
        out: the folder; ``None``: nothing is noted.
        head: what makes two results comparable.

    Raises:
        WrongChoice: the folder holds results of something else, or lines that nobody can read.
    """
    if out is None:
        return []
    file, notes = out / HEAD, out / NOTES
    if not (file.exists() and notes.exists()):
        file.write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
        notes.write_text("", encoding="utf-8")
        return []
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        before = None
    if not isinstance(before, dict):
        raise WrongChoice(f"{file}: no JSON object; remove it, or choose another folder")
    for key, value in head.items():
        if before.get(key) != value:
            raise WrongChoice(
                f"{notes} holds results of another campaign: {key} was {_short(before.get(key))}, "
                f"now {_short(value)}; choose another --out, or remove that file"
            )
    return _read(notes)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _read(notes: Path) -> list[Verdict | QuietRun]:
    whole, found = notes.read_bytes(), []
    end = whole.rfind(b"\n") + 1
    for k, line in enumerate(whole[:end].splitlines(), 1):
        try:
            own = json.loads(line)
            found.append(Verdict.of_dict(own) if "seed" in own else QuietRun(**own))
        except (ValueError, TypeError, KeyError) as error:
            raise WrongChoice(f"{notes}, line {k}: no result ({error}); remove the line") from None
    if end < len(whole):
        notes.write_bytes(whole[:end])
    return found


@contextmanager
def notebook(out: Path | None) -> Iterator[Callable[[list[Any]], None]]:
    """Appends results to ``NOTES`` as they come, a line of JSON each; nothing without a folder."""
    if out is None:
        yield lambda _: None
        return
    with (out / NOTES).open("a", encoding="utf-8") as file:

        def note(some: list[Any]) -> None:
            for result in some:
                own = result.as_dict() if isinstance(result, Verdict) else asdict(result)
                file.write(json.dumps(own) + "\n")
            file.flush()

        yield note
