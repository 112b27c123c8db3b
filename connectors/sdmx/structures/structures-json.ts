import { notUnderstood } from '../failures.ts'
import { refuseJsonFailure } from '../refusals.ts'
import { inEnglish, type Json, type JsonRecord, listOf, parseJson, record, textOf } from '../text/json.ts'
import type { Category, Component, Concept, Constraint, DataStructure, Item, Structures } from './model.ts'
import { parseUrn, type Reference } from './references.ts'

/**
 * Reads an SDMX-JSON structure message, 1.0 or 2.0: both have the same artefacts under `data`, and all references are
 * URNs. A few lists have different names (`contentConstraints`, `dataConstraints`); both are looked for.
 */
export function readStructuresJson(text: string): Structures {
  const message = parseJson(text)
  refuseJsonFailure(message)
  const data = record(message['data'] ?? message['structures'] ?? message['resources'])
  const every = (name: string) => listOf(data[name]).map(record)
  if (message['data'] === undefined && message['structures'] === undefined) {
    throw notUnderstood('JSON that is no SDMX structure message')
  }
  return {
    dataflows: every('dataflows').map((flow) => ({
      ...maintained(flow),
      ...item(flow),
      structure: parseUrn(flow['structure']),
    })),
    dataStructures: every('dataStructures').map(dataStructure),
    codelists: every('codelists').map((list) => ({
      ...maintained(list),
      name: inEnglish(list, 'name'),
      codes: listOf(list['codes']).map(item),
    })),
    conceptSchemes: every('conceptSchemes').map((scheme) => ({
      ...maintained(scheme),
      concepts: listOf(scheme['concepts']).map(concept),
    })),
    categorySchemes: every('categorySchemes').map((scheme) => ({
      ...maintained(scheme),
      ...item(scheme),
      categories: listOf(scheme['categories']).map(category),
    })),
    categorisations: every('categorisations').flatMap((one) => {
      const source = parseUrn(one['source'])
      const target = parseUrn(one['target'])
      return source?.class === 'Dataflow' && target ? [{ flow: source, category: target }] : []
    }),
    constraints: [...every('contentConstraints'), ...every('dataConstraints')].map(constraint),
  }
}

function maintained(object: JsonRecord): Reference {
  return {
    agency: textOf(object['agencyID']),
    id: textOf(object['id']),
    version: textOf(object['version']) || '1.0',
  }
}

function item(value: Json): Item {
  const object = record(value)
  const id = textOf(object['id'])
  return { id, name: inEnglish(object, 'name') || id, description: inEnglish(object, 'description') }
}

function concept(value: Json): Concept {
  const representation = record(record(value)['coreRepresentation'])
  return { ...item(value), codelist: parseUrn(representation['enumeration']) }
}

function category(value: Json): Category {
  return { ...item(value), categories: listOf(record(value)['categories']).map(category) }
}

function dataStructure(object: JsonRecord): DataStructure {
  const components = record(object['dataStructureComponents'])
  const list = record(components['dimensionList'])
  const dimensions = [...listOf(list['dimensions']), ...listOf(list['measureDimensions'])].map(record)
  return {
    ...maintained(object),
    dimensions: dimensions
      .map((one) => ({ position: Number(one['position'] ?? Number.NaN), component: component(one) }))
      .sort((a, b) => a.position - b.position || 0)
      .map(({ component }) => component),
    attributes: listOf(record(components['attributeList'])['attributes']).map((one) =>
      component(record(one)),
    ),
  }
}

function component(object: JsonRecord): Component {
  const identity = parseUrn(object['conceptIdentity'])
  return {
    id: textOf(object['id']) || (identity?.item ?? ''),
    concept: identity,
    codelist: parseUrn(record(object['localRepresentation'])['enumeration']),
  }
}

function constraint(object: JsonRecord): Constraint {
  const attachment = record(object['constraintAttachment'])
  const codes = new Map<string, string[]>()
  for (const region of listOf(object['cubeRegions']).map(record)) {
    if (region['include'] === false || region['isIncluded'] === false) continue
    for (const key of [...listOf(region['keyValues']), ...listOf(region['components'])].map(record)) {
      const id = textOf(key['id'])
      const values = listOf(key['values']).map((value) => textOf(record(value)['value'] ?? value))
      codes.set(id, [...(codes.get(id) ?? []), ...values])
    }
  }
  return { flow: listOf(attachment['dataflows']).map(parseUrn)[0], codes }
}
