import { readStructures } from '../../../connectors/sdmx/structures/structures.ts'
import { PUBLISHED_LISTS } from './lists.ts'
import { unknownCodes } from './unknown.ts'

/*
 * Reads each provider's code list as it is published now, and names the codes that connectors/sdmx/meanings.ts does not
 * know. Run by hand, because it needs the network. Ends with 1 if there is such a code; a list that can't be read is
 * named, too.
 */

const MILLISECONDS = 30_000

for (const { source, ...list } of PUBLISHED_LISTS) {
  const title = `${list.provider} ${list.list}`
  try {
    const response = await fetch(source, { signal: AbortSignal.timeout(MILLISECONDS) })
    const { codelists } = readStructures({
      status: response.status,
      headers: {},
      text: await response.text(),
    })
    const codes = codelists.find(({ id }) => list.list.endsWith(`:${id}`))?.codes
    if (codes === undefined) throw new Error('The answer does not contain the list.')
    const unknown = unknownCodes(list, Object.fromEntries(codes.map(({ id, name }) => [id, name])))
    console.log(`${title}: ${codes.length} codes, ${unknown.length} of them unknown`)
    for (const { code, name, read } of unknown)
      console.log(`  ${code}: ${name}; read as ${read ?? 'nothing'}`)
    if (unknown.length > 0) process.exitCode = 1
  } catch (error) {
    console.log(`${title}: NOT READ, ${error instanceof Error ? error.message : error} (${source})`)
  }
}
