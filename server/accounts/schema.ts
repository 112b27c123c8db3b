/** Steps that build the server's own tables. A step that has shipped is never edited. */
export const SERVER_STEPS = [
  `
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    plan TEXT NOT NULL,
    admin INTEGER NOT NULL,
    key_hash BLOB NOT NULL,
    -- The beginning of the hash, for the look-up; the whole is then compared in constant time.
    key_index BLOB NOT NULL GENERATED ALWAYS AS (substr(key_hash, 1, 8)) STORED,
    key_hint TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX accounts_key ON accounts (key_index);

  CREATE TABLE repository_owners (
    repository_id INTEGER PRIMARY KEY REFERENCES repositories ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts,
    private INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX repository_owners_account ON repository_owners (account_id);

  CREATE TABLE repository_members (
    repository_id INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts,
    permission TEXT NOT NULL CHECK (permission IN ('Read', 'Write')),
    PRIMARY KEY (repository_id, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX repository_members_account ON repository_members (account_id);

  CREATE TABLE exported_rows (
    account_id INTEGER NOT NULL REFERENCES accounts,
    month TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (account_id, month)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE provider_keys (
    account_id INTEGER NOT NULL REFERENCES accounts,
    provider TEXT NOT NULL,
    sealed BLOB NOT NULL,
    hint TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (account_id, provider)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE provider_limits (
    name TEXT PRIMARY KEY,
    consumed INTEGER NOT NULL,
    -- Milliseconds since 1970.
    expires_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE account_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    key_hash BLOB NOT NULL,
    key_index BLOB NOT NULL GENERATED ALWAYS AS (substr(key_hash, 1, 8)) STORED,
    key_hint TEXT NOT NULL,
    read_only INTEGER NOT NULL,
    -- ISO 8601, UTC; null: it does not end by itself.
    expires_at TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (account_id, name)
  ) STRICT;
  CREATE INDEX account_keys_key ON account_keys (key_index);

  ALTER TABLE accounts ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Members by a name that no account has yet. They become members with the account.
  CREATE TABLE repository_invitations (
    repository_id INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
    account TEXT NOT NULL,
    permission TEXT NOT NULL CHECK (permission IN ('Read', 'Write')),
    PRIMARY KEY (repository_id, account)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX repository_invitations_account ON repository_invitations (account);
  `,
  `
  -- What datasets follow. Moments are ISO 8601, UTC, so that their order is that of their texts.
  CREATE TABLE dataset_sources (
    dataset_id INTEGER PRIMARY KEY REFERENCES datasets ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts,
    -- A list in JSON, each with what was found of it and what went wrong.
    series TEXT NOT NULL,
    start_date TEXT,
    every TEXT NOT NULL,
    since TEXT NOT NULL,
    due TEXT NOT NULL,
    scheduled TEXT NOT NULL,
    last_run TEXT,
    last_error TEXT,
    last_version INTEGER,
    digest TEXT,
    failures INTEGER NOT NULL,
    -- The process that refreshes it, and until when no other one may; the empty text is before all moments.
    taken_by TEXT,
    taken_until TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dataset_sources_due ON dataset_sources (due);
  `,
  `
  -- The secret of nodes that share the database, where the configuration gives none.
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Requests and wrong keys, counted by the nodes of a cluster. The columns are those of rate-limiter-flexible.
  CREATE TABLE request_rates (
    key TEXT PRIMARY KEY,
    points INTEGER NOT NULL,
    expire INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What providers have answered, for all nodes of a cluster. The name is a hash of the question. Moments are
  -- milliseconds since 1970, by the database's clock; the node that asks a provider renews 'taken_until' meanwhile.
  CREATE TABLE provider_answers (
    name TEXT PRIMARY KEY,
    value BLOB,
    fetched_at REAL NOT NULL DEFAULT 0,
    kept_until REAL NOT NULL DEFAULT 0,
    taken_by TEXT,
    taken_until REAL NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Requests with an Idempotency-Key: a hash of each, and its answer as JSON, null where it is made again. 'kept_at' is in
  -- milliseconds since 1970, by the database's clock.
  CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    kept_at REAL NOT NULL,
    PRIMARY KEY (account_id, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_keys_kept ON idempotency_keys (kept_at);
  `,
  `
  -- The file that a dataset follows instead of series, as JSON: its address, how its rows are written, and what its
  -- server said of it.
  ALTER TABLE dataset_sources ADD COLUMN address TEXT;
  `,
  `
  -- Links to exports. 'key_id' is null for links that the account's first key has made.
  CREATE TABLE links (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts,
    key_id INTEGER REFERENCES account_keys ON DELETE CASCADE,
    path TEXT NOT NULL,
    name TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    last_used_at TEXT
  ) STRICT;
  CREATE INDEX links_account ON links (account_id);
  CREATE INDEX links_expired ON links (expires_at);

  -- The ids of the repositories to which a key is limited, as a JSON list; null: all of the account's.
  ALTER TABLE account_keys ADD COLUMN repositories TEXT;
  ALTER TABLE account_keys ADD COLUMN last_used_at TEXT;
  `,
  `
  -- The names of datasets at /odata/, as they were first given: that for the account which owned them then.
  CREATE TABLE entity_sets (
    dataset_id INTEGER PRIMARY KEY REFERENCES datasets ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    UNIQUE (account_id, name)
  ) STRICT;
  `,
] as const
