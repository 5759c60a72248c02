/** Reads product exports of WooCommerce, in which variations have separate rows that name their parent. */
import { keepDeepestPaths, splitList } from '../../../../files/cells/list.ts';
import { findWeightUnit, type WeightUnit } from '../../../../files/cells/weight.ts';
import { type AttributeSet, addRest, createAttributeSet } from '../attributes.ts';
import {
  decodePlainText,
  parseAddresses,
  parseGtin,
  parseLabels,
  parsePath,
  parseTags,
  parseVariantImage,
  readWeightCell,
  restoreLineEnds,
} from '../cells.ts';
import { collectImages, groupedLeftOut, keepFewOptions, leaveOutDisabled } from '../draft.ts';
import { type Drafting, type Preset, type Row, RowProblem, type Variant } from '../preset.ts';
import { readSaleDates, readSalePrices } from '../prices.ts';
import { foldRows, keepOthers, readDescription } from '../rows.ts';
import { translateColumns } from './columns.ts';
import { json } from './json.ts';
import { readShopStock, readTypes } from './stock.ts';

export const woocommerce: Preset = {
  name: 'woocommerce',
  file: 'a product export of WooCommerce',
  json,
  columns: {
    id: ['ID'],
    type: ['Type'],
    sku: ['SKU'],
    gtin: ['GTIN, UPC, EAN, or ISBN', 'GTIN', 'EAN'],
    name: ['Name'],
    published: ['Published'],
    short: ['Short description'],
    description: ['Description'],
    saleFrom: ['Date sale price starts'],
    saleTo: ['Date sale price ends'],
    inStock: ['In stock?'],
    stock: ['Stock'],
    backorders: ['Backorders allowed?'],
    weight: ['Weight (kg)', 'Weight (g)', 'Weight (lbs)', 'Weight (lb)', 'Weight (oz)', 'Weight'],
    sale: ['Sale price'],
    regular: ['Regular price'],
    categories: ['Categories'],
    tags: ['Tags'],
    images: ['Images'],
    imageTexts: ['Image texts'],
    parent: ['Parent'],
    brands: ['Brands', 'Brand'],
  },
  members: {
    ...{
      externalId: 'id',
      name: 'name',
      description: 'description',
      brand: 'brands',
      tags: 'tags',
      sku: 'sku',
    },
    ...{ category: 'categories', categories: 'categories', price: 'regular', weight: 'weight' },
  },
  required: ['type', 'name', 'regular'],
  signs: [['parent', 'sku'], ['published', 'categories'], ['inStock']],
  takes: /^attribute \d+ (?:name|value\(s\)|visible|global|default)$/i,
  translate: translateColumns,
  place(row) {
    const [id, sku, parent] = [row.text('id'), row.text('sku'), row.text('parent')];
    const names = [id === '' ? '' : `id:${id}`, sku].filter(name => name !== '');
    if (isVariation(row)) {
      if (parent === '') throw new RowProblem(row, 'Parent', 'is required of a variation');
      return { variantOf: parent };
    }
    if (readTypes(row).has('grouped') && row.text('regular') === '') return { leftOut: groupedLeftOut };
    const [product, ...also] = names;
    return product === undefined ? { alone: true } : { product, also };
  },
  draft(read, drafting) {
    const rows = removeRepeated(read, drafting);
    const parent = rows.find(row => !isVariation(row));
    if (parent === undefined) throw new Error('variations without their product');
    const all = rows.filter(row => row !== parent);
    const { enabled: variations, isArchived } = leaveOutDisabled(all, isDisabled, drafting);
    const attributes = createAttributeSet(drafting, decodePlainText, findSecret(parent));
    const chosen = new Set(variations.flatMap(row => readOwnAttributes(row, parent).map(({ name }) => name)));
    const named = findOptionNames(variations, chosen);
    const described = readOwnAttributes(parent);
    const options = [...new Set([...described.map(({ name }) => name), ...named])].filter(name =>
      named.has(name),
    );
    for (const { name, values } of described) if (!chosen.has(name)) attributes.add(name, values);
    noteLeftOut(parent, variations, drafting);
    if (all.length === 0 && readTypes(parent).has('variable')) drafting.note(withoutVariations);
    const variants = keepFewOptions(
      variations.map(row => readVariant(row, { parent, options }, drafting, attributes)),
      attributes,
      drafting,
    );
    const own = [parent, ...variations] as const;
    const product = foldRows(parent, variations);
    const images = own.flatMap(row => readImages(row, drafting));
    const description = readDescription(
      own,
      attributes,
      ['Description', 'Short description'],
      restoreLineEnds,
    );
    const [category, ...categories] = keepDeepestPaths(
      splitList(decodePlainText(product.text('categories')), ',').map(path => parsePath(path, '>', drafting)),
    );
    const [brand, ...brands] = splitList(decodePlainText(product.text('brands')), ',');
    attributes.add('Brands', brands);
    keepOthers(attributes, own, ['categories', 'brands'], text => splitList(text, ','));
    addRest(attributes, { own: [parent], others: variations }, drafting);
    return {
      own: parent,
      fields: {
        ...{ ...readSoldFields(parent, drafting, attributes), image: undefined },
        externalId: parent.text('id'),
        name: decodePlainText(parent.text('name')),
        description,
        brand,
        category,
        categories,
        tags: parseTags(
          own.map(row => decodePlainText(row.text('tags'))),
          drafting,
        ),
        status: isArchived ? 'archived' : readStatus(parent),
        ...(variants.length > 0 ? { stock: undefined, price: undefined } : {}),
      },
      variants,
      images: collectImages(images, drafting),
      attributes: attributes.all(),
      options,
    };
  },
};

