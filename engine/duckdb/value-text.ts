import { type ColumnType, decimalParts, typeName } from '../types/index.ts'

/** SQL for the text of a value as exports write it, so that a column looks the same after it has become text. */
export function valueText(type: ColumnType, sql: string): string {
  switch (typeName(type)) {
    case 'double':
      return `CASE WHEN isfinite(${sql}) THEN ${finiteText(sql)} WHEN ${sql} IS NOT NULL THEN ${specialText(sql)} END`
    case 'decimal':
      return decimalText(decimalParts(type)!, sql)
    case 'timestamp':
      return timestampText(sql)
    case 'timestamptz':
      return timestamptzText(sql)
    default:
      return plainText(sql)
  }
}

/** DuckDB's own text. */
export function plainText(sql: string): string {
  return `CAST(${sql} AS VARCHAR)`
}

/**
 * The text of a finite double as ECMAScript's Number::toString has it. DuckDB's JSON has the same, but for `.0` behind
 * whole numbers and `1e21` for `1e+21`.
 */
export function finiteText(sql: string): string {
  const whole = `regexp_replace(${plainText(`to_json(${sql})`)}, '\\.0(e|$)', '\\1')`
  return `regexp_replace(${whole}, 'e(\\d)', 'e+\\1')`
}

/** The text of NaN and the infinities. */
export function specialText(sql: string): string {
  return `CASE WHEN isnan(${sql}) THEN 'NaN' WHEN ${sql} > 0 THEN 'INF' ELSE '-INF' END`
}

/**
 * The text of a decimal. DuckDB writes no digit before the point if the type has none there (`.5`), which is no number in
 * JSON.
 */
export function decimalText({ precision, scale }: { precision: number; scale: number }, sql: string): string {
  const text = plainText(sql)
  return precision === scale ? `regexp_replace(${text}, '^(-?)[.]', '\\10.')` : text
}

/** Writes `2001-01-01 00:00:00` with a `T`; leaves `0044-03-15 (BC) 00:00:00`, for which there is no ISO form here. */
export function timestampText(sql: string): string {
  return `regexp_replace(${plainText(sql)}, '^([0-9-]+) (\\d)', '\\1T\\2')`
}

/**
 * Made from the microseconds since 1970, so that it doesn't depend on the session's time zone. Infinities have no such
 * number.
 */
export function timestamptzText(sql: string): string {
  const utc = `${timestampText(`make_timestamp(epoch_us(${sql}))`)} || 'Z'`
  return `CASE WHEN isfinite(${sql}) THEN ${utc} ELSE ${plainText(sql)} END`
}
