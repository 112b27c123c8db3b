import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

const ROWS = 50_000
const CSV = `n\n${Array.from({ length: ROWS }, (_, n) => `${n}\n`).join('')}`

test('a query that can not write its file ends', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace({ format: 'csv', body: bytesOf(CSV) })
  using query = await dataset.query()
  const nowhere = join(place.directory, 'nowhere')
  await expect(query.toFile(join(nowhere, 'rows.csv'), 'csv')).rejects.toMatchObject({
    code: 'invalid_option',
    message: `There is no folder ${JSON.stringify(nowhere)}.`,
  })
  const tooLong = join(place.directory, 'x'.repeat(300))
  await expect(query.toFile(tooLong, 'csv')).rejects.toThrow(/ENAMETOOLONG/)
  expect((await place.engine.stats()).executor).toMatchObject({ exports: 0, statements: 0 })
})

test('two queries that write the same file at once leave that of one of them', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  await dataset.replace({ format: 'csv', body: bytesOf(CSV) })
  using all = await dataset.query()
  using few = await dataset.query({ top: 3 })
  const folder = join(place.directory, 'out')
  mkdirSync(folder)
  const file = join(folder, 'rows.csv')
  await Promise.all([all.toFile(file, 'csv'), few.toFile(file, 'csv')])
  expect([CSV, 'n\n0\n1\n2\n']).toContain(readFileSync(file, 'utf8'))
  expect(readdirSync(folder)).toEqual(['rows.csv'])
})

test('an engine that could not reach its folder works once it can', async () => {
  await using place = await openWorkplace()
  const dataset = await newDataset(place.engine)
  const temporary = join(place.directory, 'data/tmp')
  renameSync(temporary, `${temporary}-away`)
  writeFileSync(temporary, '')
  const file = join(place.directory, 'rows.csv')
  writeFileSync(file, CSV)
  const memory = place.engine.relation([{ name: 'n', type: 'integer' }], [[1], [2]])
  const count = async () => {
    using query = memory.query({ filter: 'n gt 1' })
    return await query.count()
  }
  await expect(count()).rejects.toThrow()
  rmSync(temporary)
  renameSync(`${temporary}-away`, temporary)
  expect(await count()).toBe(1)
  await dataset.replace({ format: 'csv', body: { file } })
  expect((await dataset.record()).rowCount).toBe(ROWS)
})
