"""Scripted questions with known answers, the metrics over them, and the runner that gives one verdict."""
