import { FORMATS_IN_PROSE } from '../../../engine/ingest/upload-format.ts'
import { ERROR_TABLE } from '../../../server/http/errors.ts'

/** What somebody who gets the error can do about it, in Markdown. The pages on errors consist of this and of the table in the code. */
export const ADVICE: Readonly<Record<string, string>> = {
  account_exists: 'Choose another name, or use the account that exists.',
  answer_too_large: 'Ask for a shorter range with `start` and `end`.',
  attached_files:
    'Change the files and attach them again, or upload them into another dataset. [Files that stay where they are](../operate.md#files-that-stay-where-they-are).',
  bad_request:
    'The request is no HTTP, or lacks something that HTTP wants, such as `Host`. A proxy between you and the server may have changed it.',
  body_too_large:
    'Send less at once, or send rows as an upload: uploads have a limit of their own, `limits.uploadBytes`.',
  busy: 'Wait for as many seconds as `Retry-After` says, then send the request again. If it happens often, an operator can raise `limits` or give the server more cores.',
  cancelled: 'This only appears in the log: the client went away before the answer was complete.',
  catalog_unavailable:
    'Nothing has changed. Send the request again; operators look at PostgreSQL and at the network in between.',
  changed_meanwhile:
    'Read the record again, decide whether your change still makes sense, and send it with the new `ETag`.',
  column_conflict:
    'Give the columns the types of the dataset, or replace the columns together with the rows: `columns=replace`.',
  cross_site: 'Call the API with a key in a header, or add the page’s origin to `cors.origins`.',
  rows_changed:
    'Undo the later change first, or [edit](../tasks/change.md) the rows. `errors` has up to twenty of them, by their keys.',
  duplicate_key:
    'The message names the rows. Send each key once, or replace rows by key: `mode=upsert`. Give each row a value in some column of the key.',
  fewer_rows:
    'Look at the file or the series at its provider. If it is right that there are so few, set the source again with `"confirm": true`, or `parquetry source set … --confirm`.',
  file_changed:
    'Tell the operator, who can put the file back as it was, or attach the files again as they are now. Rows of other files can still be read. [Files that stay where they are](../operate.md#files-that-stay-where-they-are).',
  filter_failed:
    'One row has a value for which the expression has no result, such as a division by zero. Exclude it first: `b ne 0 and a div b gt 2`.',
  filter_too_complex:
    'Make it shorter: a list after `in` in place of many `or`, or two requests. The message names the bound.',
  filter_type_error:
    'The message names both types. Texts are in single quotes, numbers and dates are not; `cast(x, Edm.Double)` converts.',
  follows_series: 'End the source first, `DELETE /datasets/{id}/source`, or write to another dataset.',
  forbidden: 'Ask the owner of the repository for the permission; `GET /account` says whose key you use.',
  headers_too_large:
    'Send fewer or shorter headers and a shorter address; `POST …/data/$query` takes a long filter.',
  idempotency_key_reused:
    'Use a new `Idempotency-Key` for each change, and the same only to send the same request again.',
  internal:
    'A defect of ours. The log of the server has the details under the `X-Request-Id` of the answer; please report it.',
  invalid_body:
    'The message names the field. The description of the [HTTP API](../reference/http.md) has the form of every body.',
  invalid_columns:
    'Column names are case-sensitive. `GET /datasets/{id}/columns` lists them. Names with blanks or signs are written in double quotes: `"Unit price" gt 5`.',
  invalid_columns_manifest:
    'The message names the column. Names must be different, types as in [Column types](../reference/types.md).',
  invalid_file:
    'Check the path; the file must be Parquet. A file that has columns which can not be read as they are can be uploaded.',
  invalid_filter:
    'The message gives the position, what was found there and what was expected. [Filter rows](../tasks/filter.md) has examples, [the reference](../reference/filter.md) every operator and function.',
  invalid_json: 'The message gives the position. In a shell, put the body in single quotes.',
  invalid_name: 'A name has 1 to 200 characters, is not blank, and is neither `.` nor `..`.',
  invalid_option:
    'The message names the option and what is wrong. [Options](../reference/options.md) lists all, with the formats that they are for.',
  invalid_query: 'The message suggests the nearest known name. [Options](../reference/options.md) lists all.',
  invalid_range: 'Write dates as `2024-01-31`, with `start` before `end`.',
  invalid_series_id: 'Look the id up with `GET /search?q=` or by browsing the provider.',
  invalid_sql:
    'The message gives the position. [SQL](../reference/sql.md) lists the statements that are run: one SELECT.',
  invalid_upload:
    '`errors` lists up to twenty faults with row, column and value. [Upload a messy file](../tasks/upload.md) shows the options that help, and how to look before storing.',
  invalid_url:
    'Encode the address: `curl -G --data-urlencode` does it for you. A percent sign itself is `%25`.',
  key_exists: 'Choose another name, or end the key that exists: `DELETE /account/keys/{name}`.',
  key_rejected:
    'The provider does not accept the key that is saved. Save the right one with `PUT /user-keys/{slug}`.',
  key_required:
    'Get a key from the provider; [Providers](../providers.md) says where. Save it with `PUT /user-keys/{slug}`.',
  locked:
    'Send the request again in a few seconds. `gc` and a second server wait until the first one has ended.',
  method_not_allowed: '`Allow` lists the methods of this path. The path may lack a part, such as `/data`.',
  missing_columns:
    'Send all columns, or add `missing=null` if they are to be null in these rows. `mode=upsert` keeps the values of columns that it does not name, but needs those of the key.',
  name_taken: 'Names are unique within a repository. Use the one that exists, or another name.',
  no_calendar:
    'The message names the providers that have one. FRED has the dates of most agencies of the United States.',
  not_followed: 'Set a source first: `PUT /datasets/{id}/source` with series or the address of a file.',
  not_found:
    '`GET /datasets` and `GET /repositories` list what your key can reach. Ids are never used twice: what was deleted stays gone.',
  not_representable:
    'Choose another format, such as csv in place of xlsx, or leave the column out with `$select`. The message names column and reason.',
  not_understood: 'The provider has changed its answers. The log has the details; please report it.',
  other_data: 'Follow series with a new dataset, or one whose columns are those of series.',
  outcome_unknown:
    'The change was made completely or not at all. Look which: `GET /datasets/{id}` has the version. With an `Idempotency-Key` you can send it again safely.',
  overloaded: 'Wait for as many seconds as `Retry-After` says, then send the request again.',
  path_not_found: 'Browse from the top: `GET /providers/{slug}/browse`.',
  plan_limit:
    'The message names the limit. [Keys and plans](../tasks/keys.md) has the numbers; an operator can move the account to another plan.',
  provider_down:
    "Try again later; other providers are not affected. Cached series are still answered. If all providers are down, this server itself can't reach the internet: it sends requests directly and ignores variables such as `HTTPS_PROXY`, because outgoing proxies are not supported.",
  provider_limit:
    'Wait for as many seconds as `Retry-After` says. A key of your own has a limit of its own: `PUT /user-keys/{slug}`.',
  provider_slow: 'Ask for a shorter range, or try again later.',
  range_not_satisfiable: 'The file is shorter than the range. `Content-Range` has its length.',
  request_timeout: 'Send the body without pauses, or in smaller uploads.',
  saved_query:
    'Change the tables that it reads, or save another query. If one of them is gone, or the account that saved it may no longer read it, its owner has to save it again. [Save a query](../tasks/sql.md).',
  series_not_found:
    'Look the id up with `GET /search?q=` or by browsing the provider; upper and lower case matter.',
  shutting_down: 'Send the request again in a few seconds; another process or node takes it.',
  sql_not_allowed: '[SQL](../reference/sql.md) lists the functions that are allowed.',
  storage_damaged:
    'Nobody gets wrong rows. Operators: the log names the part; restore it from a backup and run `parquetry verify`, or restore an earlier version, or upload again.',
  storage_failed: 'Nothing has changed. Operators: the log names the file and the cause; check the disk.',
  storage_full: 'Nothing has changed. Operators: free space; writing goes on without a restart.',
  storage_read_only:
    'Nothing has changed. Operators: the data directory must belong to the user of the server, on a disk that can be written.',
  storage_unavailable:
    'Nothing has changed. Send the request again; operators look at the object store and its credentials.',
  timeout:
    'Narrow the query with `$filter` or `$top`; [Find out why a query is slow](../tasks/slow.md). Operators can raise `timeouts.firstByte`.',
  too_many_failures: 'Wait for as many seconds as `Retry-After` says. Correct keys still work.',
  too_many_keys: 'End keys that nobody uses: `GET /account/keys` says when each was last used.',
  too_many_open_files:
    'Nothing has changed. Send it again; operators raise the limit of open files (`LimitNOFILE`, `ulimit -n`).',
  too_many_requests: 'Wait for as many seconds as `Retry-After` says.',
  unauthorized:
    'Send the key as the user name of Basic authentication (`curl -u "$KEY:"`), as `Authorization: Bearer KEY` or as `X-API-Key`. As a password it does not count. A new key ends the old one at once.',
  unknown_path: 'The [HTTP API](../reference/http.md) lists every path. Mind the plural: `/datasets/3`.',
  unknown_provider: '`GET /providers` lists them.',
  unknown_table:
    'Tables are datasets: `"repository"."dataset"`, with the [owner](../permissions.md#names) in front for those of others. `GET /datasets` lists those that your key may read.',
  unsupported_format: `Save the file as one of ${FORMATS_IN_PROSE}.`,
  unsupported_media_type: 'Set `Content-Type` to what the body is, such as `text/csv` or `application/json`.',
  upload_too_large:
    'Split the file and append the parts: `POST …/data`. Operators can raise `limits.uploadBytes`.',
  uri_too_long: 'Send the options as a body: `POST …/data/$query`.',
  user_key_conflict: 'Send the request again.',
  user_key_unreadable: 'Save the key again; the secret of the server has changed.',
  version_gone:
    'The message says which versions are kept. `keep` of the dataset says for how long; raise it before you need it.',
  writes_stopped:
    'Reads go on. Operators: after a failed sync, repair the disk and restart; after a take-over, this node belongs to the earlier catalog.',
}

/** The page about one error. */
export function errorPage(code: string): string {
  const { status, when } = ERROR_TABLE.get(code)!
  return `# \`${code}\`\n\n**${status}**: ${when}.\n\n## What to do\n\n${ADVICE[code]}\n`
}

/** The page that lists all errors. */
export function errorsPage(): string {
  const rows = [...ERROR_TABLE].map(
    ([code, { status, when }]) => `| [\`${code}\`](${code}.md) | ${status} | ${when} |`,
  )
  return [
    '# Errors',
    'An error is `{"error": "…", "code": "…"}`. The sentence is for people; programs should rely on the status and the code. The header `Link` of the answer leads to the page of its code.',
    '',
    'What an error knows is there as data, too, so that no program has to read sentences: `option` (the option that is wrong) with `position` (UTF-16 units before the fault in its text, or in a statement of SQL; sentences count from 1) and `problem` (what is wrong there), `columns` (unknown or missing ones), `row`, `column` and `value` of an upload, `limit`, and `hints` (the parts of `error` that are options, as in a query string; the command and the console name options in their own way).',
    ['| code | status | when |', '|---|---|---|', ...rows.toSorted()].join('\n'),
    '',
  ].join('\n\n')
}
