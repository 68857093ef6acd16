"""The processes of a run: supervisor (``flexor run`` itself), control, io."""
