/** Reads product exports of Shopify, which have a row for each variant and each image, joined by handle. */
import { splitList } from '../../../../files/cells/list.ts';
import { type AttributeSet, addRest, createAttributeSet } from '../attributes.ts';
import {
  parseAddresses,
  parseGtin,
  parsePath,
  parseTags,
  parseVariantImage,
  readPiecesCell,
  readWeightCell,
  uncounted,
} from '../cells.ts';
import { claimSku, collectImages } from '../draft.ts';
import {
  type Draft,
  type Drafting,
  type Preset,
  type Row,
  RowProblem,
  type Stock,
  type Uncounted,
  type Variant,
} from '../preset.ts';
import { readAmountCell, requireOneCurrency } from '../prices.ts';
import { foldRows, keepOthers, readAgreed } from '../rows.ts';
import { json } from './json.ts';
import { optionNumbers, readOptionNames, readOptionValues } from './options.ts';
import { getColumnOr, isVariantRow, keepLastRows, requireValues, splitRepeated } from './variants.ts';

/** The value that Shopify writes for the only option of a product without options. */
const noOption = 'Default Title';

export const shopify: Preset = {
  name: 'shopify',
  file: 'a product export of Shopify',
  json,
  columns: {
    handle: ['Handle', 'URL handle'],
    title: ['Title'],
    body: ['Body (HTML)', 'Description'],
    vendor: ['Vendor'],
    category: ['Product Category', 'Standardized Product Type', 'Standard Product Type'],
    type: ['Type', 'Custom Product Type'],
    tags: ['Tags'],
    published: ['Published', 'Published on online store'],
    status: ['Status'],
    option1Name: ['Option1 Name'],
    option1Value: ['Option1 Value'],
    option2Name: ['Option2 Name'],
    option2Value: ['Option2 Value'],
    option3Name: ['Option3 Name'],
    option3Value: ['Option3 Value'],
    sku: ['Variant SKU', 'SKU'],
    grams: ['Variant Grams', 'Weight value (grams)'],
    weightUnit: ['Variant Weight Unit', 'Weight unit for display'],
    tracker: ['Variant Inventory Tracker', 'Inventory tracker'],
    quantity: ['Variant Inventory Qty', 'Inventory quantity'],
    policy: ['Variant Inventory Policy', 'Continue selling when out of stock'],
    price: ['Variant Price', 'Price'],
    compareAt: ['Variant Compare At Price', 'Compare-at price'],
    barcode: ['Variant Barcode', 'Barcode'],
    image: ['Image Src', 'Product image URL'],
    imagePosition: ['Image Position'],
    imageAlt: ['Image Alt Text'],
    variantImage: ['Variant Image', 'Variant image URL'],
    mpn: ['Google Shopping / MPN', 'Google Shopping / Manufacturer part number (MPN)'],
  },
  members: {
    ...{
      externalId: 'handle',
      name: 'title',
      description: 'body',
      brand: 'vendor',
      tags: 'tags',
      sku: 'sku',
    },
    ...{ gtin: 'barcode', mpn: 'mpn', price: 'price', compareAtPrice: 'compareAt', weight: 'grams' },
  },
  required: ['handle', 'title', 'price'],
  signs: [
    ['body', 'option1Name'],
    ['vendor', 'option1Name'],
    ['option1Name', 'option1Value'],
    ['body', 'vendor'],
  ],
  takes: /^option[123] linked to$/i,
  place(row) {
    const handle = row.text('handle');
    if (handle === '') throw new RowProblem(row, getColumnOr(row, 'handle', 'Handle'), 'is required');
    if (row.text('title') !== '') return { product: handle };
    const title = getColumnOr(row, 'title', 'Title');
    return { variantOf: handle, lacks: `${title} is required: no row of the product "${handle}" has one` };
  },
  draft(read, drafting) {
    const ofVariants = keepLastRows(read.filter(isVariantRow), drafting);
    const [rows, repeated] = splitRepeated(read, ofVariants);
    const [first, ...rest] = rows;
    if (first === undefined) throw new Error('a product without rows');
    const product = foldRows(first, [...rest, ...repeated]);
    const attributes = createAttributeSet(drafting, removeApostrophe);
    const names = readOptionNames(product);
    const [only = first, ...others] = ofVariants;
    const plain = others.length === 0 && hasNoOption(only) ? only : undefined;
    if (plain === undefined) requireValues(ofVariants);
    const [category, further] = readCategories(product, drafting);
    const sold = plain === undefined ? {} : claimSku(readSoldFields(plain, drafting, attributes), drafting);
    addColumns(attributes, rows, drafting);
    keepOthers(attributes, rows, ['body', 'vendor', 'category', 'type']);
    return {
      own: first,
      fields: {
        ...{ ...sold, image: undefined },
        externalId: first.text('handle'),
        name: product.text('title'),
        description: product.text('body'),
        brand: product.text('vendor'),
        mpn: readAgreed(rows, 'mpn', attributes),
        category,
        categories: further,
        tags: parseTags(
          rows.map(row => row.text('tags')),
          drafting,
        ),
        status: readStatus(product),
      },
      variants:
        plain === undefined
          ? ofVariants.map(row => claimSku(readVariant(row, names, drafting, attributes), drafting))
          : [],
      images: readImages(read, drafting),
      attributes: attributes.all(),
      options: names.filter(name => name !== ''),
    } satisfies Draft;
  },
};

