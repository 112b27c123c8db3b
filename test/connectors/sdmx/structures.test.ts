import { describe, expect, it } from 'vitest'
import type { UpstreamAnswer } from '../../../connectors/connector.ts'
import { parseUrn, readStructures, resolve } from '../../../connectors/sdmx/structures/structures.ts'

const answer = (text: string, status = 200): UpstreamAnswer => ({
  status,
  headers: {},
  text,
})
const urn = (kind: string, id: string) => `urn:sdmx:org.sdmx.infomodel.${kind}=${id}`

const XML_21 = `<?xml version="1.0" encoding="UTF-8"?>
<m:Structure xmlns:m="m" xmlns:s="s" xmlns:c="c"><m:Header/><m:Structures>
  <s:CategorySchemes><s:CategoryScheme id="TOPICS" agencyID="XB" version="1.0"><c:Name xml:lang="en">Topics</c:Name>
    <s:Category id="MONEY"><c:Name>Money</c:Name><s:Category id="RATES"><c:Name>Rates</c:Name></s:Category></s:Category>
  </s:CategoryScheme></s:CategorySchemes>
  <s:Categorisations>
    <s:Categorisation id="C1" agencyID="XB" version="1.0">
      <s:Source><Ref id="RATES" agencyID="XB" version="1.0" class="Dataflow" package="datastructure"/></s:Source>
      <s:Target><Ref id="MONEY.RATES" maintainableParentID="TOPICS" maintainableParentVersion="1.0" agencyID="XB" class="Category"/></s:Target>
    </s:Categorisation>
    <s:Categorisation id="C2" agencyID="XB" version="1.0">
      <s:Source><Ref id="T1" agencyID="XB" version="1.0" class="PublicationTable"/></s:Source>
      <s:Target><Ref id="MONEY" maintainableParentID="TOPICS" maintainableParentVersion="1.0" agencyID="XB" class="Category"/></s:Target>
    </s:Categorisation>
  </s:Categorisations>
  <s:Dataflows><s:Dataflow id="RATES" agencyID="XB" version="1.2"><c:Name xml:lang="fr">Taux</c:Name><c:Name xml:lang="en">Rates</c:Name>
    <c:Description xml:lang="en">Key rates</c:Description><s:Structure><Ref id="DSD" agencyID="XB" version="2.0" class="DataStructure"/></s:Structure>
  </s:Dataflow></s:Dataflows>
  <s:Codelists><s:Codelist id="CL_FREQ" agencyID="XB" version="1.0"><c:Name>Frequency</c:Name><s:Code id="M"><c:Name>Monthly</c:Name></s:Code></s:Codelist></s:Codelists>
  <s:Concepts><s:ConceptScheme id="CS" agencyID="XB" version="1.0"><s:Concept id="FREQ"><c:Name>Frequency</c:Name></s:Concept></s:ConceptScheme></s:Concepts>
  <s:DataStructures><s:DataStructure id="DSD" agencyID="XB" version="2.0"><s:DataStructureComponents>
    <s:DimensionList>
      <s:Dimension id="AREA" position="2"/>
      <s:Dimension id="FREQ" position="1"><s:ConceptIdentity><Ref id="FREQ" maintainableParentID="CS" maintainableParentVersion="1.0" agencyID="XB"/></s:ConceptIdentity>
        <s:LocalRepresentation><s:Enumeration><Ref id="CL_FREQ" agencyID="XB" version="1.0"/></s:Enumeration></s:LocalRepresentation></s:Dimension>
      <s:TimeDimension id="TIME_PERIOD" position="3"/>
    </s:DimensionList>
    <s:AttributeList><s:Attribute id="UNIT"/></s:AttributeList>
  </s:DataStructureComponents></s:DataStructure></s:DataStructures>
  <s:Constraints><s:ContentConstraint id="K" agencyID="XB" version="1.0" type="Actual">
    <s:ConstraintAttachment><s:Dataflow><Ref id="RATES" agencyID="XB" version="1.2" class="Dataflow"/></s:Dataflow></s:ConstraintAttachment>
    <s:CubeRegion include="true"><c:KeyValue id="AREA"><c:Value>NO</c:Value><c:Value>SE</c:Value></c:KeyValue></s:CubeRegion>
    <s:CubeRegion include="false"><c:KeyValue id="AREA"><c:Value>FI</c:Value></c:KeyValue></s:CubeRegion>
  </s:ContentConstraint></s:Constraints>
</m:Structures></m:Structure>`

