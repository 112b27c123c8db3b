import { renameSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

/** Four lines per order, so `l_orderkey` rises by one every four rows. */
export const LINES_PER_ORDER = 4
/** How many values `l_partkey` has, scattered over the whole table. */
export const PARTS = 200_000

/**
 * Writes a table like TPC-H's lineitem (section 1.4.1 of its specification): 16 columns, sorted by `l_orderkey`. Every
 * value is a hash of the row's number, so that each machine gets the same table.
 */
export async function writeLineitem(file: string, rows: number): Promise<void> {
  await write(
    file,
    `SELECT i // ${LINES_PER_ORDER} + 1 AS l_orderkey,
      ${below(PARTS, 1)} + 1 AS l_partkey,
      ${below(10_000, 2)} + 1 AS l_suppkey,
      (i % ${LINES_PER_ORDER} + 1)::INTEGER AS l_linenumber,
      (${below(50, 3)} + 1)::DECIMAL(15, 2) AS l_quantity,
      (${below(10_404_950, 4)} / 100 + 900)::DECIMAL(15, 2) AS l_extendedprice,
      (${below(11, 5)} / 100)::DECIMAL(15, 2) AS l_discount,
      (${below(9, 6)} / 100)::DECIMAL(15, 2) AS l_tax,
      ${one(7, ['A', 'N', 'R'])} AS l_returnflag,
      ${one(8, ['F', 'O'])} AS l_linestatus,
      DATE '1992-01-02' + ${below(2_526, 9)}::INTEGER AS l_shipdate,
      DATE '1992-01-31' + ${below(2_466, 10)}::INTEGER AS l_commitdate,
      DATE '1992-01-03' + ${below(2_554, 11)}::INTEGER AS l_receiptdate,
      ${one(12, ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])} AS l_shipinstruct,
      ${one(13, ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])} AS l_shipmode,
      substr(md5(i::VARCHAR), 1, 10 + ${below(22, 14)}::INTEGER) AS l_comment
    FROM range(${rows}) t(i)`,
  )
}

/** Writes a table of two rows. Reading it shows the fixed cost of a request. */
export async function writeTiny(file: string): Promise<void> {
  await write(file, `SELECT i AS id, 'row ' || i AS name FROM range(2) t(i)`)
}

async function write(file: string, select: string): Promise<void> {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  await connection.run(`COPY (${select}) TO '${file}.new' (FORMAT parquet, COMPRESSION zstd)`)
  connection.closeSync()
  instance.closeSync()
  // Under its own name a file is whole, because later runs may use it again.
  renameSync(`${file}.new`, file)
}

function below(bound: number, salt: number): string {
  return `(hash(i, ${salt}) % ${bound})::BIGINT`
}

function one(salt: number, words: readonly string[]): string {
  const cases = words.map((word, index) => `WHEN ${index} THEN '${word}'`)
  return `CASE ${below(words.length, salt)} ${cases.join(' ')} END`
}
