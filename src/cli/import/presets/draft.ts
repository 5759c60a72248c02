/** What the drafts of all shops have in common: attributes of columns without a place, options, images in order. */
import { attributeKey } from '../../../files/cells/attribute.ts';
import type { Draft, Drafting, Row, Variant } from './preset.ts';

/** What a product may have of attributes: more of it would have the product refused. */
const [mostKeys, mostValues, longestText] = [100, 50, 1000];

/** Of a page for several products, which are bought one by one: an order for it would have no price. */
export const groupedLeftOut =
  'grouped products, which have no price of their own, were left out: the products they group are read by themselves';

/**
 * Leaves out what the shop does not sell: a variant has no status of its own here, and would be on sale. Where all are
 * disabled they stay, and the product is archived: without them it would have neither price nor options.
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

/** Attributes as they come together: of a key with several values a list of them. */
export function attributeSet({ note }: Drafting) {
  const values = new Map<string, unknown[]>();
  const isShort = (text: string): boolean => {
    if (text.length > longestText)
      note(`values of more than ${longestText} characters were left out of attributes`);
    return text.length <= longestText && text !== '';
  };
  return {
    /** Adds a value, unless the key has it. */
    add(name: string, given: string | readonly string[]): void {
      const items = (typeof given === 'string' ? [given] : given).filter(isShort).map(shopValue);
      if (items.length === 0) return;
      const key = attributeKey(name);
      if (!values.has(key) && values.size >= mostKeys) {
        note(`attributes beyond ${mostKeys} were left out`);
        return;
      }
      const had = values.get(key) ?? [];
      for (const item of items) if (!had.includes(item) && had.length < mostValues) had.push(item);
      values.set(key, had);
    },
    /** Takes a text out; undefined where there is none. */
    take(name: string): string | undefined {
      const key = attributeKey(name);
      const had = values.get(key);
      if (had?.length !== 1) return undefined;
      values.delete(key);
      return String(had[0]);
    },
    /** A single value as it is, several as texts. */
    all(): Record<string, unknown> {
      return Object.fromEntries(
        [...values].map(([key, all]) => [key, all.length === 1 ? all[0] : all.map(String)]),
      );
    },
  };
}

/** Shops write numbers as their databases do, `1.0000`; what begins with 0 or is very long is a code. */
function shopValue(text: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/.test(text)) return Number(text);
  const word = text.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : text;
}

export type AttributeSet = ReturnType<typeof attributeSet>;

/**
 * Adds what has no place: of each column the values of the product's own rows, or where these are empty those of the
 * others.
 */
export function addRest(
  attributes: AttributeSet,
  { own, others = [] }: { readonly own: readonly Row[]; readonly others?: readonly Row[] },
  { dropUnknown }: Drafting,
  columns = own[0]?.columns.rest ?? [],
): void {
  if (dropUnknown) return;
  for (const column of columns) {
    const rows = own.some(row => row.cell(column) !== '') ? own : others;
    for (const row of rows) attributes.add(column, row.cell(column));
  }
}

/** The options of variants, in the order in which their names and values come. */
function optionsOf(variants: readonly Variant[], order: readonly string[] = []) {
  const values = new Map<string, Set<string>>(order.map(name => [name, new Set()]));
  for (const { options } of variants) {
    for (const [name, value] of Object.entries(options)) {
      const had = values.get(name) ?? new Set();
      had.add(value);
      values.set(name, had);
    }
  }
  return [...values]
    .map(([name, all]) => ({ name, values: [...all] }))
    .filter(({ values }) => values.length > 0);
}

/** Images, each address once: the first that has a text for it gives it. */
export function imageList(entries: readonly { readonly url: string; readonly alt?: string | undefined }[]) {
  const byUrl = new Map<string, string | undefined>();
  for (const { url, alt } of entries) byUrl.set(url, byUrl.get(url) ?? (alt === '' ? undefined : alt));
  return [...byUrl].map(([url, alt]) => (alt === undefined ? { url } : { url, alt }));
}

/** The members of a product that the rest of an import takes, variants among them. */
export function membersOf(draft: Draft): Record<string, unknown> {
  const { fields, variants, images, attributes, options } = draft;
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '') members[name] = value;
  }
  members.attributes = attributes;
  if (images.length > 0) members.images = images;
  if (variants.length === 0) return members;
  members.options = optionsOf(variants, options);
  members.variants = variants.map((variant, position) => ({ ...defined(variant), position: position + 1 }));
  members.price ??= lowest(variants);
  return members;
}

const defined = (variant: Variant): Record<string, unknown> =>
  Object.fromEntries(Object.entries(variant).filter(([, value]) => value !== undefined && value !== ''));

function lowest(variants: readonly Variant[]): number | undefined {
  let least: number | undefined;
  for (const { price } of variants) {
    if (price !== undefined && (least === undefined || price < least)) least = price;
  }
  return least;
}
