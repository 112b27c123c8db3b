import { EngineError } from '../../errors.ts'
import { MOST_COLUMNS } from '../../types/columns.ts'
import { counted } from '../../util/counted.ts'
import type { UnnamedColumns, UploadOptions } from '../request.ts'
import { type Target, UNKNOWN_COLUMN } from '../targets.ts'
import { Blanks } from '../text/blanks.ts'
import { badRow, badValue, type Faults, missingValue, plainReason } from '../text/errors.ts'
import { CellWriter, type FieldFindings, inferTyped, kindOfEmpty, nothingFound } from '../text/rewritten.ts'
import { accepts, certainKinds, holdsEmpty, TEXT_KIND } from '../text/text-kinds.ts'
import { type JsonReader, TOKEN } from './json-reader.ts'

const ABSENT = -1
const [COMMA, COLON, CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE] = [
  0x2c, 0x3a, 0x5d, 0x7d, 0x5b, 0x7b, 0x22,
]

/** What is known about a column of a JSON upload before a pass over the upload. */
interface JsonColumn extends Omit<Target, 'source'> {
  /** Whether some value is an array or an object; all values are kept as JSON then. */
  readonly nested: boolean
}

/** What a pass learns about a column, and its value in the row under way. */
interface JsonField extends JsonColumn, FieldFindings {
  nested: boolean
  readonly index: number
  /** Its name as the file most likely has it. */
  readonly key: Buffer
  /** How many rows name it. */
  named: number
  /** The kinds of values that the declared type accepts without a look at them. */
  readonly certain: number
  /** Whether the empty text is null in it, whatever the other values are. */
  readonly emptyIsNull: boolean
  /** The value as `JsonReader` gives it; `ABSENT` where the row has none. */
  token: number
  kind: number
  from: number
  to: number
}

/** Which columns the values of rows belong to. */
export interface JsonLayout {
  /** The columns so far, in order. */
  readonly fields: readonly JsonColumn[]
  /**
   * The fields that the values of an array row belong to, in order.
   */
  readonly positions: readonly number[] | undefined
  /** Whether the columns are the dataset's. The error for an unknown key depends on this. */
  readonly ofDataset: boolean
  /** Whether unknown keys are added to the columns, even if there are positions. */
  readonly open: boolean
  /** Whether columns that are not nullable may be left out. */
  readonly keeps: boolean
  /** The columns that every row has to name. */
  readonly key: readonly string[]
  /** The columns that the upload declares. */
  readonly declared: ReadonlySet<string>
  /** Whether each row ends with a field that says which columns it names as null. */
  readonly marked: boolean
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
  readonly #fieldOf = new Map<string, JsonField>()
  /** The fields for which the row has a value, as they come; `#ascending` says whether in the order of the columns. */
  readonly #present: JsonField[] = []
  #ascending = true
  /** The fields that are not nullable. */
  readonly #required: JsonField[] = []
  /** The fields that every row has to name. */
  readonly #key: JsonField[] = []
  /** The first row that lacks a column of the key. */
  lacksKey: { readonly row: number; readonly name: string } | undefined
  /** The positions of columns that are named as null, in each row between commas. */
  readonly marks: FieldFindings = nothingFound()
  readonly #blanks = new Blanks()
  /** For values that don't fit into their columns. */
  readonly #faults: Faults
  readonly #options: UploadOptions | undefined
  /** The kind as which an empty text counts. */
  readonly #empty: number

  constructor(layout: JsonLayout, faults: Faults, options?: UploadOptions) {
    this.#options = options
    this.#empty = kindOfEmpty(options)
    this.layout = layout
    this.#faults = faults
    for (const field of layout.fields) this.#addField(field)
  }

  /** Which columns rows do not name. */
  get unnamed(): UnnamedColumns {
    const positions = (holds: (field: JsonField) => boolean) =>
      this.fields.filter(holds).map(({ index }) => index)
    return {
      all: positions(({ named }) => named === 0),
      some: positions(({ named }) => named > 0 && named < this.rows),
      marked: this.layout.marked,
    }
  }

