import type { UpstreamAnswer } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { isRecord, type Json, parseJson, record } from '../../read.ts'
import type { Reference } from '../ids.ts'
import { refuseFailure, refuseJsonFailure } from '../refusals.ts'
import { inEnglish, textOf as textIn } from '../text/text.ts'
import { attribute, child, children, localised, parseXml, textOf, type XmlElement } from '../text/xml.ts'

/** Everything that one structure message holds. */
export type Structures = ReturnType<typeof readStructures>
export type Dataflow = Structures['dataflows'][number]
export type CategoryScheme = Structures['categorySchemes'][number]
/** A dimension or an attribute. */
export type Component = ReturnType<typeof component>

/** An item of a codelist, a concept scheme or a category scheme. */
export interface Item {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface Category extends Item {
  readonly categories: readonly Category[]
}

/** A reference to an item (a category, a concept) inside a scheme; `item` is dotted where items nest. */
export interface ItemReference extends Reference {
  readonly item: string
}

const URN = /^urn:sdmx:[\w.]+?\.(\w+)=([^:()]+):([^:()]+)\(([^()]*)\)(?:\.(.+))?$/

/**
 * Reads `urn:sdmx:org.sdmx.infomodel.codelist.Codelist=IMF:CL_FREQ(1.0+.0)`, or one followed by an item. `class` is the
 * last part of the package (`Codelist`); undefined for any other text.
 */
export function parseUrn(text: unknown): (ItemReference & { readonly class: string }) | undefined {
  const match = typeof text === 'string' ? URN.exec(text.trim()) : null
  if (!match) return undefined
  return { class: match[1]!, agency: match[2]!, id: match[3]!, version: match[4]!, item: match[5] ?? '' }
}

/**
 * The structure that a reference means. A reference may leave the version open (`''`, `latest`, `3.0+.0`), and answers
 * contain only one version of each structure. So the exact version is preferred, else any other version with the same
 * agency and id.
 */
export function resolve<T extends Reference>(
  all: readonly T[],
  reference: Reference | undefined,
): T | undefined {
  if (!reference) return undefined
  const same = all.filter(
    ({ id, agency }) =>
      id === reference.id && (agency === reference.agency || agency === '' || reference.agency === ''),
  )
  return same.find((one) => one.version === reference.version) ?? same.at(-1)
}

/**
 * Reads SDMX-ML (2.1 and 3.0) and SDMX-JSON (1.0 and 2.0) structure messages. The format is recognised by the body,
 * because providers' content types aren't reliable. A few lists have several names (`ContentConstraint`,
 * `DataConstraint`); all are looked for. Throws `Failure`: `no-results` if there is no such structure, `unreadable` if
 * the body is neither.
 */
export function readStructures(answer: UpstreamAnswer) {
  refuseFailure(answer)
  const containers = /^\s*[[{]/.test(answer.text) ? inJson(answer) : inXml(answer.text)
  const every = (name: string) => containers.flatMap((container) => children(container, name))
  return {
    dataflows: every('Dataflow').map((flow) => ({
      ...maintained(flow),
      ...item(flow),
      /** The data structure that its keys follow; undefined in stubs. */
      structure: referenceAt(flow, 'Structure'),
    })),
    dataStructures: every('DataStructure').map(dataStructure),
    codelists: every('Codelist').map((list) => ({
      ...maintained(list),
      codes: children(list, 'Code').map(item),
    })),
    conceptSchemes: every('ConceptScheme').map((scheme) => ({
      ...maintained(scheme),
      concepts: children(scheme, 'Concept').map((concept) => ({
        ...item(concept),
        /** For all dimensions that use the concept: the IMF keeps its codelists there. */
        codelist: referenceAt(concept, 'CoreRepresentation', 'Enumeration'),
      })),
    })),
    categorySchemes: every('CategoryScheme').map((scheme) => ({
      ...maintained(scheme),
      ...item(scheme),
      categories: children(scheme, 'Category').map(category),
    })),
    categorisations: every('Categorisation').flatMap((one) => {
      const source = referenceAt(one, 'Source')
      const target = referenceAt(one, 'Target')
      // A categorisation may also be of other things: the BIS categorises its printed tables.
      // The `item` of the target is the dotted path down from the scheme.
      return source?.class === 'Dataflow' && target ? [{ flow: source, category: target }] : []
    }),
    constraints: [...every('ContentConstraint'), ...every('DataConstraint')].map(constraint),
  }
}

function inJson(answer: UpstreamAnswer): readonly XmlElement[] {
  const message = record(parseJson(answer))
  refuseJsonFailure(message)
  const structures = message['data'] ?? message['structures']
  if (structures === undefined) throw notUnderstood('JSON that is no SDMX structure message')
  return [elementOf(structures)]
}

/**
 * SDMX-JSON as the element that SDMX-ML has for it. Its names are the same, but begin with a small letter, and lists
 * have the plural (`dataflows` for `Dataflow`); what is an attribute in one may be an element in the other.
 */
function elementOf(value: Json): XmlElement {
  if (!isRecord(value)) return { '#text': textIn(value) }
  const element: Record<string, unknown> = { '#text': textIn(value['value']) }
  for (const [name, each] of Object.entries(value)) {
    if (Array.isArray(each)) {
      element[capitalised(name.replace(/ies$/, 'y').replace(/s$/, ''))] = each.map(elementOf)
    } else {
      element[`@${name}`] = textIn(each)
      element[capitalised(name)] = elementOf(each)
    }
  }
  for (const name of ['name', 'description'] as const) {
    element[capitalised(name)] = { '#text': inEnglish(value, name) }
  }
  return element
}

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** Versions 2.1 and 3.0 differ in their containers (`Concepts`, `ConceptSchemes`). */
function inXml(text: string): readonly XmlElement[] {
  const { name, root } = parseXml(text)
  if (name !== 'Structure') throw notUnderstood(`<${name}> instead of an SDMX structure message`)
  return children(root, 'Structures').flatMap((one) => Object.values(one).flat() as XmlElement[])
}

/** The target of the reference at the end of a path, written there as `<Ref>` or `<URN>`, or as text. */
function referenceAt(
  element: XmlElement,
  ...path: readonly string[]
): (ItemReference & { readonly class: string }) | undefined {
  const found = child(element, ...path)
  const ref = child(found, 'Ref')
  if (!ref) return parseUrn(textOf(child(found, 'URN') ?? found))
  const parent = attribute(ref, 'maintainableParentID')
  const id = attribute(ref, 'id') ?? ''
  return {
    class: attribute(ref, 'class') ?? '',
    agency: attribute(ref, 'agencyID') ?? '',
    id: parent ?? id,
    version: attribute(ref, parent === undefined ? 'version' : 'maintainableParentVersion') ?? '',
    item: parent === undefined ? '' : id,
  }
}

function maintained(element: XmlElement): Reference {
  return {
    agency: attribute(element, 'agencyID') ?? '',
    id: attribute(element, 'id') ?? '',
    version: attribute(element, 'version') ?? '1.0',
  }
}

function item(element: XmlElement): Item {
  const id = attribute(element, 'id') ?? ''
  return { id, name: localised(element, 'Name') || id, description: localised(element, 'Description') }
}

function category(element: XmlElement): Category {
  return { ...item(element), categories: children(element, 'Category').map(category) }
}

function dataStructure(element: XmlElement) {
  const list = child(element, 'DataStructureComponents', 'DimensionList')
  const attributes = child(element, 'DataStructureComponents', 'AttributeList')
  // A measure dimension, inherited from SDMX 2.0, is a part of the key like the others; the time dimension is not.
  const dimensions = ['Dimension', 'MeasureDimension'].flatMap((name) => children(list, name))
  return {
    ...maintained(element),
    /** In the order of the series key; without the time dimension. */
    dimensions: dimensions
      .map((one) => ({
        position: Number(attribute(one, 'position') ?? Number.NaN),
        component: component(one),
      }))
      .sort((a, b) => a.position - b.position || 0)
      .map(({ component }) => component),
    attributes: children(attributes, 'Attribute').map(component),
  }
}

function component(element: XmlElement) {
  const identity = referenceAt(element, 'ConceptIdentity')
  return {
    id: attribute(element, 'id') ?? identity?.item ?? '',
    concept: identity,
    codelist: referenceAt(element, 'LocalRepresentation', 'Enumeration'),
  }
}

/** The codes that have data, by dimension. */
function constraint(element: XmlElement) {
  const codes = new Map<string, string[]>()
  for (const region of children(element, 'CubeRegion')) {
    if ([attribute(region, 'include'), attribute(region, 'isIncluded')].includes('false')) continue
    for (const key of [...children(region, 'KeyValue'), ...children(region, 'Component')]) {
      const id = attribute(key, 'id') ?? ''
      codes.set(id, [...(codes.get(id) ?? []), ...children(key, 'Value').map(textOf)])
    }
  }
  return { flow: referenceAt(element, 'ConstraintAttachment', 'Dataflow'), codes }
}
