import { malformed } from '../text/errors.ts'

/** [MS-CFB], 2.2: the header, as far as its list of sectors. */
const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const HEADER = { bytes: 512, sectorShift: 30, firstMini: 60, firstList: 68, list: 76 }

/**
 * Checks that no chain of sectors comes back to itself: the library follows chains for as long as there is memory.
 * Anything but a compound file passes.
 * @throws EngineError `invalid_upload`
 */
export function checkSectors(bytes: Buffer): void {
  if (bytes.length < HEADER.bytes || !bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return
  const size = 2 ** bytes.readUInt16LE(HEADER.sectorShift)
  if (size !== 512 && size !== 4096) throw malformed('The workbook is damaged. Save it again.')
  const sector = (at: number) => words(bytes.subarray(size * (at + 1), size * (at + 2)))
  const lists = [words(bytes.subarray(HEADER.list, HEADER.bytes))]
  for (let at = bytes.readUInt32LE(HEADER.firstList); size * (at + 1) < bytes.length; ) {
    if (lists.length > bytes.length / size) throw endless()
    const list = sector(at)
    at = list.pop() ?? bytes.length
    lists.push(list)
  }
  const table = [...new Set(lists.flat())].flatMap(sector)
  checkChains(table)
  const mini: number[] = []
  for (let at = bytes.readUInt32LE(HEADER.firstMini); at < table.length; at = table[at]!) {
    mini.push(...sector(at))
  }
  checkChains(mini)
}

/** @param next for each sector the one that follows it; numbers beyond the table end a chain */
function checkChains(next: readonly number[]): void {
  const chains = new Uint32Array(next.length)
  for (const start of next.keys()) {
    let at = start
    for (; chains[at] === 0; at = next[at]!) chains[at] = start + 1
    if (chains[at] === start + 1) throw endless()
  }
}

function words(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length >> 2 }, (_, at) => bytes.readUInt32LE(4 * at))
}

function endless() {
  return malformed('The workbook is damaged: its sectors follow each other without an end. Save it again.')
}
