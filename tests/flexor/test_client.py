"""The light client: newest first, gaps counted, refusals in words, nothing heavy imported."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import msgspec
import numpy as np
import pytest
import zmq

import flexor
from flexor.effect import numbers
from flexor.views import View, columns_of, rows_as_array

ENVIRONMENT = os.environ | {"PYTHONPATH": "."}


class FakeHand:
    """Two sockets that speak like a hand."""

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.publish, self.router = self.context.socket(zmq.PUB), self.context.socket(zmq.ROUTER)
        for base in range(20_100, 40_000, 11):
            try:
                self.publish.bind(f"tcp://127.0.0.1:{base}")
                self.router.bind(f"tcp://127.0.0.1:{base + 1}")
            except zmq.ZMQError:
                continue
            self.port_base = base
            return
        raise RuntimeError("no free ports")

    def send(self, topic: str, message) -> None:
        self.publish.send_multipart([f"hand/v1/{topic}".encode(), msgspec.msgpack.encode(message)])

    def answer(self, make) -> threading.Thread:
        """Answer one request with what ``make`` returns for it; ``None``: no answer."""

        def serve() -> None:
            identity, payload = self.router.recv_multipart()
            reply = make(msgspec.msgpack.decode(payload))
            if reply is not None:
                self.router.send_multipart([identity, msgspec.msgpack.encode(reply)])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self.context.destroy(linger=0)


@pytest.fixture
def fake():
    made = FakeHand()
    yield made
    made.close()


def _subscribed(fake, hand, topic):
    hand.listen(topic)
    until = time.monotonic() + 5.0
    while not hand._sockets[topic].poll(20) and time.monotonic() < until:
        fake.send(topic, {"seq": 0, "schema": "hand/v1"})
    hand._waiting(topic)


def test_a_slow_reader_gets_the_newest_view_and_knows_what_it_passed_over(fake):
    with flexor.Hand(port_base=fake.port_base) as hand:
        _subscribed(fake, hand, "view")
        for seq in range(1, 101):
            fake.send("view", {"seq": seq, "timestamp": time.time(), "tension": {"a": 1.0}})
        time.sleep(0.3)
        view = hand.view()
        assert view["seq"] == 100 and view.skipped == 99 and view.lost == 0
        assert view.tension["a"] == 1.0
        assert view.age_s < 2.0
        for seq in (105, 106):
            fake.send("view", {"seq": seq, "timestamp": time.time()})
        time.sleep(0.3)
        assert hand.view().lost == 4


def test_after_a_pause_the_view_is_not_what_a_full_queue_has_kept(fake):
    """A notebook that thinks: its queues are full of the first seconds, the rest was dropped."""

    def publish(seq: int) -> None:
        fake.send("view", {"seq": seq, "timestamp": time.time()})

    read = threading.Event()

    def live() -> None:
        for seq in range(10_000, 10_500):
            publish(seq)
            if read.wait(0.02):
                return

    with flexor.Hand(port_base=fake.port_base) as hand:
        _subscribed(fake, hand, "view")
        for seq in range(1, 5000):
            publish(seq)
        thread = threading.Thread(target=live)
        thread.start()
        seq = hand.view()["seq"]
        read.set()
        thread.join()
    assert seq >= 10_000


def test_an_unknown_key_of_a_view_is_refused_with_those_it_has():
    with pytest.raises(AttributeError, match="it has seq, tension"):
        _ = View({"seq": 1, "tension": {}}).tensions


def test_a_code_is_its_number_and_its_name():
    view = View({"machine": 3, "mode": 5, "fault": 11, "finger": {"index": 4}, "cause": {"index": 99}})
    assert view.machine == 3 and view.machine == "active" and view.machine.name == "active"
    assert view.mode == "joint_impedance" and view.fault == "TENDON_BROKEN" and view.fault != "NONE"
    assert view.finger["index"] == "fault" and f"{view.finger['index']}" == "fault"
    assert view.cause["index"] == 99 and view.cause["index"].name == "99"
    assert msgspec.msgpack.decode(msgspec.msgpack.encode({"m": int(view.machine)})) == {"m": 3}


def test_rows_become_columns_with_names_that_pandas_takes():
    meta = {"names": {"tendon": ["a", "b"]}, "keys": {"tension": {"space": "tendon"}}}
    batches = [
        rows_as_array([{"timestamp": float(k), "seq": k, "tick": k, "tension": [k, 2.0 * k]}])
        for k in range(5)
    ]
    table = columns_of(batches, meta)
    assert list(table) == ["timestamp", "seq", "tick", "tension/a", "tension/b"]
    assert all(column.shape == (5,) for column in table.values())
    assert table["tension/b"].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize("wrong", [0.1, [1, 2], "index_pip", None])
def test_a_goal_that_is_no_map_is_refused_with_what_is_legal(wrong):
    with pytest.raises(TypeError, match="joints is .*legal is a map of names to numbers"):
        numbers("joints", wrong)


def test_a_raw_batch_is_one_structured_array():
    rows = [{"timestamp": k / 3, "seq": k, "tick": k, "tension": [1.0 * k, 2.0]} for k in range(30)]
    array = rows_as_array(rows)
    assert array.shape == (30,) and array["tension"].shape == (30, 2)
    assert array["tension"].dtype == np.float32 and array["timestamp"][3] == 1.0
    assert (array["seq"] == range(30)).all()


def test_silence_is_told_with_the_address_and_what_to_check():
    with flexor.Hand(port_base=19_998, timeout_s=0.05) as hand:
        with pytest.raises(flexor.HandSilent, match=r"tcp://127.0.0.1:19998 .*is 'flexor run' running"):
            hand.view()
        with pytest.raises(flexor.HandSilent, match="answer to 'ping'"):
            hand.request("ping")


def test_a_refusal_carries_code_text_and_hint(fake):
    error = {"code": "no_lease", "msg": "lease 0 is not valid", "hint": "acquire the lease first"}
    with flexor.Hand(port_base=fake.port_base) as hand:
        thread = fake.answer(lambda r: {"id": r["id"], "ok": False, "error": error, "state": {}})
        with pytest.raises(
            flexor.Refused, match="arm refused .no_lease.: lease 0 is not valid; acquire"
        ) as refused:
            hand.request("arm")
        assert refused.value.code == "no_lease"
        thread.join()


def test_a_lost_answer_does_not_become_the_answer_of_the_next_request(fake):
    with flexor.Hand(port_base=fake.port_base, timeout_s=0.2) as hand:
        fake.answer(lambda r: None).join(0.0)
        with pytest.raises(flexor.HandSilent):
            hand.request("ping")
        hand.timeout_s = 5.0
        thread = fake.answer(
            lambda r: {"id": r["id"], "ok": True, "error": None, "state": {"machine": r["op"]}}
        )
        assert hand.request("get")["state"]["machine"] == "get"
        thread.join()


def test_another_version_of_the_messages_is_refused(fake):
    with flexor.Hand(port_base=fake.port_base) as hand:
        _subscribed(fake, hand, "meta")
        fake.send("meta", {"schema": "hand/v2"})
        with pytest.raises(flexor.SchemaMismatch, match="hand/v2"):
            _ = hand.meta


def test_a_closed_connection_says_so(fake):
    hand = flexor.Hand(port_base=fake.port_base)
    hand.close()
    hand.close()
    with pytest.raises(flexor.HandError, match="closed"):
        hand.view()


def test_importing_the_client_imports_nothing_heavy():
    code = (
        "import sys, flexor; flexor.Hand().close()\n"
        "heavy = set('numba runtime sim controllers estimators drivers mechanics pydantic'.split())\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_stop_goes_as_a_request_where_no_datagram_is_answered_and_is_never_too_late(fake):
    """The hand's clock may differ from ours: a stop carries no deadline."""
    asked = []

    def answer(request):
        asked.append(request)
        return {"id": request["id"], "ok": True, "error": None, "state": {"machine": "active"}}

    thread = fake.answer(answer)
    with flexor.Hand(port_base=fake.port_base) as hand:
        assert hand.stop(by="the test")["state"]["machine"] == "active"
    thread.join()
    assert asked[0]["op"] == "stop" and asked[0]["args"] == {"by": "the test"} and "deadline" not in asked[0]


def test_a_request_of_another_thread_while_it_closes_opens_nothing(port_base: int) -> None:
    """As the thread of a lease that is kept alive would ask; the context waits for every open socket."""
    hand, said = flexor.Hand(port_base=port_base, timeout_s=0.1), []

    def ask() -> None:
        with pytest.raises(flexor.HandError, match="closed") as error:
            hand.request("ping")
        said.append(str(error.value))

    asking = threading.Thread(target=ask, daemon=True)

    class Slow(zmq.Context):  # type: ignore[type-arg]
        def term(self) -> None:
            if not asking.ident:
                asking.start()
                asking.join(0.3)
            assert not hand._sockets
            super().term()

    hand._context = Slow()
    hand.close()
    asking.join(2.0)
    assert said and not hand._sockets
