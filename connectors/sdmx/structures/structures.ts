import type { UpstreamAnswer } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { refuseFailure, refuseJsonFailure } from '../refusals.ts'
import { type JsonRecord, parseJson, record } from '../text/text.ts'
import { children, parseXml, type XmlElement } from '../text/xml.ts'
import type { Category, Component, Constraint, DataStructure, Item, Structures } from './model.ts'
import { JsonNode, type Node, XmlNode } from './node.ts'
import type { Reference } from './references.ts'

/**
 * Reads SDMX-ML (2.1 and 3.0) and SDMX-JSON (1.0 and 2.0) structure messages. The format is recognised by the body,
 * because providers' content types aren't reliable. A few lists have several names (`ContentConstraint`,
 * `DataConstraint`); all are looked for. Throws `Failure`: `no-results` if there is no such structure, `unreadable` if
 * the body is neither.
 */
export function readStructures(answer: UpstreamAnswer): Structures {
  refuseFailure(answer)
  const containers = /^\s*[[{]/.test(answer.text) ? inJson(answer.text) : inXml(answer.text)
  const every = (name: string) => containers.flatMap((container) => container.children(name))
  return {
    dataflows: every('Dataflow').map((flow) => ({
      ...maintained(flow),
      ...item(flow),
      structure: flow.child('Structure')?.reference(),
    })),
    dataStructures: every('DataStructure').map(dataStructure),
    codelists: every('Codelist').map((list) => ({
      ...maintained(list),
      name: list.localised('Name'),
      codes: list.children('Code').map(item),
    })),
    conceptSchemes: every('ConceptScheme').map((scheme) => ({
      ...maintained(scheme),
      concepts: scheme.children('Concept').map((concept) => ({
        ...item(concept),
        codelist: concept.child('CoreRepresentation', 'Enumeration')?.reference(),
      })),
    })),
    categorySchemes: every('CategoryScheme').map((scheme) => ({
      ...maintained(scheme),
      ...item(scheme),
      categories: scheme.children('Category').map(category),
    })),
    categorisations: every('Categorisation').flatMap((one) => {
      const source = one.child('Source')?.reference()
      const target = one.child('Target')?.reference()
      // A categorisation may also be of other things: the BIS categorises its printed tables.
      return source?.class === 'Dataflow' && target ? [{ flow: source, category: target }] : []
    }),
    constraints: [...every('ContentConstraint'), ...every('DataConstraint')].map(constraint),
  }
}

function inJson(text: string): readonly Node[] {
  const message: JsonRecord = parseJson(text)
  refuseJsonFailure(message)
  if (message['data'] === undefined && message['structures'] === undefined) {
    throw notUnderstood('JSON that is no SDMX structure message')
  }
  return [new JsonNode(record(message['data'] ?? message['structures']))]
}

/** Versions 2.1 and 3.0 differ in their containers (`Concepts`, `ConceptSchemes`). */
function inXml(text: string): readonly Node[] {
  const { name, root } = parseXml(text)
  if (name !== 'Structure') throw notUnderstood(`<${name}> instead of an SDMX structure message`)
  const all = children(root, 'Structures').flatMap((one) => Object.values(one).flat() as XmlElement[])
  return all.map((container) => new XmlNode(container))
}

function maintained(node: Node): Reference {
  return {
    agency: node.attribute('agencyID') ?? '',
    id: node.attribute('id') ?? '',
    version: node.attribute('version') ?? '1.0',
  }
}

function item(node: Node): Item {
  const id = node.attribute('id') ?? ''
  return { id, name: node.localised('Name') || id, description: node.localised('Description') }
}

function category(node: Node): Category {
  return { ...item(node), categories: node.children('Category').map(category) }
}

function dataStructure(node: Node): DataStructure {
  const list = node.child('DataStructureComponents', 'DimensionList')
  const attributes = node.child('DataStructureComponents', 'AttributeList')
  // A measure dimension, inherited from SDMX 2.0, is a part of the key like the others; the time dimension is not.
  const dimensions = ['Dimension', 'MeasureDimension'].flatMap((name) => list?.children(name) ?? [])
  return {
    ...maintained(node),
    dimensions: dimensions
      .map((one) => ({
        position: Number(one.attribute('position') ?? Number.NaN),
        component: component(one),
      }))
      .sort((a, b) => a.position - b.position || 0)
      .map(({ component }) => component),
    attributes: attributes?.children('Attribute').map(component) ?? [],
  }
}

function component(node: Node): Component {
  const identity = node.child('ConceptIdentity')?.reference()
  return {
    id: node.attribute('id') ?? identity?.item ?? '',
    concept: identity,
    codelist: node.child('LocalRepresentation', 'Enumeration')?.reference(),
  }
}

function constraint(node: Node): Constraint {
  const codes = new Map<string, string[]>()
  for (const region of node.children('CubeRegion')) {
    if ([region.attribute('include'), region.attribute('isIncluded')].includes('false')) continue
    for (const key of [...region.children('KeyValue'), ...region.children('Component')]) {
      const id = key.attribute('id') ?? ''
      codes.set(id, [...(codes.get(id) ?? []), ...key.children('Value').map((value) => value.text())])
    }
  }
  return { flow: node.child('ConstraintAttachment', 'Dataflow')?.reference(), codes }
}
