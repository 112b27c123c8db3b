import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { httpWords, withHints } from '../../engine/errors.ts'
import {
  type BytesOptions,
  type Dataset,
  EngineError,
  type ExplainedColumn,
  type Format,
  faultsOf,
  type QueryOptions,
} from '../../engine/index.ts'
import { libraryWords } from '../../engine/library-words.ts'
import {
  ADDING,
  CHANGE,
  DIALECT,
  type OptionTable,
  OTHER_FORMATS,
  QUERY,
  UPLOADING,
  VERSION,
} from '../../engine/options.ts'
import { errorAnswer } from '../../server/http/errors.ts'
import { bytesOf, newDataset, useWorkplace } from './workplace.ts'

const place = useWorkplace()

async function refusal(call: Promise<unknown>): Promise<EngineError> {
  const error = await call.catch((one) => one)
  if (!(error instanceof EngineError)) throw error
  return error
}

async function rowsOf(dataset: Dataset, options: QueryOptions) {
  using query = await dataset.query(options)
  return Array.fromAsync(query.rows())
}

async function bytesAs(dataset: Dataset, format: Format, options: BytesOptions) {
  using query = await dataset.query()
  await using stream = await query.bytes(format, options)
  return Array.fromAsync(stream)
}

const csv = (text: string) => ({ format: 'csv', body: bytesOf(text) }) as const

test('messages name what describes a file as it stands in options', async () => {
  const dataset = await newDataset(place.engine)
  const file = join(place.directory, 'prices.csv')
  writeFileSync(file, 'x;y\n1;1,5\n2;2,5\n')
  const upload = { format: 'csv', body: { file } } as const
  for (const read of [() => dataset.replace(upload), () => place.engine.preview(upload)]) {
    const { message, details } = await refusal(read())
    expect(message).toContain(
      "unless { delimiter: ';' } says otherwise. { dialect: 'auto' } would read the file ({ delimiter: ';', decimal: ',' }).",
    )
    expect(details?.hints).toEqual(['delimiter=;', 'dialect=auto', 'delimiter=%3B&decimal=%2C'])
  }
  await dataset.replace({ ...upload, options: { delimiter: ';', decimal: ',' } })
})

test('messages name options of the call, of which HTTP has others', async () => {
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv('a,b\n1,2\n'))
  const added = await refusal(dataset.append(csv('a,b,c\n1,2,3\n')))
  expect(added.message).toContain(
    'append with addColumns: true, or replace columns and rows together (replaceColumns: true)',
  )
  expect(errorAnswer(added).body).toMatchObject({
    error: expect.stringContaining('append with columns=add, or replace'),
    hints: ['columns=add', 'columns=replace'],
  })
  const lacking = await refusal(dataset.append(csv('a\n1\n')))
  expect(lacking.message).toMatch(/With missing: 'null', it is null .* an upsert \(dataset\.upsert\) keeps/)
  const unkeyed = await refusal(dataset.upsert(csv('a,b\n1,2\n')))
  expect(unkeyed.message).toContain("on: ['date', 'series']")
  const all = await refusal(dataset.deleteRows({ filter: undefined as never }))
  expect(all.message).toContain("write filter: 'true'")
})

const TABLES = { ...QUERY, ...VERSION, ...OTHER_FORMATS, ...CHANGE } as OptionTable
const EVERY = [TABLES, DIALECT as OptionTable, UPLOADING as OptionTable, ADDING as OptionTable].flatMap(
  (table) => Object.values(table).map((option) => [option.http, option] as const),
)
/** Options as HTTP has them: `$top`, `delimiter=`. */
const OF_HTTP = /\$[a-z]+|\b[A-Za-z]+=/

test.each(EVERY)('%s has words of the library', (http, { values, example = 'x' }) => {
  const [value = example] = values ?? []
  for (const option of [http, `${http}=`, `${http}=${encodeURIComponent(value)}`]) {
    expect(libraryWords(option)).toMatch(/^[\w.]+$|: |^dataset\./)
    expect(libraryWords(option)).not.toMatch(OF_HTTP)
  }
})

const LONG = 'x'.repeat(40_000)
const UNZONED = { columns: [{ name: 'at', type: 'timestamptz' as const }] }

