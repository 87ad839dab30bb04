"""One module a file format: bytes in, Markdown-like text out (`Content`)."""
