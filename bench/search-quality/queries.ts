/**
 * The judged queries. Each states its wishes, by which all products are graded:
 *
 * 3  the exact product or the exact part number; or the kind, with all wishes met
 * 2  the kind, with all wishes met except one (of two or more)
 * 1  the kind; or its family, with all wishes met
 * 0  everything else
 */
import { type Random, random } from '../load/random.ts';
import type { Kind } from './kinds/kind.ts';
import { type Facts, type Product, shuffled } from './shop.ts';
import { kinds } from './vocabulary.ts';

type Wish = Partial<Pick<Facts, 'brand' | 'colour' | 'audience' | 'material' | 'size' | 'code'>>;

export interface Query {
  readonly text: string;
  /** What the query tests. */
  readonly sort: string;
  /** The wanted kind; undefined for any. */
  readonly kind: Kind | undefined;
  readonly wish: Wish;
  /** When given, only products with this name are wanted. */
  readonly name?: string;
}

export function gradeOf(query: Query, product: Product): number {
  if (query.name !== undefined) {
    if (product.name === query.name) return 3;
    return product.kind === query.kind && product.brand === query.wish.brand ? 1 : 0;
  }
  // Boundary: a wish has these keys and no others.
  const wishes = Object.entries(query.wish) as [keyof Wish, string][];
  const matching = wishes.filter(([key, value]) => product[key] === value).length;
  if (query.wish.code !== undefined) return product.code === query.wish.code ? 3 : 0;
  if (query.kind === undefined) return matching === wishes.length ? 3 : 0;
  const hasAll = matching === wishes.length;
  if (product.kind !== query.kind)
    return hasAll && wishes.length > 0 && product.kind.family === query.kind.family ? 1 : 0;
  if (hasAll) return 3;
  return wishes.length > 1 && matching === wishes.length - 1 ? 2 : 1;
}

const kindOf = (id: string): Kind => {
  const kind = kinds.find(candidate => candidate.id === id);
  if (kind === undefined) throw new Error(`no kind ${id}`);
  return kind;
};

/** The text with a letter added, removed, replaced, or swapped with the next one; the first letter stays. */
function withTypo(text: string, draw: Random): string {
  const at = draw.integer(1, text.length - 2);
  const letter = 'etaoinsr'[draw.integer(0, 7)] ?? 'e';
  const ways = [
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + letter + text.slice(at),
    () => text.slice(0, at) + letter + text.slice(at + 1),
    () => text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2),
  ] as const;
  const result = draw.pick(ways)();
  return result === text ? withTypo(text, draw) : result;
}

/** The text with typos in its longest word. */
function misspelt(text: string, typos: number, draw: Random): string {
  const words = text.split(' ');
  const longest = words.toSorted((a, b) => b.length - a.length)[0] ?? text;
  let wrong = longest;
  for (let made = 0; made < typos; made++) wrong = withTypo(wrong, draw);
  return words.map(word => (word === longest ? wrong : word)).join(' ');
}

/** The part of a code that people type: `mb01` for `24MB-01`. */
const partOf = (code: string | undefined): string | undefined =>
  /^\d+([A-Z]+)-(\d+)$/
    .exec(code ?? '')
    ?.slice(1)
    .join('')
    .toLowerCase();

/** Other names of the units of sizes. */
const otherUnits: Readonly<Record<string, string>> = {
  g: 'grams',
  kg: 'kilograms',
  ml: 'millilitres',
  L: 'litres',
  m: 'metres',
  cm: 'centimetres',
  inch: 'in',
};

/** Another way to write a size with a single number: `500 grams` for `500g`. */
function otherSize(size: string): string | undefined {
  const [, number = '', unit = ''] = /^(\d+) ?([a-z]+)$/i.exec(size) ?? [];
  const other = otherUnits[unit];
  return other === undefined ? undefined : `${number} ${other}`;
}

/** How people write a part number. */
const writings: readonly ((code: string) => string)[] = [
  code => code,
  code => code.toLowerCase().replaceAll(/[^a-z0-9]/gi, ''),
  code => code.toLowerCase().replaceAll(/[^a-z0-9]+/gi, ' '),
  code => code.toLowerCase().replaceAll(/[^a-z0-9]+/gi, '-'),
];

