/**
 * Two series of one dataflow, `M.USD.S` and `M.GBP.S`, in every shape in which the providers send such things.
 */
export const CSV_10 = `DATAFLOW,FREQ,CURRENCY,TYPE,TIME_PERIOD,OBS_VALUE,UNIT
XB:RATES(1.0),M,USD,S,2024-03,1.25,EUR
XB:RATES(1.0),M,USD,S,2024-01,1.5,EUR
XB:RATES(1.0),M,GBP,S,2024-01,0.85,EUR
XB:RATES(1.0),M,USD,S,2024-02,,EUR
`

export const components = (more: object = {}) => ({
  dimensions: {
    series: [
      { id: 'FREQ', keyPosition: 0, values: [{ id: 'M', name: 'Monthly' }] },
      {
        id: 'CURRENCY',
        keyPosition: 1,
        values: [
          { id: 'USD', name: 'US dollar' },
          { id: 'GBP', name: 'Pound sterling' },
        ],
      },
      { id: 'TYPE', keyPosition: 2, values: [{ id: 'S', name: 'Spot' }] },
    ],
    observation: [
      {
        id: 'TIME_PERIOD',
        keyPosition: 3,
        values: [{ id: '2024-01' }, { id: '2024-02' }, { id: '2024-03' }],
      },
    ],
  },
  attributes: { series: [{ id: 'UNIT', values: [{ id: 'EUR', name: 'Euro' }] }], observation: [] },
  ...more,
})

const SERIES = {
  '0:0:0': { attributes: [0], observations: { '0': [1.5], '1': [null], '2': [1.25] } },
  '0:1:0': { attributes: [0], observations: { '0': [0.85] } },
}

export const value = (id: string, code: string) => `<g:Value id="${id}" value="${code}"/>`
export const key = (currency: string) => value('FREQ', 'M') + value('CURRENCY', currency) + value('TYPE', 'S')
export const obs = (period: string, amount: string) =>
  `<g:Obs><g:ObsDimension value="${period}"/>${amount && `<g:ObsValue value="${amount}"/>`}</g:Obs>`
export const generic = (body: string, at = 'TIME_PERIOD') =>
  `<m:GenericData xmlns:m="m" xmlns:g="g"><m:Header><m:Structure dimensionAtObservation="${at}"/></m:Header><m:DataSet>${body}</m:DataSet></m:GenericData>`
export const specific = (body: string, dataSet = '') =>
  `<m:StructureSpecificData xmlns:m="m" xmlns:s="s"><m:Header/><m:DataSet s:structureRef="R" xsi:type="T" action="Replace" ${dataSet}>${body}</m:DataSet></m:StructureSpecificData>`

