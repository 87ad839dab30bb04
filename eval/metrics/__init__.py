"""One small module a metric: pure functions with tests of their own; no model, no network, milliseconds."""