  /** Whether a column that some rows do not name is null in others. */
  get confuses(): boolean {
    return this.fields.some(({ named, values }) => named < this.rows && values < named)
  }

  /** Reads one row. If this throws `INCOMPLETE`, nothing has changed, except that columns may have been added. */
  read(reader: JsonReader): void {
    reader.row = this.rows + 1
    for (const field of this.#present) field.token = ABSENT
    this.#present.length = 0
    const byte = reader.peek()
    if (byte === OPEN_OBJECT) this.#object(reader)
    else if (byte === OPEN_ARRAY) this.#array(reader)
    else throw reader.unexpected('a row, which is an array or an object')
    this.rows++
    for (const { token, name } of this.#required) {
      const isMissing = token === TOKEN.null || (token === ABSENT && !this.layout.keeps)
      if (isMissing) this.#faults.add(missingValue(this.rows, name))
    }
    for (const { token, name } of this.#key) {
      if (token === ABSENT) this.lacksKey ??= { row: this.rows, name }
    }
    this.#write(reader)
    reader.row = 0
  }

  /** Writes the values of the row. It only visits the fields that the row has, so that sparse rows cost little. */
  #write(reader: JsonReader): void {
    this.#blanks.add(this.rows, this.fields.length, this.#present.length)
    if (!this.#ascending) this.#present.sort((a, b) => a.index - b.index)
    let written = 0
    let nulls = ''
    for (const field of this.#present) {
      field.named++
      if (field.token === TOKEN.null) {
        if (this.layout.marked) nulls += `,${field.index}`
        continue
      }
      if (!this.stale) this.out.delimit(field.index - written)
      written = field.index
      this.#settle(field, reader)
    }
    if (this.stale) return
    this.out.delimit(Math.max(this.fields.length - 1 - written, 0))
    if (this.layout.marked) {
      this.out.delimit()
      if (nulls !== '') {
        this.marks.values++
        this.marks.width += this.out.appendText(`${nulls},`)
      }
    }
    this.out.endRecord()
  }

  #object(reader: JsonReader): void {
    reader.at++
    if (reader.peek() === CLOSE_OBJECT) {
      reader.at++
      return
    }
    let expected: JsonField | undefined = this.fields[0]
    for (;;) {
      if (reader.peek() !== QUOTE) throw reader.unexpected('a key in quotes')
      reader.string()
      // Rows mostly keep the order of keys, so the next one is tried first.
      const field: JsonField =
        expected && isKey(reader, expected.key) ? expected : this.#lookUp(reader.text())
      if (field.token !== ABSENT) {
        throw badRow(reader.row, `: the key ${JSON.stringify(field.name)} stands twice.`)
      }
      expected = this.fields[field.index + 1]
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
        if (count < positions.length) this.#keep(this.fields[positions[count]!]!, reader)
        count++
        const byte = reader.peek()
        if (byte !== COMMA && byte !== CLOSE_ARRAY) throw reader.unexpected('"," or "]"')
        reader.at++
        if (byte === CLOSE_ARRAY) break
      }
    }
    if (count !== positions.length) {
      throw badRow(reader.row, ` has ${counted(count, 'value')} for ${counted(positions.length, 'column')}.`)
    }
  }

  #keep(field: JsonField, { token, kind, from, to }: JsonReader): void {
    const { length } = this.#present
    this.#ascending = length === 0 || (this.#ascending && field.index > this.#present[length - 1]!.index)
    this.#present.push(field)
    const isEmpty = kind === TEXT_KIND.empty && token === TOKEN.string
    field.token = isEmpty && field.emptyIsNull ? TOKEN.null : token
    field.kind = isEmpty ? this.#empty : kind
    field.from = from
    field.to = to
  }

  #lookUp(name: string): JsonField {
    const known = this.#fieldOf.get(name)
    if (known) return known
    const quoted = JSON.stringify(name)
    const row = this.rows + 1
    if (!this.layout.open) {
      if (this.layout.ofDataset) {
        throw new EngineError('column_conflict', `Row ${row} has a column ${quoted} ${UNKNOWN_COLUMN}`, {
          details: { row, column: name, wanted: null },
        })
      }
      throw badRow(row, ` has a key ${quoted} that is not among the declared columns.`, { column: name })
    }
    if (this.fields.length >= MOST_COLUMNS) {
      throw badRow(row, ` has a key ${quoted}, which would be column ${MOST_COLUMNS + 1}: too many.`)
    }
    if (this.rows > 0) this.stale = true
    return this.#addField({ name, type: undefined, nullable: true, description: '', nested: false })
  }

  #addField(column: JsonColumn): JsonField {
    const { name, type, nullable } = column
    const field: JsonField = {
      ...column,
      ...nothingFound(),
      index: this.fields.length,
      key: Buffer.from(name),
      named: 0,
      certain: type === undefined ? 0 : certainKinds(type, this.#options),
      emptyIsNull:
        this.#empty === TEXT_KIND.empty && type !== undefined && type !== 'json' && !holdsEmpty(type),
      token: ABSENT,
      kind: 0,
      from: 0,
      to: 0,
    }
    this.#fieldOf.set(name, field)
    if (!nullable) this.#required.push(field)
    if (this.layout.key.includes(name)) this.#key.push(field)
    this.fields.push(field)
    return field
  }

  /** Checks a value of the row and writes it. */
  #settle(field: JsonField, reader: JsonReader): void {
    const { out } = this
    const { buffer } = reader
    const { type, token, kind, from, to } = field
    const isText = token === TOKEN.string || token === TOKEN.escapedString
    const isCertain = token !== TOKEN.nested && (kind & ~field.certain) === 0
    if (type !== undefined && type !== 'json' && !isCertain) this.#check(field, buffer)
    const { scalars, texts } = field
    if (isText) field.texts |= kind
    else if (token === TOKEN.nested) {
      if (!field.nested && field.texts !== 0) this.stale = true
      field.nested = true
    } else field.scalars |= kind
    const isNew = field.scalars !== scalars || field.texts !== texts
    if (isNew && type === undefined && field.scalars !== 0 && inferTyped(field) === 'string') {
      const text = isText ? reader.text(field) : buffer.toString('utf8', from, to)
      field.reason ??= plainReason(this.rows, text, inferTyped({ scalars, texts }))
    }
    if (isNew && kind & TEXT_KIND.rounded)
      field.rounded ??= plainReason(this.rows, buffer.toString('latin1', from, to))
    field.values++
    if (isText && kind === TEXT_KIND.empty && !field.nested && type !== 'json') field.empties++
    field.width += to - from
    if (this.stale) return
    if (field.nested || type === 'json') {
      if (isText) out.appendQuoted(buffer, from - 1, to + 1)
      else if (token === TOKEN.nested) out.appendQuoted(buffer, from, to)
      else out.appendPlain(buffer, from, to)
    } else if (token === TOKEN.escapedString) out.appendText(reader.text(field))
    else if (to === from) out.appendQuoted(buffer, from, to)
    else out.appendPlain(buffer, from, to)
  }

  #check({ name, type, token, kind, from, to }: JsonField, buffer: Buffer): void {
    const isText = token !== TOKEN.number && token !== TOKEN.boolean
    const whole = () => buffer.toString('utf8', from, to)
    if (token !== TOKEN.nested && accepts(type!, kind, isText, whole, this.#options)) return
    const text = buffer.toString('utf8', from, Math.min(to, from + 400))
    this.#faults.add(badValue(this.rows, name, text, type!, isText))
  }
}

/** Whether the string that was read last is this one. */
function isKey({ token, from, to, buffer }: JsonReader, key: Buffer): boolean {
  if (token !== TOKEN.string || to - from !== key.length) return false
  for (let i = 0; i < key.length; i++) if (key[i] !== buffer[from + i]) return false
  return true
}
