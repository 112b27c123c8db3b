import { notUnderstood } from './failures.ts'
import { asList, asObject, asText, inEnglish, type JsonObject, parseJson } from './json.ts'
import { parseUrn, type Reference } from './references.ts'
import type {
  Category,
  Component,
  Concept,
  Constraint,
  DataStructure,
  Item,
  Structures,
} from './structures.ts'

/**
 * Reads an SDMX-JSON structure message, 1.0 or 2.0: the same artefacts under `data`, all references URNs. Versions
 * differ in the names of a few lists (`contentConstraints`, `dataConstraints`); both are looked for.
 */
export function readStructuresJson(text: string): Structures {
  const message = asObject(parseJson(text))
  const data = asObject(message['data'] ?? message['structures'] ?? message['resources'])
  const every = (name: string) => asList(data[name]).map(asObject)
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
      codes: asList(list['codes']).map(item),
    })),
    conceptSchemes: every('conceptSchemes').map((scheme) => ({
      ...maintained(scheme),
      concepts: asList(scheme['concepts']).map(concept),
    })),
    categorySchemes: every('categorySchemes').map((scheme) => ({
      ...maintained(scheme),
      ...item(scheme),
      categories: asList(scheme['categories']).map(category),
    })),
    categorisations: every('categorisations').flatMap((one) => {
      const source = parseUrn(one['source'])
      const target = parseUrn(one['target'])
      return source?.class === 'Dataflow' && target ? [{ flow: source, category: target }] : []
    }),
    constraints: [...every('contentConstraints'), ...every('dataConstraints')].map(constraint),
  }
}

function maintained(object: JsonObject): Reference {
  return {
    agency: asText(object['agencyID']),
    id: asText(object['id']),
    version: asText(object['version']) || '1.0',
  }
}

function item(value: unknown): Item {
  const object = asObject(value)
  const id = asText(object['id'])
  return { id, name: inEnglish(object, 'name') || id, description: inEnglish(object, 'description') }
}

function concept(value: unknown): Concept {
  const representation = asObject(asObject(value)['coreRepresentation'])
  return { ...item(value), codelist: parseUrn(representation['enumeration']) }
}

function category(value: unknown): Category {
  return { ...item(value), categories: asList(asObject(value)['categories']).map(category) }
}

function dataStructure(object: JsonObject): DataStructure {
  const components = asObject(object['dataStructureComponents'])
  const list = asObject(components['dimensionList'])
  const dimensions = [...asList(list['dimensions']), ...asList(list['measureDimensions'])].map(asObject)
  return {
    ...maintained(object),
    dimensions: dimensions
      .map((one) => ({ position: Number(one['position'] ?? Number.NaN), component: component(one) }))
      .sort((a, b) => a.position - b.position || 0)
      .map(({ component }) => component),
    attributes: asList(asObject(components['attributeList'])['attributes']).map((one) =>
      component(asObject(one)),
    ),
  }
}

function component(object: JsonObject): Component {
  const identity = parseUrn(object['conceptIdentity'])
  return {
    id: asText(object['id']) || (identity?.item ?? ''),
    concept: identity,
    codelist: parseUrn(asObject(object['localRepresentation'])['enumeration']),
  }
}

function constraint(object: JsonObject): Constraint {
  const attachment = asObject(object['constraintAttachment'])
  const codes = new Map<string, string[]>()
  for (const region of asList(object['cubeRegions']).map(asObject)) {
    if (region['include'] === false || region['isIncluded'] === false) continue
    for (const key of [...asList(region['keyValues']), ...asList(region['components'])].map(asObject)) {
      const id = asText(key['id'])
      const values = asList(key['values']).map((value) => asText(asObject(value)['value'] ?? value))
      codes.set(id, [...(codes.get(id) ?? []), ...values])
    }
  }
  return { flow: asList(attachment['dataflows']).map(parseUrn)[0], codes }
}
