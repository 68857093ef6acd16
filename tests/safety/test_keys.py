"""Keys: a viewer watches and stops, a commander commands, and whoever has no key gets nothing but a stop."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import time
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
import tomlkit
import zmq
from typer.testing import CliRunner

import flexor
from flexor import aio
from flexor.keys import Key, KeyProblem, fit, load, pair, why_silent
from hand.options import OptionError, RunOptions
from telemetry.command import door
from telemetry.command.requests import ARGS, FREE
from telemetry.gate import Gate
from telemetry.keys import changing, load_keyring, new_keyring, save_keyring, serve, write_private
from telemetry.sockets import NotOurs, bind
from tests.rigs.front import Front
from tools.commands.keys import app
from tools.commands.ps import _state
from tools.commands.stop import stop


@pytest.fixture
def files(tmp_path):
    """A hand's keys, with a viewer's, a commander's, a removed one's and two of strangers."""
    ring = new_keyring()
    keys = {role: ring.add(role, role) for role in ("viewer", "commander")}
    gone = ring.add("gone", "commander")
    ring.remove("gone")
    public, secret = pair()
    stranger = replace(keys["commander"], name="stranger", public=public, secret=secret)
    other_hand = replace(keys["commander"], name="other_hand", hand=pair()[0])
    save_keyring(tmp_path / "hand.toml", ring)
    for key in (*keys.values(), gone, stranger, other_hand):
        write_private(tmp_path / f"{key.name}.key", tomlkit.dumps(asdict(key)))
    return tmp_path


@pytest.fixture
def front(port_base, files):
    made = Front(port_base, "tcp", str(files / "hand.toml"))
    yield made
    made.process.kill()
    made.process.wait()


def _hand(front, files=None, name="", **more):
    return flexor.Hand(port_base=front.port_base, key=files / f"{name}.key" if name else None, **more)


@pytest.mark.realtime
def test_a_commander_commands_and_a_viewer_watches_and_stops(front, files):
    with _hand(front, files, "commander") as hand:
        assert hand.meta["hand"] == "finger_bench"
        assert hand.request("lease", do="acquire", holder="anna")["lease"] > 0
    with _hand(front, files, "viewer") as hand:
        assert hand.meta["hand"] == "finger_bench" and hand.request("ping")["ok"]
        for op in sorted(set(ARGS) - (FREE - {"lease"})):
            args = {"lease": {"do": "take", "holder": "x", "why": "y"}, "mode": {"fingers": {}}}
            with pytest.raises(flexor.Refused) as refused:
                hand.request(op, **args.get(op, {"do": "start"} if op in ("record", "stream") else {}))
            assert refused.value.code == "no_right" and "viewer" in str(refused.value), op
        assert hand.stop(by="the viewer")["ok"]
        assert hand.request("stop", by="the viewer")["ok"], "as a request too, where no datagram gets through"


@pytest.mark.realtime
def test_a_commander_who_asks_again_and_again_keeps_his_connection_and_his_lease(front, files):
    with _hand(front, files, "commander") as hand:
        lease = hand.request("lease", do="acquire", holder="anna")["lease"]
        for _ in range(20_000):  # what is counted short of each request would have cut him off by now
            assert hand.request("lease", lease=lease, do="keep")["ok"]
    assert front.end()["turned_away"] == 0


def test_a_gate_that_is_gone_lets_nobody_in(files):
    ring, context = load_keyring(files / "hand.toml"), zmq.Context()
    gate = Gate(context, ring)
    server, client, stranger = (context.socket(kind) for kind in (zmq.REP, zmq.REQ, zmq.REQ))
    serve(server, ring)
    port = server.bind_to_random_port("tcp://127.0.0.1")
    for made, name in ((client, "commander"), (stranger, "stranger")):
        fit(made, load(files / f"{name}.key"))
    client.connect(f"tcp://127.0.0.1:{port}")
    client.send(b"in")
    assert server.poll(5000) and server.recv() == b"in"
    server.send(b"out")
    gate.stop()
    stranger.connect(f"tcp://127.0.0.1:{port}")
    stranger.send(b"in")
    assert not server.poll(500)
    for made in (server, client, stranger):
        made.close(0)
    context.term()


WHY = {
    "": "it asks for a key: Hand(key=...) or FLEXOR_KEY=FILE",
    "stranger": "does not know the key of commander 'stranger'",
    "gone": "does not know the key of commander 'gone'",
    "other_hand": "or the key is for another hand",
}


@pytest.mark.realtime
def test_without_a_key_that_fits_there_is_nothing_but_a_stop(front, files, monkeypatch, capsys):
    for name, why in WHY.items():
        with _hand(front, files, name, timeout_s=0.3) as hand:
            for ask in (lambda hand=hand: hand.meta, lambda hand=hand: hand.request("ping")):
                with pytest.raises(flexor.HandSilent) as silent:
                    ask()
                assert why in str(silent.value), name
            assert hand.stop(by="somebody near the hand")["hand"] == "finger_bench"
    for key, state in (("nothing", "locked"), ("stranger.key", "locked"), ("viewer.key", "starting")):
        monkeypatch.setenv("FLEXOR_KEY", str(files / key))
        assert _state(SimpleNamespace(port_base=front.port_base)) == state
    monkeypatch.setenv("FLEXOR_KEY", str(files / "nothing"))
    assert stop(["--port-base", str(front.port_base)]) == 0, "nor does a file that is not there hold it up"
    assert "stopping without it" in capsys.readouterr().err


@pytest.mark.realtime
def test_asyncio_and_the_environment_carry_the_key_too(front, files, monkeypatch):
    async def ask():
        async with aio.AsyncHand(port_base=front.port_base, key=files / "viewer.key") as hand:
            found = (await hand.meta())["hand"]
            await hand.stop()
        async with aio.AsyncHand(port_base=front.port_base, timeout_s=0.5) as hand:
            with pytest.raises(flexor.HandSilent, match="asks for a key"):
                await hand.meta()
        return found

    assert asyncio.run(ask()) == "finger_bench"
    monkeypatch.setenv("FLEXOR_KEY", str(files / "viewer.key"))
    with _hand(front) as hand:
        assert hand.request("ping")["ok"]


@pytest.mark.long
@pytest.mark.realtime
def test_a_thousand_wrong_keys_leave_nothing_behind_and_hold_up_nobody(front, files):
    stranger = load(files / "stranger.key")
    with _hand(front, files, "commander") as hand:
        assert hand.request("ping")["ok"]
        before = front.descriptors()
        for round_ in range(10):
            with zmq.Context() as context:
                for k in range(100):
                    made = context.socket(zmq.DEALER if k % 2 else zmq.SUB)
                    made.setsockopt(zmq.LINGER, 0)
                    fit(made, replace(stranger, secret=pair()[1]) if k % 10 == 0 else stranger)
                    made.connect(f"tcp://127.0.0.1:{front.port_base + k % 2}")
                time.sleep(0.2)
                begun = time.monotonic()
                assert hand.stop(by="the test")["ok"]
                assert time.monotonic() - begun < 0.2, round_
                context.destroy(linger=0)
        until = time.monotonic() + 5.0
        while front.descriptors() > before + 8 and time.monotonic() < until:
            time.sleep(0.05)
        assert front.descriptors() <= before + 8
        assert hand.request("ping")["ok"], "who has a key is let in all the while"
    assert front.end()["grown_mb"] < 32 * door.OWED_ALL / 2**20


@pytest.mark.realtime
def test_beyond_loopback_the_keys_hold_and_programs_of_the_machine_itself_get_in(port_base, files):
    """127.0.0.2 stands for an address of the network."""
    front = Front(port_base, "tcp", str(files / "hand.toml"), "127.0.0.2")
    try:
        for host in ("127.0.0.1", "127.0.0.2"):
            with flexor.Hand(host, port_base=port_base, key=files / "viewer.key") as hand:
                assert hand.meta["endpoints"]["publish"] == f"tcp://127.0.0.2:{port_base}"
                assert hand.stop(by="the test")["ok"]
            with flexor.Hand(host, port_base=port_base, timeout_s=0.5) as hand:
                with pytest.raises(flexor.HandSilent, match="asks for a key"):
                    hand.request("ping")
    finally:
        front.process.kill()
        front.process.wait()


@pytest.mark.realtime
def test_a_key_is_of_no_use_where_none_is_asked_for(port_base, files):
    front = Front(port_base)
    try:
        with flexor.Hand(port_base=port_base, key=files / "viewer.key", timeout_s=0.5) as hand:
            with pytest.raises(flexor.HandSilent, match="it has no keys: leave key and FLEXOR_KEY out"):
                hand.request("ping")
    finally:
        front.process.kill()
        front.process.wait()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"address": "0.0.0.0"}, "--address 0.0.0.0 lets other machines in"),
        ({"address": "192.168.1.5"}, "--keys FILE"),
        ({"address": "lab-pc", "keys": "k"}, "an IPv4 address of this machine"),
        ({"keys": "k", "transport": "ipc"}, "this user alone"),
        ({"keys": "k", "plotjuggler": True}, "asks for no keys"),
    ],
)
def test_what_would_let_anybody_in_is_refused(options, told):
    with pytest.raises(OptionError, match=told):
        RunOptions(**options)


def test_an_address_that_the_machine_has_not_is_refused_with_its_name():
    with zmq.Context() as context, pytest.raises(NotOurs, match="--address 203.0.113.7 is no address"):
        bind(context, zmq.ROUTER, "tcp://203.0.113.7:5699", new_keyring())


def test_keys_are_made_listed_and_removed_by_the_command_and_their_owners_alone_may_read_them(tmp_path):
    def flexor_keys(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    file = tmp_path / "hand.toml"
    for role, name in (("viewer", "wall screen"), ("commander", "anna")):
        assert flexor_keys("add", file, role, name).exit_code == 0
        key = load(tmp_path / f"{name}.key")
        assert (key.role, key.name, key.hand) == (role, name, load_keyring(file).public)
        assert load_keyring(file).role_of(key.public) == role
    assert [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()] == [0o600] * 3
    assert load(tmp_path / "anna.key").secret not in file.read_text()
    assert [line.split()[0] for line in flexor_keys("list", file).stdout.splitlines()] == [
        "viewer",
        "commander",
    ]
    assert "anna" in str(flexor_keys("add", file, "viewer", "anna").exception)
    assert "legal are viewer, commander" in str(flexor_keys("add", file, "king", "x").exception)
    public = load(tmp_path / "anna.key").public
    assert flexor_keys("remove", file, "anna").exit_code == 0
    assert load_keyring(file).role_of(public) == ""
    assert "no client 'anna'" in str(flexor_keys("remove", file, "anna").exception)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = ", "no file of keys"),
        ("name = 'a'", "legal are"),
        ("[hand]\n[clients]", "it is the hand's own file"),
        (tomlkit.dumps(asdict(Key("a", "viewer", "p", "s", "h"))), "public is no key"),
    ],
)
def test_a_file_that_is_no_clients_key_is_refused_with_the_reason(tmp_path, text, told):
    write_private(tmp_path / "a.key", text)
    with pytest.raises(KeyProblem, match=told):
        flexor.Hand(key=tmp_path / "a.key")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"\[hand\] is missing"),
        ("[hand]\npublic = 'x'\nsecret = 'y'", "public is no key"),
        ("[hand]\npublic = '{k}'\nsecret = '{k}'\n[clients.a]\nrole = 'king'", "clients.a.role is 'king'"),
    ],
)
def test_a_file_that_is_no_hands_keys_is_refused_with_the_reason(tmp_path, text, told):
    write_private(tmp_path / "hand.toml", text.replace("{k}", "k" * 40))
    with pytest.raises(KeyProblem, match=told):
        load_keyring(tmp_path / "hand.toml")


def test_a_key_that_others_may_read_is_refused(tmp_path):
    write_private(tmp_path / "a.key", "")
    os.chmod(tmp_path / "a.key", 0o644)
    with pytest.raises(KeyProblem, match="others may read it; chmod 600"):
        load(tmp_path / "a.key")


def test_the_hands_own_secret_is_never_given_away_and_a_name_is_no_path(tmp_path):
    ring = tmp_path / "hand.key"
    for name, told in (("hand", "holds the hand's own keys"), ("../hand", "cannot be a name")):
        found = CliRunner().invoke(app, ["add", str(ring), "viewer", name])
        assert found.exit_code != 0 and told in str(found.exception) and not ring.exists()
    made = new_keyring()
    key = made.add("x", "viewer")
    assert made.secret not in repr(made) and key.secret not in repr(key)
    (tmp_path / ".ring.toml.part").write_text("of one that was killed")
    save_keyring(tmp_path / "ring.toml", made)
    text = (tmp_path / "ring.toml").read_text().replace(made.secret, made.secret[:-1] + " ")
    (tmp_path / "ring.toml").write_text(text)
    with pytest.raises(KeyProblem, match="secret is no key") as refused:
        load_keyring(tmp_path / "ring.toml")
    assert made.secret[:20] not in str(refused.value)


def test_a_key_that_is_taken_away_leaves_no_copy_and_nobody_elses_is_touched(tmp_path):
    file, runner = tmp_path / "hand.toml", CliRunner()
    for name in ("anna", "ben"):
        assert runner.invoke(app, ["add", str(file), "commander", name]).exit_code == 0
    (tmp_path / "ben.key").write_text((tmp_path / "anna.key").read_text())
    told = runner.invoke(app, ["remove", str(file), "anna"]).output
    assert "anna.key" in told and not (tmp_path / "anna.key").exists()
    assert "with it" not in runner.invoke(app, ["remove", str(file), "ben"]).output
    assert (tmp_path / "ben.key").exists() and not load_keyring(file).clients


def test_two_changes_at_once_wait_for_each_other(tmp_path):
    with changing(tmp_path / "hand.toml"):
        folder = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)


def test_who_may_read_the_hands_file_may_watch_it():
    ring = new_keyring()
    assert ring.own_key().role == ring.role_of(ring.public) == "viewer"


@pytest.mark.realtime
def test_a_hand_that_knows_the_key_and_is_silent_is_not_said_not_to_know_it():
    ring, context = new_keyring(), zmq.Context()
    key, gate = ring.add("anna", "commander"), Gate(context, ring)
    server = context.socket(zmq.ROUTER)
    serve(server, ring)
    endpoint = f"tcp://127.0.0.1:{server.bind_to_random_port('tcp://127.0.0.1')}"
    try:
        assert "does not answer" in why_silent(endpoint, key)
        stranger = replace(key, **dict(zip(("public", "secret"), pair(), strict=True)))
        assert "does not know the key" in why_silent(endpoint, stranger)
    finally:
        gate.stop()
        context.destroy(0)
