import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EngineError } from '../../engine/index.ts'
import { errorAnswer } from '../../server/http/errors.ts'
import { bytesOf, newDataset, openWorkplace } from './workplace.ts'

async function refusal(call: Promise<unknown>): Promise<EngineError> {
  const error = await call.catch((one) => one)
  if (!(error instanceof EngineError)) throw error
  return error
}

const csv = (text: string) => ({ format: 'csv', body: bytesOf(text) }) as const

test('messages name what describes a file as it stands in options', async () => {
  await using place = await openWorkplace()
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
  await using place = await openWorkplace()
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
