/** Reads product exports of Magento 2, in which configurable products name the rows of their variants. */
import { isAddress, keepDeepestPaths, splitAddresses, splitList } from '../../../../files/cells/list.ts';
import { type AttributeSet, addRest, createAttributeSet } from '../attributes.ts';
import {
  getColumn,
  parseAddresses,
  parseGtin,
  parseLabels,
  parsePairs,
  parsePath,
  parseVariantImage,
  readWeightCell,
  withholdNotes,
} from '../cells.ts';
import { bundleLeftOut, collectImages, groupedLeftOut, keepFewOptions, leaveOutDisabled } from '../draft.ts';
import { repeatedRow } from '../join.ts';
import { type Drafting, type Preset, type Row, RowProblem, type Variant } from '../preset.ts';
import { readSaleDates, readSalePrices } from '../prices.ts';
import { foldRows, keepLast, keepOthers, readDescription } from '../rows.ts';
import { readManagedStock } from './stock.ts';

/** The root of each category tree, which shops do not show. */
const root = /^default category(?: > |$)/i;

export const magento: Preset = {
  name: 'magento',
  file: 'a product export of Magento 2',
  columns: {
    sku: ['sku'],
    storeView: ['store_view_code'],
    type: ['product_type'],
    categories: ['categories'],
    name: ['name'],
    description: ['description'],
    short: ['short_description'],
    weight: ['weight'],
    online: ['product_online'],
    visibility: ['visibility'],
    price: ['price'],
    special: ['special_price'],
    specialFrom: ['special_price_from_date', 'special_from_date'],
    specialTo: ['special_price_to_date', 'special_to_date'],
    baseImage: ['base_image'],
    baseLabel: ['base_image_label'],
    moreImages: ['additional_images'],
    moreLabels: ['additional_image_labels'],
    additional: ['additional_attributes'],
    quantity: ['qty'],
    isInStock: ['is_in_stock'],
    manageStock: ['manage_stock'],
    configManage: ['use_config_manage_stock'],
    backorders: ['allow_backorders'],
    configBackorders: ['use_config_backorders'],
    variations: ['configurable_variations'],
    variationLabels: ['configurable_variation_labels'],
  },
  members: {
    ...{ name: 'name', description: 'description', sku: 'sku', price: 'price', weight: 'weight' },
    ...{ category: 'categories', categories: 'categories' },
  },
  required: ['sku', 'type', 'name', 'price'],
  signs: [['additional'], ['variations'], ['storeView'], ['online', 'visibility']],
  isEmpty: (column, text) => text === 'no_selection' && /image$/i.test(column),
  place(row) {
    const sku = row.text('sku');
    if (row.text('storeView') !== '') return { leftOut: 'rows of store views were left out' };
    if (sku === '') throw new RowProblem(row, 'sku', 'is required');
    const type = row.text('type').toLowerCase();
    if (type === 'grouped' && row.text('price') === '') return { leftOut: groupedLeftOut };
    if (type === 'bundle' && /^[0.,]*$/.test(row.text('price'))) return { leftOut: bundleLeftOut };
    if (!isConfigurable(row)) return { named: sku };
    return { product: sku, variants: readVariations(row).map(variation => variation.sku) };
  },
  draft(given, drafting) {
    const toKey = (row: Row) => `${isConfigurable(row)} ${row.text('sku')}`;
    const rows = keepLast(given, toKey, () => drafting.note(repeatedRow));
    const own = rows.find(isConfigurable) ?? rows[0];
    if (own === undefined) throw new Error('a product without rows');
    const attributes = createAttributeSet(drafting);
    const bySku = new Map(rows.filter(row => row !== own).map(row => [row.text('sku'), row]));
    const labels = readLabels(own);
    const all = isConfigurable(own) ? addRows(readVariations(own), bySku, drafting) : [];
    const { enabled, isArchived } = leaveOutDisabled(all, ({ row }) => isDisabled(row), drafting);
    const codes = new Set(enabled.flatMap(({ values }) => Object.keys(values)));
    const read = enabled.map(variation => readVariant(variation, labels, drafting, attributes));
    const variants = keepFewOptions(read, attributes, drafting);
    const children = enabled.map(({ row }) => row);
    const gtinColumns = own.columns.rest.filter(isGtinCode);
    const addCodes = (row: Row): string | undefined => {
      const [name, gtin] = findGtin(row, drafting) ?? [];
      addAdditional(attributes, row, new Set(name === undefined ? codes : [...codes, name]));
      const kept = gtinColumns.filter(column => column !== name);
      addRest(attributes, { own: [row] }, drafting, kept);
      return gtin;
    };
    const gtin = addCodes(own);
    addImagePaths(attributes, own, drafting);
    const description = readDescription([own, ...children], attributes, ['description', 'short_description']);
    keepOthers(attributes, [own, ...children], ['categories'], text => splitList(text, ','));
    attributes.add('visibility', own.text('visibility'));
    attributes.add('product_type', own.text('type'));
    const rest = own.columns.rest.filter(column => !isGtinCode(column));
    addRest(attributes, { own: [own], others: children }, drafting, rest);
    const [category, ...categories] = keepDeepestPaths(
      splitList(foldRows(own, children).text('categories'), ',').map(path =>
        parsePath(path, '/', drafting).replace(root, ''),
      ),
    ).filter(path => path !== '');
    // The GTIN of a child belongs to its variant, not to the product.
    for (const child of children) addCodes(child);
    return {
      own,
      fields: {
        ...readSoldFields(own, drafting, attributes),
        ...(variants.length > 0 ? { stock: undefined } : {}),
        gtin,
        name: own.text('name'),
        description,
        brand: attributes.takeFirst('brand') ?? attributes.takeFirst('manufacturer'),
        category,
        categories,
        status: isArchived || lacksVariants(own, variants) ? 'archived' : readStatus(own),
      },
      variants,
      images: readImages([own, ...children], drafting),
      attributes: attributes.all(),
      options: [...codes].map(code => labels.get(code) ?? code),
    };
  },
};

