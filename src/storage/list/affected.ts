/** Finds the lists that a change concerns: those whose filter the row matched before, or matches after the change. */
import { type AttributeTest, createTokensTest } from '../attributes/condition.ts';
import { type Change, type Collection, isSameValue, type Values } from '../changes/change.ts';
import type { ColumnCondition, Condition, Key, ListRequest } from './request.ts';

/**
 * @returns a function that tests whether a row matches, or may match, a filter: unknown values count as matching. What a
 * row has several of is prepared once, since thousands of filters may be compared with hundreds of values.
 */
export function createRowTest(values: Values | undefined): (conditions: readonly Condition[]) => boolean {
  if (values === undefined) return () => false;
  const getList = (column: string): readonly string[] => {
    const found = values[column];
    return Array.isArray(found) ? found : [];
  };
  const tests = new Map<string, (test: AttributeTest) => boolean>();
  const createTest = (column: string) => createTokensTest(getList(column));
  const sets = new Map<string, ReadonlySet<string>>();
  const createSet = (column: string) => new Set(getList(column));
  const matches = (condition: Condition): boolean => {
    const { column } = condition;
    if (condition.operator === 'attribute')
      return tests.getOrInsertComputed(column, createTest)(condition.test);
    const found = values[column];
    const isList = typeof found === 'object' && found !== null;
    return matchesValue(condition, isList ? sets.getOrInsertComputed(column, createSet) : found);
  };
  return conditions => conditions.every(matches);
}

type Found = Exclude<Values[string], readonly string[]> | ReadonlySet<string>;

function matchesValue(condition: ColumnCondition, found: Found | undefined): boolean {
  const { operator, value } = condition;
  if (found === undefined) return true;
  if (operator === 'is null') return found === null;
  if (condition.operator === 'in') return condition.values.some(one => isFound(one, found));
  if (found === null) return false;
  if (operator === '=') return isFound(value, found);
  if (typeof found !== 'number' || typeof value !== 'number') return true;
  if (operator === '<') return found < value;
  if (operator === '<=') return found <= value;
  return operator === '>' ? found > value : found >= value;
}

const isFound = (value: string | number, found: Found): boolean =>
  found instanceof Set ? found.has(String(value)) : found === value;

/** Maximum number of comparisons of changes with lists in one turn of the event loop: some milliseconds of work. */
const maxCompared = 20_000;

/** The changes, if they can be compared with all lists; undefined if reading the lists again is less work. */
export function selectComparable(
  changes: readonly Change[] | undefined,
  lists: number,
): readonly Change[] | undefined {
  return changes !== undefined && changes.length * lists <= maxCompared ? changes : undefined;
}

export interface Filtered {
  readonly conditions: readonly Condition[];
  readonly facets?: readonly string[];
}

/** The conditions that decide whether a row affects a list: a facet also counts rows that fail its own condition. */
function getWatched({ conditions, facets }: Filtered): readonly Condition[] {
  return facets === undefined ? conditions : conditions.filter(({ column }) => !facets.includes(column));
}

/** A list that a change concerns, and whether the row matched its filter before the change, and matches it now. */
export interface Concerned<List> {
  readonly list: List;
  readonly had: boolean;
  readonly has: boolean;
}

