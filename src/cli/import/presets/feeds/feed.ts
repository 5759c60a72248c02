/** The common parts of feeds for Google Merchant Center and catalogs of Meta, which have a row for each variant. */
import { type AttributeSet, addRest, createAttributeSet } from '../attributes.ts';
import {
  decodePlainText,
  outOfStock,
  parseAddresses,
  parseGtin,
  parseTags,
  readPiecesCell,
  readWeightCell,
  uncounted,
  withholdNotes,
} from '../cells.ts';
import { normalizeColumn, removeNamespace } from '../columns.ts';
import { splitPeriod } from '../dates.ts';
import { collectImages, leaveOutDisabled } from '../draft.ts';
import type { Draft, Drafting, Preset, Row, RowPlacement, Stock, Uncounted } from '../preset.ts';
import { readSalePrices } from '../prices.ts';
import { foldRows, keepOthers, readAgreed } from '../rows.ts';
import { readCategories } from './categories.ts';
import type { GroupOptions } from './declared.ts';
import { readGroupOptions } from './options.ts';
import { keepStructured, readStructured } from './structured.ts';

export const feedColumns = {
  id: ['id'],
  title: ['title', 'structured_title'],
  structuredTitle: ['structured_title'],
  description: ['description', 'structured_description'],
  structuredDescription: ['structured_description'],
  availability: ['availability'],
  price: ['price'],
  sale: ['sale_price'],
  saleDates: ['sale_price_effective_date'],
  brand: ['brand'],
  gtin: ['gtin'],
  mpn: ['mpn'],
  group: ['item_group_id'],
  groupTitle: ['item_group_title'],
  productType: ['product_type'],
  googleCategory: ['google_product_category'],
  image: ['image_link', 'image[0].url'],
  moreImages: ['additional_image_link', 'additional_image_links'],
  shippingWeight: ['shipping_weight', 'product_weight'],
} as const;

const members = {
  ...{ name: 'title', description: 'description', brand: 'brand', mpn: 'mpn', sku: 'id', price: 'price' },
  ...{ category: 'productType', categories: 'productType', weight: 'shippingWeight' },
} as const;

/** Columns that a product may have several values of: in a column each, or in one, separated by commas. */
const repeatedNames: ReadonlySet<string> = new Set([
  ...['additional image link', 'additional image links', 'lifestyle image link', 'video link'],
  ...['product detail', 'product highlight', 'product type', 'variant option', 'size type'],
  ...['certification', 'promotion id', 'ads label', 'ads labels', 'adwords labels'],
  ...['shipping', 'carrier shipping', 'free shipping threshold', 'handling cutoff time', 'tax'],
  ...['loyalty program', 'sustainability incentive', 'shopping ads excluded country'],
  ...['included destination', 'excluded destination'],
]);
const repeated = { test: (column: string): boolean => repeatedNames.has(normalizeColumn(column)) };

/** The parts of values with colons. XML feeds have elements for them, in any order, and only for those with a value. */
const places: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'shipping',
    [
      ...['country', 'region|postal_code|location_id|location_group_name', 'service', 'price'],
      ...['min_handling_time', 'max_handling_time', 'min_transit_time', 'max_transit_time'],
    ],
  ],
  ['tax', ['country', 'region|postal_code|location_id', 'rate', 'tax_ship']],
  ['installment', ['months', 'amount', 'downpayment', 'credit_type']],
  ['subscription_cost', ['period', 'period_length', 'amount']],
  ['free_shipping_threshold', ['country', 'price_threshold']],
  ['variant_option', ['name', 'value']],
  ['structured_title', ['digital_source_type', 'content']],
  ['structured_description', ['digital_source_type', 'content']],
  ['product_detail', ['section_name', 'attribute_name', 'attribute_value']],
  [
    'certification',
    ['certification_authority', 'certification_name', 'certification_code', 'certification_value'],
  ],
]);

/** Columns that hold one value for the product, which may be repeated in each row. */
const ofProduct = [
  ...['description', 'brand', 'productType', 'googleCategory', 'facebookCategory', 'groupTitle'],
];

