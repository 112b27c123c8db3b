import { expect, test } from 'vitest'
import { jsonContentType, jsonFor, metadataIsJson, versionFor } from '../../server/odata/negotiate.ts'

/** What Power Query sends with every request. */
const POWER_QUERY =
  'application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,' +
  'application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7'

test('the version is the highest that both know', () => {
  expect(versionFor(undefined)).toBe('4.01')
  expect(versionFor('4.0')).toBe('4.0')
  expect(versionFor('4.01')).toBe('4.01')
  expect(versionFor('9.9')).toBe('4.01')
  expect(() => versionFor('3.0')).toThrow('OData-MaxVersion is 3.0')
  expect(() => versionFor('new')).toThrow('must be 4.0 or 4.01')
})

test.each([
  [undefined, undefined, 'minimal', false],
  [undefined, '*/*', 'minimal', false],
  [undefined, POWER_QUERY, 'minimal', false],
  [undefined, 'application/json;odata.metadata=full', 'full', false],
  [undefined, 'application/json;metadata=none', 'none', false],
  [undefined, 'application/json;IEEE754Compatible=true', 'minimal', true],
  [
    undefined,
    'application/json;odata.metadata=full;q=0.5, application/json;odata.metadata=none',
    'none',
    false,
  ],
  [undefined, '*/*, application/json;odata.metadata=full', 'full', false],
  ['json', 'application/xml', 'minimal', false],
  ['application/json;odata.metadata=full', undefined, 'full', false],
])('$format %j and Accept %j ask for metadata %s', (format, accept, metadata, ieee754) => {
  expect(jsonFor(format, accept)).toEqual({ metadata, ieee754 })
})

test('who takes no JSON is told so', () => {
  for (const accept of ['application/atom+xml', 'text/html;q=1', 'application/json;q=0']) {
    expect(() => jsonFor(undefined, accept)).toThrow('answered as application/json only')
  }
  expect(() => jsonFor('atom', undefined)).toThrow('$format is "atom"')
  expect(() => jsonFor('application/json;odata.metadata=most', undefined)).toThrow('it must be none')
})

test('metadata is XML unless JSON alone is asked for', () => {
  expect(metadataIsJson(undefined, undefined, '4.01')).toBe(false)
  expect(metadataIsJson(undefined, POWER_QUERY, '4.01')).toBe(false)
  expect(metadataIsJson(undefined, '*/*', '4.01')).toBe(false)
  expect(metadataIsJson(undefined, 'text/html', '4.01')).toBe(false)
  expect(metadataIsJson(undefined, 'application/json', '4.01')).toBe(true)
  expect(metadataIsJson('json', POWER_QUERY, '4.01')).toBe(true)
  expect(metadataIsJson('xml', 'application/json', '4.01')).toBe(false)
  // There is no CSDL JSON in 4.0.
  expect(metadataIsJson(undefined, 'application/json', '4.0')).toBe(false)
  expect(() => metadataIsJson('json', undefined, '4.0')).toThrow('application/xml only')
})

test('the content type says what was given', () => {
  expect(jsonContentType({ metadata: 'full', ieee754: true }, true)).toBe(
    'application/json;odata.metadata=full;odata.streaming=true;IEEE754Compatible=true;charset=utf-8',
  )
})
