"""What happens when things break? Faults, second faults, touches and storms, judged by the truth."""