/** Words joined or split, with or without apostrophes, and compounds: the query, its sort, the kind and the wishes. */
const written: readonly (readonly [text: string, sort: string, kind: string, wish?: Wish])[] = [
  ['sofabed', 'joined', 'sofa-bed'],
  ['sofa bed', 'joined', 'sofa-bed'],
  ['sofabeds', 'joined', 'sofa-bed'],
  ['sofa-bed grey', 'joined', 'sofa-bed', { colour: 'grey' }],
  ['tshirt', 'joined', 't-shirt'],
  ['t shirt', 'joined', 't-shirt'],
  ['t-shirt', 'joined', 't-shirt'],
  ['tshirts', 'joined', 't-shirt'],
  ['black tshirt', 'joined', 't-shirt', { colour: 'black' }],
  ['book shelf', 'joined', 'bookshelf'],
  ['bookshelf', 'joined', 'bookshelf'],
  ['book shelves oak', 'joined', 'bookshelf', { material: 'oak' }],
  ['head phones', 'joined', 'headphones'],
  ['back pack', 'joined', 'backpack'],
  ['desklamp', 'joined', 'desk-lamp'],
  ['waterbottle', 'joined', 'water-bottle'],
  ['arm chair', 'joined', 'armchair'],
  ['usbc cable', 'joined', 'cable'],
  ['usb c cable', 'joined', 'cable'],
  ['nonstick pan', 'joined', 'pan'],
  ['iphone14 case', 'joined', 'phone-case'],
  ['mens t-shirt', 'apostrophes', 't-shirt', { audience: "Men's" }],
  ["men's tshirt", 'apostrophes', 't-shirt', { audience: "Men's" }],
  ['woman shoes', 'apostrophes', 'running-shoes', { audience: "Women's" }],
  ['womens running shoes', 'apostrophes', 'running-shoes', { audience: "Women's" }],
  ['women’s hiking boots', 'apostrophes', 'hiking-boots', { audience: "Women's" }],
  ['kids t-shirts', 'apostrophes', 't-shirt', { audience: "Kids'" }],
  ['odell dress', 'apostrophes', 'dress', { brand: "O'Dell" }],
  ["o'dell backpack", 'apostrophes', 'backpack', { brand: "O'Dell" }],
  ['chefs knife', 'apostrophes', 'knife'],
  ['gartenstühle', 'compounds', 'gartenstuhl'],
  ['gartenstuhl', 'compounds', 'gartenstuhl'],
  ['stuhl garten', 'compounds', 'gartenstuhl'],
  ['garten stuhl teak', 'compounds', 'gartenstuhl', { material: 'teak' }],
  ['garten tisch', 'compounds', 'gartentisch'],
  ['gartentische', 'compounds', 'gartentisch'],
  ['tischlampen', 'compounds', 'tischlampe'],
  ['tisch lampe', 'compounds', 'tischlampe'],
  ['schreibtisch lampe', 'compounds', 'tischlampe'],
  ['lampen', 'compounds', 'tischlampe'],
  [
    'waterproof navy blue hiking boots for women winter vibram',
    'too much',
    'hiking-boots',
    { colour: 'navy blue', audience: "Women's" },
  ],
  [
    'large walnut dining table for eight people with bench',
    'too much',
    'dining-table',
    { material: 'walnut' },
  ],
  ['red summer dress with long sleeves and belt', 'too much', 'dress', { colour: 'red' }],
  ['black ergonomic office chair with headrest under 200', 'too much', 'office-chair', { colour: 'black' }],
  ['cheap beige corner sofa with chaise free delivery', 'too much', 'sofa', { colour: 'beige' }],
  ['white led desk lamp with usb charger and clamp', 'too much', 'desk-lamp', { colour: 'white' }],
  ['bosch cordless drill 18v with two batteries and case', 'too much', 'drill', { brand: 'Bosch' }],
  ['organic fair trade espresso coffee beans 1kg decaf', 'too much', 'coffee', { size: '1kg' }],
  ['yellow insulated water bottle for kids with straw', 'too much', 'water-bottle', { colour: 'yellow' }],
  ['oak wall clock silent roman numerals large', 'too much', 'clock', { material: 'oak' }],
  ['grey shaggy rug for nursery washable', 'too much', 'rug', { colour: 'grey' }],
  ['green armchair velvet swivel', 'too much', 'armchair', { colour: 'green' }],
];

