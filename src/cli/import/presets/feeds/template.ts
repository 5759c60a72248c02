/** Reads templates of Meta and Google, in which lines that explain the columns come before the header. */
import type { SourceRecord } from '../../../../files/read.ts';
import { isStream, openSource } from '../../source.ts';

/**
 * The header after lines that begin with `#`.
 * @param first the first record of a file that was read as if such a line were its header
 * @returns undefined if there is no such line, or the file cannot be read again
 */
export async function readTemplateColumns(
  { columns, raw }: SourceRecord,
  file: string,
): Promise<readonly string[] | undefined> {
  const isExplained = columns === undefined ? /^"?#/.test(raw) : columns[0]?.startsWith('#') === true;
  if (!isExplained || isStream(file)) return undefined;
  const { records } = await openSource(file, 'csv', { header: { comments: true }, fileName: file });
  for await (const [record] of records) return record?.columns;
  return undefined;
}
