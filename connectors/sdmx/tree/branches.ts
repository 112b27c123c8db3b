import { type Category, category, type UpstreamAnswer, type UpstreamRequest } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { flowText } from '../ids.ts'
import { refuseFailure } from '../refusals.ts'
import { attempt, type Branch, type Session } from '../session.ts'
import {
  type CategoryScheme,
  type Dataflow,
  type Item,
  type Category as Node,
  resolve,
  type Structures,
} from '../structures/structures.ts'
import { parseCsv } from '../text/text.ts'

/** All dataflows at the root. */
export const allFlows: Branch = async (path, session) => {
  return path === '' ? (await dataflows(session)).map((flow) => flowCategory(flow, session)) : undefined
}

/** Dataflows grouped by the agency that maintains them: `agency/IMF.STA`. */
export const byAgency: Branch = async (path, session) => {
  const flows = await dataflows(session)
  if (path === '') {
    const agencies = Map.groupBy(flows, ({ agency }) => agency)
    return [...agencies.keys()].sort().map((agency) => {
      const count = agencies.get(agency)!.length
      return category(`agency/${agency}`, agency, count === 1 ? '1 dataflow' : `${count} dataflows`, false)
    })
  }
  const agency = path.startsWith('agency/') ? path.slice('agency/'.length) : undefined
  const own = flows.filter((flow) => flow.agency === agency)
  return own.length > 0 ? own.map((flow) => flowCategory(flow, session)) : undefined
}

/**
 * Category schemes (`category/BIS,BIS_DP`), their categories at all depths (`category/BIS,BIS_DP/CPMI.CPMI_CT`) and the
 * dataflows that categorisations put there. Next to the schemes there is a list of all dataflows, since not all of them
 * are categorised.
 */
export const byCategory: Branch = async (path, session) => {
  if (path === 'flows') return (await dataflows(session)).map((flow) => flowCategory(flow, session))
  const { categories } = session.requests
  const structures = categories && (await attempt(session.structures(categories())))
  const schemes = structures?.categorySchemes ?? []
  if (path === '') {
    const flows = category('flows', 'All dataflows', '', false)
    return [...schemes.map((scheme) => folder(`category/${schemeText(scheme)}`, scheme)), flows]
  }
  const [kind, text, item, ...rest] = path.split('/')
  const scheme = schemes.find((one) => kind === 'category' && schemeText(one) === text)
  if (!structures || !scheme || rest.length > 0) return undefined
  const steps = item === undefined ? [] : item.split('.')
  const node = steps.reduce<Pick<Node, 'categories'> | undefined>(
    (at, step) => at?.categories.find(({ id }) => id === step),
    scheme,
  )
  if (!node) return undefined
  const below = node.categories.map((one) => folder(`category/${text}/${[...steps, one.id].join('.')}`, one))
  return [...below, ...(await flowsAt(session, structures, scheme, steps.join('.')))]
}

async function flowsAt(
  session: Session,
  { categorisations }: Structures,
  scheme: CategoryScheme,
  item: string,
): Promise<readonly Category[]> {
  const here = categorisations.filter((one) => one.category.item === item && one.category.id === scheme.id)
  if (here.length === 0) return []
  const flows = await dataflows(session)
  return here.flatMap((one) => {
    const flow = resolve(flows, one.flow)
    return flow ? [flowCategory(flow, session)] : []
  })
}

async function dataflows(session: Session): Promise<readonly Dataflow[]> {
  const { dataflows } = await session.structures(session.requests.dataflows())
  // If a list has several versions of a dataflow, paths mean the latest.
  return [...new Map(dataflows.map((flow) => [`${flow.agency},${flow.id}`, flow])).values()]
}

/** The path leaves out the version, so that it stays valid for later versions. */
function flowCategory(flow: Dataflow, { service }: Session): Category {
  const text = flowText({ ...flow, version: '' }, service.agency)
  return category(`flow/${text}`, flow.name, flow.description)
}

function folder(path: string, { name, description }: Item): Category {
  return category(path, name, description, false)
}

function schemeText({ agency, id }: CategoryScheme): string {
  return `${agency},${id}`
}

type Entry = ReturnType<typeof readContents>[number]

/**
 * Eurostat's own table of contents: folders as `toc/{code}`, with the datasets in them. If it can't be had, all
 * dataflows.
 */
export function tableOfContents(request: UpstreamRequest): Branch {
  return async (path, session) => {
    const entries = await attempt(session.cached(request, readContents))
    if (!entries) return allFlows(path, session)
    if (path === '') return childrenOf(entries, -1)
    const code = path.startsWith('toc/') ? path.slice('toc/'.length) : undefined
    const folder = entries.findIndex((entry) => entry.isFolder && entry.code === code)
    return folder < 0 ? undefined : childrenOf(entries, folder)
  }
}

/** Reads the tab-separated text, in which a title is indented by four blanks for each level above it. */
function readContents(answer: UpstreamAnswer) {
  refuseFailure(answer)
  const { columns, rows } = parseCsv(answer.text)
  const at = (name: string) => columns.findIndex((column) => column.toLowerCase() === name)
  const [title, code, type] = [at('title'), at('code'), at('type')]
  if (title < 0 || code < 0 || type < 0) throw notUnderstood('no table of contents')
  const [updated, start, end] = [at('last update of data'), at('data start'), at('data end')]
  return rows.map((row) => {
    const cell = (index: number) => row[index]?.trim() ?? ''
    const period = cell(start) === '' ? '' : `${cell(start)} to ${cell(end)}`
    const update = cell(updated) === '' ? '' : `updated ${cell(updated)}`
    const indentation = row[title]!.length - row[title]!.trimStart().length
    return {
      depth: Math.floor(indentation / 4),
      title: cell(title),
      code: cell(code),
      isFolder: cell(type).toLowerCase() === 'folder',
      description: [period, update].filter((part) => part !== '').join(', '),
    }
  })
}

/** The entries one level below the one at index `parent`; the entries of the top level for -1. */
function childrenOf(entries: readonly Entry[], parent: number): readonly Category[] {
  const depth = parent < 0 ? -1 : entries[parent]!.depth
  const found: Category[] = []
  for (const entry of entries.slice(parent + 1)) {
    if (entry.depth <= depth) break
    if (entry.depth > depth + 1) continue
    const { title: name, description, isFolder, code } = entry
    // The table of contents writes some codes in lower case, but dataflows always have upper case.
    const path = isFolder ? `toc/${code}` : `flow/${code.toUpperCase()}`
    found.push({ path, name, description, series: !isFolder })
  }
  return found
}
