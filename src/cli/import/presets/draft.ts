/** The parts of drafts that all shops have in common: options, images in order, one currency. */

import { collectOptions } from '../../../resources/products/import/variant-records.ts';
import { maxAltLength, maxImages } from '../../../resources/products/members/images.ts';
import { maxOptions } from '../../../resources/products/members/options.ts';
import type { AttributeSet } from './attributes.ts';
import { type Draft, type Drafting, type NamedCurrency, RowProblem, type Variant } from './preset.ts';
import { requireOneCurrency } from './prices.ts';

/** A grouped product is a page of several products that are bought one by one: an order for it would have no price. */
export const groupedLeftOut =
  'grouped products, which have no price of their own, were left out: the products they group are imported on their own';

/** A bundle costs the sum of its parts: an order for it would be free. */
export const bundleLeftOut =
  'bundles, which have no price of their own, were left out: the products in them are imported on their own';

/**
 * Leaves out variants that the shop does not sell: variants have no status here, so they would be on sale. If all are
 * disabled, they are kept and the product is archived: without them it would lack a price and options.
 */
export function leaveOutDisabled<T>(
  variants: readonly T[],
  isDisabled: (variant: T) => boolean,
  { note }: Drafting,
): { readonly enabled: readonly T[]; readonly isArchived: boolean } {
  const enabled = variants.filter(variant => !isDisabled(variant));
  if (enabled.length === 0 && variants.length > 0) {
    note('products were archived: the shop has disabled all of their variants');
    return { enabled: variants, isArchived: true };
  }
  for (let left = enabled.length; left < variants.length; left += 1)
    note('variants that the shop has disabled were left out');
  return { enabled, isArchived: false };
}

type Combination = Variant['options'];

const countDistinct = (all: readonly Combination[], names: readonly string[]): number =>
  new Set(all.map(options => JSON.stringify(names.map(name => options[name] ?? null)))).size;

/** Whether no two variants have the same values of these options. */
export const areDistinct = (all: readonly Combination[], names: readonly string[]): boolean =>
  names.length > 0 && countDistinct(all, names) === all.length;

/** Whether the option `name` distinguishes variants that the options `names` do not. */
export const isDistinguishing = (
  all: readonly Combination[],
  names: readonly string[],
  name: string,
): boolean => countDistinct(all, [...names, name]) > countDistinct(all, names);

export const beyondOptions = `options beyond ${maxOptions} were kept as attributes of their product`;

/** Chooses as many options as a product may have: first those that distinguish more variants, then others. */
export function chooseOptions(all: readonly Combination[], names: readonly string[]): readonly string[] {
  if (names.length <= maxOptions) return names;
  const distinct: string[] = [];
  for (const name of names) if (isDistinguishing(all, distinct, name)) distinct.push(name);
  const [first, few] = [distinct.slice(0, maxOptions), distinct.slice(0, maxOptions - 1)];
  const last = areDistinct(all, first) ? undefined : names.find(name => areDistinct(all, [...few, name]));
  const distinguishing = last === undefined ? first : [...few, last];
  const chosen = [...new Set([...distinguishing, ...names])].slice(0, maxOptions);
  return names.filter(name => chosen.includes(name));
}

/** Reduces variants to as many options as a product may have; the values of the others become product attributes. */
export function keepFewOptions(
  variants: readonly Variant[],
  attributes: AttributeSet,
  { note }: Drafting,
): readonly Variant[] {
  const all = variants.map(({ options }) => options);
  const names = [...new Set(all.flatMap(options => Object.keys(options)))];
  const chosen = new Set(chooseOptions(all, names));
  if (chosen.size === names.length) return variants;
  for (const name of names) {
    if (chosen.has(name)) continue;
    attributes.add(name, [...new Set(all.flatMap(options => options[name] ?? []))]);
    note(beyondOptions);
  }
  return variants.map(variant => ({
    ...variant,
    options: Object.fromEntries(Object.entries(variant.options).filter(([name]) => chosen.has(name))),
  }));
}

/** As many images as a product may have, without duplicate URLs, each with the first text that is given for its URL. */
export function collectImages(
  entries: readonly { readonly url: string; readonly alt?: string | undefined }[],
  { note }: Drafting,
) {
  const byUrl = new Map<string, string | undefined>();
  for (const { url, alt } of entries) byUrl.set(url, byUrl.get(url) ?? (alt === '' ? undefined : alt));
  const all = [...byUrl];
  for (let left = maxImages; left < all.length; left += 1) note(`images beyond ${maxImages} were left out`);
  return all.slice(0, maxImages).map(([url, alt]) => {
    if (alt === undefined) return { url };
    if ([...alt].length <= maxAltLength) return { url, alt };
    note(`texts of images of more than ${maxAltLength} characters were left out`);
    return { url };
  });
}

/** Some shops let several products and variants share a sku: the first one in the file keeps it. */
export function claimSku<Sold extends { readonly sku?: string | undefined }>(
  sold: Sold,
  { skus, note }: Drafting,
): Sold {
  const { sku = '' } = sold;
  if (sku === '') return sold;
  if (!skus.has(sku)) {
    skus.add(sku);
    return sold;
  }
  note('skus that an earlier product or variant has were left out');
  return { ...sold, sku: undefined };
}

/** Whether a cell is empty or its column missing: the product then keeps its value. */
const isLeftOut = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Converts a draft to the members that the rest of the import reads, including variants. @throws RowProblem */
export function toMembers(draft: Draft): Record<string, unknown> {
  const { fields, variants, images, attributes, options } = draft;
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (!isLeftOut(value)) members[name] = value;
  const currency = requireOneCurrency([fields.currency, ...variants.map(variant => variant.currency)]);
  if (currency !== undefined) members.currency = currency.code;
  if (Object.keys(attributes).length > 0) Object.assign(members, { attributes, attributesByKey: true });
  if (images.length > 0) members.images = images;
  if (variants.length === 0) return members;
  members.options = collectOptions(variants, options);
  members.variants = variants.map((variant, position) => ({
    ...keepDefined(variant),
    position: position + 1,
  }));
  members.price ??= findLowestPrice(variants);
  return members;
}

/**
 * Checks that the currency on the command line does not contradict the currencies beside the amounts of the draft.
 * @param given the members that the command line sets in place of those of the draft
 * @throws RowProblem
 */
export function requireCurrency({ fields, variants }: Draft, given: Readonly<Record<string, unknown>>): void {
  if (typeof given.currency !== 'string') return;
  const isOwn = (name: 'price' | 'compareAtPrice') => given[name] === undefined && fields[name] !== undefined;
  const own = isOwn('price') || isOwn('compareAtPrice') ? [fields.currency] : [];
  const named = [...own, ...(given.variants === undefined ? variants.map(({ currency }) => currency) : [])];
  const isOther = ({ code, choices = [code] }: NamedCurrency) => choices.every(one => one !== given.currency);
  const other = named.find(one => one !== undefined && isOther(one));
  if (other === undefined) return;
  const problem = `is in ${other.code}, but the currency is ${given.currency}`;
  throw new RowProblem(other, other.column, problem, other.text);
}

function keepDefined({ currency: _currency, ...variant }: Variant): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(variant).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function findLowestPrice(variants: readonly Variant[]): number | undefined {
  let least: number | undefined;
  for (const { price } of variants)
    if (price !== undefined && (least === undefined || price < least)) least = price;
  return least;
}
