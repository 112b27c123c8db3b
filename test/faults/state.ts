import type { Engine } from '../../engine/index.ts'
import type { Block, State } from './operations.ts'

/** What an engine shows, read row by row. @throws where rows are out of order, doubled or missing in a block */
export async function stateOf(engine: Engine): Promise<State> {
  const state: Record<number, { name: string; blocks: Block[] }> = {}
  for (const { id, name, rowCount } of await engine.datasets()) {
    const blocks: { step: number; rows: number }[] = []
    using query = await (await engine.dataset(id)).query()
    for await (const row of query.rows()) {
      let last = blocks.at(-1)
      if (last?.step !== Number(row['op'])) blocks.push((last = { step: Number(row['op']), rows: 0 }))
      if (Number(row['n']) !== last.rows) {
        throw new Error(
          `Dataset ${id}: row ${row['n']} of step ${last.step} lies where row ${last.rows} belongs.`,
        )
      }
      last.rows += 1
    }
    const rows = blocks.reduce((sum, block) => sum + block.rows, 0)
    if (rows !== rowCount)
      throw new Error(`Dataset ${id} says that it has ${rowCount} rows and shows ${rows}.`)
    state[id] = { name, blocks }
  }
  return state
}