describe('structure messages', () => {
  it('reads SDMX-ML 2.1', () => {
    const found = readStructures(answer(XML_21))
    expect(found.dataflows[0]).toMatchObject({
      agency: 'XB',
      id: 'RATES',
      version: '1.2',
      name: 'Rates',
      description: 'Key rates',
      structure: { agency: 'XB', id: 'DSD', version: '2.0' },
    })
    expect(found.dataStructures[0]?.dimensions.map(({ id }) => id)).toEqual(['FREQ', 'AREA'])
    expect(found.dataStructures[0]?.dimensions[0]).toMatchObject({
      concept: { id: 'CS', item: 'FREQ' },
      codelist: { agency: 'XB', id: 'CL_FREQ' },
    })
    expect(found.dataStructures[0]?.attributes.map(({ id }) => id)).toEqual(['UNIT'])
    expect(found.codelists[0]?.codes).toEqual([{ id: 'M', name: 'Monthly', description: '' }])
    expect(found.conceptSchemes[0]?.concepts[0]).toMatchObject({ id: 'FREQ', name: 'Frequency' })
    expect(found.constraints[0]?.codes).toEqual(new Map([['AREA', ['NO', 'SE']]]))
  })

  it('nests categories, and files dataflows under them but nothing else', () => {
    const { categorySchemes, categorisations } = readStructures(answer(XML_21))
    expect(categorySchemes[0]?.categories[0]?.categories[0]).toMatchObject({ id: 'RATES', name: 'Rates' })
    expect(categorisations).toHaveLength(1)
    expect(categorisations[0]).toMatchObject({
      flow: { id: 'RATES' },
      category: { id: 'TOPICS', item: 'MONEY.RATES' },
    })
  })

  it('reads SDMX-ML 3.0: other containers, references as text', () => {
    const xml = `<Structure><Structures>
      <Dataflows><Dataflow id="F" agencyID="XB" version="1.0.0"><Name>Flow</Name><Structure>${urn('datastructure.DataStructure', 'XB:D(1.0+.0)')}</Structure></Dataflow></Dataflows>
      <ConceptSchemes><ConceptScheme id="CS" agencyID="XB"><Concept id="AREA"><CoreRepresentation><Enumeration>${urn('codelist.Codelist', 'XB:CL_AREA(1.0+.0)')}</Enumeration></CoreRepresentation></Concept></ConceptScheme></ConceptSchemes>
      <DataConstraints><DataConstraint id="K" agencyID="XB"><CubeRegion include="true"><KeyValue id="AREA"><Value>NO</Value></KeyValue></CubeRegion></DataConstraint></DataConstraints>
    </Structures></Structure>`
    const found = readStructures(answer(xml))
    expect(found.dataflows[0]?.structure).toMatchObject({ agency: 'XB', id: 'D', version: '1.0+.0' })
    expect(found.conceptSchemes[0]?.concepts[0]?.codelist).toMatchObject({ id: 'CL_AREA' })
    expect(found.constraints[0]?.codes.get('AREA')).toEqual(['NO'])
  })

  it('reads SDMX-JSON', () => {
    const data = {
      dataflows: [
        {
          id: 'F',
          agencyID: 'XB.RES',
          version: '9.0.0',
          names: { de: 'Fluss', en: 'Flow' },
          name: 'Fluss',
          structure: urn('datastructure.DataStructure', 'XB.RES:DSD_F(10.0+.0)'),
        },
      ],
      codelists: [
        {
          id: 'CL',
          agencyID: 'XB',
          version: '1.0',
          name: 'List',
          codes: [{ id: 'A', name: 'Annual' }, { id: 'Q' }],
        },
      ],
      conceptSchemes: [
        {
          id: 'CS',
          agencyID: 'XB',
          version: '1.0',
          concepts: [
            {
              id: 'AREA',
              name: 'Area',
              coreRepresentation: { enumeration: urn('codelist.Codelist', 'XB:CL(1.0)') },
            },
          ],
        },
      ],
      dataStructures: [
        {
          id: 'DSD_F',
          agencyID: 'XB.RES',
          version: '10.0.0',
          dataStructureComponents: {
            dimensionList: {
              dimensions: [
                { id: 'FREQ', position: 1 },
                {
                  id: 'AREA',
                  position: 0,
                  conceptIdentity: urn('conceptscheme.Concept', 'XB:CS(1.0+.0).AREA'),
                },
              ],
              timeDimensions: [{ id: 'TIME_PERIOD', position: 2 }],
            },
            attributeList: { attributes: [{ id: 'SCALE' }] },
          },
        },
      ],
      dataConstraints: [
        { cubeRegions: [{ isIncluded: true, keyValues: [{ id: 'AREA', values: ['NO', { value: 'SE' }] }] }] },
      ],
      categorySchemes: [
        {
          id: 'T',
          agencyID: 'XB',
          name: 'Topics',
          categories: [{ id: 'A', name: 'A', categories: [{ id: 'B', name: 'B' }] }],
        },
      ],
      categorisations: [
        {
          source: urn('datastructure.Dataflow', 'XB:F(1.0)'),
          target: urn('categoryscheme.Category', 'XB:T(1.0).A.B'),
        },
      ],
    }
    const found = readStructures(answer(JSON.stringify({ data, meta: {} })))
    expect(found.dataflows[0]).toMatchObject({ name: 'Flow', structure: { id: 'DSD_F' } })
    expect(found.dataStructures[0]?.dimensions.map(({ id }) => id)).toEqual(['AREA', 'FREQ'])
    expect(found.dataStructures[0]?.dimensions[0]?.concept).toMatchObject({ id: 'CS', item: 'AREA' })
    expect(found.codelists[0]?.codes.map(({ name }) => name)).toEqual(['Annual', 'Q'])
    expect(found.conceptSchemes[0]?.concepts[0]?.codelist).toMatchObject({ id: 'CL' })
    expect(found.constraints[0]?.codes.get('AREA')).toEqual(['NO', 'SE'])
    expect(found.categorySchemes[0]?.categories[0]?.categories[0]?.id).toBe('B')
    expect(found.categorisations[0]?.category.item).toBe('A.B')
  })

  it.each([
    ['204', answer('', 204), 'no-results'],
    ['404', answer('<html>', 404), 'no-results'],
    [
      'an error message of SDMX',
      answer('<Error><ErrorMessage code="100"><Text>No results</Text></ErrorMessage></Error>', 400),
      'no-results',
    ],
    ['HTML', answer('<html><body/></html>'), 'unreadable'],
    ['data instead of structures', answer('<GenericData/>'), 'unreadable'],
    ['other JSON', answer('{"hello": 1}'), 'unreadable'],
    ['JSON that is cut off', answer('{"data": {"dataflows": ['), 'unreadable'],
  ])('fails on %s', (_, given, kind) => {
    expect(() => readStructures(given)).toThrow(expect.objectContaining({ kind }))
  })
})

describe('references', () => {
  it('reads URNs with and without an item', () => {
    expect(parseUrn(urn('conceptscheme.Concept', 'IMF:CS_MASTER(1.0+.0).FREQ'))).toEqual({
      class: 'Concept',
      agency: 'IMF',
      id: 'CS_MASTER',
      version: '1.0+.0',
      item: 'FREQ',
    })
    expect(parseUrn(urn('codelist.Codelist', 'XB.A:CL(1.0)'))).toMatchObject({ agency: 'XB.A', item: '' })
    expect(parseUrn('CL_FREQ')).toBeUndefined()
    expect(parseUrn(undefined)).toBeUndefined()
  })

  it('finds the exact version, else another of the same agency and id', () => {
    const all = ['1.0', '2.0'].map((version) => ({ agency: 'A', id: 'X', version }))
    expect(resolve(all, { agency: 'A', id: 'X', version: '1.0' })?.version).toBe('1.0')
    expect(resolve(all, { agency: 'A', id: 'X', version: '2.0+.0' })?.version).toBe('2.0')
    expect(resolve(all, { agency: 'B', id: 'X', version: '1.0' })).toBeUndefined()
  })
})
