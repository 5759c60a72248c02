/** The products of the synthetic shop, the same in every run. */
import { type Random, random } from '../load/random.ts';
import type { Kind } from './kinds/kind.ts';
import { audiences, colours, kinds } from './vocabulary.ts';

/** The facts about a product by which it is graded, apart from its texts. */
export interface Facts {
  readonly kind: Kind;
  readonly brand: string;
  readonly colour: string | undefined;
  readonly audience: string | undefined;
  readonly material: string | undefined;
  /** In lower case, without spaces. */
  readonly size: string | undefined;
  readonly code: string | undefined;
}

export interface Product extends Facts {
  readonly name: string;
  readonly description: string;
  readonly sku: string;
  readonly tags: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

/** The default number of products of each kind. */
const usualPerKind = 75;
const letters = 'ABDFGHKLMPRSTVX';

function codeOf(draw: Random): string {
  const letter = () => letters[draw.integer(0, letters.length - 1)] ?? 'A';
  const number = (digits: number) => String(draw.integer(10 ** (digits - 1), 10 ** digits - 1));
  const shapes = [
    () => `${number(2)}${letter()}${letter()}-${number(2)}`,
    () => `${letter()}${letter()}${letter()} ${number(2)}V-${number(2)}`,
    () => `${letter()}${letter()}-${number(4)}`,
    () => `${number(2)} ${letter()}${letter()} ${number(2)}`,
    () => `${letter()}${number(3)}/${letter()}`,
  ] as const;
  return draw.pick(shapes)();
}

const otherKind = (draw: Random) => draw.pick(kinds as readonly [Kind, ...Kind[]]).names[0].toLowerCase();

function productOf(kind: Kind, number: number, draw: Random): Product {
  const brand = draw.pick(kind.brands);
  const colour = kind.colours === true ? draw.pick(colours) : undefined;
  const audience = kind.audiences === true ? draw.pick(audiences) : undefined;
  const material = kind.materials === undefined ? undefined : draw.pick(kind.materials);
  const size = kind.sizes === undefined ? undefined : draw.pick(kind.sizes);
  const code = kind.coded === true ? codeOf(draw) : undefined;
  const called = draw.pick(kind.names);
  const isNamed = draw.integer(1, 4) > 1;
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  const parts = [brand, audience, isNamed && colour !== undefined ? capital(colour) : undefined];
  parts.push(material === undefined ? undefined : capital(material), called, code);
  parts.push(isNamed || draw.integer(0, 1) === 0 ? size : undefined);
  const name = parts.filter(part => part !== undefined).join(' ');
  const sentences = [draw.pick(kind.sentences), draw.pick(kind.sentences)];
  const html = draw.integer(1, 5) === 1;
  const text = [...new Set(sentences)].join(' ').replaceAll('{other}', otherKind(draw));
  const description = html ? `<p>${text}</p><ul><li class="dress">Made by ${brand}</li></ul>` : text;
  const attributes: Record<string, string> = {};
  if (colour !== undefined) attributes.colour = colour;
  if (material !== undefined) attributes.material = material;
  if (size !== undefined) attributes.size = size;
  const tags = draw.integer(1, 3) === 1 ? [kind.asked[1]] : draw.integer(1, 4) === 1 ? ['new'] : [];
  const facts = {
    kind,
    brand,
    colour,
    audience,
    material,
    code,
    size: size?.replaceAll(' ', '').toLowerCase(),
  };
  return {
    ...facts,
    name,
    description,
    sku: `${kind.id.slice(0, 3).toUpperCase()}-${String(number).padStart(5, '0')}`,
    tags,
    attributes,
  };
}

/** All products, in random order. */
export function products(perKind = usualPerKind): Product[] {
  const draw = random(2611);
  const all = kinds.flatMap((kind, index) =>
    Array.from({ length: perKind }, (_, number) => productOf(kind, index * perKind + number, draw)),
  );
  return shuffled(all, draw);
}

export function shuffled<Item>(items: readonly Item[], draw: Random): Item[] {
  return items
    .map(item => ({ item, at: draw.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
