/** Read-only members inside other members: a patch that changes one is refused instead of ignored. */
import { z } from 'zod';
import { findMember, isObject } from '../../json-object.ts';
import { equals } from './documents.ts';

/** A value after a patch, and its counterparts to compare it with; each is undefined if absent. */
interface Compared {
  readonly changed: unknown;
  /** The value before the patch. */
  readonly document: unknown;
  /** The part of `changed` that the schema of a complete replacement accepts. */
  readonly kept: unknown;
  /** The value after the write. */
  readonly after: unknown;
  /** The schema of the representation. */
  readonly shown: z.core.$ZodType | undefined;
}

type Path = readonly (string | number)[];

/**
 * @returns the paths of changes that the service did not apply: members that the representation has but the schema does
 * not keep, and ids that no item has. Omitted members stay, as in a complete replacement; unknown members are ignored,
 * as everywhere.
 */
export function findIgnoredChanges({ changed, document, kept, after, shown }: Compared): Path[] {
  if (!isObject(changed) || !isObject(kept)) return [];
  return Object.keys(kept).flatMap(name => {
    const of = { changed: changed[name], kept: kept[name], shown: findShownMember(shown, name) };
    const inside = { ...of, document: findMember(document, name), after: findMember(after, name) };
    return findChangesInside(inside).map(path => [name, ...path]);
  });
}

function findChangesInside(value: Compared): Path[] {
  const { changed, document, kept, after, shown } = value;
  if (Array.isArray(changed) && Array.isArray(kept)) return findItemChanges({ ...value, changed, kept });
  if (!isObject(changed) || !isObject(kept)) return [];
  const own = Object.keys(changed).filter(
    name =>
      !Object.hasOwn(kept, name) &&
      (findShownMember(shown, name) !== undefined || findMember(document, name) !== undefined) &&
      !equals(changed[name], findMember(document, name)) &&
      !equals(changed[name], findMember(after, name)),
  );
  return [...own.map(name => [name]), ...findIgnoredChanges(value)];
}

interface ComparedList extends Compared {
  readonly changed: readonly unknown[];
  readonly kept: readonly unknown[];
}

function findItemChanges({ changed, document, kept, after, shown }: ComparedList): Path[] {
  const schema = unwrapSchema(shown);
  const element = schema instanceof z.ZodArray ? schema.element : undefined;
  return changed.flatMap((item, index) => {
    const inside = {
      changed: item,
      kept: kept[index],
      shown: element,
      document: findCounterpart(item, index, document),
      after: findCounterpart(item, index, after),
    };
    const paths = findChangesInside(inside);
    // An id in a patch must name an existing item: the service assigns the ids of new ones.
    const isLost =
      isObject(item) && item.id != null && inside.document === undefined && inside.after === undefined;
    return (isLost ? [['id']] : paths).map(path => [index, ...path]);
  });
}

/** An item with an id keeps its identity when moved; one without is compared with the item in its place. */
function findCounterpart(item: unknown, index: number, items: unknown): unknown {
  if (!Array.isArray(items)) return undefined;
  if (!isObject(item) || item.id == null) return items[index];
  return items.find(other => isObject(other) && other.id === item.id);
}

function findShownMember(schema: z.core.$ZodType | undefined, name: string): z.core.$ZodType | undefined {
  const whole = unwrapSchema(schema);
  return whole instanceof z.ZodObject && Object.hasOwn(whole.shape, name) ? whole.shape[name] : undefined;
}

function unwrapSchema(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapSchema(schema.unwrap())
    : schema;
}
