import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/** A folder for results as JSON, one file for each run. */
const results = process.env['PARQUETRY_TEST_RESULTS']

/** What kills, cuts, fills disks, damages, needs much or takes long, as long as everything else: `npm run test:failures`. */
const FAILURES = [
  'test/{crash,faults,nodes,objects,outages,simulation,trino}/**/*.test.ts',
  'test/apply/{size,spill}.test.ts',
  'test/catalog/databases.test.ts',
  'test/commands/{bench,commands,import-files,resumed}.test.ts',
  'test/connectors/{answers/damaged,faults,hostile}.test.ts',
  'test/deploy/backup.test.ts',
  'test/docs/tasks.test.ts',
  'test/duckdb/{native-reader,row-groups}.test.ts',
  'test/engine/{arriving,far-rows,flights,pages,wide-rows,writes}.test.ts',
  'test/export/flow.test.ts',
  'test/export/formats/{gzip,one-column}.test.ts',
  'test/filter/limits.test.ts',
  'test/iceberg/{duckdb,object-store,pyiceberg,spark}.test.ts',
  'test/ingest/{auto-differential,csv-properties,json/large,large-sheets,limits,mutations,neighbours,parts,readers,roundtrip}.test.ts',
  'test/ingest/arrow/nested.test.ts',
  'test/odata/large.test.ts',
  'test/plan/prune.test.ts',
  'test/server/accounts/{matrix,secrets}.test.ts',
  'test/server/data/{append-stream,diskfull,fair-sql,followers,lists,one-version,streaming}.test.ts',
  'test/server/service/{openapi,schemathesis,sigterm,soak,uncaught}.test.ts',
  'test/sources/{difference,losses,processes,revisions,year}.test.ts',
  'test/sql/{attacks,fence,saved}.test.ts',
  'test/store/{closing,crash,diskfull,here,integrity,parts}.test.ts',
  'test/versions/{changed-copies,history,kills,opened,opened-cluster,partial}.test.ts',
]
/** `service` or `failures`; without it, all tests that are named. */
const part = process.env['PARQUETRY_TESTS']

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: part === 'failures' ? FAILURES : ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...(part === 'service'
        ? [
            ...FAILURES,
            'test/{cluster,console,differential,tools}/**',
            'test/{apply/differential,filter/differential,package/package,sql/tpc}.test.ts',
          ]
        : []),
    ],
    setupFiles: process.env['PARQUETRY_MUTATION'] ? ['test/mutation/setup.ts'] : [],
    // Loading the sources anew for each file would take a quarter of the time.
    isolate: false,
    ...(results && {
      reporters: ['default', ['json', { outputFile: `${results}/${process.pid}.json` }]],
    }),
    // DuckDB and the workers use every core themselves, but tests also wait for files, answers and browsers.
    maxWorkers: 3,
    env: {
      // No server that a test starts may ask the providers by itself.
      PARQUETRY_INDEX_PROVIDERS: 'false',
      // The thousands of processes that tests start would each compile the same sources, as those of a server do not.
      NODE_COMPILE_CACHE: fileURLToPath(
        new URL('../node_modules/.cache/parquetry/compiled', import.meta.url),
      ),
    },
    // For what hangs: a machine with much other work takes ten times as long as an idle one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A browser on a busy machine takes more than the second that polls wait by default.
    expect: { poll: { timeout: 10_000 } },
    coverage: {
      include: ['engine/**/*.ts', 'connectors/**/*.ts', 'server/**/*.ts'],
      exclude: ['server/console/**', '**/dist/**'],
      // A table of folders for people; the page below it leads into each file.
      reporter: ['text-summary', ['text', { skipFull: true }], 'html'],
      reportsDirectory: 'data/coverage',
    },
  },
})
