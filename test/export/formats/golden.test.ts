import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import ExcelJS from 'exceljs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, normalised, openTestExecutor, type TestExecutor } from '../support.ts'

/**
 * `golden/NAME.sql` is a case; beside it is what each format must give. A file that isn't there yet is written by a
 * run with GOLDEN=write, to be read before it is committed.
 */
const FOLDER = new URL('./golden/', import.meta.url)
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.sql'))
  .map((file) => basename(file, '.sql'))

/** Cell types of exceljs, by their number. */
const TYPES = Object.fromEntries(Object.entries(ExcelJS.ValueType).map(([name, number]) => [number, name]))

function expectGolden(file: string, actual: string): void {
  const url = new URL(file, FOLDER)
  if (!existsSync(url) && process.env['GOLDEN'] === 'write') writeFileSync(url, actual)
  expect(actual).toBe(readFileSync(url, 'utf8'))
}

describe('each format', () => {
  let executor: TestExecutor
  beforeAll(async () => {
    executor = await openTestExecutor()
  })
  afterAll(() => executor.close())

  describe.each(NAMES)('%s', (name) => {
    const sql = readFileSync(new URL(`${name}.sql`, FOLDER), 'utf8')

    it.each(['csv', 'tsv', 'json', 'ndjson'] as const)('%s', async (format) => {
      const bytes = await bytesOf(executor, await normalised(executor, sql), format)
      expectGolden(`${name}.${format}`, bytes.toString())
    })

    it('xlsx, cell by cell', async () => {
      const bytes = await bytesOf(executor, await normalised(executor, sql), 'xlsx')
      const workbook = new ExcelJS.Workbook()
      await workbook.xlsx.load(bytes as unknown as ArrayBuffer)
      const lines: string[] = []
      workbook.worksheets[0]!.eachRow((row) => {
        row.eachCell((cell) => {
          const value = cell.value instanceof Date ? cell.value.toISOString() : JSON.stringify(cell.value)
          lines.push(
            `${cell.address} ${TYPES[cell.type] ?? cell.type} ${value} ${cell.numFmt ?? ''}`.trimEnd(),
          )
        })
      })
      expectGolden(`${name}.cells`, `${lines.join('\n')}\n`)
    })
  })
})
