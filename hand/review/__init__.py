"""What a checked hand file is told beside: margins of its loops, values that look like slips."""
