/**
 * Translates the columns of WooCommerce's exports to English. A shop writes them in its own language, but their order
 * is the same in all languages, as long as an export has all columns.
 */

/** The columns after the weight and before those of attributes and plugins: the same in all versions. */
const fromWeight = [
  ...['Length', 'Width', 'Height', 'Allow customer reviews?', 'Purchase note', 'Sale price', 'Regular price'],
  ...['Categories', 'Tags', 'Shipping class', 'Images', 'Download limit', 'Download expiry days', 'Parent'],
  ...['Grouped products', 'Upsells', 'Cross-sells', 'External URL', 'Button text', 'Position'],
];
const [gtin, lowStock] = ['GTIN, UPC, EAN, or ISBN', 'Low stock amount'];

/** The number of columns before the weight → their names: later versions added one, then another. */
const beforeWeight: ReadonlyMap<number, readonly string[]> = new Map(
  [
    { codes: [], stock: [] },
    { codes: [], stock: [lowStock] },
    { codes: [gtin], stock: [lowStock] },
  ].map(({ codes, stock }) => {
    const names = [
      ...['ID', 'Type', 'SKU', ...codes, 'Name', 'Published', 'Is featured?', 'Visibility in catalog'],
      ...['Short description', 'Description', 'Date sale price starts', 'Date sale price ends', 'Tax status'],
      ...['Tax class', 'In stock?', 'Stock', ...stock, 'Backorders allowed?', 'Sold individually?'],
    ];
    return [names.length, names];
  }),
);

const weightForm = /[(（](kg|g|lbs|oz)[)）]$/i;
const lengthForm = /[(（](?:m|cm|mm|in|yd)[)）]$/i;

/** The columns of an attribute, in order; the last one is separate from the others. */
const ofAttribute = ['name', 'value(s)', 'visible', 'global', 'default'];

/** The column of brands comes after `Position` in later versions; columns of plugins may come before it. */
const brandForm =
  /^(?:marken?|marcas?|marques?|marche|marchi|merken|brands?|бренды|marki|ブランド|品牌|브랜드|varumärken|značky|markalar|mærker|merker)$/i;

/**
 * @param columns the columns of a file, in any language
 * @returns the columns in English, with those of plugins as they are; undefined if their order is not that of an
 * export of all columns
 */
export function translateColumns(columns: readonly string[]): readonly string[] | undefined {
  if (columns[0]?.toUpperCase() !== 'ID') return undefined;
  const weight = columns.findIndex(column => weightForm.test(column));
  const before = beforeWeight.get(weight);
  if (before === undefined) return undefined;
  if (!columns.slice(weight + 1, weight + 4).every(column => lengthForm.test(column))) return undefined;
  const end = weight + 1 + fromWeight.length;
  if (columns.length < end) return undefined;
  const unit = weightForm.exec(columns[weight] ?? '')?.[1] ?? '';
  return [...before, `Weight (${unit})`, ...fromWeight, ...translateFurtherColumns(columns.slice(end))];
}

/** The columns of an attribute share its number: `Attribut 1 Name`, `Nombre del atributo 1`. */
function translateFurtherColumns(columns: readonly string[]): readonly string[] {
  const found = columns.map(findNumber);
  const downloads = findDownloads(columns, found);
  const numbers = found.map((number, index) => (downloads.has(index) ? undefined : number));
  const totals = new Map<number, number>();
  for (const number of numbers) if (number !== undefined) totals.set(number, (totals.get(number) ?? 0) + 1);
  const seen = new Map<number, number>();
  return columns.map((column, index) => {
    if (brandForm.test(column)) return 'Brands';
    const download = downloads.get(index);
    if (download !== undefined) return download;
    const number = numbers[index];
    // Other columns with a number belong to plugins.
    if (number === undefined || (totals.get(number) ?? 0) < 4) return column;
    const nth = seen.get(number) ?? 0;
    seen.set(number, nth + 1);
    const says = ofAttribute[nth];
    return says === undefined ? column : `Attribute ${number} ${says}`;
  });
}

/**
 * Downloads have three columns each, before those of attributes: `Download 1 ID`, its name, `Download 1 URL`.
 * @returns the indexes of these columns → their names in English
 */
function findDownloads(
  columns: readonly string[],
  numbers: readonly (number | undefined)[],
): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (let at = 0; at + 2 < columns.length; at += 1) {
    const number = numbers[at];
    const isDownload =
      number !== undefined &&
      numbers[at + 1] === number &&
      numbers[at + 2] === number &&
      /\bID\b/i.test(columns[at] ?? '') &&
      /\bURL\b/i.test(columns[at + 2] ?? '');
    if (!isDownload) continue;
    for (const [index, part] of ['ID', 'name', 'URL'].entries())
      found.set(at + index, `Download ${number} ${part}`);
  }
  return found;
}

/** A name with a colon is metadata: plugins choose what follows the colon. */
function findNumber(column: string): number | undefined {
  if (column.includes(':')) return undefined;
  const digits = column.match(/\d+/g) ?? [];
  return digits.length === 1 && (digits[0]?.length ?? 0) <= 3 ? Number(digits[0]) : undefined;
}
