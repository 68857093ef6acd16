"""Hand file -> model record, one table of the file per module."""
