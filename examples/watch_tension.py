"""Watch the tension of a tendon; start `flexor run finger_bench --motion open_close` first."""

import signal

import flexor

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly

with flexor.Hand("127.0.0.1") as hand:
    tendon = hand.names("tendon")[0]
    for view in hand.watch(seconds=10.0):
        bar = "#" * round(view.tension[tendon])
        print(f"{tendon} {view.tension[tendon]:6.2f} N {bar}")
