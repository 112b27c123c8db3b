import { type Category, category } from '../../connector.ts'
import { flowPath } from '../ids.ts'
import { attempt, type Branch, type Session } from '../session.ts'
import {
  type CategoryScheme,
  type Dataflow,
  type Item,
  type Category as Node,
  resolve,
  type Structures,
} from '../structures/structures.ts'

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
  return category(flowPath({ ...flow, version: '' }, service.agency), flow.name, flow.description)
}

function folder(path: string, { name, description }: Item): Category {
  return category(path, name, description, false)
}

function schemeText({ agency, id }: CategoryScheme): string {
  return `${agency},${id}`
}
