/** Whether products' attributes fit their definitions. Only changes are checked: existing values stay valid. */
import { quoteValue } from '../../http/credentials.ts';
import { buildErrorDetail, createValidationError, type ErrorDetail } from '../../http/errors.ts';
import { type AttributeValues, parseMoment } from '../../storage/attributes/values.ts';
import { getPathsAbove } from '../../storage/categories/names.ts';
import type { Session } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import type { Definition } from './schema.ts';
import type { DefinitionStore, Definitions } from './store.ts';

/** The part of a product that is checked. */
export interface Attributed {
  readonly category: string | null;
  /** Further categories that the product is in. */
  readonly categories: readonly string[];
  readonly attributes: AttributeValues;
}

/** The number of characters of a value that a message quotes. */
const quotedLength = 100;

/**
 * @param before the product before the change; undefined for a new one
 * @throws HttpError 400 naming each attribute that does not fit, with the value and the rule
 */
export function requireAttributes(definitions: Definitions, after: Attributed, before?: Attributed): void {
  if (definitions.size === 0) return;
  const problems: ErrorDetail[] = [];
  const refuse = (key: string, code: string, message: string) =>
    problems.push(buildErrorDetail(['attributes', key], code, message));
  for (const [key, value] of Object.entries(after.attributes)) {
    const definition = definitions.get(key);
    if (definition === undefined || isSame(value, before?.attributes[key])) continue;
    const rule = findBrokenRule(definition, value);
    if (rule !== undefined) refuse(key, rule.code, `${rule.message}, not ${quoteValue(value, quotedLength)}`);
  }
  const [places, former] = [collectPlaces(after), collectPlaces(before)];
  for (const definition of definitions.values()) {
    const { key } = definition;
    if (hasValue(after, key) || !isRequired(definition, places)) continue;
    // A product that lacked the attribute before the change, although it was required, may continue to lack it.
    const lackedIt = before !== undefined && !hasValue(before, key) && isRequired(definition, former);
    if (!lackedIt) refuse(key, 'required', `is required ${describePlace(definition, places)}`);
  }
  if (problems.length > 0) throw createValidationError(problems);
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

type Places = ReadonlySet<string>;

/** The paths of a product's categories, and of all their ancestors. */
const collectPlaces = (product: Attributed | undefined): Places =>
  new Set([product?.category ?? [], product?.categories ?? []].flat().flatMap(getPathsAbove));

/** An empty text or list counts as no value. */
function hasValue({ attributes }: Attributed, key: string): boolean {
  const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  const texts = Array.isArray(value) ? value : [value];
  return texts.some(text => text !== undefined && (typeof text !== 'string' || text.trim() !== ''));
}

function isRequired({ required, requiredIn }: Definition, places: Places): boolean {
  return required || requiredIn.some(path => places.has(path));
}

function describePlace({ required, requiredIn }: Definition, places: Places): string {
  const path = requiredIn.find(path => places.has(path));
  return required || path === undefined ? 'of every product' : `in the category ${path}`;
}

function findBrokenRule(
  { type, choices, unit }: Definition,
  value: AttributeValues[string],
): { code: string; message: string } | undefined {
  const values = Array.isArray(value) ? value : [value];
  const holdsForAll = (test: (value: unknown) => boolean) => values.every(test);
  const holdsForOne = (test: (value: unknown) => boolean) => !Array.isArray(value) && test(value);
  switch (type) {
    case 'number': {
      const measured = unit === null ? '' : ` (in ${unit})`;
      return holdsForOne(value => typeof value === 'number')
        ? undefined
        : { code: 'type', message: `must be a number${measured}` };
    }
    case 'boolean':
      return holdsForOne(value => typeof value === 'boolean')
        ? undefined
        : { code: 'type', message: 'must be true or false' };
    case 'date':
      return holdsForOne(value => typeof value === 'string' && parseMoment(value) !== undefined)
        ? undefined
        : { code: 'format', message: 'must be a date (2026-01-31) or a moment (2026-01-31T12:00:00Z)' };
    case 'choice': {
      const shown = `${choices.slice(0, 20).join(', ')}${choices.length > 20 ? ', …' : ''}`;
      // The number 38 is not the choice "38".
      const whole = holdsForAll(value => typeof value === 'string') ? '' : 'a text, ';
      return holdsForAll(value => typeof value === 'string' && choices.includes(value))
        ? undefined
        : { code: 'enum', message: `must be ${whole}one of ${shown}` };
    }
    case 'text':
      return holdsForAll(value => typeof value === 'string')
        ? undefined
        : { code: 'type', message: 'must be a string or an array of strings' };
  }
}

const checked = ['category', 'categories', 'attributes'] as const;

/** @returns a function that makes the check for one transaction, which reads the definitions at most once */
export function createAttributeFits(definitions: Pick<DefinitionStore, 'seenBy'>) {
  return (session: Session) => {
    let defined: Definitions | undefined;
    return async (after: Attributed, before?: Attributed): Promise<void> => {
      if (before !== undefined && checked.every(name => isSame(before[name], after[name]))) return;
      defined ??= await definitions.seenBy(session);
      // A product is compared with all definitions: very many products with very many definitions take long.
      await takeTurn();
      requireAttributes(defined, after, before);
    };
  };
}