const isConfigurable = (row: Row): boolean => row.text('type').toLowerCase() === 'configurable';

interface Variation {
  readonly sku: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Parses `sku=A-1,color=Red,size=M|sku=A-2,color=Blue,size=M`. */
function readVariations(row: Row): Variation[] {
  return splitVariations(row.text('variations')).map(text => {
    const { sku, ...values } = parsePairs(text, true);
    if (sku === undefined || sku === '')
      throw new RowProblem(row, 'configurable_variations', 'must name the sku of each variant', text);
    return { sku, values };
  });
}

/** Splits at each `|` before a name and `=`: Magento does not escape one within a value, as in `color=Red | White`. */
const splitVariations = (cell: string): string[] =>
  cell.split(/\|(?=\s*(?:[a-z_][a-z0-9_]{0,63}=|$))/i).filter(text => text.trim() !== '');

/** The names of options, from `color=Colour,size=Size`: of several with one name, the later have their codes. */
function readLabels(row: Row): ReadonlyMap<string, string> {
  const all = Object.entries(parsePairs(row.text('variationLabels')));
  const firsts = new Map([...all].reverse().map(([code, label]) => [label, code]));
  return new Map(all.filter(([code, label]) => firsts.get(label) === code));
}

/** @param without the codes of attributes that are kept elsewhere */
function addAdditional(attributes: AttributeSet, row: Row, without: ReadonlySet<string>): void {
  for (const [code, value] of Object.entries(parsePairs(row.text('additional')))) {
    if (without.has(code)) continue;
    attributes.add(code, value.includes('|') ? splitList(value, '|') : value);
  }
}

const gtinCodes = ['gtin', 'ean', 'upc', 'barcode', 'isbn'];
const isGtinCode = (name: string): boolean => gtinCodes.includes(name.toLowerCase());

/** The first valid GTIN of a row, and the attribute or column that has it; all other values are kept as attributes. */
function findGtin(row: Row, drafting: Drafting): readonly [name: string, gtin: string] | undefined {
  const pairs = parsePairs(row.text('additional'));
  const named = [
    ...gtinCodes.map(code => [code, pairs[code] ?? ''] as const),
    ...row.columns.rest.filter(isGtinCode).map(column => [column, row.cell(column)] as const),
  ];
  for (const [name, value] of named) {
    const gtin = parseGtin(value, drafting);
    if (gtin !== undefined) return [name, gtin];
  }
  return undefined;
}

function readSoldFields(row: Row, drafting: Drafting, attributes: AttributeSet) {
  // The end is a day, of which Magento writes the beginning: `12/31/26, 12:00 AM`.
  const dates = {
    ...readSaleDates(row, { from: 'specialFrom', to: 'specialTo' }, attributes),
    endsWithDay: true,
  };
  return {
    sku: row.text('sku'),
    ...readSalePrices(row, { regular: 'price', sale: 'special', ...dates }, drafting, attributes),
    // The unit is only in Magento's settings; the default is pounds.
    weight: readWeightCell(row, 'weight', drafting.cells.weightUnit ?? 'lb', drafting),
    stock: readManagedStock(row, drafting),
  };
}

const withoutRow =
  'variants that a product names were left out: they have no row, or belong to an earlier product';

/** Adds their rows to variations. A variation without a row is left out: nothing is known about it. */
function addRows(
  variations: readonly Variation[],
  bySku: ReadonlyMap<string, Row>,
  { note }: Drafting,
): (Variation & { readonly row: Row })[] {
  return variations.flatMap(variation => {
    const row = bySku.get(variation.sku);
    if (row === undefined) note(withoutRow);
    return row === undefined ? [] : [{ ...variation, row }];
  });
}

/** Whether a product has lost all of its variants: it would be sold without options, so it is archived. */
const lacksVariants = (row: Row, variants: readonly Variant[]): boolean =>
  isConfigurable(row) && row.text('variations') !== '' && variants.length === 0;

function readVariant(
  { values, row }: Variation & { readonly row: Row },
  labels: ReadonlyMap<string, string>,
  drafting: Drafting,
  attributes: AttributeSet,
): Variant {
  const options = Object.fromEntries(
    Object.entries(values).map(([code, value]) => [labels.get(code) ?? code, value]),
  );
  const [, gtin] = findGtin(row, withholdNotes(drafting)) ?? [];
  const sold = readSoldFields(row, drafting, attributes);
  return { ...sold, gtin, options, image: parseVariantImage(row.text('baseImage'), drafting) };
}

/** 1 is enabled, 2 disabled; some tools write 0 for disabled. */
const isDisabled = (row: Row): boolean => /^[02]$/.test(row.text('online'));

/** A product that the shop does not show individually, and that is not a variant, is archived. */
function readStatus(row: Row): string | undefined {
  if (row.text('online') === '' && row.text('visibility') === '') return undefined;
  const isHidden = /^not visible/i.test(row.text('visibility'));
  return isDisabled(row) || isHidden ? 'archived' : 'active';
}

function readImages(rows: readonly Row[], drafting: Drafting) {
  return collectImages(
    rows.flatMap(row => {
      const [base] = parseAddresses(row.text('baseImage'), drafting);
      const addresses = splitAddresses(row.text('moreImages'));
      const labels = parseLabels(row.text('moreLabels'), addresses.length);
      const more = addresses.flatMap((address, index) =>
        parseAddresses(address, drafting).map(url => ({ url, alt: labels[index] })),
      );
      return [...(base === undefined ? [] : [{ url: base, alt: row.text('baseLabel') }]), ...more];
    }),
    drafting,
  );
}

/** Keeps paths of images as attributes, if there is no base URL for them. */
function addImagePaths(attributes: AttributeSet, row: Row, { cells }: Drafting): void {
  if (cells.imageBase !== undefined) return;
  for (const name of ['baseImage', 'moreImages']) {
    const paths = splitAddresses(row.text(name)).filter(one => !isAddress(one));
    attributes.add(getColumn(row, name), paths);
  }
}
