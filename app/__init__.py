"""Fabric Advisor: which network for a GPU cluster, at what cost and speed, with every number traced."""

__version__ = "0.1.0"
