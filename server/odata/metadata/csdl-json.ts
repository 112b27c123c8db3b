import {
  type Annotation,
  CONTAINER_ANNOTATIONS,
  KEY_ANNOTATIONS,
  ORIGINAL_NAME,
  propertyAnnotations,
  setAnnotations,
} from './annotations.ts'
import { CONTAINER, type DescribedSet, KEY, NAMESPACE, type Property, typeName } from './model.ts'

/** The service's metadata as CSDL JSON (OData CSDL JSON 4.01). */
export function csdlJson(sets: readonly DescribedSet[]): Record<string, unknown> {
  return {
    $Version: '4.01',
    $EntityContainer: `${NAMESPACE}.${CONTAINER}`,
    [NAMESPACE]: {
      $Alias: 'Self',
      ...Object.fromEntries(sets.map((set) => [typeName(set).slice(NAMESPACE.length + 1), entityType(set)])),
      [ORIGINAL_NAME]: { $Kind: 'Term', $AppliesTo: ['EntitySet', 'Property'] },
      [CONTAINER]: {
        $Kind: 'EntityContainer',
        ...Object.fromEntries(
          sets.map((set) => [
            set.name,
            { $Collection: true, $Type: typeName(set), ...annotations(setAnnotations(set)) },
          ]),
        ),
        ...annotations(CONTAINER_ANNOTATIONS),
      },
    },
  }
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
