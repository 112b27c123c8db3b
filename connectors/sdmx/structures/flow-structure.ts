import { Failure } from '../../failures.ts'
import { optional } from '../../read.ts'
import { isFlow, type Reference } from '../ids.ts'
import { attempt, type Session } from '../session.ts'
import { type Component, type Dataflow, type Item, resolve, type Structures } from './structures.ts'

/** A dataflow with everything known about its dimensions. */
export interface FlowStructure {
  readonly flow: Dataflow
  readonly dimensions: readonly Component[]
  readonly attributes: readonly Component[]
  readonly structures: Structures
}

/**
 * Finds the data structure of a dataflow: in one answer if the provider can send all of it, else through the list of
 * dataflows and the reference in it. Throws `no-results` for an unknown dataflow.
 */
export async function flowStructure(session: Session, reference: Reference): Promise<FlowStructure> {
  const { requests } = session
  const request = requests.dataflow?.(reference)
  const whole = request && (await attempt(session.structures(request)))
  const found = whole && withDataStructure(whole, findFlow(whole, reference))
  if (found) return found
  const flow = findFlow(await session.structures(requests.dataflows()), reference)
  if (!flow) throw new Failure('no-results', { what: `There is no dataflow ${reference.id}.` })
  if (!flow.structure)
    throw new Failure('no-results', { what: `The dataflow ${reference.id} names no data structure.` })
  const structures = await session.structures(requests.dataStructure(flow.structure))
  const complete = withDataStructure(structures, flow)
  if (!complete)
    throw new Failure('unreadable', { what: `The data structure of ${reference.id} is not in the answer.` })
  return complete
}

/**
 * The reference with its agency: the provider's own, or, if the provider has many, the one found by the dataflow's id.
 */
export async function qualified(session: Session, reference: Reference): Promise<Reference> {
  const { agency } = session.service
  if (reference.agency !== '') return reference
  if (agency !== undefined) return { ...reference, agency }
  const flow = findFlow(await session.structures(session.requests.dataflows()), reference)
  if (!flow)
    throw new Failure('no-results', { what: `No agency, or more than one, has a dataflow ${reference.id}.` })
  return { ...reference, agency: flow.agency }
}

/** The name of a dataflow in the list of dataflows, for series whose structure can't be had; else its id. */
export async function flowName(session: Session, reference: Reference): Promise<string> {
  const flows = await optional(session.structures(session.requests.dataflows()))
  return (flows && findFlow(flows, reference)?.name) ?? reference.id
}

/** A sentence for a reference that names a version, if the provider's list has a newer one; null if not. */
export async function newerVersion(
  session: Session,
  { agency, id, version }: Reference,
): Promise<string | null> {
  if (version === '') return null
  const list = await optional(session.structures(session.requests.dataflows()))
  const own = (list?.dataflows ?? []).filter((flow) => flow.id === id && flow.agency === agency)
  const newest = own
    .map((flow) => flow.version)
    .sort(compareVersions)
    .at(-1)
  if (newest === undefined || compareVersions(newest, version) <= 0) return null
  return `This is version ${version} of the dataflow ${id}; the newest is ${newest}.`
}

/** The order of versions such as `1.9` and `1.10`. */
function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true })
}

function findFlow({ dataflows }: Structures, reference: Reference): Dataflow | undefined {
  const found = dataflows.filter((flow) => isFlow(flow, reference))
  // Without an agency the id may mean several dataflows; then the user has to say which.
  return new Set(found.map(({ agency }) => agency)).size === 1 ? found.at(-1) : undefined
}

function withDataStructure(structures: Structures, flow: Dataflow | undefined): FlowStructure | undefined {
  const { dataStructures } = structures
  const own =
    resolve(dataStructures, flow?.structure) ?? (dataStructures.length === 1 ? dataStructures[0] : undefined)
  return flow && own && { flow, dimensions: own.dimensions, attributes: own.attributes, structures }
}

/** The name of a dimension or attribute: that of its concept, else its id. */
export function componentName(component: Component, structures: Structures): string {
  return conceptOf(component, structures)?.name ?? component.id
}

/** The codes that a component may have; undefined if the structures loaded so far do not say. */
export function codesOf(component: Component, structures: Structures): readonly Item[] | undefined {
  return resolve(structures.codelists, codelistOf(component, structures))?.codes
}

/** The same, but requests the concept scheme and the codelist from the provider if they aren't loaded yet. */
export async function fetchCodes(
  session: Session,
  component: Component,
  structures: Structures,
): Promise<readonly Item[] | undefined> {
  const known = codesOf(component, structures)
  if (known) return known
  const { requests } = session
  let codelist = codelistOf(component, structures)
  if (!codelist && component.concept) {
    const schemes = await attempt(session.structures(requests.conceptScheme(component.concept)))
    codelist = schemes && codelistOf(component, schemes)
  }
  const lists = codelist && (await attempt(session.structures(requests.codelist(codelist))))
  return lists && resolve(lists.codelists, codelist)?.codes
}

function codelistOf(component: Component, structures: Structures): Reference | undefined {
  return component.codelist ?? conceptOf(component, structures)?.codelist
}

function conceptOf({ concept }: Component, { conceptSchemes }: Structures) {
  return resolve(conceptSchemes, concept)?.concepts.find(({ id }) => id === concept?.item)
}
