import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveSamples } from '../client/served.ts'
import { Matrix } from './matrix.ts'
import { compare, INTRODUCTION, sectionOf, sectionsIn } from './page.ts'
import { python, TOOLS } from './tools.ts'
import { tryWritten } from './written.ts'

/*
 * Tries the programs that are on this machine against a server and holds what comes of it against the page of the guide;
 * with --write, writes the page. Parts of programs that are not here stay as they are. Ends with 1 where the page is no
 * longer true, or where something differs without a reason in reasons.ts; of another version than the page's it is only
 * told, because a program may change without us.
 */

const PAGE = join(import.meta.dirname, '../../docs/reference/other-programs.md')
const SAID = {
  same: 'as the guide says',
  different: 'DIFFERS from the guide:',
  'another version': 'differs from the guide, which knows another version:',
}
const write = process.argv.includes('--write')
const only = process.argv.slice(2).find((one) => !one.startsWith('--'))

const folder = mkdtempSync(join(tmpdir(), 'parquetry-tools-'))
await using served = await serveSamples()
const matrix = new Matrix({ address: served.url, key: served.key }, folder)
await matrix.prepare()
const sections = sectionsIn(readFileSync(PAGE, 'utf8'))
for (const tool of TOOLS) {
  if (only !== undefined && tool.name !== only) continue
  const version = await tool.version().catch(() => undefined)
  if (version === undefined) {
    console.log(`${tool.name}: NOT RUN, it is not on this machine`)
    continue
  }
  try {
    const section = sectionOf(tool.name, version, await matrix.run(tool))
    if (write) sections.set(tool.name, section)
    const found = compare(section, sections.get(tool.name))
    console.log(`${tool.name} ${version}: ${SAID[found]}${found === 'same' ? '' : `\n${section}`}`)
    if (found === 'different') process.exitCode = 1
  } catch (error) {
    console.log(`${tool.name} ${version}: FAILS, ${(error as Error).message}`)
    if (sections.get(tool.name)?.includes(`Version ${version}:`)) process.exitCode = 1
  }
}
if (only === undefined || only === 'written') {
  const { lines, faults } = await tryWritten(served, python, folder)
  for (const line of lines) console.log(`written by ${line}`)
  for (const fault of faults) console.log(`READ OTHERWISE: ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
if (write) {
  const parts = TOOLS.flatMap(({ name }) => sections.get(name) ?? [])
  writeFileSync(PAGE, [INTRODUCTION, ...parts].join('\n'))
}
rmSync(folder, { recursive: true, force: true })
