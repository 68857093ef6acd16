"""Is this machine fit for a hand? One file per family of checks, one finding per fact; ``flexor doctor``."""

from runtime.doctor.examine import examine as examine
from runtime.doctor.finding import Finding as Finding
from runtime.doctor.finding import Level as Level
from runtime.doctor.machine import Machine as Machine
