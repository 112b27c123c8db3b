import {
  type Annotation,
  CONTAINER_ANNOTATIONS,
  KEY_ANNOTATIONS,
  ORIGINAL_NAME,
  propertyAnnotations,
  setAnnotations,
} from './annotations.ts'
import {
  CONTAINER,
  type DescribedSet,
  forContainer,
  KEY,
  NAMESPACE,
  type Pages,
  type Property,
  slices,
  typeName,
} from './model.ts'

/** The service's metadata as CSDL JSON (OData CSDL JSON 4.01), piece by piece. */
export async function* csdlJson(pages: Pages): AsyncGenerator<string> {
  yield `{"$Version":"4.01","$EntityContainer":"${NAMESPACE}.${CONTAINER}","${NAMESPACE}":{"$Alias":"Self"`
  const sets: DescribedSet[] = []
  for await (const page of pages) {
    sets.push(...page.map(forContainer))
    yield page.map((set) => member(typeName(set).slice(NAMESPACE.length + 1), entityType(set))).join('')
  }
  yield member(ORIGINAL_NAME, { $Kind: 'Term', $AppliesTo: ['EntitySet', 'Property'] })
  yield `,"${CONTAINER}":{"$Kind":"EntityContainer"`
  for await (const some of slices(sets)) yield some.map(entitySet).join('')
  const last = Object.entries(annotations(CONTAINER_ANNOTATIONS))
  yield `${last.map(([name, value]) => member(name, value)).join('')}}}}`
}

function entitySet(set: DescribedSet): string {
  const annotated = annotations(setAnnotations(set))
  return member(set.name, { $Collection: true, $Type: typeName(set), ...annotated })
}

/** A further member of an object. */
function member(name: string, value: unknown): string {
  return `,${JSON.stringify(name)}:${JSON.stringify(value)}`
}

function entityType(set: DescribedSet): Record<string, unknown> {
  return {
    $Kind: 'EntityType',
    $Key: [KEY],
    [KEY]: {
      $Type: 'Edm.Int64',
      ...annotations(KEY_ANNOTATIONS),
    },
    ...Object.fromEntries(set.properties.map((property) => [property.name, propertyObject(property)])),
  }
}

function propertyObject(property: Property): Record<string, unknown> {
  const { name, precision, scale } = property.type
  return {
    $Type: name,
    ...(property.nullable && { $Nullable: true }),
    ...(precision !== undefined && { $Precision: precision }),
    ...(scale !== undefined && { $Scale: scale }),
    ...annotations(propertyAnnotations(property)),
  }
}

function annotations(list: readonly Annotation[]): Record<string, unknown> {
  return Object.fromEntries(list.map(([term, value]) => [`@${term}`, value]))
}