const attributesOf = (product: Product): Wish =>
  product.colour !== undefined
    ? { colour: product.colour }
    : product.material !== undefined
      ? { material: product.material }
      : {};

/** Queries that name an attribute before or after its value: `t-shirt colour red`, `red colour t-shirt`. */
function createNamedQueries(shop: readonly Product[], draw: Random): Query[] {
  const some = shuffled(
    shop.filter(({ attributes }) => Object.keys(attributes).length > 0),
    draw,
  ).slice(0, 24);
  return some.map(({ kind, attributes, colour, material, size }, index) => {
    const [name, value] = draw.pick(Object.entries(attributes) as [[string, string]]);
    const thing = kind.asked[index % 2 === 0 ? 0 : 1];
    const ways = [
      `${name} ${value} ${thing}`,
      `${thing} ${name} ${value}`,
      `${value} ${name} ${thing}`,
    ] as const;
    // Boundary: attributes are named like the facts.
    const wish: Wish = { [name]: { colour, material, size }[name as 'colour' | 'material' | 'size'] };
    return { text: (ways[index % 3] ?? ways[0]).toLowerCase(), sort: 'names of attributes', kind, wish };
  });
}

/** All queries, in random order. */
export function queries(shop: readonly Product[]): Query[] {
  const draw = random(1309);
  const all: Query[] = written.map(([text, sort, kind, wish = {}]) => ({
    text,
    sort,
    kind: kindOf(kind),
    wish,
  }));
  const some = (count: number, fits: (product: Product) => boolean) =>
    shuffled(shop.filter(fits), draw).slice(0, count);
  for (const { name, kind, brand } of some(14, () => true))
    all.push({ text: name.toLowerCase(), sort: 'names', kind, wish: { brand }, name });
  for (const kind of kinds)
    all.push({
      text: draw.integer(0, 1) === 0 ? kind.asked[1] : kind.asked[0],
      sort: 'forms',
      kind,
      wish: {},
    });
  for (const [index, product] of some(24, ({ code }) => code !== undefined).entries()) {
    const { code = '', kind } = product;
    all.push({
      text: (writings[index % writings.length] ?? String)(code),
      sort: 'codes',
      kind,
      wish: { code },
    });
  }
  for (const { code = '', kind } of some(12, ({ code }) => partOf(code) !== undefined))
    all.push({ text: `${kind.asked[0]} ${partOf(code)}`, sort: 'parts of codes', kind, wish: { code } });
  for (const [index, product] of some(22, ({ size }) => size !== undefined).entries()) {
    const { kind, size = '' } = product;
    const asked = index % 2 === 0 ? size : size.replace(/^(\d+)(\D.*)$/, '$1 $2');
    const text = index % 3 === 0 ? `${asked} ${kind.asked[1]}` : `${kind.asked[0]} ${asked}`;
    all.push({ text, sort: 'sizes', kind, wish: { size } });
  }
  for (const { kind, size = '' } of some(12, ({ size }) => otherSize(size ?? '') !== undefined))
    all.push({ text: `${otherSize(size)} ${kind.asked[0]}`, sort: 'other units', kind, wish: { size } });
  for (const { kind, brand } of some(22, () => true))
    all.push({ text: `${brand} ${kind.asked[1]}`.toLowerCase(), sort: 'brands', kind, wish: { brand } });
  for (const product of some(26, ({ colour, material }) => (colour ?? material) !== undefined)) {
    const wish = attributesOf(product);
    all.push({
      text: `${Object.values(wish).join(' ')} ${product.kind.asked[0]}`,
      sort: 'attributes',
      kind: product.kind,
      wish,
    });
  }
  for (const { kind } of some(18, () => true))
    all.push({ text: misspelt(draw.pick(kind.asked), 1, draw), sort: 'typos', kind, wish: {} });
  for (const { kind } of some(12, ({ kind }) => kind.asked[0].split(' ').some(word => word.length > 6)))
    all.push({ text: misspelt(kind.asked[0], 2, draw), sort: 'two typos', kind, wish: {} });
  // Behind the others, so that these stay in the halves that they were in when the weights were chosen.
  return [...shuffled(all, draw), ...createNamedQueries(shop, draw)];
}