/**
 * Removes rows that repeat the product, or a variation by its id or sku, as in concatenated exports or pages of the API
 * that were read while products were added: the last row counts.
 * @throws RowProblem for another SKU, as when exports of two shops have the same ids
 */
function removeRepeated(rows: readonly Row[], { note }: Drafting): Row[] {
  const kept = new Map<Row | string, Row>();
  for (const row of rows) {
    const key = isVariation(row) ? row.text('id') || row.text('sku') || row : '';
    const before = kept.get(key);
    const skus = new Set([before?.text('sku'), row.text('sku')].filter(sku => sku));
    if (skus.size > 1 && before !== undefined)
      throw new RowProblem(row, 'ID', `is that of line ${before.line}, of another SKU`, row.text('id'));
    if (before !== undefined) note('rows that repeat a product or variation were left out: the last counts');
    kept.set(key, row);
  }
  return [...kept.values()];
}

/** What the shop shows to buyers only, after they have paid: the files that it sells, and notes such as a licence key. */
function findSecret({ columns }: Row): (column: string) => boolean {
  const secret = new Set(
    [...columns.english].flatMap(([english, column]) =>
      /^(?:download \d{1,3} url|purchase note)$/.test(english) ? [column] : [],
    ),
  );
  return column => secret.has(column);
}

/** An export has no texts of images, but the API of the shop does. */
function readImages(row: Row, drafting: Drafting) {
  const urls = parseAddresses(row.text('images'), drafting);
  const texts = parseLabels(row.text('imageTexts'), urls.length);
  return urls.map((url, index) => ({ url, alt: texts[index] }));
}

/** Plugins add types such as `subscription_variation`. */
const isVariation = (row: Row): boolean =>
  [...readTypes(row)].some(type => type === 'variation' || type.endsWith('_variation'));

/** An attribute of a row; it has no values if the row leaves it open. */
interface OwnAttribute {
  readonly name: string;
  readonly values: readonly string[];
  /** The one value of a variation. Some exports leave a comma within it as it is, as in `3,5 kg`. */
  readonly value: string;
}

/**
 * The attributes of a row, from columns such as `Attribute 1 name` and `Attribute 1 value(s)`.
 * @param parent has the name for a value without one: files written by hand often name the attribute only there
 */
const readOwnAttributes = (row: Row, parent = row): OwnAttribute[] =>
  readNamedAttributes(row, parent).filter(({ values }) => values.length > 0);

function readNamedAttributes(row: Row, parent: Row): OwnAttribute[] {
  const { english } = row.columns;
  return [...english].flatMap(([called, column]) => {
    const number = /^attribute (\d{1,3}) name$/.exec(called)?.[1];
    if (number === undefined) return [];
    const name = decodePlainText(row.cell(column) || parent.cell(column));
    const values = english.get(`attribute ${number} value(s)`);
    const cell = values === undefined ? '' : decodePlainText(row.cell(values));
    const value = cell.replaceAll('\\,', ',').trim();
    return name === '' ? [] : [{ name, values: splitList(cell, ','), value }];
  });
}

