"""The hand on paper: pure laws and frozen values, each from a paper's equation."""
