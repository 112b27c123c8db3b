import type { Case } from '../case.ts'
import type { PeersReport } from './index.ts'

/** The processor time of each question to our server, beside that of the peer which needs least. */
export function asCases({ figures }: PeersReport): Case[] {
  return figures.flatMap(({ question, measure, values }) => {
    const { Parquetry: ours, 'the other one': _, ...peers } = values
    const [best] = Object.entries(peers).sort(([, a], [, b]) => a - b)
    if (measure !== 'CPU ms' || ours === undefined || !best) return []
    const [rival, rivalValue] = best
    return [{ name: question, value: ours, unit: 'ms', rival, rivalValue }]
  })
}
