import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/** A folder for results as JSON, one file for each run. */
const results = process.env['PARQUETRY_TEST_RESULTS']

/** What kills, cuts, fills disks, damages, asks at random, needs much or takes long: `npm run test:failures`. */
const FAILURES = [
  'test/{crash,faults,nodes,objects,outages,simulation,trino}/**/*.test.ts',
  'test/apply/{fuzz,size,spill}.test.ts',
  'test/attach/changed.test.ts',
  'test/catalog/{databases,unavailable}.test.ts',
  'test/client/retries.test.ts',
  'test/commands/{append,bench,commands,demo,import-files,missing,process,resumed,servers}.test.ts',
  'test/connectors/{answers/damaged,failures,faults,hostile,limits,providers/vintages}.test.ts',
  'test/console/{cross-site,csv,demo-link,follow,guide,history,large,news,revisions,sizes}.test.ts',
  'test/deploy/backup.test.ts',
  'test/docs/tasks.test.ts',
  'test/duckdb/{known-faults,native-reader,parameters,row-groups}.test.ts',
  'test/engine/{arriving,far-rows,flights,pages,wide-rows,windows,writes}.test.ts',
  'test/export/{flow,processes}.test.ts',
  'test/export/formats/{gzip,one-column,parquet}.test.ts',
  'test/filter/{fuzz,injection,limits}.test.ts',
  'test/iceberg/{duckdb,manifest,object-store,pyiceberg,spark}.test.ts',
  'test/ingest/{auto-below-sample,auto-differential,bloom-filters,csv-properties,json/large,large-sheets,limits,mutations,neighbours,parts,readers,roundtrip,statistics,tools}.test.ts',
  'test/ingest/arrow/nested.test.ts',
  'test/odata/{coding,large}.test.ts',
  'test/package/reference.test.ts',
  'test/parquet/{encodings,joined,page-checksums,proportion}.test.ts',
  'test/plan/{prune,ranks}.test.ts',
  'test/server/metadata.test.ts',
  'test/server/accounts/{matrix,secrets}.test.ts',
  'test/server/data/{append-stream,diskfull,fair-sql,follow-changes,followers,lists,one-version,pieces,small-writes,streaming}.test.ts',
  'test/server/service/{log-output,openapi,schemathesis,serve,sigterm,soak,start,uncaught}.test.ts',
  'test/sources/{commands,difference,losses,processes,revisions,table-watch,year}.test.ts',
  'test/sql/{attacks,fence,row-groups,saved,turns}.test.ts',
  'test/store/{closing,crash,diskfull,events,here,integrity,lost,parts,turns}.test.ts',
  'test/uploads/messy.test.ts',
  'test/versions/{changed-copies,history,kills,opened,opened-cluster,partial,partial-http}.test.ts',
  'test/zeros/sorted.test.ts',
]
/** `service`, `console` or `failures`; without it, all tests that are named. */
const part = process.env['PARQUETRY_TESTS']

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: part === 'failures' ? FAILURES : ['test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...(part === 'service' || part === 'console' ? FAILURES : []),
      ...(part === 'service'
        ? [
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
    expect: { poll: { timeout: 60_000 } },
    coverage: {
      include: ['engine/**/*.ts', 'connectors/**/*.ts', 'server/**/*.ts'],
      exclude: ['server/console/**', '**/dist/**'],
      // A table of folders for people; the page below it leads into each file.
      reporter: ['text-summary', ['text', { skipFull: true }], 'html'],
      reportsDirectory: 'data/coverage',
    },
  },
})