test.each<[says: string, http: string, fails: (dataset: Dataset) => Promise<unknown>]>([
  ['orderBy: At position 3', '$orderby: At position 3', (one) => one.query({ orderBy: 'a b' })],
  ['ordered by orderBy', 'ordered by $orderby', (one) => one.query({ filter: 'a eq 1 order by a' })],
  ['top and last', '$top and $last', (one) => one.query({ top: 1, last: 1 })],
  ['version and asOf', '$version and asOf', (one) => one.query({ version: 1, asOf: '2024-01-01' })],
  [
    'orderBy divides by zero',
    '$orderby divides by zero',
    (one) => rowsOf(one, { orderBy: 'a div (a sub a)' }),
  ],
  ["with overlong: 'cut'.", 'with $overlong=cut.', (one) => bytesAs(one, 'xlsx', {})],
  ['dialect.bom is for csv', '$bom is for csv', (one) => bytesAs(one, 'json', { dialect: { bom: true } })],
  [
    "add dialect: { delimiter: ';' }, a",
    'add $delimiter=%3B, a',
    (one) => bytesAs(one, 'csv', { dialect: { decimal: ',' } }),
  ],
  [
    "{ zone: 'Europe/Berlin' }",
    'zone=Europe/Berlin',
    (one) => one.replace({ ...csv('at\n2024-01-01T00:00\n'), ...UNZONED, replaceColumns: true }),
  ],
  [
    'replaceColumns: true is not',
    'columns=replace is not',
    (one) => one.append({ ...csv('a,b\n'), replaceColumns: true }),
  ],
])('each surface has its words: %s', async (says, http, fails) => {
  const dataset = await newDataset(place.engine)
  await dataset.replace(csv(`a,b\n1,${LONG}\n`))
  const error = await refusal(fails(dataset))
  const { body } = errorAnswer(error)
  const faults = faultsOf(error)
  expect(error.message).toContain(says)
  expect(body.error).toContain(http)
  expect(withHints(body.error, body.hints, libraryWords)).toBe(error.message)
  for (const text of [error.message, error.details?.problem ?? '', ...faults.map((fault) => fault.error)])
    expect(text).not.toMatch(OF_HTTP)
  expect(
    body.errors?.map((fault) => withHints(fault.error, fault.hints, libraryWords)) ?? [error.message],
  ).toEqual(faults.map((fault) => fault.error))
})

test('suggestions for columns of text name options in the words that are asked for', async () => {
  const dataset = await newDataset(place.engine)
  const upload = () => csv('a,b\n1,"1.234,50"\n2,n/a\n')
  const suggested = ({ columns }: { columns: readonly ExplainedColumn[] }) => columns[1]!.because?.try
  await using preview = await place.engine.preview(upload())
  expect(suggested(preview)).toBe("{ decimal: ',', thousands: '.' }")
  await using shown = await place.engine.preview({ ...upload(), words: httpWords })
  expect(suggested(shown)).toBe('decimal=,&thousands=.')
  const written = await dataset.replace(upload())
  expect(suggested(written)).toBe("replaceColumns: true, { decimal: ',', thousands: '.' }")
  const other = await newDataset(place.engine)
  expect(suggested(await other.replace({ ...upload(), words: httpWords }))).toBe(
    'decimal=,&thousands=.&columns=replace',
  )
})

test('warnings name options in the words that are asked for', async () => {
  const dataset = await newDataset(place.engine)
  const page =
    '<table><thead><tr><th>n</th></tr></thead><tr><td>1</td></tr><tfoot><tr><td>9</td></tr></tfoot></table>'
  const upload = () => ({ format: 'html', body: bytesOf(page) }) as const
  const { warnings, hints } = await dataset.replace(upload())
  expect(warnings).toEqual(['The foot of the table (tfoot) is left out: "9". { footer: 0 } reads it.'])
  expect(hints).toEqual(['footer=0'])
  await using preview = await place.engine.preview({ ...upload(), words: httpWords })
  expect(preview).toMatchObject({
    warnings: ['The foot of the table (tfoot) is left out: "9". footer=0 reads it.'],
    hints: ['footer=0'],
  })
})
