import { describe, expect, it } from 'vitest'
import { Failure } from '../../../connectors/failures.ts'
import {
  attribute,
  attributes,
  child,
  children,
  localised,
  parseXml,
  textOf,
} from '../../../connectors/sdmx/text/xml.ts'

describe('XML', () => {
  it('drops prefixes of elements, whichever they are', () => {
    for (const prefix of ['', 'mes:', 'message:', 'x-1:']) {
      const { name, root } = parseXml(`<?xml version="1.0"?><${prefix}A><${prefix}B id="1"/></${prefix}A>`)
      expect([name, attribute(child(root, 'B'), 'id')]).toEqual(['A', '1'])
    }
  })

  it('gives one child and several children alike as a list', () => {
    const { root } = parseXml('<A><B>1</B><C/><C/></A>')
    expect(['B', 'C', 'D'].map((name) => children(root, name).length)).toEqual([1, 2, 0])
  })

  it('decodes the entities of XML and character references once, and leaves CDATA alone', () => {
    const { root } = parseXml(
      '<A t="&lt;&#233;&#xE9;&gt;"><B>&amp;lt; &quot;x&quot;</B><C><![CDATA[<&amp;>]]></C></A>',
    )
    expect(attribute(root, 't')).toBe('<éé>')
    expect(textOf(child(root, 'B'))).toBe('&lt; "x"')
    expect(textOf(child(root, 'C'))).toBe('<&amp;>')
  })

  it('drops references to characters that XML does not have', () => {
    expect(textOf(parseXml('<A>a&#xD800;&#0;b</A>').root)).toBe('ab')
  })

  it('prefers English among the languages of a name', () => {
    const names =
      '<Name xml:lang="fr">Taux</Name><Name xml:lang="en">Rate</Name><Name xml:lang="de">Satz</Name>'
    expect(localised(parseXml(`<A>${names}</A>`).root, 'Name')).toBe('Rate')
    expect(localised(parseXml('<A><Name xml:lang="no">Rente</Name></A>').root, 'Name')).toBe('Rente')
    expect(localised(parseXml('<A/>').root, 'Name')).toBe('')
  })

  it('tells components from attributes of the schema', () => {
    const { root } = parseXml('<A xmlns="u" xmlns:x="v" x:type="T" type="codes" FREQ="M"/>')
    expect(attributes(root)).toEqual([
      ['type', 'codes'],
      ['FREQ', 'M'],
    ])
  })

  const bomb = `<!DOCTYPE a [<!ENTITY x "${'ha'.repeat(50)}"><!ENTITY y "${'&x;'.repeat(50)}">]><a>&y;</a>`
  it.each([
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['an entity bomb', bomb],
    ['a page of HTML', '<!DOCTYPE html><html><body><p>Down<br></body></html>'],
    ['an end tag that is missing', '<a><b/>'],
    ['tags in the wrong order', '<a><b></a></b>'],
    ['a cut in a tag', '<a><b id="1'],
    ['no XML', 'Service unavailable'],
    ['names that are dangerous in JavaScript', '<a><__proto__>1</__proto__></a>'],
    ['elements nested without end', `${'<a>'.repeat(5000)}${'</a>'.repeat(5000)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parseXml(text)).toThrow(Failure)
  })

  it('leaves an undeclared entity as it stands', () => {
    expect(textOf(parseXml('<a>&nope;</a>').root)).toBe('&nope;')
  })
})