export const FORMATS: Readonly<Record<string, string>> = {
  'SDMX-CSV 1.0': CSV_10,
  'SDMX-CSV 1.0 with CRLF': CSV_10.replaceAll('\n', '\r\n'),
  'CSV with semicolons': CSV_10.replaceAll(',', ';'),
  'CSV with semicolons and decimal commas': CSV_10.replaceAll(',', ';').replaceAll(/(\d)\.(\d+);/g, '$1,$2;'),
  'SDMX-CSV 2.0 with rows of attributes and keys of its own': `STRUCTURE[;],STRUCTURE_ID,ACTION,SERIES_KEY,OBS_KEY,UNIT,OBS_VALUE,TYPE,CURRENCY,FREQ,TIME_PERIOD
dataflow,XB:RATES,I,M.USD.S,M.USD.S.2024-01,,1.5,S,USD,M,2024-01
dataflow,XB:RATES,I,M.USD.S,M.USD.S.2024-02,,,S,USD,M,2024-02
dataflow,XB:RATES,I,M.USD.S,M.USD.S.2024-03,,1.25,S,USD,M,2024-03
dataflow,XB:RATES,I,M.GBP.S,M.GBP.S.2024-01,,0.85,S,GBP,M,2024-01
dataflow,XB:RATES,I,,,EUR,,,USD,,
`,
  'SDMX-CSV 1.0 with labels in the cells': `DATAFLOW,FREQ: Frequency,CURRENCY: Currency,TYPE: Type of rate,TIME_PERIOD: Time,OBS_VALUE: Value
XB:RATES(1.0): Rates,M: Monthly,USD: US dollar,S: Spot,2024-01,1.5
XB:RATES(1.0): Rates,M: Monthly,USD: US dollar,S: Spot,2024-02,
XB:RATES(1.0): Rates,M: Monthly,USD: US dollar,S: Spot,2024-03: 2024-03,1.25
XB:RATES(1.0): Rates,M: Monthly,GBP: Pound sterling,S: Spot,2024-01,0.85
`,
  'SDMX-CSV 2.0': CSV_10.replace('DATAFLOW', 'STRUCTURE,STRUCTURE_ID,ACTION').replaceAll(
    'XB:RATES(1.0)',
    'dataflow,XB:RATES(1.0),I',
  ),
  'SDMX-CSV 2.0 with labels in columns': `STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,FREQ,Frequency,CURRENCY,Currency,TYPE,Type,TIME_PERIOD,Time,OBS_VALUE,Value
DATAFLOW,XB:RATES(1.0),Rates,I,M,Monthly,USD,US dollar,S,Spot,2024-01,,1.5,
DATAFLOW,XB:RATES(1.0),Rates,I,M,Monthly,USD,US dollar,S,Spot,2024-02,,,
DATAFLOW,XB:RATES(1.0),Rates,I,M,Monthly,USD,US dollar,S,Spot,2024-03,,1.25,
DATAFLOW,XB:RATES(1.0),Rates,I,M,Monthly,GBP,Pound sterling,S,Spot,2024-01,,0.85,
`,
  'CSV with a KEY column, attributes before the time': `KEY,FREQ,CURRENCY,TYPE,DECIMALS,TIME_PERIOD,OBS_VALUE,TITLE
RATES.M.USD.S,M,USD,S,4,2024-01,1.5,Dollar
RATES.M.USD.S,M,USD,S,4,2024-02,NaN,Dollar
RATES.M.USD.S,M,USD,S,4,2024-03,1.25,Dollar
RATES.M.GBP.S,M,GBP,S,4,2024-01,0.85,Pound
`,
  'CSV with a KEY column without the dataflow, labels in the cells': `DATAFLOW_ID:Dataflow ID,KEY:Timeseries Key,FREQ:Frequency,CURRENCY:Currency,TYPE:Type,SOURCE:Source,TIME_PERIOD:Period,OBS_VALUE:Value
"XB,RATES,1.0",M.USD.S,M:Monthly,USD:US dollar,S:Spot,XB:Bank,2024-01,1.5
"XB,RATES,1.0",M.USD.S,M:Monthly,USD:US dollar,S:Spot,XB:Bank,2024-02,
"XB,RATES,1.0",M.USD.S,M:Monthly,USD:US dollar,S:Spot,XB:Bank,2024-03,1.25
"XB,RATES,1.0",M.GBP.S,M:Monthly,GBP:Pound sterling,S:Spot,XB:Bank,2024-01,0.85
`,
  'SDMX-JSON 1.0 with data sets at the top': JSON.stringify({
    header: {},
    dataSets: [{ action: 'Replace', series: SERIES }],
    structure: components(),
  }),
  'SDMX-JSON 1.0 below data': JSON.stringify({
    meta: {},
    data: { dataSets: [{ series: SERIES }], structure: components() },
    errors: [],
  }),
  'SDMX-JSON 2.0: values as text, times as values': JSON.stringify({
    data: {
      dataSets: [
        {
          structure: 0,
          series: {
            '0:0:0': { observations: { '0': ['1.5'], '1': [null], '2': ['1.25'] } },
            '0:1:0': { observations: { '0': ['0.85'] } },
          },
        },
      ],
      structures: [
        components({
          dimensions: {
            ...components().dimensions,
            observation: [
              {
                id: 'TIME_PERIOD',
                keyPosition: 3,
                values: [{ value: '2024-01' }, { value: '2024-02' }, { value: '2024-03' }],
              },
            ],
          },
          measures: { observation: [{ id: 'OBS_VALUE' }] },
        }),
      ],
    },
  }),
  'SDMX-JSON with all dimensions at the observation': JSON.stringify({
    data: {
      dataSets: [
        { observations: { '0:0:0:0': [1.5], '0:0:0:1': [null], '0:0:0:2': [1.25], '0:1:0:0': [0.85] } },
      ],
      structure: components({
        dimensions: { observation: Object.values(components().dimensions).flat() },
      }),
    },
  }),
  'SDMX-JSON with time at the series and another dimension at the observation': JSON.stringify({
    data: {
      dataSets: [
        {
          series: {
            '0:0:0': { observations: { '0': [1.5], '1': [0.85] } },
            '0:1:0': { observations: { '0': [null] } },
            '0:2:0': { observations: { '0': [1.25] } },
          },
        },
      ],
      structure: components({
        dimensions: {
          series: [
            components().dimensions.series[0],
            {
              id: 'PERIOD',
              role: 'time',
              keyPosition: 3,
              values: [{ id: '2024-01' }, { id: '2024-02' }, { id: '2024-03' }],
            },
            components().dimensions.series[2],
          ],
          observation: [components().dimensions.series[1]],
        },
      }),
    },
  }),
  'SDMX-JSON with dimensions of the data set': JSON.stringify({
    dataSets: [{ series: { '0': SERIES['0:0:0'], '1': SERIES['0:1:0'] } }],
    structure: components({
      dimensions: {
        dataset: [components().dimensions.series[0], components().dimensions.series[2]],
        series: [components().dimensions.series[1]],
        observation: components().dimensions.observation,
      },
    }),
  }),
  'generic SDMX-ML': generic(`
    <g:Series><g:SeriesKey>${key('USD')}</g:SeriesKey>${obs('2024-01', '1.5')}${obs('2024-02', 'NaN')}${obs('2024-03', '1.25')}</g:Series>
    <g:Series><g:SeriesKey>${key('GBP')}</g:SeriesKey>${obs('2024-01', '0.85')}</g:Series>`),
  'generic SDMX-ML with flat observations': generic(
    [
      ['USD', '2024-01', '1.5'],
      ['USD', '2024-02', ''],
      ['USD', '2024-03', '1.25'],
      ['GBP', '2024-01', '0.85'],
    ]
      .map(
        ([currency, period, amount]) =>
          `<g:Obs><g:ObsKey>${key(currency!)}${value('TIME_PERIOD', period!)}</g:ObsKey><g:ObsValue value="${amount}"/></g:Obs>`,
      )
      .join(''),
    'AllDimensions',
  ),
  'generic SDMX-ML with another dimension at the observation': generic(
    [
      ['2024-01', obs('USD', '1.5') + obs('GBP', '0.85')],
      ['2024-02', obs('USD', '')],
      ['2024-03', obs('USD', '1.25')],
    ]
      .map(
        ([period, all]) =>
          `<g:Series><g:SeriesKey>${value('FREQ', 'M')}${value('TYPE', 'S')}${value('TIME_PERIOD', period!)}</g:SeriesKey>${all}</g:Series>`,
      )
      .join(''),
    'CURRENCY',
  ),
  'structure-specific SDMX-ML': specific(`
    <Series TYPE="S" CURRENCY="USD" FREQ="M" UNIT="EUR"><Obs TIME_PERIOD="2024-01" OBS_VALUE="1.5"/><Obs TIME_PERIOD="2024-02"/><Obs TIME_PERIOD="2024-03" OBS_VALUE="1.25"/></Series>
    <Series TYPE="S" CURRENCY="GBP" FREQ="M" UNIT="EUR"><Obs TIME_PERIOD="2024-01" OBS_VALUE="0.85"/></Series>`),
  'structure-specific SDMX-ML with flat observations': specific(`
    <Obs TIME_PERIOD="2024-01" OBS_VALUE="1.5" FREQ="M" CURRENCY="USD" TYPE="S"/><Obs FREQ="M" CURRENCY="USD" TYPE="S" TIME_PERIOD="2024-02" OBS_VALUE="NaN"/>
    <Obs TIME_PERIOD="2024-03" OBS_VALUE="1.25" FREQ="M" CURRENCY="USD" TYPE="S"/><Obs TIME_PERIOD="2024-01" OBS_VALUE="0.85" FREQ="M" CURRENCY="GBP" TYPE="S"/>`),
}