/**
 * The attributes that variations have values for. If all variations leave everything open, as a single one may, the
 * attributes that they leave open: a variant needs at least one option.
 */
function findOptionNames(variations: readonly Row[], chosen: ReadonlySet<string>): ReadonlySet<string> {
  if (chosen.size > 0) return chosen;
  return new Set(variations.flatMap(row => readNamedAttributes(row, row).map(({ name }) => name)));
}

/** Counts values that the product offers but no variation has: an option only has the values of its variants. */
function noteLeftOut(parent: Row, variations: readonly Row[], { note }: Drafting): void {
  const sold = new Map<string, Set<string>>();
  for (const { name, value } of variations.flatMap(row => readOwnAttributes(row, parent)))
    sold.getOrInsertComputed(name, () => new Set()).add(value);
  for (const { name, values } of readOwnAttributes(parent)) {
    const had = sold.get(name);
    if (had === undefined) continue;
    for (const value of values) if (!had.has(value)) note(valuesLeftOut);
  }
}

const withoutVariations = 'products with variations got no variants: the file has none of their variations';
const valuesLeftOut = 'option values that no variation has were left out';

/** The value of an option that a variation leaves open. */
const anyValue = 'Any';
const leftOpen = `options that a variation leaves open got the value ${anyValue}`;

function readVariant(
  row: Row,
  { parent, options: names }: { readonly parent: Row; readonly options: readonly string[] },
  drafting: Drafting,
  attributes: AttributeSet,
): Variant {
  const own = new Map(readOwnAttributes(row, parent).map(({ name, value }) => [name, value]));
  const all = new Set([...names, ...own.keys()]);
  for (const name of all) if (!own.has(name)) drafting.note(leftOpen);
  const options = Object.fromEntries([...all].map(name => [name, own.get(name) ?? anyValue]));
  const sold = readSoldFields(row, drafting, attributes);
  return { ...sold, image: parseVariantImage(row.text('images'), drafting), options };
}

function readSoldFields(row: Row, drafting: Drafting, attributes: AttributeSet): Omit<Variant, 'options'> {
  const gtin = parseGtin(row.text('gtin'), drafting);
  if (gtin === undefined) attributes.add('GTIN, UPC, EAN, or ISBN', row.text('gtin'));
  const dates = readSaleDates(row, { from: 'saleFrom', to: 'saleTo' }, attributes);
  return {
    sku: row.text('sku'),
    gtin,
    ...readSalePrices(row, { regular: 'regular', sale: 'sale', ...dates }, drafting, attributes),
    weight: readWeightCell(row, 'weight', chooseWeightUnit(row, drafting), drafting),
    stock: readShopStock(row, drafting),
  };
}

const withoutUnit = 'weights without a unit were read as kg; --weight-unit names another unit';

/** The unit is in the name of the column: `Weight (lbs)`. */
function chooseWeightUnit(row: Row, { cells, note }: Drafting): WeightUnit {
  const unit = /[(（]([a-z]{1,4})[)）]/i.exec(row.columns.found.get('weight') ?? '')?.[1] ?? '';
  const named = findWeightUnit(unit) ?? cells.weightUnit;
  if (named === undefined && row.text('weight') !== '') note(withoutUnit);
  return named ?? 'kg';
}

/** A disabled variation is exported as private; that of a draft as a draft, whether it is enabled or not. */
const isDisabled = (variation: Row): boolean => variation.text('published') === '0';

/** 1 is published, 0 private, -1 a draft. Hidden products are not listed or found by a search. */
function readStatus(row: Row): string | undefined {
  const { english } = row.columns;
  // British, Australian and Canadian shops write `catalogue`.
  const visibility = english.get('visibility in catalog') ?? english.get('visibility in catalogue');
  if (visibility !== undefined && row.cell(visibility).toLowerCase() === 'hidden') return 'archived';
  const published = row.text('published');
  return published === '' ? undefined : published === '1' ? 'active' : 'archived';
}
