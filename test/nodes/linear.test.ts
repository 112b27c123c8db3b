import { describe, expect, it } from 'vitest'
import type { Write } from '../simulation/history.ts'
import { notLinear } from './linear.ts'

const write = (
  kind: Write['kind'],
  op: number,
  begun: number,
  ended: number,
  acknowledged = true,
): Write => ({
  ...{ kind, op, begun, ended, acknowledged },
  rows: 1,
})
const read = (sent: number, came: number, ...ops: number[]) => ({
  ...{ sent, came },
  shown: ops.map((op) => [op, 1] as const),
})

describe('a history of reads and writes', () => {
  const both = [write('append', 1, 0, 100), write('append', 2, 0, 100)]
  const lost = write('append', 3, 0, Number.POSITIVE_INFINITY, false)
  const replaces = [write('replace', 4, 0, 100), write('replace', 5, 0, 100)]

  it('is linear if one order explains all reads', () => {
    expect(notLinear(both, [read(1, 2), read(3, 4, 2), read(5, 6, 2, 1)])).toBeUndefined()
    expect(notLinear([...both, lost], [read(101, 102, 1, 2)])).toBeUndefined()
    expect(notLinear([...both, lost], [read(101, 102, 1, 3, 2)])).toBeUndefined()
    expect(
      notLinear([...both, ...replaces], [read(1, 2, 4, 1), read(3, 4, 5), read(5, 6, 5, 2)]),
    ).toBeUndefined()
  })

  it('is not where an acknowledged write is missing, twice, or before what had ended', () => {
    expect(notLinear(both, [read(101, 102, 1)])).toMatch(/acknowledged/)
    expect(notLinear(both, [read(101, 102, 1, 2, 1)])).toMatch(/twice/)
    expect(notLinear([both[0]!, write('append', 2, 101, 102)], [read(103, 104, 2, 1)])).toMatch(/had ended/)
  })

  it('is not where two reads show two orders', () => {
    expect(notLinear(both, [read(1, 4, 1, 2), read(2, 5, 2, 1)])).toMatch(/before the other/)
    expect(notLinear(replaces, [read(1, 2, 4), read(3, 4, 5), read(5, 6, 4)])).toMatch(/after the other/)
  })

  it('is not where a later read shows less', () => {
    expect(notLinear(both, [read(1, 2, 1), read(3, 4)])).toMatch(/acknowledged/)
    expect(notLinear([...both, lost], [read(101, 102, 1, 2, 3), read(103, 104, 1, 2)])).toMatch(
      /acknowledged/,
    )
  })
})
