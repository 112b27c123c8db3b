import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Handle } from '../../engine/catalog/database.ts'
import type { Dataset, PastVersion } from '../../engine/index.ts'
import { IS_CLUSTER } from '../cluster/elsewhere.ts'
import { bytesOf, newDataset, openWorkplace, textOf } from '../engine/workplace.ts'

const csv = (text: string, more = {}) => ({ body: bytesOf(text), format: 'csv' as const, ...more })

async function read(dataset: Dataset, past?: PastVersion): Promise<string> {
  using snapshot = await dataset.snapshot(past)
  using query = snapshot.query()
  return textOf(await query.bytes('csv'))
}

/** The bytes of the distinct parts of the versions that are kept once another one is there, and of a restored one. */
async function bytesKept(t: Handle, datasetId: number, restored: number): Promise<number> {
  const [dataset] = await t.all<{ current: number; keep: number | null }>(
    'SELECT version_id AS current, keep_versions AS keep FROM datasets WHERE id = ?',
    datasetId,
  )
  const versions = await t.all<{ id: number; number: number; replaced: number | null }>(
    'SELECT id, number, replaced_at AS replaced FROM versions WHERE dataset_id = ? ORDER BY id',
    datasetId,
  )
  const newest = versions.find(({ id }) => id === dataset!.current)!.number + 1
  const parts = new Map<number, number>()
  for (const { id, number, replaced } of versions) {
    const isKept = id === dataset!.current || (replaced! > 0 && newest - number < (dataset!.keep ?? 3))
    if (!isKept && !(number === restored && replaced! > 0)) continue
    const own = await t.all<{ id: number; bytes: number }>(
      'SELECT p.id, p.bytes FROM version_parts vp JOIN parts p ON p.id = vp.part_id WHERE vp.version_id = ?',
      id,
    )
    for (const part of own) parts.set(part.id, part.bytes)
  }
  return [...parts.values()].reduce((sum, bytes) => sum + bytes, 0)
}

