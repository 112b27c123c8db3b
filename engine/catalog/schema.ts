import { EngineError } from '../errors.ts'
import type { Database } from './database.ts'

/**
 * Steps that build the catalog's tables. A step that has shipped is never edited; a change is a new step. It only adds
 * tables and columns that may be left out, because nodes of the version before go on while a cluster is upgraded. What
 * is no longer used is removed a version later.
 */
export const CATALOG_STEPS = [
  `
  CREATE TABLE repositories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;

  -- What a dataset holds at one moment. Never changed; a commit points the dataset to another one.
  -- No reference to the dataset: a version outlives it while somebody reads it.
  CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    columns TEXT NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    raw_bytes INTEGER NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE datasets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    version_id INTEGER NOT NULL REFERENCES versions,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (repository_id, name)
  ) STRICT;
  CREATE INDEX datasets_version ON datasets (version_id);

  -- A Parquet file. 'process' is set while its writer has not committed it yet.
  CREATE TABLE parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    process TEXT,
    rows INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    raw_bytes INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE version_parts (
    version_id INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
    position INTEGER NOT NULL,
    part_id INTEGER NOT NULL REFERENCES parts,
    PRIMARY KEY (version_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX version_parts_part ON version_parts (part_id);

  -- A process that reads a version keeps its parts from being removed.
  CREATE TABLE leases (
    version_id INTEGER NOT NULL REFERENCES versions ON DELETE CASCADE,
    process TEXT NOT NULL,
    PRIMARY KEY (version_id, process)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- 'hash' is of the file's bytes, null until a part of an older program was read for it. 'damage' says what is wrong with
  -- the file, null where nothing is. 'checked_at' is when all of it was last read.
  ALTER TABLE parts ADD COLUMN hash TEXT;
  ALTER TABLE parts ADD COLUMN damage TEXT;
  ALTER TABLE parts ADD COLUMN checked_at TEXT;
  `,
  `
  -- Between what the values of each column lie, as JSON; null in a part of an older program.
  ALTER TABLE parts ADD COLUMN statistics TEXT;
  `,
  `
  -- Row 1 is the store of objects that holds the parts; there is none where they are in the data directory. Row 2 is the
  -- one to which they are being moved. 'mark' stands in the store, too, and says whose it is.
  CREATE TABLE part_store (
    id INTEGER PRIMARY KEY CHECK (id IN (1, 2)),
    name TEXT NOT NULL,
    mark TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- Processes of several machines on one catalog. Moments here are milliseconds since 1970, by the database's clock.
  CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    -- The machine and the process there, for people.
    name TEXT NOT NULL,
    seen REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Work that one node does at a time. 'due' lies ahead while a node is at it.
  CREATE TABLE jobs (
    kind TEXT NOT NULL,
    subject INTEGER NOT NULL,
    due REAL NOT NULL,
    taken_by TEXT,
    PRIMARY KEY (kind, subject)
  ) STRICT, WITHOUT ROWID;

  -- When it was found that no dataset shows a version; when it was found that no version will ever have a part.
  ALTER TABLE versions ADD COLUMN retired_at REAL;
  ALTER TABLE parts ADD COLUMN given_up_at REAL;
  `,
  `
  -- Which parts versions have, as ranges: a dataset's versions from 'since' to before 'until' have the part at the
  -- position. So an append writes one row, however many parts there are before it. 'until' is 2^53 - 1 as long as the
  -- newest version has the part. The view shows it version by version.
  -- Nothing refers to the dataset: a version outlives it while somebody reads it. Versions that no dataset showed when
  -- this step was run get a number of their own.
  ALTER TABLE versions ADD COLUMN dataset_id INTEGER;
  UPDATE versions SET dataset_id = coalesce((SELECT d.id FROM datasets d WHERE d.version_id = versions.id), -id);
  CREATE INDEX versions_dataset ON versions (dataset_id, id);
  CREATE TABLE part_ranges (
    dataset_id INTEGER NOT NULL,
    until INTEGER NOT NULL,
    position INTEGER NOT NULL,
    since INTEGER NOT NULL,
    part_id INTEGER NOT NULL REFERENCES parts,
    PRIMARY KEY (dataset_id, until, position)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO part_ranges SELECT v.dataset_id, 9007199254740991, vp.position, v.id, vp.part_id
    FROM version_parts vp JOIN versions v ON v.id = vp.version_id;
  DROP TABLE version_parts;
  CREATE INDEX part_ranges_part ON part_ranges (part_id);
  CREATE VIEW version_parts AS SELECT v.id AS version_id, r.position, r.part_id
    FROM versions v JOIN part_ranges r ON r.dataset_id = v.dataset_id AND r.until > v.id AND r.since <= v.id;
  `,
  `
  -- The sums of a part's blocks, by which ranges of it are compared; null where nobody reads it by ranges.
  ALTER TABLE parts ADD COLUMN block_sums TEXT;
  `,
  `
  -- How often the store was taken over, by this catalog or a copy of it. The store has the number, too; the catalog with
  -- the same one is its owner.
  ALTER TABLE part_store ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- What made a version, who and why, for people; null in versions of an older program. 'replaced_at' is when another one
  -- took its place, in milliseconds since 1970: null while the dataset shows it, 0 where it has the same number and rows.
  ALTER TABLE versions ADD COLUMN operation TEXT;
  ALTER TABLE versions ADD COLUMN author TEXT;
  ALTER TABLE versions ADD COLUMN note TEXT;
  ALTER TABLE versions ADD COLUMN added_rows INTEGER;
  ALTER TABLE versions ADD COLUMN removed_rows INTEGER;
  ALTER TABLE versions ADD COLUMN replaced_at INTEGER;
  -- How many versions are kept, and for how many days; null: as many as the engine keeps unless told otherwise.
  ALTER TABLE datasets ADD COLUMN keep_versions INTEGER;
  ALTER TABLE datasets ADD COLUMN keep_days INTEGER;
  -- The version with which a dataset was made.
  UPDATE versions SET dataset_id = (SELECT d.id FROM datasets d WHERE d.version_id = versions.id) WHERE dataset_id IS NULL;
  `,
  `
  -- The names of the columns of which no two rows have the same values, as JSON; null without a key.
  ALTER TABLE versions ADD COLUMN key_columns TEXT;
  `,
  `
  -- What people have written down about a dataset, as JSON; null where they have not.
  ALTER TABLE datasets ADD COLUMN metadata TEXT;
  -- The profile of a version's columns, as JSON; null where it was not made.
  ALTER TABLE versions ADD COLUMN profile TEXT;
  `,
  `
  -- The query whose rows a dataset has instead of rows of its own, as JSON.
  ALTER TABLE datasets ADD COLUMN query TEXT;
  `,
  `
  -- How the last upload was read, as JSON; null where it was read by the rules of its format.
  ALTER TABLE datasets ADD COLUMN upload_options TEXT;
  `,
  `
  -- Of which part this one is a changed copy, and in which rows, as JSON; null where it is none or too many have changed.
  ALTER TABLE parts ADD COLUMN origin TEXT;
  `,
  `
  -- The file that others keep and that is read in place of one of our own, as JSON.
  ALTER TABLE parts ADD COLUMN attached TEXT;
  `,
  `
  -- The number of the version to whose rows others have only been appended since; null in versions of an older program.
  ALTER TABLE versions ADD COLUMN appended_since INTEGER;
  `,
] as const

