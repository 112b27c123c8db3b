import { notUnderstood } from '../failures.ts'
import { attribute, child, children, localised, parseXml, textOf, type XmlElement } from '../text/xml.ts'
import type { Category, Component, Concept, Constraint, DataStructure, Item, Structures } from './model.ts'
import { type ItemReference, parseUrn, type Reference } from './references.ts'

/**
 * Reads an SDMX-ML structure message. Versions 2.1 and 3.0 differ in their containers (`Concepts`, `ConceptSchemes`)
 * and in how they write references (`<Ref>`, `<URN>`, or the URN as text), so all forms are understood.
 */
export function readStructuresXml(text: string): Structures {
  const { name, root } = parseXml(text)
  if (name !== 'Structure') throw notUnderstood(`<${name}> instead of an SDMX structure message`)
  const containers = children(root, 'Structures').flatMap((all) => Object.values(all).flat() as XmlElement[])
  const every = (element: string) => containers.flatMap((container) => children(container, element))
  return {
    dataflows: every('Dataflow').map((flow) => ({
      ...maintained(flow),
      ...item(flow),
      structure: reference(child(flow, 'Structure')),
    })),
    dataStructures: every('DataStructure').map(dataStructure),
    codelists: every('Codelist').map((list) => ({
      ...maintained(list),
      name: localised(list, 'Name'),
      codes: children(list, 'Code').map(item),
    })),
    conceptSchemes: every('ConceptScheme').map((scheme) => ({
      ...maintained(scheme),
      concepts: children(scheme, 'Concept').map(concept),
    })),
    categorySchemes: every('CategoryScheme').map((scheme) => ({
      ...maintained(scheme),
      ...item(scheme),
      categories: children(scheme, 'Category').map(category),
    })),
    categorisations: every('Categorisation').flatMap((one) => {
      const source = reference(child(one, 'Source'))
      const target = reference(child(one, 'Target'))
      // A categorisation may also be of other things: the BIS categorises its printed tables.
      const flow = source?.class === 'Dataflow' ? source : undefined
      return flow && target ? [{ flow, category: target }] : []
    }),
    constraints: [...every('ContentConstraint'), ...every('DataConstraint')].map(constraint),
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

function concept(element: XmlElement): Concept {
  return { ...item(element), codelist: reference(child(element, 'CoreRepresentation', 'Enumeration')) }
}

function category(element: XmlElement): Category {
  return { ...item(element), categories: children(element, 'Category').map(category) }
}

function dataStructure(element: XmlElement): DataStructure {
  const list = child(element, 'DataStructureComponents', 'DimensionList')
  const attributes = child(element, 'DataStructureComponents', 'AttributeList')
  // A measure dimension, inherited from SDMX 2.0, is a part of the key like the others; the time dimension is not.
  const dimensions = [...children(list, 'Dimension'), ...children(list, 'MeasureDimension')]
  return {
    ...maintained(element),
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

function component(element: XmlElement): Component {
  const identity = reference(child(element, 'ConceptIdentity'))
  return {
    id: attribute(element, 'id') ?? identity?.item ?? '',
    concept: identity,
    codelist: reference(child(element, 'LocalRepresentation', 'Enumeration')),
  }
}

function constraint(element: XmlElement): Constraint {
  const attachment = child(element, 'ConstraintAttachment', 'Dataflow')
  const codes = new Map<string, string[]>()
  for (const region of children(element, 'CubeRegion')) {
    if (attribute(region, 'include') === 'false') continue
    for (const key of [...children(region, 'KeyValue'), ...children(region, 'Component')]) {
      const id = attribute(key, 'id') ?? ''
      codes.set(id, [...(codes.get(id) ?? []), ...children(key, 'Value').map(textOf)])
    }
  }
  return { flow: reference(attachment), codes }
}

/**
 * The target of a reference, written as `<Ref>` or `<URN>` in the element or as its text; undefined if there is none.
 */
function reference(
  element: XmlElement | undefined,
): (ItemReference & { readonly class: string }) | undefined {
  const ref = child(element, 'Ref')
  if (!ref) return parseUrn(textOf(child(element, 'URN') ?? element))
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