describe('the versions of a dataset', () => {
  it('are listed newest first, with what made them', async () => {
    await using place = await openWorkplace()
    const dataset = await newDataset(place.engine)
    await dataset.replace(csv('a\n1\n2\n', { by: 'ada', note: 'first' }))
    await dataset.append(csv('a\n3\n'))
    await dataset.replace(csv('a\n4\n', { isRefresh: true }))
    await dataset.declareColumns([{ name: 'a', type: 'integer', description: 'A number' }], { by: 'bob' })
    const versions = await dataset.versions()
    expect(versions).toMatchObject([
      { number: 4, operation: 'columns', by: 'bob', rowCount: 1, addedRows: 0, removedRows: 0 },
      { number: 3, operation: 'refresh', by: null, rowCount: 1, addedRows: 1, removedRows: 3 },
      { number: 2, operation: 'append', note: null, rowCount: 3, addedRows: 1, removedRows: 0 },
      {
        number: 1,
        operation: 'replace',
        by: 'ada',
        note: 'first',
        rowCount: 2,
        addedRows: 2,
        removedRows: 0,
      },
      { number: 0, operation: 'create', rowCount: 0 },
    ])
    expect(await dataset.versions({ limit: 1, offset: 3 })).toEqual([versions[3]])
    expect(versions[2]!.bytes).toBe(
      versions[1]!.bytes + versions[2]!.ownBytes + versions[3]!.bytes - versions[1]!.bytes,
    )
  })

  it('say how many bytes each holds alone', async () => {
    await using place = await openWorkplace()
    const dataset = await newDataset(place.engine)
    await dataset.replace(csv('a\n1\n'))
    await dataset.append(csv('a\n2\n'))
    await dataset.replace(csv('a\n3\n'))
    await dataset.restore({ version: 1 })
    const own = (await dataset.versions()).map(({ number, bytes, ownBytes }) => [
      number,
      bytes > 0,
      ownBytes > 0,
    ])
    // The part of version 1 is in 2 and 4, too.
    expect(own).toEqual([
      [4, true, false],
      [3, true, true],
      [2, true, true],
      [1, true, false],
      [0, false, false],
    ])
  })

  it('together hold the bytes of their parts, each counted once, when a change is asked for', async () => {
    const steps = fc.array(fc.constantFrom('append', 'append', 'replace', 'restore', 'keep 2', 'keep 4'), {
      minLength: 8,
      maxLength: 14,
    })
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        await using place = await openWorkplace({ keep: { versions: 3 } })
        const dataset = await newDataset(place.engine)
        // Versions that are no longer kept stay while somebody reads them, as do those that merges leave behind.
        using held = new DisposableStack()
        for (const [at, step] of [...script, 'restore'].entries()) {
          const [{ number: newest } = { number: 0 }, oldest] = (await dataset.versions()).slice(0, 2)
          held.use(await dataset.snapshot())
          if (step === 'append' || step === 'replace') await dataset[step](csv(`a\n${at}\n`))
          else if (step !== 'restore') {
            const versions = Number(step.slice(-1))
            await place.engine.updateDataset(dataset.id, { keep: { versions } })
          } else if (oldest) {
            const accept = async ({ bytes }: { bytes: number }, t: Handle) => {
              expect(bytes).toBe(await bytesKept(t, dataset.id, oldest.number))
            }
            await dataset.restore({ version: oldest.number }, { accept })
            expect((await dataset.versions())[0]).toMatchObject({ number: newest + 1 })
          }
          await place.engine.settled()
        }
      }),
      { numRuns: 8 },
    )
  })

  it('can be read by number and by the moment, until they are no longer kept', async () => {
    await using place = await openWorkplace({ keep: { versions: 2 } })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2030-01-01T12:00:00Z') })
    const dataset = await newDataset(place.engine)
    try {
      for (const day of ['2030-01-02', '2030-01-03', '2030-01-04']) {
        vi.setSystemTime(Date.parse(`${day}T12:00:00Z`))
        await dataset.replace(csv(`day\n${day}\n`))
      }
      await place.engine.settled()
    } finally {
      vi.useRealTimers()
    }
    expect(await read(dataset)).toBe('day\n2030-01-04\n')
    expect(await read(dataset, { version: 2 })).toBe('day\n2030-01-03\n')
    expect(await read(dataset, { asOf: '2030-01-03' })).toBe('day\n2030-01-03\n')
    expect(await read(dataset, { asOf: '2030-01-04T11:59:59Z' })).toBe('day\n2030-01-03\n')
    expect(await read(dataset, { asOf: '2030-01-04T13:00:00+01:00' })).toBe('day\n2030-01-04\n')
    if (!IS_CLUSTER) {
      await expect(read(dataset, { version: 1 })).rejects.toMatchObject({
        code: 'version_gone',
        message: `Version 1 of dataset ${dataset.id} is no longer kept. Kept versions: 3 to 2.`,
      })
      await expect(read(dataset, { asOf: '2030-01-02' })).rejects.toMatchObject({ code: 'version_gone' })
      expect(readdirSync(join(place.directory, 'data/parts'))).toHaveLength(2)
    }
    for (const past of [{ version: 4 }, { version: -1 }, { version: 1.5 }, { asOf: '2029-12-31' }]) {
      await expect(read(dataset, past)).rejects.toMatchObject({ code: 'not_found' })
    }
    for (const asOf of [
      'yesterday',
      '2030-02-31',
      '2030-02-31T12:00Z',
      '2030-01-03T25:00',
      '2030-01-03+01:00',
    ]) {
      await expect(read(dataset, { asOf }), asOf).rejects.toMatchObject({ code: 'invalid_option' })
    }
  })

  it('are kept by whole numbers, at least one of them and for at most 36,525 days', async () => {
    await using place = await openWorkplace()
    const { id } = await newDataset(place.engine)
    for (const keep of [
      { versions: 1, days: 0 },
      { versions: 1_000, days: 36_525 },
    ])
      expect((await place.engine.updateDataset(id, { keep })).keep).toEqual(keep)
    for (const keep of [
      { versions: 0 },
      { versions: 1.5 },
      { versions: Number.NaN },
      { days: -1 },
      { days: 0.5 },
      { days: 36_526 },
    ])
      await expect(place.engine.updateDataset(id, { keep }), JSON.stringify(keep)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^keep says how many versions are kept, at least 1, and .* 36525/),
      })
    expect((await (await place.engine.dataset(id)).record()).keep).toEqual({ versions: 1_000, days: 36_525 })
  })

  it('keep their rows and what made them when their parts are merged', async () => {
    await using place = await openWorkplace({ role: 'server' })
    const dataset = await newDataset(place.engine)
    for (let n = 0; n < 12; n++) await dataset.append(csv(`n\n${n}\n`, { note: `append ${n}` }))
    await place.engine.settled()
    const versions = await dataset.versions()
    expect(versions.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
    expect(versions.map(({ note }) => note)).toEqual(versions.map(({ number }) => `append ${number - 1}`))
    for (const { number, rowCount } of versions) {
      expect(rowCount).toBe(number)
      expect(await read(dataset, { version: number })).toBe(
        `n\n${Array.from({ length: number }, (_, n) => `${n}\n`).join('')}`,
      )
    }
  })
})