/** Shopify writes an apostrophe before numbers, so that spreadsheets take them for text. */
const removeApostrophe = (text: string): string => text.replace(/^'(?=-?\d+(?:\.\d+)?$)/, '');

/** Shopify's own metafields, which are lists: `Color (product.metafields.shopify.color-pattern)` has `red; blue`. */
const listColumn = /\(product\.metafields\.shopify(?:--[^.()]+)?\.[^()]+\)$/i;

function addColumns(attributes: AttributeSet, rows: readonly Row[], drafting: Drafting): void {
  const { rest = [] } = rows[0]?.columns ?? {};
  const lists = new Set(drafting.dropUnknown ? [] : rest.filter(column => listColumn.test(column)));
  addRest(
    attributes,
    { own: rows },
    drafting,
    rest.filter(column => !lists.has(column)),
  );
  for (const column of lists)
    for (const row of rows) attributes.add(column, splitList(row.cell(column), ';'));
}

/** Whether the only row of a product is the product itself, not a variant. */
const hasNoOption = (row: Row): boolean =>
  row.text('option1Value') === noOption || readOptionValues(row).every(value => value === '');

function readSoldFields(row: Row, drafting: Drafting, attributes: AttributeSet): Omit<Variant, 'options'> {
  const price = readAmountCell(row, 'price', drafting);
  const before = readAmountCell(row, 'compareAt', drafting);
  // Shopify writes 0 for no former price.
  const compareAt = before?.value === 0 ? undefined : before;
  const gtin = parseGtin(row.text('barcode'), drafting);
  if (gtin === undefined) attributes.add('Variant Barcode', row.text('barcode'));
  return {
    sku: row.text('sku').replace(/^'/, ''),
    gtin,
    price: price?.value,
    compareAtPrice: compareAt?.value ?? (row.columns.found.has('compareAt') ? null : undefined),
    currency: requireOneCurrency([price?.currency, compareAt?.currency]),
    weight: readWeightCell(row, 'grams', 'g', drafting),
    stock: readStock(row, drafting),
    image: parseVariantImage(row.text('variantImage'), drafting),
  };
}

function readVariant(
  row: Row,
  names: readonly string[],
  drafting: Drafting,
  attributes: AttributeSet,
): Variant {
  const options: Record<string, string> = {};
  for (const [index, number] of optionNumbers.entries()) {
    const value = row.text(`option${number}Value`);
    if (value !== '') options[names[index] || `Option ${number}`] = value;
  }
  return { ...readSoldFields(row, drafting, attributes), options };
}

const withoutPieces =
  'variants are sold without a limit: the shop tracks their stock, but the file does not contain it';

/** For stock that Shopify counts at several locations, the file may have no sum. */
function readStock(row: Row, drafting: Drafting): Stock | Uncounted | undefined {
  const pieces = readPiecesCell(row, 'quantity', drafting);
  const isTracked = row.columns.found.has('tracker') ? row.text('tracker') !== '' : pieces !== undefined;
  if (!isTracked) return row.columns.found.has('tracker') ? uncounted : undefined;
  if (pieces === undefined) {
    drafting.note(withoutPieces);
    return undefined;
  }
  return { tracked: true, onHand: pieces, backorder: /^(?:continue|true)$/i.test(row.text('policy')) };
}

/** The category path of Shopify's taxonomy, and the shop's own product type. */
function readCategories(row: Row, drafting: Drafting): [main: string | undefined, further: string[]] {
  const path =
    row.text('category').toLowerCase() === 'uncategorized'
      ? ''
      : parsePath(row.text('category'), '>', drafting);
  const type = parsePath(row.text('type'), '>', drafting);
  if (path === '') return [type === '' ? undefined : type, []];
  return [path, type === '' || type === path || path.endsWith(` > ${type}`) ? [] : [type]];
}

function readStatus(row: Row): string | undefined {
  const status = row.text('status').toLowerCase();
  if (status === 'draft' || status === 'archived' || status === 'unlisted') return 'archived';
  // Spreadsheets write booleans in the user's language.
  if (/^(?:false|falsch|faux|falso|onwaar|no|0)$/i.test(row.text('published'))) return 'archived';
  return status === '' && row.text('published') === '' ? undefined : 'active';
}

function readImages(rows: readonly Row[], drafting: Drafting) {
  const ordered = rows
    .flatMap(row => {
      const position = Number(row.text('imagePosition')) || Number.MAX_SAFE_INTEGER;
      return parseAddresses(row.text('image'), drafting).map(url => ({
        url,
        alt: row.text('imageAlt'),
        position,
      }));
    })
    .sort((a, b) => a.position - b.position);
  const ofVariants = rows.flatMap(row =>
    parseAddresses(row.text('variantImage'), drafting).map(url => ({ url })),
  );
  return collectImages([...ordered, ...ofVariants], drafting);
}
