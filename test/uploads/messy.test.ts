import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../engine/errors.ts'
import { READING, toHttp } from '../../engine/options.ts'
import { useBench } from '../ingest/support/helper.ts'

/** Each file of the folder is a test. What becomes of it is a row of the table. */
const FOLDER = join(import.meta.dirname, 'messy')
const TABLE = join(import.meta.dirname, 'messy.md')

const bench = useBench()

const files = readdirSync(FOLDER)
const known = new Map(
  readFileSync(TABLE, 'utf8')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, name] = /^\| `([^`]+)` \|/.exec(line) ?? []
      return name ? [[name, line]] : []
    }),
)

async function rowOf(name: string): Promise<string> {
  const format = name.endsWith('.tsv') ? 'tsv' : 'csv'
  const cells = await bench.readFile(format, join(FOLDER, name), { options: { dialect: 'auto' } }).then(
    ({ options = {}, shape, reasons = [], rows, values }) => [
      Object.entries(toHttp(options, READING))
        .map(([key, value]) => `${key}=${value === '\t' ? 'tab' : value}`)
        .join(' '),
      shape
        .map((column, at) => {
          const because = reasons[at]
          return because ? `${column} (because of ${JSON.stringify(because.value)})` : column
        })
        .join(', '),
      `${rows} rows, the last ${JSON.stringify(values.at(-1) ?? [])}`,
    ],
    (error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'invalid_upload')) throw error
      return ['', `refused: ${error.message}`, '']
    },
  )
  const written = cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\u00a0', ' '))
  return `| \`${name}\` | ${written.map((cell) => (cell === '' ? '' : `${cell} `)).join('| ')}|`
}

describe('what dialect=auto makes of', () => {
  test.each(files)('%s', async (name) => {
    const row = await rowOf(name)
    expect(row).toBe(known.get(name))
  })

  test('every file of the table', () => {
    expect([...known.keys()]).toEqual(files)
  })
})
