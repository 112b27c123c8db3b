import { type Data, DataType } from 'apache-arrow'

/**
 * Checks that the buffers of a column are long enough for its length, so that no value is read beyond their ends. The
 * library trusts the lengths that the message states.
 * @throws RangeError
 */
export function checkData(data: Data): void {
  const { type, length, offset, children } = data
  need(Number.isSafeInteger(length) && length >= 0 && offset >= 0)
  const { nullBitmap } = data
  if (nullBitmap && nullBitmap.length > 0) need(nullBitmap.length * 8 >= offset + length)
  if (DataType.isDictionary(type)) {
    need(data.values.length >= length && data.dictionary !== undefined)
    for (const chunk of data.dictionary!.data) checkData(chunk)
  } else if (DataType.isStruct(type)) {
    for (const child of children) need(child.length >= length)
  } else if (DataType.isFixedSizeList(type)) {
    need(children[0]!.length >= length * type.listSize)
  } else if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isMap(type)) {
    checkOffsets(data, children[0]!.length)
  } else if (hasOffsets(type)) {
    checkOffsets(data, data.values.length)
  } else if (DataType.isBool(type)) {
    need(data.values.length * 8 >= offset + length)
  } else if (!DataType.isNull(type) && !DataType.isUnion(type)) {
    need(data.values.length >= length * data.stride)
  }
  for (const child of children) checkData(child)
}

function hasOffsets(type: DataType): boolean {
  return (
    DataType.isUtf8(type) ||
    DataType.isLargeUtf8(type) ||
    DataType.isBinary(type) ||
    DataType.isLargeBinary(type)
  )
}

function checkOffsets(data: Data, end: number): void {
  const { length } = data
  if (length === 0) return
  const offsets = data.valueOffsets as ArrayLike<number | bigint>
  need(offsets.length > length)
  let before = 0
  for (let index = 0; index <= length; index++) {
    const offset = Number(offsets[index])
    need(offset >= before)
    before = offset
  }
  need(before <= end)
}

function need(condition: boolean): void {
  if (!condition) throw new RangeError('A column has less data than it says.')
}
