"""Where a hand listens: socket files of one user, found by everybody's tools without a word."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
import zmq

import flexor
from flexor import places
from telemetry.sockets import PortBusy, bind, bind_datagrams, places_of
from tests.rigs.front import Front


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_the_folder_is_this_users_alone_or_it_is_refused(home):
    assert places_of("ipc", 5600) == places.ipc(5600)
    folder = home / "flexor"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    with pytest.raises(places.PlaceError, match=r"flexor is drwxr-xr-x of user \d+; it must be drwx------"):
        places_of("ipc", 5600)
    assert places.find("127.0.0.1", 5600) == places.tcp(5600), "nobody may lay a socket there for a client"


def test_a_link_to_a_folder_is_not_the_folder(home, tmp_path):
    (home / "elsewhere").mkdir(mode=0o700)
    (home / "flexor").symlink_to(home / "elsewhere")
    with pytest.raises(places.PlaceError):
        places_of("ipc", 5600)


def test_a_path_that_is_too_long_for_a_socket_is_refused_with_the_way_out(home, monkeypatch):
    deep = home / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(places.PlaceError, match="more than 107 bytes; set XDG_RUNTIME_DIR"):
        places_of("ipc", 5600)


def test_a_file_of_a_dead_run_is_replaced_and_one_in_use_is_named(home):
    found = places_of("ipc", 5600)
    for path in (found.command.removeprefix("ipc://"), found.stop):
        (home / "flexor").joinpath(path).touch()
    with zmq.Context() as context:
        router, datagrams = bind(context, zmq.ROUTER, found.command), bind_datagrams(found.stop)
        with pytest.raises(PortBusy, match=r"5600.command is in use.*--port-base"):
            bind(context, zmq.ROUTER, found.command)
        router.close(0)
        datagrams.close()


@pytest.mark.realtime
def test_client_and_tools_find_the_socket_files_by_themselves(home, port_base):
    with flexor.Hand(port_base=port_base, timeout_s=0.2) as early:
        with pytest.raises(flexor.HandSilent, match="tcp://"):
            early.request("ping")
        front = Front(port_base, "ipc")
        try:
            with pytest.raises(flexor.HandSilent, match="tcp://"):
                early.request("ping")
            assert early.request("ping")["ok"] and early.command.startswith("ipc://")
            with flexor.Hand("localhost", port_base=port_base) as hand:
                assert hand.meta["endpoints"] == {"publish": hand.publish, "command": hand.command}
                with hand.control("somebody") as control:
                    control.hand.request("lease", lease=control.lease, do="keep")
                assert hand.stop()["hand"] == "finger_bench"
            words = [sys.executable, "-m", "tools.cli", "stop", "--port-base", str(port_base)]
            said = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": "."})
            assert said.returncode == 0, said.stderr
            assert f"stop accepted by finger_bench (process {front.process.pid})" in said.stdout
            cost = front.end()
        finally:
            front.process.kill()
            front.process.wait()
    assert any("stop by flexor stop (process " in text for text in cost["events"]), "who did it is told"
    assert not (home / "flexor" / f"{port_base}.stop").exists()