/**
 * Brings the tables of one namespace up to date: runs the steps that have not been run yet, all in one transaction.
 * Refuses a database that a newer program has made, because its tables may mean something else. Gives how many steps had
 * been run before, if an older program has made the tables.
 * @throws EngineError `locked`
 */
export async function migrate(
  database: Database,
  namespace: string,
  steps: readonly string[],
): Promise<number | undefined> {
  const { definition } = database.dialect
  return database.transaction(async (t) => {
    await t.lockName('migrations')
    await t.exec(
      definition(
        'CREATE TABLE IF NOT EXISTS migrations (namespace TEXT PRIMARY KEY, step INTEGER NOT NULL) STRICT',
      ),
    )
    const row = await t.get<{ step: number }>('SELECT step FROM migrations WHERE namespace = ?', namespace)
    const done = row?.step ?? 0
    if (done > steps.length) {
      throw new EngineError(
        'locked',
        `The catalog was written by a newer version (${namespace} step ${done}; this version knows ${steps.length}).`,
      )
    }
    if (done === steps.length) return undefined
    for (const step of steps.slice(done)) await t.exec(definition(step))
    await t.run(
      'INSERT INTO migrations VALUES (?, ?) ON CONFLICT (namespace) DO UPDATE SET step = excluded.step',
      namespace,
      steps.length,
    )
    return done === 0 ? undefined : done
  })
}
