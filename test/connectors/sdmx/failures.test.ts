import { describe, expect, it } from 'vitest'
import { readData } from '../../../connectors/sdmx/data/data.ts'
import { key } from '../support/formats.ts'

const read = (text: string, status = 200) =>
  readData({ status, headers: {}, text }, { pattern: undefined, dimensions: undefined })

describe('failures in the body', () => {
  const footer = (body: string) =>
    `<m:GenericData xmlns:m="m"><m:Header/>${body}<f:Footer xmlns:f="f"><f:Message code="413" severity="Information"><Text>Later</Text></f:Message></f:Footer></m:GenericData>`

  it.each([
    ['an error of SDMX-ML', '<m:Error xmlns:m="m"><m:ErrorMessage code="100"/></m:Error>', 'no-results'],
    ['a syntax error', '<m:Error xmlns:m="m"><m:ErrorMessage code="140"/></m:Error>', 'refused'],
    ['a SOAP fault', '<S:Fault xmlns:S="s"><faultcode>100</faultcode></S:Fault>', 'no-results'],
    [
      'a fault in an envelope',
      '<E:Envelope xmlns:E="e"><E:Body><E:Fault><faultcode>130</faultcode></E:Fault></E:Body></E:Envelope>',
      'too-large',
    ],
    ['a footer that puts off the answer', footer(''), 'too-large'],
    ["Eurostat's errors", '{"error":[{"status":404,"id":100,"label":"No results"}]}', 'no-results'],
    ["Eurostat's warning", '{"warning":{"status":413,"label":"Asynchronous"}}', 'too-large'],
    ['errors of SDMX-JSON', '{"errors":[{"code":503,"title":"x"}],"data":null}', 'failing'],
    ["the gateway's status", '{"statusCode":429,"message":"Rate limit is exceeded"}', 'limited'],
    ['an error without a known code', '{"error":[{"status":"odd"}]}', 'unreadable'],
    ['a page of HTML', '<html><head></head><body>Maintenance</body></html>', 'unreadable'],
    ['plain text', 'Service temporarily unavailable', 'unreadable'],
    ['JSON that is cut off', '{"data":{"dataSets":[{"series":{"0', 'unreadable'],
    ['XML that is cut off', '<m:GenericData xmlns:m="m"><m:DataSet>', 'unreadable'],
    ['CSV that is cut off', 'DATAFLOW,FREQ,TIME_PERIOD,OBS_VALUE\nX,M,2024', 'unreadable'],
  ])('tells %s', (_, text, kind) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ kind }))
  })

  it('reads data that stand above a footer', () => {
    const series = `<m:DataSet><Series><SeriesKey>${key('USD').replaceAll('g:', '')}</SeriesKey></Series></m:DataSet>`
    expect(read(footer(series)).series).toHaveLength(1)
  })

  it.each([
    [204, '', 'no-results'],
    [400, '', 'refused'],
    [400, '<Error><ErrorMessage code="100"/></Error>', 'no-results'],
    [403, '<html>', 'failing'],
    [404, 'NoResultsFound', 'no-results'],
    [406, '', 'unreadable'],
    [413, '', 'too-large'],
    [429, '', 'limited'],
    [413, '{"error":{"status":413,"id":"EXTRACTION_TOO_BIG"}}', 'too-large'],
  ])('reads status %i with body %j', (status, text, kind) => {
    expect(() => read(text, status)).toThrow(expect.objectContaining({ kind }))
  })
})
