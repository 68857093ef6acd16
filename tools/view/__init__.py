"""The hand in the browser: a plain client of its sockets, or of a log, in a process of its own."""
