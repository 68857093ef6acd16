"""``flexor keys``: who may watch and who may command a hand from another machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)

EXAMPLES = """Examples:

flexor keys add hand_keys.toml commander anna

flexor run hasy --address 0.0.0.0 --keys hand_keys.toml

FLEXOR_KEY=anna.key flexor monitor --host lab-pc
"""
File = Annotated[Path, typer.Argument(metavar="FILE", help="Keys of the hand; made where it is not there.")]


@app.callback(epilog=EXAMPLES)
def keys() -> None:
    """Who may watch and who may command a hand from another machine."""


@app.command(epilog="Example: flexor keys add hand_keys.toml viewer wall_screen")
def add(
    file: File,
    role: Annotated[
        str, typer.Argument(help="viewer: watches, takes snapshots, stops; commander: commands too.")
    ],
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="His file; default: NAME.key beside FILE.")
    ] = None,
) -> None:
    """Make a key for somebody; carry the file to his machine, and leave no copy of it."""
    import tomlkit

    from flexor.keys import KeyProblem
    from telemetry.keys import changing, load_keyring, new_keyring, save_keyring, write_private

    if not name.isprintable() or "/" in name or name[:1] in ("", "."):
        raise KeyProblem(f"{name!r} cannot be a name: a file is called after it; legal are words without '/'")
    path = out or file.with_name(f"{name}.key")
    with changing(file):
        ring = load_keyring(file) if file.exists() else new_keyring()
        key = ring.add(name, role)
        if path.resolve() == file.resolve():
            raise KeyProblem(
                f"{path} holds the hand's own keys; choose another file for {name!r} by --out FILE"
            )
        if path.exists():
            raise KeyProblem(f"{path} is there already; remove it, or choose another by --out FILE")
        save_keyring(file, ring)
        write_private(path, tomlkit.dumps(asdict(key)))
    print(f"{path}: the key of {role} {name!r}; {file} knows it from the next start of the hand")


@app.command("list", epilog="Example: flexor keys list hand_keys.toml")
def show(file: File) -> None:
    """List who has a key."""
    from telemetry.keys import load_keyring

    for name, (role, public) in load_keyring(file).clients.items():
        print(f"{role:<10} {name}  {public}")


@app.command(epilog="Example: flexor keys remove hand_keys.toml anna")
def remove(file: File, name: Annotated[str, typer.Argument(help="Whose key it is.")]) -> None:
    """Take somebody's key away, and NAME.key beside FILE: it opens nothing after the hand's next start."""
    from flexor.keys import KeyProblem, load
    from telemetry.keys import changing, load_keyring, save_keyring

    with changing(file):
        ring = load_keyring(file)
        public = ring.clients[name][1] if name in ring.clients else ""
        ring.remove(name)
        save_keyring(file, ring)
        copy, gone = file.with_name(f"{name}.key"), ""
        try:
            if copy.exists() and load(copy).public == public:
                copy.unlink()
                gone = f", and {copy} with it"
        except (KeyProblem, OSError) as error:  # somebody else's file, or not ours to take
            gone = f"; {copy} is left: {error}"
    print(f"{file}: {name!r} is removed from the next start of the hand on{gone}")