describe('a restored version', () => {
  it('is a new version of the same parts, with the columns of then', async () => {
    await using place = await openWorkplace()
    const dataset = await newDataset(place.engine)
    await dataset.replace(csv('a,b\n1,x\n'))
    await dataset.replace(csv('c\n2024-01-01\n', { replaceColumns: true }))
    const record = await dataset.restore({ version: 1 }, { by: 'ada', note: 'undo' })
    expect(record).toMatchObject({ version: 3, rowCount: 1 })
    expect(record.columns.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await read(dataset)).toBe('a,b\n1,x\n')
    expect(await read(dataset, { version: 2 })).toBe('c\n2024-01-01\n')
    expect((await dataset.versions())[0]).toMatchObject({
      operation: 'restore',
      by: 'ada',
      note: 'undo',
      addedRows: 1,
      removedRows: 1,
    })
    if (!IS_CLUSTER) expect(readdirSync(join(place.directory, 'data/parts'))).toHaveLength(2)
  })

  it('counts the rows that the versions after it wrote and took away, not those of their files', async () => {
    await using place = await openWorkplace()
    const dataset = await newDataset(place.engine)
    await dataset.replace(csv('a\n1\n2\n3\n'))
    await dataset.append(csv('a\n6\n7\n'))
    await dataset.editRows({ filter: 'a eq 2' }, { a: 5 })
    const counts = async (version: number) => {
      await dataset.restore({ version })
      const [newest] = await dataset.versions()
      return [newest!.addedRows, newest!.removedRows]
    }
    expect(await counts(2)).toEqual([1, 1])
    expect(await counts(3)).toEqual([1, 1])
    expect(await read(dataset)).toBe('a\n1\n5\n3\n6\n7\n')
    await dataset.append(csv('a\n8\n'))
    expect(await counts(5)).toEqual([0, 1])
  })

  it('is refused as a whole where it may not be made', async () => {
    await using place = await openWorkplace()
    const dataset = await newDataset(place.engine)
    await dataset.replace(csv('a\n1\n'))
    await dataset.replace(csv('a\n2\n'))
    const accept = () => {
      throw new Error('no')
    }
    await expect(dataset.restore({ version: 1 }, { accept })).rejects.toThrow('no')
    expect((await dataset.record()).version).toBe(2)
    await expect(dataset.restore({ version: 7 })).rejects.toMatchObject({ code: 'not_found' })
  })
})
