/** Structure messages in SDMX-ML 2.1, put together from parts, for the providers that send such. */
export const structureMessage = (...parts: readonly string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?><mes:Structure xmlns:mes="m" xmlns:str="s" xmlns:com="c"><mes:Header><mes:ID>1</mes:ID></mes:Header><mes:Structures>${parts.join('')}</mes:Structures></mes:Structure>`

const name = (text: string) =>
  `<com:Name xml:lang="xx">?</com:Name><com:Name xml:lang="en">${text}</com:Name>`

/** `[agency, id, name, data structure]`; a stub without the last. */
export const dataflows = (...flows: readonly (readonly [string, string, string, string?])[]) =>
  `<str:Dataflows>${flows
    .map(([agency, id, text, structure]) => {
      const ref =
        structure && `<Ref id="${structure}" agencyID="${agency}" version="1.0" class="DataStructure"/>`
      return `<str:Dataflow id="${id}" agencyID="${agency}" version="1.0">${name(text)}${ref ? `<str:Structure>${ref}</str:Structure>` : ''}</str:Dataflow>`
    })
    .join('')}</str:Dataflows>`

/**
 * Dimensions as `{id: codelist}` in the order of the key; positions are given, and the elements come in reverse.
 * Attributes likewise.
 */
export const dataStructure = (
  agency: string,
  id: string,
  dimensions: Readonly<Record<string, string>>,
  attributes: Readonly<Record<string, string>> = {},
) =>
  `<str:DataStructures><str:DataStructure id="${id}" agencyID="${agency}" version="1.0"><str:DataStructureComponents><str:DimensionList>${Object.entries(
    dimensions,
  )
    .map(
      ([dimension, list], i) =>
        `<str:Dimension id="${dimension}" position="${i + 1}"><str:ConceptIdentity><Ref id="${dimension}" maintainableParentID="CS" maintainableParentVersion="1.0" agencyID="${agency}" class="Concept"/></str:ConceptIdentity><str:LocalRepresentation><str:Enumeration><Ref id="${list}" agencyID="${agency}" version="1.0" class="Codelist"/></str:Enumeration></str:LocalRepresentation></str:Dimension>`,
    )
    .toReversed()
    .join(
      '',
    )}<str:TimeDimension id="TIME_PERIOD" position="99"/></str:DimensionList><str:AttributeList>${Object.entries(
    attributes,
  )
    .map(
      ([attribute, list]) =>
        `<str:Attribute id="${attribute}"><str:ConceptIdentity><Ref id="${attribute}" maintainableParentID="CS" maintainableParentVersion="1.0" agencyID="${agency}" class="Concept"/></str:ConceptIdentity><str:LocalRepresentation><str:Enumeration><Ref id="${list}" agencyID="${agency}" version="1.0" class="Codelist"/></str:Enumeration></str:LocalRepresentation></str:Attribute>`,
    )
    .join('')}</str:AttributeList></str:DataStructureComponents></str:DataStructure></str:DataStructures>`

/** Codelists as `{id: {code: name}}`. */
export const codelists = (
  agency: string,
  lists: Readonly<Record<string, Readonly<Record<string, string>>>>,
) =>
  `<str:Codelists>${Object.entries(lists)
    .map(
      ([id, codes]) =>
        `<str:Codelist id="${id}" agencyID="${agency}" version="1.0">${name(id)}${Object.entries(codes)
          .map(([code, text]) => `<str:Code id="${code}">${name(text)}</str:Code>`)
          .join('')}</str:Codelist>`,
    )
    .join('')}</str:Codelists>`

/** Concepts as `{id: name}`, in the scheme that `dataStructure` refers to. */
export const concepts = (agency: string, names: Readonly<Record<string, string>>) =>
  `<str:Concepts><str:ConceptScheme id="CS" agencyID="${agency}" version="1.0">${Object.entries(names)
    .map(([id, text]) => `<str:Concept id="${id}">${name(text)}</str:Concept>`)
    .join('')}</str:ConceptScheme></str:Concepts>`

/** The codes that have data, as `{dimension: codes}`. */
export const constraint = (
  agency: string,
  flow: string,
  codes: Readonly<Record<string, readonly string[]>>,
) =>
  `<str:Constraints><str:ContentConstraint id="K" agencyID="${agency}" version="1.0" type="Actual"><str:ConstraintAttachment><str:Dataflow><Ref id="${flow}" agencyID="${agency}" version="1.0" class="Dataflow"/></str:Dataflow></str:ConstraintAttachment><str:CubeRegion include="true">${Object.entries(
    codes,
  )
    .map(
      ([id, values]) =>
        `<com:KeyValue id="${id}">${values.map((one) => `<com:Value>${one}</com:Value>`).join('')}</com:KeyValue>`,
    )
    .join('')}</str:CubeRegion></str:ContentConstraint></str:Constraints>`

/** A scheme of two levels, and dataflows filed under `{category}.{subcategory}`. */
export const categoryScheme = (
  agency: string,
  id: string,
  category: readonly [string, string],
  subcategory: readonly [string, string],
  ...flows: readonly string[]
) =>
  `<str:CategorySchemes><str:CategoryScheme id="${id}" agencyID="${agency}" version="1.0">${name('Topics')}<str:Category id="${category[0]}">${name(category[1])}<str:Category id="${subcategory[0]}">${name(subcategory[1])}</str:Category></str:Category></str:CategoryScheme></str:CategorySchemes><str:Categorisations>${flows
    .map(
      (flow) =>
        `<str:Categorisation id="X${flow}" agencyID="${agency}" version="1.0"><str:Source><Ref id="${flow}" agencyID="${agency}" version="1.0" package="datastructure" class="Dataflow"/></str:Source><str:Target><Ref id="${category[0]}.${subcategory[0]}" maintainableParentID="${id}" maintainableParentVersion="1.0" agencyID="${agency}" class="Category"/></str:Target></str:Categorisation>`,
    )
    .join('')}</str:Categorisations>`

/** A list of series keys in SDMX-JSON 1.0, with the names of the codes: `{dimension: {code: name}}`. */
export const keysMessage = (
  flow: string,
  dimensions: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ...keys: readonly string[]
) => {
  const codes = Object.entries(dimensions).map(([id, names]) => ({ id, list: Object.entries(names) }))
  const index = (key: string) =>
    key
      .split('.')
      .map((code, i) => codes[i]!.list.findIndex(([one]) => one === code))
      .join(':')
  return JSON.stringify({
    header: { id: '1', test: false },
    dataSets: [{ action: 'Replace', series: Object.fromEntries(keys.map((key) => [index(key), {}])) }],
    structure: {
      name: flow,
      dimensions: {
        series: codes.map(({ id, list }) => ({
          id,
          values: list.map(([code, text]) => ({ id: code, name: text })),
        })),
        observation: [{ id: 'TIME_PERIOD', role: 'time', values: [] }],
      },
      attributes: { series: [], observation: [] },
    },
  })
}

const XML = 'application/vnd.sdmx.structure+xml;version=2.1'

export const xml = (body: string) => ({ type: XML, body })
export const csv = (body: string) => ({ type: 'text/csv;charset=UTF-8', body })
export const json = (body: string) => ({ type: 'application/json', body })