/** The members that both presets have. */
export const feed: Omit<Preset, 'name' | 'file' | 'columns' | 'signs'> = {
  members,
  required: ['id', 'title', 'price'],
  isFeed: true,
  repeated,
  places,
  place: getFeedPlacement,
  draft: draftFeedProduct,
};

const repeatedId = 'rows that repeat an id were left out: the first row counts';

const localizedRow =
  "rows for one country or language were left out: they change a product's price or texts only there";

const noOptions: GroupOptions = { columns: [], options: [] };

function getFeedPlacement(row: Row): RowPlacement {
  if (row.text('override') !== '') return { leftOut: localizedRow };
  const [id, group] = [row.text('id'), row.text('group')];
  // Some feeds have a row for the whole group, with the id of the group.
  if (group !== '') return { product: `group:${group}`, absorbs: `id:${group}` };
  return id === '' ? { alone: true } : { product: `id:${id}` };
}

function draftFeedProduct(read: readonly Row[], given: Drafting): Draft {
  const drafting = { ...given, keyOf: (name: string) => given.keyOf(removeNamespace(name)) };
  const group = read.map(row => row.text('group')).find(text => text !== '') ?? '';
  const all = (group === '' ? read : omitRepeated(read, drafting)).map(readStructured);
  const { rows: shown, isArchived } = leaveOutHidden(all, drafting);
  const [first, ...others] = shown;
  if (first === undefined) throw new Error('a product without rows');
  const product = foldRows(first, others);
  const attributes = createAttributeSet(drafting, decodePlainText);
  const { columns, options } = group === '' ? noOptions : readGroupOptions(all, shown, drafting);
  const isGroup = group !== '' && (all.length > 1 || columns.length > 0);
  const rows = isGroup ? shown : [product];
  const variants = isGroup
    ? rows.map((row, index) => ({
        ...readSoldFields(row, drafting, attributes),
        options: options[index] ?? {},
      }))
    : [];
  const own = isGroup ? {} : readSoldFields(first, drafting, attributes);
  if (!isGroup) for (const _ of others) drafting.note(repeatedId);
  addRest(
    attributes,
    { own: rows },
    drafting,
    first.columns.rest.filter(column => !columns.includes(column) || isShared(rows, column)),
  );
  keepStructured(attributes, rows, drafting);
  const [category, categories] = readCategories(product, drafting, attributes);
  keepOthers(attributes, rows, ofProduct);
  if (!isGroup) attributes.add('item_group_title', first.text('groupTitle'));
  return {
    own: first,
    fields: {
      ...{ ...own, image: undefined },
      externalId: group || first.text('id'),
      name: isGroup ? nameGroup(all, drafting) : readTitle(first),
      description: product.text('description'),
      brand: decodePlainText(product.text('brand')),
      mpn: readAgreed(rows, 'mpn', attributes),
      category,
      categories,
      tags: readTags(rows, drafting),
      status: isArchived ? 'archived' : readStatus(product),
    },
    variants,
    images: collectImages(
      rows.flatMap(row => readImages(row, drafting)).map(url => ({ url })),
      drafting,
    ),
    attributes: attributes.all(),
  };
}

/** The rows of a group, without those that repeat the id of an earlier one. */
function omitRepeated(rows: readonly Row[], { note }: Drafting): Row[] {
  const seen = new Set<string>();
  return rows.filter(row => {
    const id = row.text('id');
    if (id === '' || !seen.has(id)) return seen.add(id);
    note(repeatedId);
    return false;
  });
}

/** Whether all rows of a group have the same value: it is then also an attribute, for filters of lists. */
const isShared = (rows: readonly Row[], column: string): boolean =>
  rows.every(row => row.cell(column) === rows[0]?.cell(column));

/** The rows of a group that are on sale. A single row is kept even if it is hidden. */
function leaveOutHidden(all: readonly Row[], drafting: Drafting) {
  if (all.length === 1) return { rows: all, isArchived: false };
  const { enabled, isArchived } = leaveOutDisabled(all, isHidden, drafting);
  return { rows: enabled, isArchived };
}

