import { malformed } from '../text/errors.ts'

/** The callbacks for what `XmlReader` reads. Names are passed without their namespace prefix. */
export interface XmlHandler {
  open(name: string, attributes: string): void
  close?(name: string): void
  text?(text: string): void
}

const [SPACE, DOUBLE_QUOTE, SINGLE_QUOTE, COLON, GREATER] = [0x20, 0x22, 0x27, 0x3a, 0x3e]

/** Longer tags and texts are refused. Workbooks have none: a cell holds at most 32,767 characters. */
const LONGEST = 4 * 1024 * 1024

/**
 * Reads the XML of office documents piece by piece: elements, attributes, text. Document type declarations are refused,
 * so that no entity can expand to a huge text, and nothing is ever fetched.
 */
export class XmlReader {
  readonly #handler: XmlHandler
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #rest = ''
  #depth = 0
  #begun = false

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  /** @throws EngineError `invalid_upload` */
  push(bytes: Uint8Array): void {
    this.#read(this.#rest + this.#decode(bytes), false)
  }

  end(): void {
    this.#read(this.#rest + this.#decode(), true)
    if (this.#depth !== 0 || !this.#begun) throw broken()
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return bytes ? this.#decoder.decode(bytes, { stream: true }) : this.#decoder.decode()
    } catch {
      throw malformed('The workbook is damaged: its text is not valid UTF-8.')
    }
  }

  #read(text: string, final: boolean): void {
    let at = 0
    for (;;) {
      const tag = text.indexOf('<', at)
      if (tag < 0) break
      if (tag > at) this.#text(text, at, tag)
      const end = tagEnd(text, tag)
      if (end < 0) {
        at = tag
        break
      }
      this.#tag(text, tag, end)
      at = end
    }
    this.#rest = text.slice(at)
    if (this.#rest.length > LONGEST || (final && this.#rest.trim() !== '')) throw broken()
  }

  #text(text: string, from: number, to: number): void {
    if (this.#depth > 0) this.#handler.text?.(unescapeXml(text.slice(from, to)))
  }

  #tag(text: string, from: number, to: number): void {
    const second = text.charCodeAt(from + 1)
    if (second === 0x2f) {
      if (--this.#depth < 0) throw broken()
      this.#handler.close?.(localName(text.slice(from + 2, to - 1).trimEnd()))
      return
    }
    if (second === 0x21) {
      if (text.startsWith('<![CDATA[', from)) this.#handler.text?.(text.slice(from + 9, to - 3))
      else if (!text.startsWith('<!--', from)) throw malformed('The workbook declares a document type.')
      return
    }
    if (second === 0x3f) return
    const empty = text.charCodeAt(to - 2) === 0x2f
    const inside = text.slice(from + 1, empty ? to - 2 : to - 1)
    let blank = 0
    while (blank < inside.length && inside.charCodeAt(blank) > SPACE) blank++
    const name = localName(inside.slice(0, blank))
    if (name === '') throw broken()
    this.#begun = true
    this.#handler.open(name, inside.slice(blank))
    if (empty) this.#handler.close?.(name)
    else this.#depth++
  }
}

/** The position behind a tag, comment or section that begins at `from`; -1 if it goes on behind the text. */
function tagEnd(text: string, from: number): number {
  if (text.charCodeAt(from + 1) === 0x21) {
    if (text.startsWith('<!--', from)) return behind(text, '-->', from + 4)
    if (text.startsWith('<![CDATA[', from)) return behind(text, ']]>', from + 9)
    if (text.length < from + 9) return -1
  }
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === GREATER) return at + 1
    // A `>` inside of an attribute's quotes does not end the tag.
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      at = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1)
      if (at < 0) return -1
    }
  }
  return -1
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? -1 : at + mark.length
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The value of an attribute in the text between a tag's name and its end. */
export function attribute(attributes: string, name: string): string | undefined {
  for (let at = 0; ; ) {
    const equals = attributes.indexOf('=', at)
    if (equals < 0) return undefined
    let open = equals + 1
    while (attributes.charCodeAt(open) <= SPACE) open++
    const quote = attributes.charCodeAt(open) === SINGLE_QUOTE ? "'" : '"'
    const close = attributes.indexOf(quote, open + 1)
    if (close < 0) return undefined
    let end = equals
    while (end > at && attributes.charCodeAt(end - 1) <= SPACE) end--
    // The name follows a blank, or the prefix of a namespace; otherwise it is the end of another name.
    const before = attributes.charCodeAt(end - name.length - 1)
    if ((before <= SPACE || before === COLON) && attributes.startsWith(name, end - name.length)) {
      return unescapeXml(attributes.slice(open + 1, close))
    }
    at = close + 1
  }
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (name[0] !== '#') return ENTITIES.get(name) ?? whole
    const code =
      name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
  })
}

function broken(): Error {
  return malformed('The workbook is damaged: its XML is broken.')
}
