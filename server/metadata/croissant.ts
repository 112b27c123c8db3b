import { type TypeName, typeName } from '../../engine/types/index.ts'
import { type Described, described, licenseUrl, rowsUrl, setFields } from './described.ts'

/** Names of the vocabulary that stand for themselves. */
const WORDS =
  'citeAs column extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath key md5 ' +
  'parentField path recordSet references regex repeated replace separator source subField transform'

/** The context of Croissant 1.0, which its specification has every document repeat. */
const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  ...Object.fromEntries(WORDS.split(' ').map((word) => [word, `cr:${word}`])),
  conformsTo: 'dct:conformsTo',
  cr: 'http://mlcommons.org/croissant/',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  dct: 'http://purl.org/dc/terms/',
  examples: { '@id': 'cr:examples', '@type': '@json' },
  rai: 'http://mlcommons.org/croissant/RAI/',
  sc: 'https://schema.org/',
}

const TYPES = {
  boolean: 'sc:Boolean',
  integer: 'sc:Integer',
  double: 'sc:Float',
  decimal: 'sc:Float',
  string: 'sc:Text',
  date: 'sc:Date',
  time: 'sc:Text',
  timestamp: 'sc:Date',
  timestamptz: 'sc:Date',
  uuid: 'sc:Text',
  binary: 'sc:Text',
  json: 'sc:Text',
} as const satisfies Record<TypeName, string>

/** A dataset in Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html). */
export function croissant(dataset: Described): object {
  const { record, url } = dataset
  const { title, name, description, license, source, creator, keywords, citation } = record
  return {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.0',
    ...setFields({
      name,
      alternateName: title,
      description: description || title || name,
      license: license && licenseUrl(license),
      isBasedOn: source,
      creator: creator && { '@type': 'sc:Organization', name: creator },
      keywords,
      citeAs: citation,
    }),
    url,
    version: `${record.version}.0.0`,
    datePublished: record.createdAt,
    dateModified: record.updatedAt,
    // Rows are made when they are asked for, so that their files have no hash.
    isLiveDataset: true,
    distribution: [
      {
        '@type': 'cr:FileObject',
        '@id': 'rows.csv',
        name: 'rows.csv',
        description: 'All rows as csv. Needs an API key.',
        contentUrl: rowsUrl(dataset, 'csv'),
        encodingFormat: 'text/csv',
      },
    ],
    ...(record.columns.length > 0 && { recordSet: [recordSet(dataset)] }),
  }
}

function recordSet({ record }: Described): object {
  return {
    '@type': 'cr:RecordSet',
    '@id': 'rows',
    name: 'rows',
    field: record.columns.map((column, index) => ({
      '@type': 'cr:Field',
      // Ids may not have every character that names may have.
      '@id': `rows/${index + 1}`,
      name: column.name,
      ...setFields({ alternateName: column.title, description: described(column) }),
      dataType: TYPES[typeName(column.type)],
      source: { fileObject: { '@id': 'rows.csv' }, extract: { column: column.name } },
    })),
  }
}
