CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS documents (
  id TEXT PRIMARY KEY,            -- hash of the identity: resolved path, URL, or name of a note
  name TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  url TEXT NOT NULL,
  title TEXT NOT NULL,
  language TEXT NOT NULL,
  kind TEXT NOT NULL,
  topic TEXT NOT NULL,
  characters INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,          -- size and mtime_ns: of the file when it was last seen, to skip reading it
  mtime_ns INTEGER NOT NULL,
  revision TEXT NOT NULL,         -- of content, splitter and reader together
  sources TEXT NOT NULL,          -- JSON: front matter sources of a note by footnote id
  text TEXT NOT NULL,
  added_at TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS passages (
  number INTEGER PRIMARY KEY,     -- rowid, shared with words
  id TEXT NOT NULL UNIQUE,        -- also the id of the vector
  document_id TEXT NOT NULL REFERENCES documents (id),
  section TEXT NOT NULL,
  section_number INTEGER NOT NULL,
  part INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  language TEXT NOT NULL,
  page INTEGER,
  source_refs TEXT NOT NULL,      -- JSON list
  context TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document_id, section_number, part);

CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
  content, tokenize = "unicode61 remove_diacritics 0 tokenchars '_-./+:%'"
);
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab (words, row);

-- Files that could not be read, until they can or are dismissed.
CREATE TABLE IF NOT EXISTS failures (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL
);

-- Vectors that may exist without a passage: about to be written, or no longer wanted. Settled by the next repair.
CREATE TABLE IF NOT EXISTS unsettled (id TEXT PRIMARY KEY);
