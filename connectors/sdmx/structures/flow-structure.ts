import { SdmxFailure } from '../failures.ts'
import { type FlowReference, isFlow } from '../flow-reference.ts'
import type { Session } from '../provider.ts'
import { attempt, optional } from '../session.ts'
import type { Component, Dataflow, Item, Structures } from './model.ts'
import { type Reference, resolve } from './references.ts'

/** A dataflow with all that is known of its dimensions. */
export interface FlowStructure {
  readonly flow: Dataflow
  readonly dimensions: readonly Component[]
  readonly attributes: readonly Component[]
  readonly structures: Structures
}

/**
 * Finds the data structure of a dataflow: in one answer where the provider can send all of it, else through the list
 * of dataflows and the reference in it. Throws `no-results` for an unknown dataflow.
 */
export async function flowStructure(session: Session, reference: FlowReference): Promise<FlowStructure> {
  const { requests } = session.provider
  const request = requests.dataflow?.(reference)
  const whole = request && (await attempt(session.structures(request)))
  const found = whole && withDataStructure(whole, findFlow(whole, reference))
  if (found) return found
  const flow = findFlow(await session.structures(requests.dataflows()), reference)
  if (!flow) throw new SdmxFailure('no-results', `There is no dataflow ${reference.id}.`)
  if (!flow.structure)
    throw new SdmxFailure('no-results', `The dataflow ${reference.id} names no data structure.`)
  const structures = await session.structures(requests.dataStructure(flow.structure))
  const complete = withDataStructure(structures, flow)
  if (!complete)
    throw new SdmxFailure('unreadable', `The data structure of ${reference.id} is not in the answer.`)
  return complete
}

/** The reference with its agency: the provider's own, or looked up by the id of the dataflow where it has many. */
export async function qualified(session: Session, reference: FlowReference): Promise<FlowReference> {
  const { agency, requests } = session.provider
  if (reference.agency !== '') return reference
  if (agency !== undefined) return { ...reference, agency }
  const flow = findFlow(await session.structures(requests.dataflows()), reference)
  if (!flow)
    throw new SdmxFailure('no-results', `No agency, or more than one, has a dataflow ${reference.id}.`)
  return { ...reference, agency: flow.agency }
}

/** What the list of dataflows calls one, for series of which no structure is to be had; else its id. */
export async function flowName(session: Session, reference: FlowReference): Promise<string> {
  const flows = await optional(session.structures(session.provider.requests.dataflows()))
  return (flows && findFlow(flows, reference)?.name) ?? reference.id
}

function findFlow({ dataflows }: Structures, reference: FlowReference): Dataflow | undefined {
  const found = dataflows.filter((flow) => isFlow(flow, reference))
  // Without an agency the id may name several; the user has to say which.
  return new Set(found.map(({ agency }) => agency)).size === 1 ? found.at(-1) : undefined
}

function withDataStructure(structures: Structures, flow: Dataflow | undefined): FlowStructure | undefined {
  const { dataStructures } = structures
  const own =
    resolve(dataStructures, flow?.structure) ?? (dataStructures.length === 1 ? dataStructures[0] : undefined)
  return flow && own && { flow, dimensions: own.dimensions, attributes: own.attributes, structures }
}

/** What a dimension or attribute is called: the name of its concept, else its id. */
export function componentName(component: Component, structures: Structures): string {
  return conceptOf(component, structures)?.name ?? component.id
}

/** The codes that a component takes; undefined where the structures at hand do not tell. */
export function codesOf(component: Component, structures: Structures): readonly Item[] | undefined {
  return resolve(structures.codelists, codelistOf(component, structures))?.codes
}

/** As above, asking the provider for the concept scheme and the codelist that are not at hand. */
export async function fetchCodes(
  session: Session,
  component: Component,
  structures: Structures,
): Promise<readonly Item[] | undefined> {
  const known = codesOf(component, structures)
  if (known) return known
  const { requests } = session.provider
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
