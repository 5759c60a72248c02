/** The text of a product in the search index. */
import { toPlainText } from '../../storage/search/text/html.ts';
import { finish } from '../../storage/search/text/split.ts';
import type { SearchText } from '../../storage/search/text/words.ts';
import { finishInSlices } from '../../turns/slices.ts';
import type { ProductFields } from './schema.ts';

const searchedTexts = ['name', 'status', 'description', 'category', 'sku', 'brand', 'gtin', 'mpn'] as const;
const searchedLists = ['tags', 'categories', 'attributes', 'options'] as const;

type Searched = Pick<ProductFields, (typeof searchedTexts)[number] | (typeof searchedLists)[number]>;

export const toSearchText = (product: Searched): SearchText => finish(buildSearchText(product));

/** The same, yielding to the event loop between texts: markup is removed from up to a megabyte of them. */
export const toSearchTextInSlices = (product: Searched): Promise<SearchText> =>
  finishInSlices(buildSearchText(product));

function* buildSearchText(product: Searched): Generator<undefined, SearchText> {
  const { name, status, description, category, tags, sku, brand, gtin, mpn, categories } = product;
  const codes: string[] = [];
  for (const code of [sku, gtin, mpn]) if (code !== null) codes.push(code);
  return {
    title: name,
    body: description === null ? '' : toPlainText(description),
    archived: status === 'archived',
    fields: {
      codes,
      brand,
      categories: category === null ? categories : [category, ...categories],
      attributes: [
        ...(yield* collectAttributeTexts(product.attributes)),
        ...product.options.flatMap(({ values }) => values),
      ],
      tags,
    },
  };
}

/** Whether two products certainly have the same texts, without building them. May return false for equal texts. */
export function hasSameTexts(one: Searched, other: Searched): boolean {
  return (
    searchedTexts.every(name => one[name] === other[name]) &&
    searchedLists.every(name => isSame(one[name], other[name]))
  );
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** The values of attributes, except booleans. Some are descriptions of shops, as HTML: they count without markup. */
function* collectAttributeTexts(attributes: ProductFields['attributes']): Generator<undefined, string[]> {
  const texts: string[] = [];
  for (const one of Object.values(attributes).flat()) {
    if (typeof one === 'boolean') continue;
    texts.push(typeof one === 'number' ? String(one) : toPlainText(one));
    yield;
  }
  return texts;
}
