/** Reads product exports of Wix Stores, in which rows of variants have the `handleId` of their product. */
import { splitList } from '../../../../files/cells/list.ts';
import { type AttributeSet, addRest, createAttributeSet } from '../attributes.ts';
import {
  decodePlainText,
  outOfStock,
  parseAddresses,
  readPiecesCell,
  readWeightCell,
  uncounted,
} from '../cells.ts';
import { claimSku, collectImages, keepFewOptions, leaveOutDisabled } from '../draft.ts';
import {
  type Drafting,
  type Preset,
  type Row,
  RowProblem,
  type Stock,
  type Uncounted,
  type Variant,
} from '../preset.ts';
import { keepLast } from '../rows.ts';
import { listOptions, listValues, optionNumbers } from './options.ts';
import { readPrices } from './prices.ts';

/** Where Wix serves the images that an export names only by their files. */
const imageBase = 'https://static.wixstatic.com/media';

const repeatedRow = 'rows that repeat a product or a variant were left out: the last counts';
const withoutUnit = 'weights without a unit were read as kg; --weight-unit names another unit';

export const wix: Preset = {
  name: 'wix',
  file: 'a product export of Wix Stores',
  columns: {
    handle: ['handleId'],
    kind: ['fieldType'],
    name: ['name'],
    description: ['description'],
    images: ['productImageUrl'],
    collections: ['collection'],
    sku: ['sku'],
    price: ['price'],
    surcharge: ['surcharge'],
    visible: ['visible'],
    discountMode: ['discountMode'],
    discount: ['discountValue'],
    inventory: ['inventory'],
    weight: ['weight'],
    brand: ['brand'],
  },
  members: {
    ...{ externalId: 'handle', name: 'name', description: 'description', brand: 'brand', sku: 'sku' },
    ...{ price: 'price', weight: 'weight', category: 'collections', categories: 'collections' },
  },
  required: ['handle', 'kind', 'name', 'price'],
  signs: [['handle', 'kind']],
  takes: /^(?:productOption(?:Name|Type|Description)|additionalInfo(?:Title|Description))\d$/i,
  place(row) {
    const handle = row.text('handle');
    if (handle === '') throw new RowProblem(row, 'handleId', 'is required');
    const kind = row.text('kind').toLowerCase();
    if (kind === 'variant') return { variantOf: handle };
    if (kind === 'product') return { product: handle };
    throw new RowProblem(row, 'fieldType', 'must be Product or Variant', row.text('kind'));
  },
  draft(read, given) {
    const cells = { ...given.cells, imageBase: given.cells.imageBase ?? imageBase };
    const drafting = { ...given, cells };
    // Variants are the same if their options are.
    const toKey = (row: Row) => (isVariant(row) ? JSON.stringify(listValues(row)) : '');
    const rows = keepLast(read, toKey, () => drafting.note(repeatedRow));
    const own = rows.find(row => !isVariant(row));
    if (own === undefined) throw new Error('variants without their product');
    const all = sortByValues(rows.filter(isVariant), listValues(own));
    const isHidden = (row: Row): boolean => row.text('visible').toLowerCase() === 'false';
    const { enabled, isArchived } = leaveOutDisabled(all, isHidden, drafting);
    const attributes = createAttributeSet(drafting, decodePlainText);
    const names = listOptions(own);
    const variants = keepFewOptions(
      enabled.map(row => readVariant(row, own, names, drafting)),
      attributes,
      drafting,
    );
    // Options that the shop does not manage by variants, and so sells all in one.
    if (all.length === 0)
      for (const [index, values] of listValues(own).entries())
        if (values.length > 0) attributes.addCodes(names[index] || `Option ${index + 1}`, values);
    if (!drafting.dropUnknown) addInformation(attributes, own);
    addRest(attributes, { own: [own], others: enabled }, drafting);
    const [category, ...categories] = splitList(decodePlainText(own.text('collections')), ';');
    const sold = claimSku(readSoldFields(own, own, drafting), drafting);
    const ofVariants = { price: undefined, compareAtPrice: undefined, stock: undefined };
    return {
      own,
      fields: {
        ...sold,
        ...(variants.length > 0 ? ofVariants : {}),
        externalId: own.text('handle'),
        name: decodePlainText(own.text('name')),
        description: own.text('description'),
        brand: decodePlainText(own.text('brand')),
        category,
        categories,
        status: isArchived || isHidden(own) ? 'archived' : own.text('visible') === '' ? undefined : 'active',
      },
      variants,
      images: collectImages(
        parseAddresses(own.text('images'), drafting).map(url => ({ url })),
        drafting,
      ),
      attributes: attributes.all(),
      options: names.filter(name => name !== ''),
    };
  },
};

const isVariant = (row: Row): boolean => row.text('kind').toLowerCase() === 'variant';

/** Wix writes variants in any order: sorts them by the values that the product offers, first option first. */
function sortByValues(rows: readonly Row[], offered: readonly (readonly string[])[]): Row[] {
  const known = offered.map(values => new Map(values.map((value, index) => [value, index])));
  const toPlaces = (row: Row): number[] =>
    listValues(row).map(([value = ''], index) => known[index]?.get(value) ?? -1);
  const placed = rows.map(row => ({ row, places: toPlaces(row) }));
  const compare = (one: readonly number[], other: readonly number[]): number =>
    one.map((place, index) => place - (other[index] ?? 0)).find(difference => difference !== 0) ?? 0;
  return placed.sort((one, other) => compare(one.places, other.places)).map(({ row }) => row);
}

function readVariant(row: Row, own: Row, names: readonly string[], drafting: Drafting): Variant {
  const values = listValues(row).map(([value = '']) => value);
  const options = Object.fromEntries(
    values.flatMap((value, index) => (value === '' ? [] : [[names[index] || `Option ${index + 1}`, value]])),
  );
  return claimSku({ ...readSoldFields(row, own, drafting), options }, drafting);
}

function readSoldFields(row: Row, own: Row, drafting: Drafting): Omit<Variant, 'options'> {
  const { weightUnit } = drafting.cells;
  const weight = readWeightCell(row, 'weight', weightUnit ?? 'kg', drafting);
  // The unit is only in the settings of the shop.
  if (weight !== undefined && weightUnit === undefined) drafting.note(withoutUnit);
  return {
    sku: row.text('sku'),
    ...readPrices(row, own, drafting),
    weight,
    stock: readInventory(row, drafting),
  };
}

/** Sections of a product's page, such as `Care` and its text. */
function addInformation(attributes: AttributeSet, own: Row): void {
  for (const number of optionNumbers)
    attributes.add(
      own.cell(`additionalInfoTitle${number}`) || `additionalInfo${number}`,
      own.cell(`additionalInfoDescription${number}`),
    );
}

/** A number of pieces, or only whether there are any: `InStock`, `OutOfStock`. */
function readInventory(row: Row, drafting: Drafting): Stock | Uncounted | undefined {
  const text = row.text('inventory');
  if (text === '') return undefined;
  if (/^instock$/i.test(text)) return uncounted;
  if (/^outofstock$/i.test(text)) return outOfStock;
  const pieces = readPiecesCell(row, 'inventory', drafting) ?? 0;
  return { tracked: true, onHand: pieces, backorder: false };
}
