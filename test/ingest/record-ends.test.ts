import { expect, test } from 'vitest'
import { RecordEnds } from '../../engine/ingest/csv/record-ends.ts'
import { Tokenizer } from '../../engine/ingest/csv/tokenizer.ts'
import { COMMIT, type StretchOptions, stretchesOf } from '../../server/transfers/stretches.ts'

/** Numbers that look random, the same each time. */
function numbers(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Csv that is well formed, of fields that quotes and line ends are in. */
function randomCsv(next: (below: number) => number, delimiter: string): string {
  const texts = ['', 'a', 'ü', '5" pipe', `"x${delimiter}"`, '"a\nb"', '"a\r\nb"', '""', '"q""q"', '""""']
  const record = () => Array.from({ length: 1 + next(3) }, () => texts[next(texts.length)]!).join(delimiter)
  const ends = ['\n', '\r\n']
  const text = Array.from({ length: 1 + next(6) }, () => record() + ends[next(2)]).join('')
  return next(4) === 0 ? `\uFEFF${text}` : text
}

function piecesOf(bytes: Buffer, next: (below: number) => number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + next(6)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

test('records of csv end in a stream where they end in a file, however it is cut', () => {
  const next = numbers(59)
  for (let round = 0; round < 3_000; round++) {
    const delimiter = [',', ';', '§', '\t'][next(4)]!
    const csv = randomCsv(next, delimiter)
    const bytes = Buffer.from(csv)
    const start = csv.startsWith('\uFEFF') ? 3 : 0
    const buffer = Buffer.concat([bytes, Buffer.of(0)])
    const tokenizer = new Tokenizer(delimiter, (what) => new Error(what))
    const expected: unknown[] = []
    for (let at = start; at < bytes.length; ) {
      at = tokenizer.read(buffer, at, bytes.length, true)
      expected.push([at, tokenizer.count, tokenizer.isBlank])
    }
    const ends = new RecordEnds(delimiter)
    const found: unknown[] = []
    let offset = 0
    for (const piece of piecesOf(bytes, next)) {
      for (let at = ends.find(piece, 0); at >= 0; at = ends.find(piece, at))
        found.push([offset + at, ends.fields, ends.isBlank])
      offset += piece.length
    }
    expect(found, JSON.stringify(csv)).toEqual(expected)
  }
})

async function stretches(text: string, options: Omit<StretchOptions, 'commit'>, commit: string, seed = 1) {
  async function* stream() {
    yield* piecesOf(Buffer.from(text), numbers(seed))
  }
  const all = await Array.fromAsync(stretchesOf(stream(), { ...options, commit }))
  return all.map(({ bytes, rows, before }) => [bytes.toString(), rows, before.rows, before.bytes])
}

test('a stream is cut between rows, each stretch with the header and the lines above it', async () => {
  const csv = 'note\n"n\n",w\n1,a\n\n2,"b\n"\n3,c'
  for (let seed = 1; seed < 50; seed++) {
    const head = 'note\n"n\n",w\n'
    expect(await stretches(csv, { format: 'csv', options: { skip: 1 } }, '2', seed)).toEqual([
      [`${head}1,a\n\n2,"b\n"\n`, 2, 0, 0],
      [`${head}3,c`, 1, 2, 12],
    ])
    expect(await stretches(' \n{"n":1}\n\n{"n":2}\n \t\r\n', { format: 'ndjson' }, '1', seed)).toEqual([
      [' \n{"n":1}\n', 1, 0, 0],
      ['\n{"n":2}\n', 1, 1, 10],
    ])
    expect(await stretches('1\n\n2', { format: 'csv', options: { header: 'absent' } }, '2', seed)).toEqual([
      ['1\n\n', 2, 0, 0],
      ['2', 1, 2, 3],
    ])
  }
})

test('the next stretch is not read before the last one is done with', async () => {
  let pulled = 0
  async function* stream() {
    for (; ; pulled++) yield Buffer.from('{"n":1}\n')
  }
  const all = stretchesOf(stream(), { format: 'ndjson', commit: '3' })
  await all.next()
  await new Promise(setImmediate)
  expect(pulled).toBeLessThan(5)
  await all.return()
})

test('a last row without a line end is left out of a stream that was stopped', async () => {
  const stopped = new AbortController()
  async function* stream() {
    yield Buffer.from('{"n":1}\n{"n":2')
    stopped.abort()
  }
  const all = await Array.fromAsync(
    stretchesOf(stream(), { format: 'ndjson', commit: '9', signal: stopped.signal }),
  )
  expect(all.map(({ bytes }) => bytes.toString())).toEqual(['{"n":1}\n'])
})

test('commit takes rows or seconds', () => {
  const { pattern } = COMMIT.commit
  expect(['1', '999999', '1s', '59s'].filter((text) => !pattern.test(text))).toEqual([])
  expect(['0', '1000000', '60s', '0s', '5m', '', '1.5s', '-1'].filter((text) => pattern.test(text))).toEqual(
    [],
  )
})
