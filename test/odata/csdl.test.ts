import { expect, test } from 'vitest'
import { csdlJson, csdlXml } from '../../server/odata/csdl.ts'
import { type DescribedSet, propertiesOf } from '../../server/odata/model.ts'
import { schemaProblems } from './csdl-facts.ts'

const column = (name: string, type: string, nullable = true, description = '') =>
  ({ name, type, nullable, description }) as Parameters<typeof propertiesOf>[0][number]

const SET: DescribedSet = {
  name: 'penguins',
  datasetId: 1,
  title: 'Penguins <of> "Palmer"',
  description: '',
  properties: propertiesOf([
    column('Body Mass (g)', 'decimal(10,2)', false, 'grams & more'),
    column('at', 'timestamp'),
    column('note', 'json', true, 'line\nbreak \u0001'),
  ]),
}

test('every column type has a type of OData', () => {
  const types = Object.entries({
    boolean: 'Edm.Boolean',
    integer: 'Edm.Int64',
    double: 'Edm.Double',
    'decimal(38,4)': 'Edm.Decimal',
    string: 'Edm.String',
    date: 'Edm.Date',
    time: 'Edm.TimeOfDay',
    timestamp: 'Edm.DateTimeOffset',
    timestamptz: 'Edm.DateTimeOffset',
    uuid: 'Edm.Guid',
    binary: 'Edm.Binary',
    json: 'Edm.String',
  })
  const properties = propertiesOf(types.map(([type]) => column(type, type)))
  expect(properties.map(({ type }) => type.name)).toEqual(types.map(([, edm]) => edm))
})

const text = async (pieces: AsyncIterable<string>) => (await Array.fromAsync(pieces)).join('')

test('metadata as XML declares the key, the properties with their facets, and the original names', async () => {
  const xml = await text(csdlXml([[SET]], '4.0'))
  expect(xml).toContain('<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">')
  expect(xml).toContain(
    '<Key><PropertyRef Name="Row"/></Key><Property Name="Row" Type="Edm.Int64" Nullable="false">',
  )
  expect(xml).toContain(
    '<Property Name="Body_Mass__g_" Type="Edm.Decimal" Precision="10" Scale="2" Nullable="false">' +
      '<Annotation Term="Self.OriginalName" String="Body Mass (g)"/>' +
      '<Annotation Term="Org.OData.Core.V1.Description" String="grams &#38; more"/></Property>',
  )
  expect(xml).toContain('<EntitySet Name="penguins" EntityType="Parquetry.penguinsRow">')
  expect(xml).toContain('String="Penguins &#60;of&#62; &#34;Palmer&#34;"')
  // A line break in an attribute would be read as a blank; XML has no U+0001 at all.
  expect(xml).toContain('String="line&#10;break \ufffd"')
})

test('metadata keeps to the schema of CSDL 4.01, also without sets', async () => {
  for (const version of ['4.0', '4.01'] as const) {
    expect(schemaProblems(await text(csdlXml([[SET]], version)))).toEqual([])
    expect(schemaProblems(await text(csdlXml([], version)))).toEqual([])
  }
})

test.each([
  ['Name="at"', 'Name="a t"', '/Property[a t]: Name="a t" is not allowed'],
  ['Name="at" ', '', '/Property: it has no Name'],
  [' Version="4.01"', ' Version="4.1"', 'Version="4.1" is not allowed'],
  [/<Key>.*<\/Key>(<Property .*?<\/Property>)/, '$&<Key/>', 'children are Key Property Key'],
  ['<Record>', '<Record><String/>', '/Record: its children are String'],
  ['Precision="6"', 'Precision="six"', 'Precision="six" is not allowed'],
  ['<Schema ', '<Schema Version="1" ', 'Version="1" is not allowed'],
  ['Type="Edm.Decimal"', 'Type="Edm.Number"', 'Type="Edm.Number" is not allowed'],
  ['<EntityContainer', '<Container/><EntityContainer', 'there is no such element'],
])('the schema would find %s as %s', async (right, wrong, problem) => {
  const xml = await text(csdlXml([[SET]], '4.01'))
  const broken = xml.replace(right, wrong)
  expect(broken).not.toBe(xml)
  expect(schemaProblems(broken).join('\n')).toContain(problem)
})

test('metadata as JSON declares the same', async () => {
  expect(JSON.parse(await text(csdlJson([[SET]])))).toMatchObject({
    $Version: '4.01',
    $EntityContainer: 'Parquetry.Container',
    Parquetry: {
      penguinsRow: {
        $Kind: 'EntityType',
        $Key: ['Row'],
        Row: { $Type: 'Edm.Int64' },
        Body_Mass__g_: {
          $Type: 'Edm.Decimal',
          $Precision: 10,
          $Scale: 2,
          '@Self.OriginalName': 'Body Mass (g)',
          '@Org.OData.Core.V1.Description': 'grams & more',
        },
        at: { $Type: 'Edm.DateTimeOffset', $Nullable: true, $Precision: 6 },
      },
      Container: { penguins: { $Collection: true, $Type: 'Parquetry.penguinsRow' } },
    },
  })
})
