"""Is this machine fit for a hand? One file per family of checks, one finding per fact; ``flexor doctor``."""

from reports.finding import Finding as Finding
from reports.finding import Level as Level
from runtime.host.machine import Machine as Machine
from tools.doctor.examine import examine as examine
