"""The door's rule: what is closed is enough, never more, and never those who were there first."""

from __future__ import annotations

import socket

from hypothesis import given
from hypothesis import strategies as st

from telemetry.command.door import MOST, OWED_ALL, OWED_MOST, UNASKED_MOST, Door, Guest

ASKED, UNASKED = 1, 2
_LIMITS = {ASKED: OWED_MOST, UNASKED: UNASKED_MOST}
_guest = st.tuples(
    st.sampled_from([ASKED, UNASKED]),
    st.integers(0, 3) | st.integers(0, 2 * OWED_MOST),
    st.floats(0.0, 1.0),
)


def _door(drawn):
    door = Door({ASKED}, {UNASKED})
    for k, (place, received, share) in enumerate(drawn):
        door.guests[k + 10] = Guest(("127.0.0.1", k), place, k, share * received, received)
    return door


@given(st.lists(_guest, max_size=40), st.integers(0, 2 * MOST), st.sampled_from([ASKED, UNASKED]))
def test_what_stays_is_within_the_bounds_and_nobody_within_them_is_closed(drawn, crowd, place):
    door = _door(drawn + [(place, 0, 0.0)] * crowd)
    chosen = set(door._too_much())
    stays = {fd: g for fd, g in door.guests.items() if fd not in chosen}
    for here in (ASKED, UNASKED):
        assert sum(g.place == here for g in stays.values()) <= MOST
    assert all(g.owed <= _LIMITS[g.place] for g in stays.values())
    assert sum(g.owed for g in stays.values()) <= OWED_ALL
    least = min((door.guests[fd].owed for fd in chosen), default=0.0)
    for fd in chosen:
        guest = door.guests[fd]
        before = sum(g.place == guest.place and g.number < guest.number for g in door.guests.values())
        greedy = guest.owed > _LIMITS[guest.place]
        together = sum(g.owed for g in stays.values()) + guest.owed > OWED_ALL - least
        assert before >= MOST or greedy or together, "closed without need"


def test_a_look_sees_the_connections_of_its_ports_alone_what_came_in_and_a_new_owner_of_a_number():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        port = server.getsockname()[1]
        door = Door({port}, set())
        client = socket.create_connection(("127.0.0.1", port))
        stranger = socket.create_connection(other.getsockname())
        mine, _ = server.accept()
        with stranger, client, mine:
            client.sendall(bytes(1000))
            mine.recv(1000, socket.MSG_WAITALL)
            door.look(0.0)
            (guest,) = door.guests.values()
            assert guest.peer == client.getsockname() and guest.received == 1000
            door.take(mine.fileno(), 400)
            assert guest.owed == 600
            door.look(0.1)
            assert guest.owed == 500, "signs of life are not owed"
            descriptor, second = mine.fileno(), socket.create_connection(("127.0.0.1", port))
            mine.close()
            with second, server.accept()[0] as again:
                assert again.fileno() == descriptor
                door.look(0.0)
                assert door.guests[descriptor].peer == second.getsockname()
                assert door.guests[descriptor].owed == 0
                door.turn_away(descriptor)
                assert second.recv(1) == b"" and door.turned_away == 1
