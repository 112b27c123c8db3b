import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ODataError } from '../../server/odata/errors.ts'
import { resourceAt } from '../../server/odata/path.ts'

test.each([
  ['', { kind: 'service' }],
  ['$metadata', { kind: 'metadata' }],
  ['$batch', { kind: 'batch' }],
  ['T', { kind: 'set', set: 'T' }],
  ['T/$count', { kind: 'count', set: 'T' }],
  ['T/$query', { kind: 'query', set: 'T' }],
  ['T/', { kind: 'set', set: 'T' }],
  ['T(17L)', { kind: 'entity', set: 'T', key: 17 }],
  ['T(Row=17l)', { kind: 'entity', set: 'T', key: 17 }],
  ['T(17)', { kind: 'entity', set: 'T', key: 17 }],
  ['T(Row=17)', { kind: 'entity', set: 'T', key: 17 }],
  ['T/17', { kind: 'entity', set: 'T', key: 17 }],
  ['T(17)/a', { kind: 'property', set: 'T', key: 17, property: 'a', raw: false }],
  ['T/17/a/$value', { kind: 'property', set: 'T', key: 17, property: 'a', raw: true }],
])('%s', (path, resource) => {
  expect(resourceAt(path.split('/'))).toEqual(resource)
})

test.each([
  '$entity',
  '$metadata/x',
  'T/a',
  'T/$count/x',
  'T(1)/a/b',
  'T(1)/$ref',
  'T/$value',
])('%s leads nowhere', (path) => {
  expect(() => resourceAt(path.split('/'))).toThrow('There is nothing under')
})

test.each(["T('a')", 'T(1.5)', 'T(-1)', 'T(1,2)', 'T(Id=1)', 'T(1'])('%s has no key of ours', (path) => {
  expect(() => resourceAt([path])).toThrow('keys are row numbers, for example T(17)')
})

test('any path is a resource or refused', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 6 }), (path) => {
      try {
        resourceAt(path)
      } catch (error) {
        expect(error).toBeInstanceOf(ODataError)
      }
    }),
  )
})
