import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const PREFIX = 'pq_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 32 characters of 62 are 190 bits. */
const RANDOM_LENGTH = 32
/** Six characters of 62 hold 35 bits, enough for a CRC-32. */
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/** A new API key: `pq_`, 190 random bits, and a checksum of both. */
export function generateKey(): string {
  let random = ''
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte. Using larger values would make some characters more likely.
      if (byte < 248 && random.length < RANDOM_LENGTH) random += ALPHABET[byte % 62]
    }
  }
  return `${PREFIX}${random}${checksum(PREFIX + random)}`
}

/** Whether a key looks like a generated one but has a wrong checksum, so that it need not be looked up. */
export function isMistyped(key: string): boolean {
  return SHAPE.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH)
}

const KEYS = new RegExp(`${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`, 'g')

/** A text with its API keys removed, so that others may read it. */
export function withoutKeys(text: string): string {
  return text.replace(KEYS, `${PREFIX}…`)
}

/** The hash of a key, which is stored instead of it. Keys have so many random bits that one fast hash is enough. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Compares hashes in constant time, so that the time of an answer says nothing about the stored hash. */
export function sameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The end of a key, by which its owner recognizes it. */
export function keyHint(key: string): string {
  return `${key.startsWith(PREFIX) ? PREFIX : ''}…${key.slice(-4)}`
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = ALPHABET[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
