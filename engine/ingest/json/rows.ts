import { EngineError } from '../../errors.ts'
import { MOST_COLUMNS } from '../../types/columns.ts'
import type { ColumnType } from '../../types/index.ts'
import { acceptsValue } from '../text/accepted.ts'
import { acceptance, Blanks, CellWriter } from '../text/cell-writer.ts'
import { Faults } from '../text/findings.ts'
import { badRow, badValue, missingValue } from '../text/value-errors.ts'
import { type JsonReader, TOKEN } from './json-reader.ts'

const ABSENT = -1
const [COMMA, COLON, CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE] = [
  0x2c, 0x3a, 0x5d, 0x7d, 0x5b, 0x7b, 0x22,
]

/** A column of a JSON upload: what is known about it before a pass over the upload, and what the pass learns. */
interface JsonField {
  readonly name: string
  /** Undefined where the type is to be inferred. */
  readonly type: ColumnType | undefined
  readonly nullable: boolean
  readonly description: string
  /** Whether some value is an array or an object; all values are kept as JSON then. */
  nested: boolean
  /** The kinds of the values that are numbers or booleans. */
  scalars: number
  /** The kinds of the values that are strings. */
  texts: number
  /** How many values are not null. */
  values: number
  width: number
}

/** Which columns the values of rows belong to. */
export interface JsonLayout {
  /** The columns so far, in order. If `open`, unknown keys of objects are added to them. */
  readonly fields: readonly Pick<JsonField, 'name' | 'type' | 'nullable' | 'description' | 'nested'>[]
  readonly open: boolean
  /** The fields that the values of an array row belong to, in order; undefined where this is not known. */
  readonly positions: readonly number[] | undefined
  /** Whether the columns are the dataset's or the upload's own. The error for an unknown key depends on this. */
  readonly owner: 'dataset' | 'upload'
}

/** Reads rows, which are arrays or objects, and writes each as a csv record with a field for each column. */
export class JsonRows {
  readonly out = new CellWriter()
  readonly fields: JsonField[] = []
  rows = 0
  /**
   * Set when a column turned up after rows without it were written, or turned out to be nested after strings were
   * written as text. The csv can't be used then, and the pass is repeated with the columns that this one has learned.
   */
  stale = false
  /** The number of the first row that is an array although it is not known which columns its values belong to; or 0. */
  waiting = 0
  readonly layout: JsonLayout
  readonly #fieldOf = new Map<string, number>()
  readonly #keys: Buffer[] = []
  /** Per field: the token of its value in the row under way; `#kinds`, `#from` and `#to` say more about that value. */
  readonly #tokens: number[] = []
  readonly #kinds: number[] = []
  /** The fields for which the row has a value, as they come; `#ascending` says whether in the order of the columns. */
  readonly #present: number[] = []
  #ascending = true
  /** The fields that are not nullable. */
  readonly #required: number[] = []
  readonly #blanks = new Blanks()
  /** Values that don't fit into their columns. */
  readonly faults = new Faults()
  readonly #from: number[] = []
  readonly #to: number[] = []

  constructor(layout: JsonLayout) {
    this.layout = layout
    for (const field of layout.fields) this.#addField(field)
  }

  /** Reads one row. If this throws `INCOMPLETE`, nothing has changed, except that columns may have been added. */
  read(reader: JsonReader, buffer: Buffer): void {
    reader.row = this.rows + 1
    for (const field of this.#present) this.#tokens[field] = ABSENT
    this.#present.length = 0
    const byte = reader.peek()
    if (byte === OPEN_OBJECT) this.#object(reader, buffer)
    else if (byte === OPEN_ARRAY) this.#array(reader)
    else throw reader.unexpected('a row, which is an array or an object')
    this.rows++
    for (const field of this.#required) {
      const token = this.#tokens[field]
      if (token === ABSENT || token === TOKEN.null)
        this.faults.add(missingValue(this.rows, this.fields[field]!.name))
    }
    this.#write(reader, buffer)
    reader.row = 0
  }

  /** Writes the values of the row. It only visits the fields that the row has, so that sparse rows cost little. */
  #write(reader: JsonReader, buffer: Buffer): void {
    this.#blanks.add(this.rows, this.fields.length, this.#present.length)
    if (!this.#ascending) this.#present.sort((a, b) => a - b)
    let written = 0
    for (const field of this.#present) {
      if (this.#tokens[field] === TOKEN.null) continue
      if (!this.stale) this.out.delimit(field - written)
      written = field
      this.#settle(field, reader, buffer)
    }
    if (this.stale) return
    this.out.delimit(Math.max(this.fields.length - 1 - written, 0))
    this.out.endRecord()
  }

  #object(reader: JsonReader, buffer: Buffer): void {
    reader.at++
    if (reader.peek() === CLOSE_OBJECT) {
      reader.at++
      return
    }
    let expected = 0
    for (;;) {
      if (reader.peek() !== QUOTE) throw reader.unexpected('a key in quotes')
      reader.string()
      let field = expected
      if (!this.#isKey(reader, buffer, expected)) field = this.#lookUp(reader.text())
      if (this.#tokens[field] !== ABSENT) {
        throw badRow(reader.row, `: the key ${JSON.stringify(this.fields[field]!.name)} stands twice.`)
      }
      expected = field + 1
      reader.expect(COLON, '":" behind a key')
      reader.value()
      this.#keep(field, reader)
      const byte = reader.peek()
      if (byte !== COMMA && byte !== CLOSE_OBJECT) throw reader.unexpected('"," or "}"')
      reader.at++
      if (byte === CLOSE_OBJECT) return
    }
  }

  #array(reader: JsonReader): void {
    const { positions } = this.layout
    if (!positions) {
      // The columns may be declared behind the rows.
      reader.value()
      this.waiting ||= reader.row
      this.stale = true
      return
    }
    reader.at++
    let count = 0
    if (reader.peek() === CLOSE_ARRAY) reader.at++
    else {
      for (;;) {
        reader.value()
        if (count < positions.length) this.#keep(positions[count]!, reader)
        count++
        const byte = reader.peek()
        if (byte !== COMMA && byte !== CLOSE_ARRAY) throw reader.unexpected('"," or "]"')
        reader.at++
        if (byte === CLOSE_ARRAY) break
      }
    }
    if (count !== positions.length) {
      throw badRow(reader.row, ` has ${count} values for ${positions.length} columns.`)
    }
  }

  #keep(field: number, reader: JsonReader): void {
    const { length } = this.#present
    this.#ascending = length === 0 || (this.#ascending && field > this.#present[length - 1]!)
    this.#present.push(field)
    this.#tokens[field] = reader.token
    this.#kinds[field] = reader.kind
    this.#from[field] = reader.from
    this.#to[field] = reader.to
  }

