import { readdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { ENGINE_STATUSES } from '../../server/http/errors.ts'
import { useBench } from './support/helper.ts'
import { mutate, mutateInside, randomness } from './support/mutations.ts'
import { type Kind, originals, WITHIN } from './support/originals.ts'

const bench = useBench()
/** Of each format. 2,000 make 12,000 files, and some minutes. */
const COUNT = Number(process.env['PARQUETRY_MUTATIONS'] ?? 60)
const SEED = Number(process.env['PARQUETRY_SEED'] ?? 1)

test.each<Kind>([
  'csv',
  'tsv',
  'json',
  'ndjson',
  'xlsx',
  'arrow',
  'parquet',
  'xls',
  'xlsb',
  'ods',
  'html',
  'avro',
  'sqlite',
  'duckdb',
  'sav',
  'px',
  'zip',
  'json-stat',
  'compressed',
])(
  'damaged %s makes a part or a clear refusal, never anything else',
  async (format) => {
    const files = await originals(format, bench)
    const uploaded = format === 'json-stat' || format === 'compressed' ? WITHIN[format] : format
    const seen = { taken: 0, refused: 0 }
    for (let run = 0; run < COUNT; run++) {
      const random = randomness(SEED * 1_000_003 + run)
      const { bytes: good, ...columns } = files[run % files.length]!
      // A defect of the archive hides those inside of it, so half of the workbooks are whole archives.
      const damage = ['xlsx', 'xlsb', 'ods'].includes(format) && run % 2 === 0 ? mutateInside : mutate
      const bytes = run < files.length ? good : await damage(good, random)
      const file = bench.file(bytes)
      const started = performance.now()
      try {
        const { part } = await bench.ingest(uploaded, file, {
          ...columns,
          limits: { unpackedBytes: 50_000_000 },
        })
        await bench.ingestor.jobs.verify({ part })
        rmSync(part)
        seen.taken++
      } catch (error) {
        const where = `seed ${SEED}, run ${run}`
        if (!(error instanceof EngineError)) throw new Error(`${where}: ${String(error)}`, { cause: error })
        expect(ENGINE_STATUSES[error.code], `${where}: ${error.message} ${String(error.cause)}`).toBeLessThan(
          500,
        )
        expect(run, `${where}: ${error.message}`).toBeGreaterThanOrEqual(files.length)
        expect(error.message.replace(/^The DuckDB database/, '')).not.toMatch(
          /undefined|\[object|\/tmp|DuckDB|SELECT/,
        )
        seen.refused++
      }
      expect(performance.now() - started, `seed ${SEED}, run ${run}`).toBeLessThan(60_000)
      rmSync(file)
    }
    expect(readdirSync(bench.folder).filter((name) => name.endsWith('.parquet'))).toEqual([])
    if (COUNT >= 1000) console.log(format, seen)
  },
  60_000 + COUNT * 100,
)