const readTitle = (row: Row): string => decodePlainText(row.text('title'));

function readSoldFields(row: Row, drafting: Drafting, attributes: AttributeSet) {
  const gtin = parseGtin(row.text('gtin'), drafting);
  if (gtin === undefined) attributes.add('gtin', row.text('gtin'));
  const sale = { regular: 'price', sale: 'sale', ...splitPeriod(row.text('saleDates')) };
  attributes.add('sale_price_effective_date', row.text('saleDates'));
  return {
    sku: row.text('id'),
    gtin,
    ...readSalePrices(row, sale, drafting, attributes),
    weight: readWeightCell(row, 'shippingWeight', drafting.cells.weightUnit ?? 'kg', drafting),
    stock: readStock(row, drafting),
    image: readImages(row, withholdNotes(drafting))[0],
  };
}

/** Feeds say whether a product is in stock; some also give the number of pieces. Out of stock means none. */
function readStock(row: Row, drafting: Drafting): Stock | Uncounted | undefined {
  const availability = row
    .text('availability')
    .toLowerCase()
    .replace(/[\s_]+/g, ' ');
  const backorder = /^(?:preorder|pre order|backorder|available for order)$/.test(availability);
  const isOut = /^(?:out of stock|discontinued|sold out)$/.test(availability);
  const pieces = readPiecesCell(row, 'quantity', drafting, isOut);
  if (pieces !== undefined) return { tracked: true, onHand: pieces, backorder };
  if (backorder || isOut) return { ...outOfStock, backorder };
  return availability === '' ? undefined : uncounted;
}

const readImages = (row: Row, drafting: Drafting): string[] => [
  ...parseAddresses(row.text('image'), drafting),
  ...parseAddresses(row.text('moreImages'), drafting),
  ...readNumberedCells(row, /^image\[[1-9]\d?\]\.url$/i).flatMap(text => parseAddresses(text, drafting)),
];

/** The cells of columns such as `product_tags[0]`. */
function readNumberedCells(row: Row, columns: RegExp): string[] {
  return row.columns.all.filter(column => columns.test(column)).map(column => row.cell(column));
}

function readTags(rows: readonly Row[], drafting: Drafting): string[] | undefined {
  const cells = rows.flatMap(row => readNumberedCells(row, /^product_tags\[\d\d?\]$/i));
  const tags = parseTags(cells.map(decodePlainText), drafting);
  return tags.length === 0 ? undefined : tags;
}

const hidden = /^(?:archived|hidden|staging|draft)$/i;
const isHidden = (row: Row): boolean =>
  hidden.test(row.text('status')) || hidden.test(row.text('visibility'));

function readStatus(row: Row): string | undefined {
  if (isHidden(row)) return 'archived';
  return row.text('status') === '' && row.text('visibility') === '' ? undefined : 'active';
}

function nameGroup(rows: readonly Row[], { note }: Drafting): string {
  const given = rows.map(row => row.text('groupTitle')).find(text => text !== '');
  if (given !== undefined) return decodePlainText(given);
  const titles = rows.map(readTitle);
  const name = findCommonTitle(titles);
  if (titles.some(title => title !== name))
    note(
      'groups whose rows have different titles were named by the part these have in common, or by the first',
    );
  return name;
}

const minTitleLength = 4;

/** The common beginning of all titles, up to the end of a word, without separators; the first title if too short. */
function findCommonTitle(titles: readonly string[]): string {
  const [first = '', ...others] = titles;
  let end = first.length;
  for (const title of others) {
    let same = 0;
    while (same < end && title[same] === first[same]) same += 1;
    end = same;
  }
  if (end === first.length) return first;
  // Do not end within a word of any title.
  if (titles.some(title => end < title.length && title[end] !== ' ')) end = first.lastIndexOf(' ', end);
  let title = first.slice(0, Math.max(0, end));
  while (title !== '' && ' -–—|,/:(['.includes(title.at(-1) ?? '')) title = title.slice(0, -1);
  return title.length >= minTitleLength ? title : first;
}
