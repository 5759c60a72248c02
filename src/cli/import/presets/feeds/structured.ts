/** Reads titles and descriptions that a feed says were made by a machine, in place of plain ones. */
import type { AttributeSet } from '../attributes.ts';
import { getColumn } from '../cells.ts';
import type { Drafting, Row } from '../preset.ts';

/** Names of plain columns → those that may stand in their place. */
const structured: ReadonlyMap<string, string> = new Map([
  ['title', 'structuredTitle'],
  ['description', 'structuredDescription'],
]);

/** The text in a plain column; a file without it has the other column under both names. */
const readPlain = (row: Row, name: string, other: string): string =>
  row.columns.found.get(name) === row.columns.found.get(other) ? '' : row.text(name);

/** The content of `trained_algorithmic_media:"Shoe: blue"` or `:Shoe`. */
const parseContent = (text: string): string =>
  text.replace(/^(?:default|trained_algorithmic_media)?:/i, '').replace(/^"(.*)"$/s, '$1');

/** The row with the structured title and description where it has no plain one. */
export const readStructured = (row: Row): Row => ({
  ...row,
  text(name) {
    const other = structured.get(name);
    if (other === undefined) return row.text(name);
    return readPlain(row, name, other) || parseContent(row.text(other));
  },
});

/** Keeps structured texts as attributes where a row also has a different plain one. */
export function keepStructured(attributes: AttributeSet, rows: readonly Row[], drafting: Drafting): void {
  if (drafting.dropUnknown) return;
  for (const [name, other] of structured)
    for (const row of rows) {
      const text = row.text(other);
      const plain = readPlain(row, name, other);
      if (plain !== '' && parseContent(text) !== plain) attributes.add(getColumn(row, other), text);
    }
}