/** Indexes lists by a value in their filters: a change is compared with lists that name one of its values, or none. */
export function createListIndex<List extends Filtered>({ events }: Collection) {
  const keys = events?.keys ?? [];
  /** Lists whose filters name a value, by column and value. */
  const naming = new Map<string, Map<unknown, Set<List>>>();
  const others = new Set<List>();

  /** The condition that a list is indexed by. */
  function findNamed(list: List): ColumnCondition | undefined {
    const conditions = getWatched(list);
    for (const key of keys) {
      const named = conditions.find(({ column, operator }) => column === key && operator === '=');
      if (named !== undefined && named.operator !== 'attribute') return named;
    }
    return undefined;
  }
  /** Lists that name a value of a row; all if the row has more values than are named, or its value is unknown. */
  function selectNaming(byValue: ReadonlyMap<unknown, ReadonlySet<List>>, value: Values[string] | undefined) {
    if (value === undefined) return byValue.values();
    if (!Array.isArray(value)) return [byValue.get(value)];
    return value.length > byValue.size ? byValue.values() : value.map(one => byValue.get(one));
  }
  function selectCandidates({ before, after }: Change): ReadonlySet<ReadonlySet<List>> {
    const found = new Set<ReadonlySet<List>>([others]);
    for (const [column, byValue] of naming) {
      for (const values of [before, after]) {
        if (values === undefined) continue;
        for (const lists of selectNaming(byValue, values[column])) if (lists !== undefined) found.add(lists);
      }
    }
    return found;
  }
  return {
    add(list: List): void {
      const named = findNamed(list);
      if (named === undefined) {
        others.add(list);
        return;
      }
      const byValue = naming.getOrInsertComputed(named.column, () => new Map<unknown, Set<List>>());
      byValue.getOrInsertComputed(named.value, () => new Set()).add(list);
    },
    delete(list: List): void {
      others.delete(list);
      const named = findNamed(list);
      const byValue = named && naming.get(named.column);
      const lists = byValue?.get(named?.value);
      if (lists?.delete(list) !== true || lists.size > 0) return;
      byValue?.delete(named?.value);
    },
    clear(): void {
      others.clear();
      naming.clear();
    },
    concerned(change: Change): Concerned<List>[] {
      const found: Concerned<List>[] = [];
      const [matched, matches] = [createRowTest(change.before), createRowTest(change.after)];
      for (const some of selectCandidates(change)) {
        for (const list of some) {
          const [had, has] = [matched(list.conditions), matches(list.conditions)];
          const watched = getWatched(list);
          if (had || has || (watched !== list.conditions && (matched(watched) || matches(watched))))
            found.push({ list, had, has });
        }
      }
      return found;
    },
  };
}

/** @returns a function that tests whether a change alters a column; thousands of lists may count the same ones */
export function createDifferenceTest({ before, after }: Change): (column: string) => boolean {
  const known = new Map<string, boolean>();
  const isOther = (column: string) => !isSameValue(before?.[column], after?.[column]);
  return column => known.getOrInsertComputed(column, isOther);
}

/** A page of a list as it was read. */
export interface ShownPage extends Pick<ListRequest, 'conditions' | 'facets' | 'order' | 'page'> {
  readonly rows: readonly Key[];
}

/** Whether a page may differ after a change that concerns its list. @param isOther as by `createDifferenceTest` */
export function isPageAffected(
  { list, had, has }: Concerned<ShownPage>,
  { id, before, after }: Change,
  isOther: (column: string) => boolean,
): boolean {
  const { conditions, facets, order, page, rows } = list;
  if (facets !== undefined) {
    if (before === undefined || after === undefined) return true;
    // Values that facets count, or that decide which rows are counted.
    if (facets.some(isOther) || conditions.some(({ column }) => isOther(column))) return true;
    // The facets count the row as before, and the list has never had it.
    if (!had && !has) return false;
  }
  const [first, last] = [rows[0], rows.at(-1)];
  // The list has one row more or fewer: the total changes.
  if (!had || !has) return true;
  if (first === undefined || last === undefined || rows.some(row => row.id === id)) return true;
  const [old, now] = [before?.[order.column], after?.[order.column]];
  if (old === now && old !== undefined) return false;
  const sides = [old, now].map(value => compareToPage(first, last, value, id, order.descending));
  if (sides[0] !== sides[1]) return true;
  // No rows lie between a page by cursor and the key that it starts at: a row that moves there belongs to the page.
  if (page.kind === 'offset') return sides[0] === 0;
  return sides[0] !== (page.before === undefined ? 1 : -1);
}

/** -1 before a page, 1 after it, 0 within it, or if that is unknown. */
function compareToPage(first: Key, last: Key, value: unknown, id: number, descending: boolean): number {
  const toFirst = compareKeys(value, id, first, descending);
  const toLast = compareKeys(value, id, last, descending);
  if (toFirst === undefined || toLast === undefined) return 0;
  return toFirst < 0 ? -1 : toLast > 0 ? 1 : 0;
}

/** Compares numbers only: texts are in the order of the database (docs/decisions/0006). */
export function compareKeys(value: unknown, id: number, key: Key, descending: boolean): number | undefined {
  if (typeof value !== 'number' || typeof key.value !== 'number') return undefined;
  const difference = value - key.value || id - key.id;
  return descending ? -difference : difference;
}
