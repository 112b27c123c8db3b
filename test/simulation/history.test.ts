import { describe, expect, test } from 'vitest'
import { type Blocks, contradiction, type Write } from './history.ts'

/** Op `op` from `begun` to `ended`; it writes as many rows as its number. */
function write(
  kind: Write['kind'],
  op: number,
  begun: number,
  ended: number,
  acknowledged = true,
  rows = op,
): Write {
  return { kind, op, rows, begun, ended, acknowledged }
}
const at = (moment: number): [number, number] => [moment, moment]
const END = at(Infinity)

describe('the model of what may be visible', () => {
  const before = [[90, 1]] as const
  const append = write('append', 1, 0, 10)
  const later = write('append', 2, 20, 30)
  const replace = write('replace', 3, 40, 50)

  test('takes writes in the order of their times', () => {
    expect(
      contradiction(
        before,
        [append, later],
        [
          [90, 1],
          [1, 1],
          [2, 2],
        ],
        END,
      ),
    ).toBeUndefined()
    expect(
      contradiction(
        before,
        [append, later],
        [
          [90, 1],
          [2, 2],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/behind/)
  })

  test('takes writes of the same time in any order', () => {
    const same = write('append', 2, 5, 30)
    expect(
      contradiction(
        before,
        [append, same],
        [
          [90, 1],
          [2, 2],
          [1, 1],
        ],
        END,
      ),
    ).toBeUndefined()
  })

  test('misses an acknowledged write, unless it was replaced', () => {
    expect(contradiction(before, [append], [[90, 1]], END)).toMatch(/acknowledged/)
    expect(contradiction(before, [append, replace], [[3, 3]], END)).toBeUndefined()
    expect(contradiction(before, [replace, write('append', 4, 60, 70)], [[3, 3]], END)).toMatch(
      /acknowledged/,
    )
    expect(
      contradiction(
        before,
        [append, replace],
        [
          [90, 1],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/acknowledged/)
  })

  test('lets a write of which nobody was told be there whole or not at all', () => {
    const lost = write('append', 1, 0, Infinity, false)
    expect(contradiction(before, [lost], [[90, 1]], END)).toBeUndefined()
    expect(
      contradiction(
        before,
        [lost],
        [
          [90, 1],
          [1, 1],
        ],
        END,
      ),
    ).toBeUndefined()
    expect(
      contradiction(
        before,
        [{ ...lost, rows: 7 }],
        [
          [90, 1],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/7 rows and 1/)
  })

  test('finds rows that were never written, written twice, or gone without a replace', () => {
    expect(
      contradiction(
        before,
        [],
        [
          [90, 1],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/wrote nothing/)
    expect(
      contradiction(
        before,
        [append],
        [
          [90, 1],
          [1, 1],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/twice/)
    expect(contradiction(before, [], [], END)).toMatch(/gone/)
    expect(
      contradiction(
        before,
        [append, replace],
        [
          [1, 1],
          [3, 3],
        ],
        END,
      ),
    ).toMatch(/gone/)
  })

  test('lets a replace without rows empty a dataset', () => {
    const empty = write('replace', 3, 40, 50, true, 0)
    expect(contradiction(before, [append, empty], [], END)).toBeUndefined()
    expect(contradiction(before, [append, empty], [[1, 1]], END)).toMatch(/behind/)
    expect(contradiction(before, [empty, write('append', 4, 60, 70)], [[4, 4]], END)).toBeUndefined()
  })

  test('asks of a reader only what its moment allows', () => {
    expect(contradiction(before, [append], [[90, 1]], at(5))).toBeUndefined()
    expect(
      contradiction(
        before,
        [append],
        [
          [90, 1],
          [1, 1],
        ],
        at(5),
      ),
    ).toBeUndefined()
    expect(contradiction(before, [append], [[90, 1]], at(11))).toMatch(/acknowledged/)
    expect(
      contradiction(
        before,
        [later],
        [
          [90, 1],
          [2, 2],
        ],
        at(19),
      ),
    ).toMatch(/wrote nothing/)
  })

  test('lets a remove take a block away, and shows none that was removed', () => {
    const remove = { ...write('remove', 5, 40, 50), of: 1 }
    expect(contradiction(before, [append, remove], [[90, 1]], END)).toBeUndefined()
    const shown = [...before, [1, 1] as const]
    expect(contradiction(before, [append, remove], shown, END)).toMatch(
      /removed the rows of op 1, which are shown/,
    )
    expect(contradiction(before, [append, remove], shown, at(45))).toBeUndefined()
    expect(contradiction(before, [{ ...remove, of: 90 }], [], END)).toBeUndefined()
    expect(contradiction(before, [{ ...remove, of: 90 }], before, END)).toMatch(/removed the rows of op 90/)
  })

  test('lets an upsert take the place of a block, whole and once', () => {
    const upsert = { ...write('upsert', 5, 40, 50, true, 1), of: 1 }
    const [old, fresh] = [[1, 1] as const, [5, 1, 1] as const]
    const show = (...shown: Blocks) => contradiction(before, [append, upsert], [...before, ...shown], END)
    expect(show(fresh)).toBeUndefined()
    expect(show(old, fresh)).toMatch(/op 5 is shown behind op 1, whose place it takes/)
    expect(show(fresh, old)).toMatch(/behind it/)
    expect(show(old)).toMatch(/op 5 removed the rows of op 1/)
    expect(show()).toMatch(/op 1 was acknowledged and isn't shown/)
    // Half of an upsert that nobody was told of.
    const lost = { ...upsert, ended: Infinity, acknowledged: false }
    expect(contradiction(before, [append, lost], before, END)).toMatch(/op 1 was acknowledged/)
    expect(contradiction([[1, 1]], [lost], [], END)).toMatch(/gone/)
    expect(contradiction([[1, 1]], [lost], [fresh], END)).toBeUndefined()
    // What one writer appends while another one looks for its keys stays.
    const same = { ...append, ended: 60 }
    expect(contradiction([], [same, upsert], [fresh, old], END)).toBeUndefined()
    const later = { ...write('upsert', 6, 60, 70, true, 1), of: 1 }
    expect(contradiction([old], [upsert, later], [[6, 1, 1]], END)).toBeUndefined()
    expect(contradiction([old], [upsert, later], [fresh], END)).toMatch(/op 6 removed the rows of op 1/)
  })

  test('shows what is committed of a stream in its order and without a gap', () => {
    const commit = (op: number, begun: number, after?: number): Write => {
      return { ...write('append', op, begun, Infinity, false), ...(after && { after }) }
    }
    const stream = [commit(1, 30), commit(2, 35, 1), commit(4, 60, 2)]
    const show = (ops: readonly number[], ...others: Write[]) =>
      contradiction(
        others.length > 0 ? before : [],
        [...stream, ...others],
        ops.map((op) => [op, op]),
        END,
      )
    for (const ops of [[], [1], [1, 2], [1, 2, 4]]) expect(show(ops)).toBeUndefined()
    expect(show([2])).toMatch(/op 2 is shown without op 1 before it/)
    expect(show([1, 4])).toMatch(/op 4 is shown without op 2 before it/)
    expect(show([2, 1])).toMatch(/op 2 is shown without op 1 before it/)
    // Replaced in the middle, or before the stream began.
    expect(show([3, 4], replace)).toBeUndefined()
    expect(show([3, 1, 4], replace)).toMatch(/op 4 is shown without op 2/)
    expect(show([5, 2], write('replace', 5, 10, 20))).toMatch(/op 2 is shown without op 1/)
    expect(
      contradiction(
        [],
        [...stream, { ...write('upsert', 6, 40, 50, true, 1), of: 1 }],
        [
          [2, 2],
          [6, 1, 1],
        ],
        END,
      ),
    ).toBeUndefined()
  })

  test('lets a restore show what a version held, behind nothing that came before it', () => {
    const restore = { ...write('restore', 6, 60, 70), blocks: [[4, 4] as const] }
    expect(contradiction(before, [append, restore], [[4, 4]], END)).toBeUndefined()
    expect(contradiction(before, [append, restore], [...before, [1, 1]], END)).toMatch(/acknowledged/)
    expect(
      contradiction(
        before,
        [append, restore],
        [
          [4, 4],
          [1, 1],
        ],
        END,
      ),
    ).toMatch(/behind/)
    const remove = { ...write('remove', 7, 40, 50), of: 4 }
    expect(contradiction(before, [remove, restore], [[4, 4]], END)).toBeUndefined()
    expect(contradiction(before, [restore, { ...remove, begun: 80, ended: 90 }], [[4, 4]], END)).toMatch(
      /removed/,
    )
  })
})