  /** Whether the key read last is that of `field`. This is tried first, since rows mostly keep the order of keys. */
  #isKey(reader: JsonReader, buffer: Buffer, field: number): boolean {
    const key = this.#keys[field]
    if (!key || reader.token !== TOKEN.string || reader.to - reader.from !== key.length) return false
    for (let i = 0; i < key.length; i++) if (key[i] !== buffer[reader.from + i]) return false
    return true
  }

  #lookUp(name: string): number {
    const known = this.#fieldOf.get(name)
    if (known !== undefined) return known
    const quoted = JSON.stringify(name)
    const row = this.rows + 1
    if (!this.layout.open) {
      if (this.layout.owner === 'dataset') {
        throw new EngineError(
          'column_conflict',
          `Row ${row} has a column ${quoted} that the dataset does not have. Column names are case-sensitive; declare new columns first, or replace columns and rows together (columns=replace).`,
          { details: { row, column: name, wanted: null } },
        )
      }
      throw badRow(row, ` has a key ${quoted} that is not among the declared columns.`, { column: name })
    }
    if (this.fields.length >= MOST_COLUMNS) {
      throw badRow(row, ` has a key ${quoted}, which would be column ${MOST_COLUMNS + 1}: too many.`)
    }
    if (this.rows > 0) this.stale = true
    this.#addField({ name, type: undefined, nullable: true, description: '', nested: false })
    return this.fields.length - 1
  }

  #addField(field: JsonLayout['fields'][number]): void {
    this.#fieldOf.set(field.name, this.fields.length)
    this.#keys.push(Buffer.from(field.name))
    this.#tokens.push(ABSENT)
    if (!field.nullable) this.#required.push(this.fields.length)
    this.fields.push({ ...field, scalars: 0, texts: 0, values: 0, width: 0 })
  }

  /** Checks a value of the row and writes it. */
  #settle(index: number, reader: JsonReader, buffer: Buffer): void {
    const field = this.fields[index]!
    const { out } = this
    const token = this.#tokens[index]!
    const from = this.#from[index]!
    const to = this.#to[index]!
    const kind = this.#kinds[index]!
    const isText = token === TOKEN.string || token === TOKEN.escapedString
    if (field.type !== undefined && field.type !== 'json') this.#check(field, token, kind, buffer, from, to)
    if (isText) field.texts |= kind
    else if (token === TOKEN.nested) {
      if (!field.nested && field.texts !== 0) this.stale = true
      field.nested = true
    } else field.scalars |= kind
    field.values++
    field.width += to - from
    if (this.stale) return
    if (field.nested || field.type === 'json') {
      if (isText) out.appendQuoted(buffer, from - 1, to + 1)
      else if (token === TOKEN.nested) out.appendQuoted(buffer, from, to)
      else out.appendPlain(buffer, from, to)
    } else if (token === TOKEN.escapedString) out.appendText(this.#textOf(reader, from, to))
    else if (to === from) out.appendQuoted(buffer, from, to)
    else out.appendPlain(buffer, from, to)
  }

  #check(field: JsonField, token: number, kind: number, buffer: Buffer, from: number, to: number): void {
    const type = field.type!
    const isText = token !== TOKEN.number && token !== TOKEN.boolean
    if (token !== TOKEN.nested) {
      const accepted = acceptance(type, kind, isText)
      if (accepted === 'yes') return
      if (accepted === 'look' && acceptsValue(type, buffer.toString('utf8', from, to))) return
    }
    const text = buffer.toString('utf8', from, Math.min(to, from + 400))
    this.faults.add(badValue(this.rows, field.name, text, type, isText))
  }

  #textOf(reader: JsonReader, from: number, to: number): string {
    reader.token = TOKEN.escapedString
    reader.from = from
    reader.to = to
    return reader.text()
  }
}
