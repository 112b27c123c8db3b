/*
 * The Avro schemas of manifests and manifest lists (Iceberg table spec, version 2, Manifests and Manifest Lists).
 * Readers find fields by `field-id`; maps whose keys are not strings are arrays of pairs with `logicalType: map`
 * (Appendix A).
 */

const optional = (name: string, id: number, type: unknown) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
})
const required = (name: string, id: number, type: unknown) => ({ name, type, 'field-id': id })

/** A map from ids of fields, as an array of pairs. */
const byField = (key: number, value: number, type: string) => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${key}_v${value}`,
    fields: [required('key', key, 'int'), required('value', value, type)],
  },
})

const list = (element: number, items: unknown) => ({ type: 'array', items, 'element-id': element })

const dataFile = (partition: readonly unknown[]) => ({
  type: 'record',
  name: 'r2',
  fields: [
    required('content', 134, 'int'),
    required('file_path', 100, 'string'),
    required('file_format', 101, 'string'),
    required('partition', 102, { type: 'record', name: 'r102', fields: partition }),
    required('record_count', 103, 'long'),
    required('file_size_in_bytes', 104, 'long'),
    optional('column_sizes', 108, byField(117, 118, 'long')),
    optional('value_counts', 109, byField(119, 120, 'long')),
    optional('null_value_counts', 110, byField(121, 122, 'long')),
    optional('nan_value_counts', 137, byField(138, 139, 'long')),
    optional('lower_bounds', 125, byField(126, 127, 'bytes')),
    optional('upper_bounds', 128, byField(129, 130, 'bytes')),
    optional('key_metadata', 131, 'bytes'),
    optional('split_offsets', 132, list(133, 'long')),
    optional('equality_ids', 135, list(136, 'int')),
    optional('sort_order_id', 140, 'int'),
  ],
})

/** One line of a manifest: a file of rows. The fields of the partition are numbers. */
export const manifestEntry = (
  partition: readonly { readonly name: string; readonly 'field-id': number }[],
) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    required('status', 0, 'int'),
    optional('snapshot_id', 1, 'long'),
    optional('sequence_number', 3, 'long'),
    optional('file_sequence_number', 4, 'long'),
    required(
      'data_file',
      2,
      dataFile(partition.map((field) => optional(field.name, field['field-id'], 'long'))),
    ),
  ],
})

const PARTITION_SUMMARY = {
  type: 'record',
  name: 'r508',
  fields: [
    required('contains_null', 509, 'boolean'),
    optional('contains_nan', 518, 'boolean'),
    optional('lower_bound', 510, 'bytes'),
    optional('upper_bound', 511, 'bytes'),
  ],
}

/** One line of a manifest list: a manifest. */
export const MANIFEST_FILE = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    required('manifest_path', 500, 'string'),
    required('manifest_length', 501, 'long'),
    required('partition_spec_id', 502, 'int'),
    required('content', 517, 'int'),
    required('sequence_number', 515, 'long'),
    required('min_sequence_number', 516, 'long'),
    required('added_snapshot_id', 503, 'long'),
    required('added_files_count', 504, 'int'),
    required('existing_files_count', 505, 'int'),
    required('deleted_files_count', 506, 'int'),
    required('added_rows_count', 512, 'long'),
    required('existing_rows_count', 513, 'long'),
    required('deleted_rows_count', 514, 'long'),
    optional('partitions', 507, list(508, PARTITION_SUMMARY)),
    optional('key_metadata', 519, 'bytes'),
  ],
}
